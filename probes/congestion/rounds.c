/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.c - how a round is timed: in growing chunks of operations, between
 * which all ranks look at the clock together.
 */

#include "probes/congestion/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/congestion/canary.h"
#include "probes/job/control.h"
#include "probes/job/roles.h"
#include "probes/job/world.h"

/* Ranks check the clock together after CHUNK_FIRST operations, then after
 * CHUNK_GROW times as many: rarely enough not to matter, often enough that a
 * round on a nearly stopped network ends near its limit. */
#define CHUNK_FIRST 4
#define CHUNK_GROW  4

struct rounds {
	struct world *world;
	const struct settings *settings;
	int operations_max;
	int *slice_nodes; /* by slice rank */
	uint64_t *samples_ns;
	uint64_t *summed, *other;  /* buckets: of several ranks; of another */
	struct rounds_rank *ranks; /* root */
};

struct rounds *
rounds_new(struct world *w, const struct settings *s)
{
	struct rounds *r = xcalloc(1, sizeof(*r));

	r->world = w;
	r->settings = s;
	r->operations_max = ROUNDS_OPERATIONS_MAX;
	if (s->iterations > r->operations_max)
		r->operations_max = s->iterations;
	r->samples_ns = xcalloc((size_t)r->operations_max,
	    sizeof(*r->samples_ns));
	r->slice_nodes = xcalloc((size_t)w->slice_size,
	    sizeof(*r->slice_nodes));
	MPI_DO(MPI_Allgather(&w->node, 1, MPI_INT, r->slice_nodes, 1, MPI_INT,
	    w->slice));
	r->summed = xcalloc(HIST_BUCKETS, sizeof(*r->summed));
	r->other = xcalloc(HIST_BUCKETS, sizeof(*r->other));
	if (w->group_rank == 0)
		r->ranks = xcalloc((size_t)w->group_size, sizeof(*r->ranks));
	return r;
}

void
rounds_free(struct rounds *r)
{
	if (r == NULL)
		return;
	free(r->samples_ns);
	free(r->slice_nodes);
	free(r->summed);
	free(r->other);
	free(r->ranks);
	free(r);
}

/* Nothing to do in this round but to be there when it is collected. */
static int
rounds_is_idle(const struct rounds *r, const struct canary *c)
{
	return world_alone(r->world) ||
	    (r->settings->partners != PARTNERS_RING &&
		c->test != CANARY_INCAST && c->left == c->rank);
}

/* Choose neighbours and start together. whole: all ranks in one ring, whatever
 * the campaign says. */
static void
rounds_begin(struct rounds *r, const struct rounds_ask *ask, int whole,
    struct rounds_result *ret)
{
	struct canary *c = ask->canary;
	struct ring ring = { r->settings->seed, (int)c->test, ask->number,
		r->world->local, c->size, canary_ops[c->test].natural };

	memset(ret, 0, sizeof(*ret));
	ret->wrong_at = -1;
	c->way = CANARY_BOTH_WAYS;
	if (c->test == CANARY_INCAST && !world_alone(r->world)) {
		c->sender_count = roles_ring_incast(&ring, c->rank, c->senders);
		c->left = c->sender_count > 0 ? c->rank : c->senders[0];
		c->way = c->sender_count > 0 ? CANARY_RECEIVES : CANARY_SENDS;
	} else if (!world_alone(r->world)) {
		if (whole || r->settings->partners == PARTNERS_RING)
			roles_ring_neighbours(&ring, c->rank, &c->left,
			    &c->right);
		else if (r->settings->partners == PARTNERS_MATCH)
			c->left = c->right = roles_ring_match(&ring, c->rank);
		else
			c->left = c->right = roles_ring_pair(ask->number,
			    c->size, c->rank);
		if (!whole && r->settings->partners == PARTNERS_ONE_WAY)
			c->way = roles_ring_turn(ask->number, c->size) ==
				(c->rank < c->left)
			    ? CANARY_RECEIVES
			    : CANARY_SENDS;
	}
	control_watch(r->world, names_tests[c->test].name);
	control_agree(r->world, names_tests[c->test].name, 0);
	/* All are there. The order in which they leave matters: see below. */
	control_meet(r->world, names_tests[c->test].name);
}

