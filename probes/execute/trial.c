/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.c - how a plan is proven and how long it takes: which rank's clock
 * counts, when to stop, and how fast memory itself is.
 */
#include "probes/execute/trial.h"
#include "probes/execute/exec.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "probes/job/control.h"
#include "probes/job/cores.h"
#include "probes/job/fabric.h"
#include "probes/job/world.h"
#include "probes/sampling/stop.h"
#include "probes/sampling/timing.h"
#include "probes/transport/backoff.h"

#define ITERATIONS_MAX 100000
#define BATCH_FIRST    1 /* iterations before the first look */
#define MEMORY_TIME_S  0.02
#define MEMORY_MAX     (64ULL << 20)
#define MEMORY_ROUNDS  5
#define DEVICE_MAX     (1ULL << 30)
#define WARM_NS        (100 * CLK_NS_PER_MS)
#define COLD_NS        CLK_NS_PER_S
#define DEVICE_COPIES  64 /* on their way at once */

/* ---- where ranks wait for each other ---- */

void
trial_meet(const struct transport_team *team)
{
	MPI_Request req;

	control_watch_again();
	MPI_DO(MPI_Ibarrier(team->comm, &req));
	MPI_DO(backoff_request(&req));
}

/* In the second barrier no rank sleeps: all have just left the first one. */
void
trial_meet_to_start(const struct transport_team *team)
{
	MPI_Request req;
	int done = 0;

	trial_meet(team);
	MPI_DO(MPI_Ibarrier(team->comm, &req));
	for (;;) {
		MPI_DO(MPI_Test(&req, &done, MPI_STATUS_IGNORE));
		if (done)
			return;
		sched_yield();
	}
}

void
trial_slowest(const struct transport_team *team, struct timing_sample *samples,
    size_t n)
{
	struct {
		double s;
		int rank;
	} *pairs = xcalloc(n, sizeof(*pairs));
	MPI_Request req;

	for (size_t i = 0; i < n; i++) {
		pairs[i].s = samples[i].s;
		pairs[i].rank = team->rank;
	}
	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, pairs, (int)n, MPI_DOUBLE_INT,
	    MPI_MAXLOC, team->comm, &req));
	MPI_DO(backoff_request(&req));
	for (size_t i = 0; i < n; i++) {
		samples[i].s = pairs[i].s;
		samples[i].rank = pairs[i].rank;
	}
	free(pairs);
}

/* ---- time ---- */

struct together {
	struct exec *const *list;
	size_t count;
	uint32_t lo, hi; /* where count is 1 */
};

