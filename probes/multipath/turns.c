/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.c - settle the tuner, then let single and tuned transfers take turns,
 * so that drift meets both. Every tuned transfer is compared with what was
 * sent.
 */
#include "probes/multipath/turns.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/robust.h"
#include "probes/sampling/timing.h"

/* A path below this share of its expected rate is a finding. */
#define SLOW_SHARE   0.7
#define JUDGED_SHARE 0.1 /* where less is expected, noise decides */

static double
turns_median(double *x, uint32_t n)
{
	robust_sort(x, n);
	return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static int
turns_transfer(const struct turns_ask *ask, const struct tuner_choice *c,
    struct tuner_seen *seen, uint32_t *ret_path, double *ret_s)
{
	int rc = copier_send(ask->copier, &ask->m, c, seen, ret_path);

	*ret_s = 0;
	for (uint32_t i = 0; i <= ask->copier->count; i++)
		*ret_s = fmax(*ret_s, seen->s[i]);
	return rc;
}

/* As the tuner wants it; what came is compared. A staged path that breaks is
 * done without. */
static int
turns_tuned(const struct turns_ask *ask, struct turns_point *pt, double *ret_s)
{
	const struct device_ops *ops = ask->copier->ops;
	struct device_stream *s = ask->copier->streams[0].in;
	const char *got = ask->got == NULL ? ask->m.to : ask->got;
	struct tuner_seen seen;
	uint32_t path = 0;
	int rc = 0;

	if (ask->m.to != NULL) {
		rc = ops->fill(s, ask->m.to, 0, ask->m.bytes);
		if (rc == 0)
			rc = ops->stream_sync(s);
		if (rc < 0)
			return rc;
	}
	do {
		if (path > 0)
			tuner_lose(ask->tuner, ask->m.bytes, path);
		path = 0;
		tuner_choose(ask->tuner, ask->m.bytes, &pt->choice);
		rc = turns_transfer(ask, &pt->choice, &seen, &path, ret_s);
	} while (rc < 0 && path > 0 &&
	    ask->tuner->rows[tuner_class(ask->m.bytes)].chunks[path] > 0);
	if (rc < 0)
		return rc;
	tuner_learn(ask->tuner, ask->m.bytes, &pt->choice, &seen);
	for (uint32_t i = 0; i <= ask->copier->count; i++)
		pt->carried[i] += (double)seen.bytes[i];
	if (ask->m.to == NULL || pt->wrong > 0)
		return 0;
	if (ask->got != NULL) {
		rc = ops->copy(s, ask->got, ask->m.to, ask->m.bytes);
		if (rc == 0)
			rc = ops->stream_sync(s);
	}
	if (rc < 0 || memcmp(ask->want, got, ask->m.bytes) == 0)
		return rc;
	while (ask->want[pt->wrong] == got[pt->wrong])
		pt->wrong++;
	pt->wrong++;
	return 0;
}

uint32_t
turns_watch_take(struct turns_watch *w, uint32_t slow)
{
	if (slow == w->last)
		w->said = slow;
	w->last = slow;
	return w->said;
}

int
turns_watch_open(const struct turns_watch *w)
{
	return w->said != w->last;
}

int
turns_measure(const struct turns_ask *ask, struct turns_point *ret)
{
	double one[TURNS_MAX], many[TURNS_MAX];
	struct timing_sample ratios[TURNS_MAX] = { { 0, 0 } };
	const struct tuner_choice direct = { .share = { 1 } };
	double bytes = (double)ask->m.bytes, worst = SLOW_SHARE, sum = 0;
	struct tuner_seen seen;
	struct timing both;
	struct paths_split s;
	uint32_t path;
	int rc = 0;

	assert(ask->turns >= 1 && ask->turns <= TURNS_MAX);
	memset(ret, 0, sizeof(*ret));
	ret->bytes = ask->m.bytes;
	paths_split(&ask->tuner->fits, bytes, ask->tuner->chunks_max, &s);
	ret->model_ratio = s.direct_s / s.time_s;
	for (uint32_t i = 0; rc == 0 && i < ask->settle; i++)
		rc = turns_tuned(ask, ret, &many[0]);
	memset(ret->carried, 0, sizeof(ret->carried));
	for (uint32_t i = 0; rc == 0 && i < ask->turns; i++) {
		rc = turns_transfer(ask, &direct, &seen, &path, &one[i]);
		if (rc == 0)
			rc = turns_tuned(ask, ret, &many[i]);
	}
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < ask->turns; i++)
		ratios[i].s = one[i] / many[i];
	timing_of(ratios, ask->turns, &both);
	ret->single_s = turns_median(one, ask->turns);
	ret->several_s = turns_median(many, ask->turns);
	ret->ratio = both.median_middle_s;
	ret->lo = both.lo_s;
	ret->hi = both.hi_s;
	/* What stated links would carry, and which path falls short the most.
	 */
	paths_split(ask->stated, bytes, ask->tuner->chunks_max, &s);
	ret->stated_ratio = s.direct_s / s.time_s;
	ret->expected[0] = 1 - s.share;
	for (uint32_t i = 0; i <= ask->stated->count; i++)
		sum += ret->carried[i];
	for (uint32_t i = 0; i <= ask->stated->count; i++) {
		if (i > 0)
			ret->expected[i] = s.staged[i - 1];
		ret->carried[i] /= sum;
		if (i > 0 && ret->expected[i] >= JUDGED_SHARE &&
		    ret->carried[i] < worst * ret->expected[i]) {
			worst = ret->carried[i] / ret->expected[i];
			ret->slow = i;
		}
	}
	return 0;
}
