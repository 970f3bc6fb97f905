/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.c - a ring of the last rounds of one place, and means over it.
 */
#include "daemon/diagnosis/stats/track.h"

#include <math.h>
#include <string.h>

#include "common/robust.h"

void
track_clear(struct track *t)
{
	struct track old = *t;

	memset(t, 0, sizeof(*t));
	t->past = old.past;
	t->past_n = old.past_n;
	t->scatter = old.scatter;
	t->scatter_n = old.scatter_n;
	t->usual = old.usual;
	t->usual_var = old.usual_var;
	t->scale = old.scale > 0 ? old.scale : 1;
	t->dismissed = old.dismissed;
	t->hold = old.hold;
	t->p = 1;
}

void
track_add(struct track *t, double effect, int is_vote, int is_busy, int window)
{
	uint32_t mask = (1u << window) - 1;

	t->raw[t->at] = (float)effect + t->usual;
	t->at = (uint16_t)((t->at + 1) % TRACK_ROUNDS);
	if (t->known < TRACK_ROUNDS)
		t->known++;
	t->votes = (t->votes << 1 | (uint32_t)is_vote) & mask;
	t->host_votes = (t->host_votes << 1 | (uint32_t)(is_vote && is_busy)) &
	    mask;
}

/* Return the index in the ring of the round m rounds ago. */
static int
track_back(const struct track *t, int m)
{
	return (t->at + 2 * TRACK_ROUNDS - 1 - m) % TRACK_ROUNDS;
}

double
track_effect_at(const struct track *t, int m)
{
	return (double)t->raw[track_back(t, m)] - (double)t->usual;
}

double
track_mean_of(const struct track *t, int from, int m, double most)
{
	double sum = 0;

	for (int i = from; i < from + m; i++)
		sum += fmin(track_effect_at(t, i), most);
	return sum / m;
}

double
track_mean(const struct track *t, int m)
{
	m = m < t->known ? m : t->known;
	return m == 0 ? 0 : track_mean_of(t, 0, m, INFINITY);
}

double
track_effect(const struct track *t)
{
	double x[TRACK_ROUNDS];
	size_t n = 0;

	for (int m = 0; m < t->known; m++)
		if (t->votes >> m & 1)
			x[n++] = track_effect_at(t, m);
	return n == 0 ? 0 : robust_median(x, n);
}

int
track_votes(const struct track *t)
{
	int n = 0;

	for (uint32_t x = t->votes; x != 0; x &= x - 1)
		n++;
	return n;
}