struct chunks {
	int count;          /* operations in all */
	int first;          /* operations of the first chunk */
	uint64_t enough_ns; /* stop at the look after this; 0: never */
};

/* Up to count operations in growing chunks; stops early past the time limit.
 * All ranks see the same clock, so all stop at the same operation. */
static void
rounds_run_chunks(struct rounds *r, struct canary *c,
    const struct chunks *chunks, struct rounds_result *ret)
{
	double limit_ns = (double)r->settings->timeout_ns;
	const char *name = names_tests[c->test].name;
	uint64_t begun_ns = clk_ns(), start_ns;
	int count = chunks->count, done = 0, active = !rounds_is_idle(r, c);
	int next = count < chunks->first ? count : chunks->first;

	while (done < count) {
		control_watch(r->world, name);
		/* A chunk begins as the round did: a barrier, and an operation
		 * that is not counted. Ranks come from a look at different
		 * times, and where ranks share cores the order in which they
		 * then wait for each other lasts to the end of the chunk. */
		if (done > 0)
			control_meet(r->world, name);
		if (active && done > 0)
			canary_once(c);
		for (int i = active ? done : next; i < next; i++) {
			start_ns = clk_ns();
			canary_once(c);
			r->samples_ns[i] = clk_ns() - start_ns;
		}
		done = next;
		ret->elapsed_ns = (uint64_t)control_agree(r->world, name,
		    (double)(clk_ns() - begun_ns));
		ret->timed_out = ret->elapsed_ns > r->settings->timeout_ns;
		if (ret->timed_out ||
		    (chunks->enough_ns > 0 &&
			ret->elapsed_ns >= chunks->enough_ns))
			break;
		/* At the speed so far, not beyond the limit. */
		next = done > count / CHUNK_GROW ? count : done * CHUNK_GROW;
		next = (int)fmin(next,
		    ceil(done * limit_ns / ((double)ret->elapsed_ns + 1)));
		if (next <= done)
			next = done + 1;
	}
	ret->operations = done;
}

/* To the root: this rank's samples, which are summed up by bucket, and a
 * summary of them. */
static void
rounds_collect(struct rounds *r, const struct canary *c,
    struct rounds_result *ret)
{
	const struct world *w = r->world;
	const struct hist *mine = &ret->mine;
	struct rounds_rank summary = { .n = (double)mine->count,
		.node = w->node,
		.left = -1,
		.right = -1,
		.way = c->way };
	int edge[2] = { -HIST_BUCKETS, -1 }; /* minus the first, the last */
	MPI_Request req;
	int lo, hi;

	if (mine->count > 0) {
		edge[0] = -(hist_index(mine->min) - HIST_FIRST);
		edge[1] = hist_index(mine->max) - HIST_FIRST;
		summary.sum = mine->sum;
		summary.min = mine->min;
		summary.max = mine->max;
		summary.inverse = ret->inverse;
		summary.p50 = hist_quantile_of(mine->bucket, mine->count, 0.5);
		if (canary_ops[c->test].ring) {
			summary.left = r->slice_nodes[c->left];
			summary.right = r->slice_nodes[c->right];
		}
	}
	MPI_DO(MPI_Igather(&summary, ROUNDS_RANK_DOUBLES, MPI_DOUBLE, r->ranks,
	    ROUNDS_RANK_DOUBLES, MPI_DOUBLE, 0, w->group, &req));
	control_complete(&req);
	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, edge, 2, MPI_INT, MPI_MAX, w->group,
	    &req));
	control_complete(&req);
	lo = -edge[0];
	hi = edge[1];
	if (lo > hi)
		return; /* no rank has a sample */
	memcpy(r->summed, &mine->bucket[lo],
	    (size_t)(hi - lo + 1) * sizeof(*r->summed));
	control_sum(r->world, names_tests[c->test].name, r->summed, r->other,
	    hi - lo + 1);
	if (w->group_rank != 0)
		return;
	ret->ranks = r->ranks;
	hist_clear(&ret->all);
	ret->inverse = 0;
	for (int i = 0; i < w->group_size; i++) {
		const struct rounds_rank *k = &r->ranks[i];

		if (k->n == 0)
			continue;
		if (ret->all.count == 0 || k->min < ret->all.min)
			ret->all.min = k->min;
		if (ret->all.count == 0 || k->max > ret->all.max)
			ret->all.max = k->max;
		ret->all.count += (uint64_t)k->n;
		ret->all.sum += k->sum;
		ret->inverse += k->inverse;
	}
	memcpy(&ret->all.bucket[lo], r->summed,
	    (size_t)(hi - lo + 1) * sizeof(*ret->all.bucket));
}

