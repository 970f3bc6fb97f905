/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/congestion/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "probes/job/ring.h"
#include "probes/sampling/tally.h"

/* Ranks look at the clock together after so many operations, then after four
 * times as many: seldom enough not to matter, often enough that a round on a
 * network that has all but stopped ends near its limit. */
#define CHUNK_FIRST 4
#define CHUNK_GROW  4

struct rounds {
	const struct world *world;
	const struct settings *settings;
	int operations_max;
	int *slice_nodes; /* by slice rank */
	uint64_t *samples_ns;
	uint64_t *reduced;         /* root: buckets of all */
	struct rounds_rank *ranks; /* root */
};

struct rounds *
rounds_new(const struct world *w, const struct settings *s)
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
	r->reduced = xcalloc(HIST_BUCKETS, sizeof(*r->reduced));
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
	free(r->reduced);
	free(r->ranks);
	free(r);
}

/* whole: the ring, whatever the campaign says. */
static void
choose_neighbours(const struct rounds *r, const struct rounds_ask *ask,
    int whole)
{
	struct canary *c = ask->canary;
	struct ring ring = { r->settings->seed, (int)c->test, ask->number,
		r->world->local, c->size, canary_ops[c->test].natural };

	if (r->settings->partners == PARTNERS_RING || whole)
		ring_neighbours(&ring, c->rank, &c->left, &c->right);
	else if (r->settings->partners == PARTNERS_MATCH)
		c->left = c->right = ring_match(&ring, c->rank);
	else
		c->left = c->right = ring_pair(ask->number, c->size, c->rank);
}

/* Nothing to do in this round but to be there when it is collected. */
static int
is_aside(const struct rounds *r, const struct canary *c)
{
	return world_alone(r->world) ||
	    (r->settings->partners != PARTNERS_RING && c->left == c->rank);
}

/* Operations from..to of the round. */
static void
operate(struct rounds *r, struct canary *c, int from, int to)
{
	void (*once)(struct canary *) = canary_ops[c->test].once;

	for (int i = from; i < to; i++) {
		uint64_t start_ns = clk_ns();

		once(c);
		r->samples_ns[i] = clk_ns() - start_ns;
	}
}

static uint64_t
slowest(const struct rounds *r, uint64_t mine_ns)
{
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &mine_ns, 1, MPI_UINT64_T, MPI_MAX,
	    r->world->group));
	return mine_ns;
}

/* How far to go before the next look at the clock, having done that many in
 * elapsed_ns: at the speed so far, not beyond the limit. */
static int
next_look(const struct rounds *r, int done, int end, uint64_t elapsed_ns)
{
	double limit = (double)r->settings->timeout_ns;
	double reach = ceil(done * limit / ((double)elapsed_ns + 1));
	int next = done > end / CHUNK_GROW ? end : done * CHUNK_GROW;

	if (next > reach)
		next = (int)reach;
	return next > done ? next : done + 1;
}

/* Up to count operations in growing chunks; stops early past the time limit,
 * or once enough_ns (0: never) have passed. All ranks see the same clock, so
 * all stop at the same operation. */
static void
run_chunks(struct rounds *r, struct canary *c, int count, int first,
    uint64_t enough_ns, struct rounds_result *ret)
{
	uint64_t start_ns = clk_ns();
	int done = 0, next = count < first ? count : first;
	int active = !is_aside(r, c);

	while (done < count) {
		/* A chunk begins as the round did: a barrier, and an operation
		 * that is not counted. Ranks come from a look at different
		 * times, and where ranks share cores the order in which they
		 * then wait for each other lasts to the end of the chunk. */
		if (done > 0)
			MPI_DO(MPI_Barrier(r->world->group));
		if (active && done > 0)
			canary_ops[c->test].once(c);
		if (active)
			operate(r, c, done, next);
		done = next;
		ret->elapsed_ns = slowest(r, clk_ns() - start_ns);
		if (ret->elapsed_ns > r->settings->timeout_ns) {
			ret->timed_out = 1;
			break;
		}
		if (enough_ns > 0 && ret->elapsed_ns >= enough_ns)
			break;
		next = next_look(r, done, count, ret->elapsed_ns);
	}
	ret->operations = done;
}

static void
begin(struct rounds *r, const struct rounds_ask *ask, int whole,
    struct rounds_result *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->wrong_at = -1;
	if (!world_alone(r->world))
		choose_neighbours(r, ask, whole);
	MPI_DO(MPI_Barrier(r->world->group));
}

/* No more than are counted after them: where one operation fills a round, four
 * before it would take most of the time. GPCNeT's own counts are kept. */