static double
trial_once(const struct transport_team *team, const struct together *to)
{
	uint64_t start_ns;

	trial_meet_to_start(team);
	start_ns = clk_ns();
	if (to->count == 1) {
		exec_start(to->list[0], to->lo, to->hi);
		exec_wait(to->list[0]);
	} else {
		exec_run_all(to->list, to->count);
	}
	return (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
}

/* Rank 0's clock decides for all. */
static int
trial_decide(const struct transport_team *team, const struct trial_ask *ask,
    const struct trial *t, uint64_t start_ns)
{
	int decision = STOP_GO_ON;
	struct timing now;
	MPI_Request req;

	timing_of(t->samples, t->count, &now);
	if (timing_known(&now, ask->precision))
		decision = STOP_PRECISION;
	else if (clk_ns() - start_ns >= ask->time_ns)
		decision = STOP_TIME;
	else if (t->count >= ITERATIONS_MAX)
		decision = STOP_COUNT;
	MPI_DO(MPI_Ibcast(&decision, 1, MPI_INT, 0, team->comm, &req));
	MPI_DO(backoff_request(&req));
	return decision;
}

/* One number of each rank, to rank 0. */
static void
trial_gather(const struct transport_team *team, double mine, double **ret)
{
	MPI_Request req;

	if (team->rank == 0)
		*ret = xcalloc((size_t)team->ranks, sizeof(**ret));
	MPI_DO(MPI_Igather(&mine, 1, MPI_DOUBLE, *ret, 1, MPI_DOUBLE, 0,
	    team->comm, &req));
	MPI_DO(backoff_request(&req));
}

/* A device that has had nothing to do runs at a low clock, and takes longer
 * than a few iterations to come up. Rank 0 says when it has had enough. */
static void
trial_warm_up(const struct transport_team *team, const struct together *to)
{
	static uint64_t worked_ns; /* when it last had */
	uint64_t start_ns = clk_ns();
	int go_on = start_ns - worked_ns > COLD_NS;
	MPI_Request req;

	for (;;) {
		MPI_DO(MPI_Ibcast(&go_on, 1, MPI_INT, 0, team->comm, &req));
		MPI_DO(backoff_request(&req));
		worked_ns = clk_ns();
		if (!go_on)
			return;
		trial_once(team, to);
		go_on = clk_ns() - start_ns < WARM_NS;
	}
}

static void
trial_time_together(const struct transport_team *team,
    const struct together *to, const struct trial_ask *ask, struct trial *ret)
{
	double limit_s = (double)ask->time_ns / CLK_NS_PER_S, spent_s = 0;
	double best_s = INFINITY, before_bytes, *sent_bytes = NULL;
	struct cores cores = { 0 }, before;
	uint64_t start_ns;
	int decision;

	memset(ret, 0, sizeof(*ret));
	if (!team->ops->host_access)
		trial_warm_up(team, to);
	before_bytes = fabric_sent_bytes();
	for (int i = 0; i < ask->warmup; i++)
		trial_once(team, to);
	cores_look(&before);
	start_ns = clk_ns();
	do {
		/* As many as there were, so that looks are rare, but none
		 * goes far past the time limit. */
		size_t at = ret->count, n = at > 0 ? at : BATCH_FIRST;

		if (spent_s * 2 > limit_s)
			n = (size_t)(fmax(0, limit_s - spent_s) * (double)n /
			    spent_s);
		if (n > ITERATIONS_MAX / 2)
			n = ITERATIONS_MAX / 2;
		if (ask->iterations > 0)
			n = (size_t)ask->iterations;
		n += n == 0;
		ret->samples = xreallocarray(ret->samples, at + n,
		    sizeof(*ret->samples));
		ret->own_s = xreallocarray(ret->own_s, at + n,
		    sizeof(*ret->own_s));
		for (size_t i = at; i < at + n; i++)
			ret->samples[i].s = ret->own_s[i] = trial_once(team,
			    to);
		trial_slowest(team, ret->samples + at, n);
		ret->count += n;
		for (size_t i = at; i < at + n; i++)
			spent_s += ret->samples[i].s;
		decision = ask->iterations > 0
		    ? STOP_COUNT
		    : trial_decide(team, ask, ret, start_ns);
	} while (decision == STOP_GO_ON);
	cores_add_since(&cores, &before);
	ret->stopped_by = (enum stop)decision;
	ret->runs = (uint64_t)ask->warmup + ret->count;
	trial_gather(team, fmax(0, fabric_sent_bytes() - before_bytes),
	    &sent_bytes);
	for (int i = 0; sent_bytes != NULL && i < team->ranks; i++)
		ret->sent_bytes += sent_bytes[i];
	free(sent_bytes);
	/* The time at which each rank completed its own part: a rank that waits
	 * for no other in a plan can be judged by it. */
	for (size_t i = 0; i < ret->count; i++)
		best_s = fmin(best_s, ret->own_s[i]);
	trial_gather(team, best_s, &ret->rank_best_s);
	trial_gather(team, robust_median(ret->own_s, ret->count), &ret->rank_s);
	trial_gather(team,
	    cores_wait_ratio((double)cores.run_ns / CLK_NS_PER_S,
		(double)cores.wait_ns / CLK_NS_PER_S),
	    &ret->rank_wait_ratio);
}

void
trial_time(struct exec *e, uint32_t lo, uint32_t hi,
    const struct trial_ask *ask, struct trial *ret)
{
	struct together to = { &e, 1, lo, hi };

	trial_time_together(exec_team(e), &to, ask, ret);
}

void
trial_time_all(const struct transport_team *team, struct exec *const *list,
    size_t count, const struct trial_ask *ask, struct trial *ret)
{
	struct together to = { list, count, 0, UINT32_MAX };

	trial_time_together(team, &to, ask, ret);
}

void
trial_clear(struct trial *t)
{
	free(t->samples);
	free(t->own_s);
	free(t->rank_s);
	free(t->rank_best_s);
	free(t->rank_wait_ratio);
	memset(t, 0, sizeof(*t));
}

double
trial_median_s(const struct trial *t)
{
	struct timing tm;

	return timing_of(t->samples, t->count, &tm) < 0 ? NAN
							: tm.median_middle_s;
}

int
trial_compare(const struct transport_team *team, struct exec *e,
    uint64_t iteration, struct exec_fault *ret)
{
	struct exec_fault fault = { 0 };
	int rc = exec_verify(e, iteration, &fault);
	int who = rc < 0 ? team->rank : INT_MAX;
	MPI_Request req;

	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, &who, 1, MPI_INT, MPI_MIN,
	    team->comm, &req));
	MPI_DO(backoff_request(&req));
	if (who == INT_MAX)
		return 0;
	MPI_DO(
	    MPI_Ibcast(&fault, sizeof(fault), MPI_CHAR, who, team->comm, &req));
	MPI_DO(backoff_request(&req));
	*ret = fault;
	return -EBADMSG;
}

