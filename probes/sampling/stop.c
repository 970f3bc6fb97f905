/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/sampling/stop.h"

/* Section 3.1 of the paper; get-lat, put-bw, natural-bw and alltoall as the
 * suite's network test. */
const struct stop_exact stop_exact[CANARY_MAX] = {
	[CANARY_LAT] = { 30, 200, 200, 10000 },
	[CANARY_GET_LAT] = { 30, 200, 200, 10000 },
	[CANARY_BW] = { 30, 8, 1, 10000 },
	[CANARY_PUT_BW] = { 30, 8, 1, 10000 },
	[CANARY_BW_SYNC] = { 30, 8, 1, 10000 },
	[CANARY_NATURAL_BW] = { 30, 8, 1, 10000 },
	[CANARY_ALLREDUCE] = { 1, 200, 1, 100000 },
	[CANARY_ALLTOALL] = { 1, 64, 1, 10000 },
};

/* The reference looks at its clock between measurements only. */
static enum stop
decide_exact(const struct stop_ask *ask, const struct stop_exact *e)
{
	if (ask->rounds % e->rings != 0)
		return STOP_GO_ON;
	if (ask->rounds / e->rings >= e->measurements)
		return STOP_COUNT;
	if (ask->visit_ns >= ask->settings->time_ns)
		return STOP_TIME;
	return STOP_GO_ON;
}

static int
precise(const struct stop_ask *ask)
{
	const struct settings *s = ask->settings;
	double lo, hi, x;

	if (tally_interval(ask->tally, ask->q, s->level, &lo, &hi) < 0)
		return 0;
	x = tally_quantile(ask->tally, ask->q);
	return (hi - lo) / 2 <= s->precision * x;
}

enum stop
stop_decide(const struct stop_ask *ask)
{
	const struct settings *s = ask->settings;

	if (ask->timed_out)
		return STOP_TIMEOUT;
	if (ask->exact != NULL)
		return decide_exact(ask, ask->exact);
	if (ask->rounds < s->rounds_min)
		return STOP_GO_ON;
	if (precise(ask))
		return STOP_PRECISION;
	if (ask->visit_ns >= s->time_ns / (uint64_t)s->visits)
		return STOP_TIME;
	return STOP_GO_ON;
}
