/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss.c - cumulative sums of lost echoes, and who is in them only because of a
 * partner.
 */
#include "daemon/diagnosis/judge/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* Before anything is learned all lose LOSS_P1 / 10. */
#define PRIOR_SENT 2e4
#define KEEP       (1 - 1.0 / 576) /* a day of two records in 5 minutes */
/* Epochs between two nodes that chance alone raises, by the bound of Lorden
 * (1971) for one sum, exp(limit). There are two sums and p0 is learned, so the
 * figure is of some years, where three months gave an alarm in the tests. */
#define LIMIT_ROUNDS 3e5
/* Of a loss's weight: it lost there in its last two epochs or so. */
#define LATELY 0.75

struct step {
	double up, down, limit;
};

static struct step
step_of(struct loss_watch *w, size_t count)
{
	double p0;

	if (w->sent == 0) {
		w->sent = PRIOR_SENT;
		w->lost = PRIOR_SENT * LOSS_P1 / 10;
	}
	p0 = fmin(fmax(w->lost / w->sent, LOSS_P0_MIN), LOSS_P1 / 2);
	return (struct step){ log(LOSS_P1 / p0), LOSS_P1 - p0,
		log(LIMIT_ROUNDS * (double)count) };
}

static void
make_room(struct loss_watch *w, const struct loss_node *nodes, size_t count)
{
	size_t want = 0;

	for (size_t i = 0; i < count; i++)
		if (nodes[i].place >= want)
			want = nodes[i].place + (size_t)1;
	if (want <= w->count)
		return;
	w->sums = xreallocarray(w->sums, want, sizeof(*w->sums));
	memset(w->sums + w->count, 0, (want - w->count) * sizeof(*w->sums));
	w->count = want;
}

/* What a node lost to those that are not marked. */
static uint32_t
lost_of(uint32_t node, const struct loss_pair *pairs, size_t count,
    const uint8_t *marked)
{
	uint32_t lost = 0;

	for (size_t i = 0; i < count; i++) {
		const struct loss_pair *p = &pairs[i];

		if ((p->a == node && !marked[p->b]) ||
		    (p->b == node && !marked[p->a]))
			lost += p->lost < LOSS_PAIR_MAX ? p->lost
							: LOSS_PAIR_MAX;
	}
	return lost;
}

/* The worst first, for its partners look better without it. */
static void
mark(const struct loss_watch *w, int far, const struct loss_node *nodes,
    const struct step *step, const struct loss_pair *pairs, size_t pair_count,
    uint8_t *marked)
{
	for (;;) {
		double most = step->limit;
		uint32_t worst = UINT32_MAX;

		for (size_t i = 0; i < 2 * pair_count; i++) {
			uint32_t n = i % 2 ? pairs[i / 2].b : pairs[i / 2].a;
			double sum = w->sums[nodes[n].place].of[far] +
			    step->up * lost_of(n, pairs, pair_count, marked);

			if (!marked[n] && sum > most) {
				most = sum;
				worst = n;
			}
		}
		if (worst == UINT32_MAX)
			return;
		marked[worst] = 1;
	}
}

static void
add(struct loss_sum *s, int far, const struct step *step, uint32_t lost,
    uint64_t sent)
{
	double x = s->of[far] + step->up * lost - step->down * (double)sent;

	s->clean = lost > 0 ? 0 : s->clean + 1;
	s->of[far] = fmin(fmax(0, x), 2 * step->limit);
	if ((s->of[0] == 0 && s->of[1] == 0 && !s->raised) ||
	    s->clean >= 2 * LOSS_CLEAN) {
		memset(s, 0, sizeof(*s));
		return;
	}
	s->lost += lost;
	s->sent += sent;
	s->epochs += (uint32_t)far;
}

static int
is_uplink(const struct loss_watch *w, const struct loss_node *nodes,
    size_t count, uint32_t leaf, double limit)
{
	int many = 0;

	for (size_t i = 0; i < count; i++)
		many += nodes[i].leaf == leaf &&
		    w->sums[nodes[i].place].of[1] > limit / 4;
	return many >= LOSS_LEAF_MANY;
}

void
loss_round(struct loss_watch *w, int far, const struct loss_node *nodes,
    size_t count, const struct loss_pair *pairs, size_t pair_count)
{
	struct step step = step_of(w, count);
	uint8_t *marked = xcalloc(count + 1, 1);

	make_room(w, nodes, count);
	for (size_t i = 0; i < count; i++)
		marked[i] = w->sums[nodes[i].place].raised;
	mark(w, far, nodes, &step, pairs, pair_count, marked);
	w->lost *= KEEP;
	w->sent *= KEEP;
	for (size_t i = 0; i < count; i++) {
		struct loss_sum *s = &w->sums[nodes[i].place];
		uint32_t lost = lost_of((uint32_t)i, pairs, pair_count, marked);

		add(s, far, &step, lost, nodes[i].sent);
		if (s->of[0] + s->of[1] > step.limit / 2)
			continue;
		w->lost += lost;
		w->sent += (double)nodes[i].sent;
	}
	for (size_t i = 0; i < count; i++) {
		struct loss_sum *s = &w->sums[nodes[i].place];

		if (s->of[0] + s->of[1] > step.limit &&
		    fmin(s->of[0], s->of[1]) > LATELY * step.up &&
		    !is_uplink(w, nodes, count, nodes[i].leaf, step.limit))
			s->raised = 1;
	}
	free(marked);
}

void
loss_forget(struct loss_watch *w, uint32_t place)
{
	if (place < w->count)
		memset(&w->sums[place], 0, sizeof(w->sums[place]));
}

const struct loss_sum *
loss_sum_of(const struct loss_watch *w, uint32_t place)
{
	return place < w->count ? &w->sums[place] : NULL;
}

void
loss_clear(struct loss_watch *w)
{
	free(w->sums);
	memset(w, 0, sizeof(*w));
}