int
trial_prove(const struct transport_team *team, struct exec *e,
    uint64_t iteration, struct exec_fault *ret)
{
	exec_fill(e, iteration);
	trial_meet(team); /* no rank writes into a buffer while it is filled */
	exec_run(e);
	trial_meet(team); /* nor while it is compared */
	return trial_compare(team, e, iteration, ret);
}

/* ---- the memory's own speed ---- */

/* Copies within base, all ranks at the same time: bytes a second of all. The
 * clock is the node's, so the time is from the first start to the last end on
 * it: of ranks that take turns on a core each for itself is quick. *ret_own is
 * this rank's part. */
static double
trial_copy_speed(const struct transport_team *team, struct device_stream *s,
    char *base, uint64_t bytes, int times, double *ret_own)
{
	const struct device_ops *ops = team->ops;
	double at_s[2], speed;
	MPI_Request req;

	trial_meet_to_start(team);
	at_s[0] = -(double)clk_ns() / (double)CLK_NS_PER_S;
	/* To wait for a device costs as much as it copies meanwhile: all are on
	 * their way before the wait. */
	for (int i = 0; i < times; i++)
		if (ops->copy(s, base + bytes, base, bytes) < 0)
			fatalx("%s: %s", ops->name, ops->error(team->device));
	if (ops->stream_sync(s) < 0)
		fatalx("%s: %s", ops->name, ops->error(team->device));
	at_s[1] = (double)clk_ns() / (double)CLK_NS_PER_S;
	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, at_s, 2, MPI_DOUBLE, MPI_MAX,
	    team->node_comm, &req));
	MPI_DO(backoff_request(&req));
	*ret_own = speed = (double)bytes * times / (at_s[0] + at_s[1]);
	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, &speed, 1, MPI_DOUBLE, MPI_SUM,
	    team->comm, &req));
	MPI_DO(backoff_request(&req));
	return speed;
}

double
trial_memory(const struct transport_team *team, uint64_t bytes,
    double **ret_rank_per_s)
{
	const struct device_ops *ops = team->ops;
	struct device_stream *s = NULL;
	double best = 0, best_own = 0, own, all_bytes;
	struct device_facts facts = { 0 };
	uint64_t most = MEMORY_MAX;
	void *base = NULL;
	int times;

	/* A device copies in parallel, and its cache is as large as what is
	 * enough for the host. */
	if (!ops->host_access && ops->facts(team->device, &facts) >= 0) {
		most = facts.free_bytes / (8 * (unsigned)team->gpu_ranks);
		most = most < DEVICE_MAX ? most : DEVICE_MAX;
	}
	if (bytes > most)
		bytes = most;
	bytes += bytes == 0;
	if (ops->alloc(team->device, 2 * bytes, &base) < 0 ||
	    ops->stream_new(team->device, &s) < 0 ||
	    ops->fill(s, base, 1, 2 * bytes) < 0)
		fatalx("%s: %s", ops->name, ops->error(team->device));
	all_bytes = (double)bytes * team->ranks;
	times = 1 +
	    (int)(MEMORY_TIME_S *
		trial_copy_speed(team, s, base, bytes, 1, &own) / all_bytes);
	if (!ops->host_access && times < DEVICE_COPIES)
		times = DEVICE_COPIES;
	for (int i = 0; i < MEMORY_ROUNDS; i++) {
		double speed = trial_copy_speed(team, s, base, bytes, times,
		    &own);

		if (speed > best) {
			best = speed;
			best_own = own;
		}
	}
	if (ret_rank_per_s != NULL)
		trial_gather(team, best_own, ret_rank_per_s);
	ops->stream_free(s);
	ops->free(team->device, base);
	return best;
}
