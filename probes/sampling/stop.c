/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.c - has a test measured enough: by GPCNeT's counts, or once the interval
 * that it reports is narrow enough.
 */
#include "probes/sampling/stop.h"

#include "probes/sampling/impact.h"
#include "probes/sampling/tally.h"

#include <errno.h>

enum stop
stop_decide(const struct stop_ask *ask)
{
	const struct settings *s = ask->settings;
	const struct test_counts *e = ask->exact;
	int by_pairs = settings_congested(s) && s->visits >= STOP_PAIRS_MIN;
	double lo, hi;

	if (ask->timed_out)
		return STOP_TIMEOUT;
	if (e != NULL) {
		/* the reference looks at its clock between measurements only */
		if (ask->rounds % e->rings != 0)
			return STOP_GO_ON;
		if (ask->rounds / e->rings >= e->measurements)
			return STOP_COUNT;
		return ask->visit_ns >= s->time_ns ? STOP_TIME : STOP_GO_ON;
	}
	if (ask->rounds_exact > 0)
		return ask->rounds < ask->rounds_exact ? STOP_GO_ON
						       : STOP_COUNT;
	if (ask->rounds < s->rounds_min)
		return STOP_GO_ON;
	if (!by_pairs &&
	    tally_interval(ask->tally, ask->q, s->level, &lo, &hi) == 0 &&
	    (hi - lo) / 2 <=
		s->precision * hist_quantile(&ask->tally->total, ask->q))
		return STOP_PRECISION;
	if (ask->visit_ns >= s->time_ns / (uint64_t)s->visits)
		return STOP_TIME;
	return STOP_GO_ON;
}

int
stop_pairs(const struct impact_ask *ask, const struct settings *s, int pairs)
{
	struct impact im;

	if (pairs < STOP_PAIRS_MIN || pairs % 2 != 0 || s->exact)
		return 0;
	for (int of = 0; of < IMPACT_OF_MAX; of++) {
		int rc = impact_take(ask, (enum impact_of)of, &im);

		if (rc == -ERANGE)
			continue; /* more pairs would hardly change that */
		if (rc < 0 || !((im.hi - im.lo) / 2 <= s->precision * im.value))
			return 0;
	}
	return 1;
}

#include "probes/sampling/impact.h"
#include "probes/sampling/tally.h"