static void
warm_up(struct rounds *r, const struct rounds_ask *ask)
{
	int count = ask->warmup;

	if (is_aside(r, ask->canary))
		return;
	if (count > ask->iterations && !r->settings->exact)
		count = ask->iterations;
	for (int i = 0; i < count; i++)
		canary_ops[ask->canary->test].once(ask->canary);
}

static void
count_samples(struct rounds *r, const struct canary *c, int n, struct hist *ret)
{
	hist_clear(ret);
	for (int i = 0; i < n; i++)
		hist_add(ret,
		    canary_value(c,
			(double)r->samples_ns[i] / (double)CLK_NS_PER_S));
}

static struct rounds_rank
summary(const struct rounds *r, const struct rounds_ask *ask,
    const struct hist *mine)
{
	struct rounds_rank s = { .node = r->world->node,
		.left = -1,
		.right = -1 };
	const struct canary *c = ask->canary;

	s.n = (double)mine->count;
	if (mine->count == 0)
		return s;
	s.sum = mine->sum;
	s.min = mine->min;
	s.max = mine->max;
	s.p50 = tally_quantile_of(mine->bucket, mine->count, 0.5);
	if (canary_ops[c->test].ring) {
		s.left = r->slice_nodes[c->left];
		s.right = r->slice_nodes[c->right];
	}
	return s;
}

/* First and last bucket that any rank has used. */
static void
used_range(const struct rounds *r, const struct hist *mine, int *ret_lo,
    int *ret_hi)
{
	int edge[2] = { -HIST_BUCKETS, -1 }; /* minus the first, the last */

	if (mine->count > 0) {
		edge[0] = -(hist_index(mine->min) - HIST_FIRST);
		edge[1] = hist_index(mine->max) - HIST_FIRST;
	}
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, edge, 2, MPI_INT, MPI_MAX,
	    r->world->group));
	*ret_lo = -edge[0];
	*ret_hi = edge[1];
}

static void
sum_up(const struct rounds *r, int lo, int hi, struct hist *ret)
{
	hist_clear(ret);
	for (int i = 0; i < r->world->group_size; i++) {
		const struct rounds_rank *k = &r->ranks[i];

		if (k->n == 0)
			continue;
		if (ret->count == 0 || k->min < ret->min)
			ret->min = k->min;
		if (ret->count == 0 || k->max > ret->max)
			ret->max = k->max;
		ret->count += (uint64_t)k->n;
		ret->sum += k->sum;
	}
	memcpy(&ret->bucket[lo], &r->reduced[lo],
	    (size_t)(hi - lo + 1) * sizeof(*ret->bucket));
}

static void
collect(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret)
{
	const struct world *w = r->world;
	struct rounds_rank mine = summary(r, ask, &ret->mine);
	int lo, hi;

	MPI_DO(MPI_Gather(&mine, ROUNDS_RANK_DOUBLES, MPI_DOUBLE, r->ranks,
	    ROUNDS_RANK_DOUBLES, MPI_DOUBLE, 0, w->group));
	used_range(r, &ret->mine, &lo, &hi);
	if (lo > hi)
		return; /* nobody has a sample */
	MPI_DO(MPI_Reduce(&ret->mine.bucket[lo], &r->reduced[lo], hi - lo + 1,
	    MPI_UINT64_T, MPI_SUM, 0, w->group));
	if (w->group_rank == 0)
		sum_up(r, lo, hi, &ret->all);
	ret->ranks = r->ranks;
}

void
rounds_run(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret)
{
	struct cores before;

	/* Reading the kernel's file takes longer than some operations. */
	cores_look(&before);
	begin(r, ask, 0, ret);
	warm_up(r, ask);
	run_chunks(r, ask->canary, ask->iterations, CHUNK_FIRST, 0, ret);
	hist_clear(&ret->mine);
	if (!is_aside(r, ask->canary)) {
		cores_add_since(&ret->cores, &before);
		count_samples(r, ask->canary, ret->operations, &ret->mine);
	}
	collect(r, ask, ret);
}

/* Any rank's wrong byte is everyone's: the largest offset is as good as any. */
static long
check(struct rounds *r, const struct rounds_ask *ask)
{
	long wrong_at = -1;

	if (!world_alone(r->world))
		wrong_at = canary_check(ask->canary);
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &wrong_at, 1, MPI_LONG, MPI_MAX,
	    r->world->group));
	return wrong_at;
}

void
rounds_calibrate(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret)
{
	begin(r, ask, 1, ret);
	ret->wrong_at = check(r, ask);
	run_chunks(r, ask->canary, ROUNDS_OPERATIONS_MAX, 1,
	    ROUNDS_TARGET_NS / 2, ret);
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