void
rounds_run(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret)
{
	struct chunks chunks = { ask->iterations, CHUNK_FIRST, 0 };
	struct canary *c = ask->canary;
	struct cores before;
	int warmup = ask->warmup, rate = canary_low_is_bad(c->test), active;

	/* Reading the kernel's file takes longer than some operations. */
	cores_look(&before);
	rounds_begin(r, ask, 0, ret);
	active = !rounds_is_idle(r, c);
	/* Do not run more warm-up operations than counted ones: if one
	 * operation fills a round, four before it would take most of the time,
	 * and connection setup is a small part of such a long operation. Counts
	 * of GPCNeT or of a campaign are kept. */
	if (warmup > ask->iterations && !r->settings->exact)
		warmup = ask->iterations;
	if (ask->iterations == 1 &&
	    settings_iterations(r->settings, c->test) == 0)
		warmup = 0;
	/* The first message between two ranks makes NCCL connect them. */
	if (active && c->link->xccl != NULL && warmup == 0)
		warmup = 1;
	for (int i = 0; active && i < warmup; i++)
		canary_once(c);
	rounds_run_chunks(r, c, &chunks, ret);
	hist_clear(&ret->mine);
	if (active) {
		cores_add_since(&ret->cores, &before);
		/* A sender of an incast waits for the other senders. */
		for (int i = c->test == CANARY_INCAST && c->way == CANARY_SENDS
			 ? ret->operations
			 : 0;
		     i < ret->operations; i++) {
			double value = canary_value(c,
			    (double)r->samples_ns[i] / (double)CLK_NS_PER_S);

			hist_add(&ret->mine, value);
			ret->inverse += rate ? 1 / value : 0;
		}
	}
	rounds_collect(r, c, ret);
}

void
rounds_calibrate(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret)
{
	/* Where the campaign says how many operations a round has, one is
	 * enough to look at the data. */
	struct chunks chunks = { ask->iterations > 0 ? 1
						     : ROUNDS_OPERATIONS_MAX,
		1, ROUNDS_TARGET_NS / 2 };
	MPI_Request req;

	rounds_begin(r, ask, 1, ret);
	/* Any rank's wrong byte is everyone's: the largest offset is as good as
	 * any. */
	if (!world_alone(r->world))
		ret->wrong_at = canary_check(ask->canary);
	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, &ret->wrong_at, 1, MPI_LONG,
	    MPI_MAX, r->world->group, &req));
	control_complete(&req);
	rounds_run_chunks(r, ask->canary, &chunks, ret);
}

int
rounds_fit(uint64_t operations, uint64_t elapsed_ns)
{
	double want = round((double)ROUNDS_TARGET_NS * (double)operations /
	    ((double)elapsed_ns + 1));

	if (want < 1)
		return 1;
	return want > ROUNDS_OPERATIONS_MAX ? ROUNDS_OPERATIONS_MAX : (int)want;
}
