/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - waits of a rank while others measure: poll, idle hook, sleep; and
 * waits of a rank that measures, with a limit.
 */

#include "probes/job/control.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "probes/job/rank_watch.h"
#include "probes/job/world.h"

#define NAP_FIRST_NS CLK_NS_PER_MS
#define NAP_LAST_NS  (5 * CLK_NS_PER_MS)

static void (*idle_hook)(void *arg);
static void *idle_arg;

void
control_set_idle(void (*hook)(void *arg), void *arg)
{
	idle_hook = hook;
	idle_arg = arg;
}

int
control_done(MPI_Request *req)
{
	int done;

	MPI_DO(MPI_Test(req, &done, MPI_STATUS_IGNORE));
	return done;
}

void
control_wait(MPI_Request *req)
{
	uint64_t nap_ns = NAP_FIRST_NS;

	while (!control_done(req)) {
		if (idle_hook != NULL)
			idle_hook(idle_arg);
		clk_sleep_ns(nap_ns);
		if (nap_ns < NAP_LAST_NS)
			nap_ns += NAP_FIRST_NS / 2;
	}
}

void
control_barrier(MPI_Comm comm)
{
	MPI_Request req;

	MPI_DO(MPI_Ibarrier(comm, &req));
	control_wait(&req);
}

double
control_max(MPI_Comm comm, double mine)
{
	MPI_Request req;

	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, comm,
	    &req));
	control_wait(&req);
	return mine;
}

/* ---- exchanges ---- */

#define TAG_AGREE 703
#define TAG_SUM   704
/* More than the exchanges between two agreements. */
#define AT_STEP (1ULL << 24)
/* Polls between two looks at the clock. Fast messages need no more; if other
 * processes have the core, even this many take milliseconds. */
#define LOOKS   64
#define SLOW_NS CLK_NS_PER_MS
/* Where ranks share cores, the partner may need this one: after this time a
 * rank offers it between any two polls. Where they do not, an offer takes less
 * than 1 % of the wait so far. */
#define SPIN_NS (100 * CLK_NS_PER_US)
/* How long the other ranks have to report that they are stuck too. The
 * collector waits for less. */
#define LAST_WORDS_NS (4 * CLK_NS_PER_S)

struct pace {
	unsigned polls;
	uint64_t since_ns; /* 0: the clock was not read yet */
	int is_long;
};

/* After a poll without success: 0 if it is too early for the clock, otherwise 1
 * and the time now. */
static int
control_pace(struct pace *p, uint64_t *ret_now_ns)
{
	if (!p->is_long && ++p->polls % LOOKS != 0)
		return 0;
	*ret_now_ns = clk_ns();
	if (p->since_ns == 0)
		p->since_ns = *ret_now_ns;
	p->is_long = *ret_now_ns - p->since_ns > SPIN_NS;
	if (p->is_long)
		sched_yield();
	return 1;
}

void
control_complete(MPI_Request *req)
{
	struct pace pace = { 0 };
	uint64_t now_ns;

	while (!control_done(req))
		control_pace(&pace, &now_ns);
}

static void
control_say(const struct rank_stuck *s)
{
	log_warnx("stuck with rank %d on %s for %.1f s (%s)", s->rank, s->node,
	    s->waited_s, s->what);
	rank_watch_stuck(s);
}

void
control_stuck(const struct world *w, const char *what, const int *ranks,
    const int *nodes, int count, uint64_t at, uint64_t waited_ns)
{
	for (int i = 0; i < count; i++)
		control_say(
		    &(struct rank_stuck){ ranks[i], w->names[nodes[ranks[i]]],
			what, (double)waited_ns / (double)CLK_NS_PER_S, at });
	clk_sleep_ns(LAST_WORDS_NS);
	fatalx("run aborted: stuck");
}

static void
control_say_stuck(const struct world *w, const struct control_peers *p,
    int peer, uint64_t waited_ns)
{
	int in_group, in_all, of = p->ranks[peer];
	MPI_Group group, role, all;
	struct rank_stuck s = { .what = p->what,
		.waited_s = (double)waited_ns / (double)CLK_NS_PER_S,
		.at = w->at };

	MPI_DO(MPI_Comm_group(p->comm, &group));
	MPI_DO(MPI_Comm_group(w->group, &role));
	MPI_DO(MPI_Comm_group(w->control, &all));
	MPI_DO(MPI_Group_translate_ranks(group, 1, &of, role, &in_group));
	MPI_DO(MPI_Group_translate_ranks(group, 1, &of, all, &in_all));
	s.rank = in_all;
	s.node = w->names[w->group_nodes[in_group]];
	control_say(&s);
}

static void
control_give_up(const struct world *w, const struct control_peers *p,
    const MPI_Request *reqs, int count, uint64_t waited_ns)
{
	int stuck[CONTROL_REQS_MAX] = { 0 };

	for (int i = 0; i < (reqs == NULL ? p->count : count); i++)
		stuck[i % p->count] |= reqs == NULL ||
		    reqs[i] != MPI_REQUEST_NULL;
	for (int peer = 0; peer < p->count; peer++) {
		for (int k = 0; k < peer; k++)
			if (stuck[k] && p->ranks[k] == p->ranks[peer])
				stuck[peer] = 0;
		if (stuck[peer])
			control_say_stuck(w, p, peer, waited_ns);
	}
	clk_sleep_ns(LAST_WORDS_NS);
	fatalx("run aborted: stuck");
}

/* Made beforehand: a signal's handler makes no text. */
static char watch_line[RANK_STUCK_BYTES], watch_text[RANK_STUCK_BYTES];
static unsigned watch_s; /* 0: not watched */

/* A message of a later exchange: its sender has left the barrier, so that all
 * ranks have entered it. */
static int
control_is_passed(const struct world *w, uint64_t waited_ns)
{
	int found = 0;

	if (w->stuck_ns > 0 && waited_ns > w->stuck_ns &&
	    w->slice != MPI_COMM_NULL)
		MPI_DO(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->slice, &found,
		    MPI_STATUS_IGNORE));
	return found;
}

void
control_meet(const struct world *w, const char *what)
{
	struct pace pace = { 0 };
	uint64_t now_ns;
	MPI_Request req;

	MPI_DO(MPI_Ibarrier(w->group, &req));
	while (!control_done(&req)) {
		if (!control_pace(&pace, &now_ns) ||
		    !control_is_passed(w, now_ns - pace.since_ns))
			continue;
		rank_watch_stuck(&(struct rank_stuck){ -1, "-", what,
		    (double)(now_ns - pace.since_ns) / (double)CLK_NS_PER_S,
		    w->at });
		log_warnx("stuck in a barrier that others have left (%s)",
		    what);
		clk_sleep_ns(LAST_WORDS_NS);
		fatalx("run aborted: stuck");
	}
}

void
control_exchange(struct world *w, const struct control_peers *p,
    MPI_Request *reqs, int count)
{
	int done, moved, is_slow = 0, which[CONTROL_REQS_MAX];
	struct pace pace = { 0 };
	uint64_t now_ns;

	w->at++;
	for (;;) {
		MPI_DO(MPI_Testall(count, reqs, &done, MPI_STATUSES_IGNORE));
		if (done)
			break;
		if (!control_pace(&pace, &now_ns) ||
		    (!is_slow && now_ns - pace.since_ns < SLOW_NS))
			continue;
		if (!is_slow)
			alarm(0); /* this wait has a name */
		is_slow = 1;
		/* A slow network is not a dead one. */
		MPI_DO(MPI_Testsome(count, reqs, &moved, which,
		    MPI_STATUSES_IGNORE));
		if (moved == MPI_UNDEFINED)
			break;
		if (moved > 0) {
			pace.since_ns = now_ns;
			continue;
		}
		if (p->limit_ns > 0 && now_ns - pace.since_ns > p->limit_ns)
			control_give_up(w, p, reqs, count,
			    now_ns - pace.since_ns);
	}
	if (is_slow)
		alarm(watch_s);
}

void
control_until(struct world *w, const struct control_peers *p,
    int (*done)(void *arg), void *arg)
{
	struct pace pace = { 0 };
	uint64_t now_ns;
	int is_slow = 0;

	w->at++;
	while (!done(arg)) {
		if (!control_pace(&pace, &now_ns) ||
		    now_ns - pace.since_ns < SLOW_NS)
			continue;
		if (!is_slow && p->limit_ns > 0)
			alarm(0); /* this wait has a name */
		is_slow = 1;
		if (p->limit_ns > 0 && now_ns - pace.since_ns > p->limit_ns)
			control_give_up(w, p, NULL, 0, now_ns - pace.since_ns);
	}
	if (is_slow && p->limit_ns > 0)
		alarm(watch_s);
}

/* A round lasts no longer than its limit and the chunk in which it is passed,
 * of a few exchanges at least. */
static uint64_t
control_round_limit_ns(const struct world *w)
{
	return w->stuck_ns == 0 ? 0 : w->timeout_ns + 4 * w->stuck_ns;
}

/* A dissemination barrier: each rank sends its value to the ranks 1, 2, 4, ...
 * further. A rank that is in MPI for too long reports this before others report
 * it. */
double
control_agree(struct world *w, const char *what, double mine)
{
	int rank = w->group_rank, size = w->group_size;
	uint64_t limit_ns = w->stuck_ns == 0
	    ? 0
	    : control_round_limit_ns(w) + w->stuck_ns + 2 * CLK_NS_PER_S;

	w->at = (w->at / AT_STEP + 1) * AT_STEP;
	for (int far = 1; far < size; far *= 2) {
		int ranks[2] = { (rank - far + size) % size,
			(rank + far) % size };
		struct control_peers p = { .what = what,
			.comm = w->group,
			.ranks = ranks,
			.count = 2,
			.limit_ns = limit_ns };
		MPI_Request reqs[2];
		double theirs;

		MPI_DO(MPI_Irecv(&theirs, 1, MPI_DOUBLE, ranks[0], TAG_AGREE,
		    w->group, &reqs[0]));
		MPI_DO(MPI_Isend(&mine, 1, MPI_DOUBLE, ranks[1], TAG_AGREE,
		    w->group, &reqs[1]));
		control_exchange(w, &p, reqs, 2);
		mine = theirs > mine ? theirs : mine;
	}
	return mine;
}

/* A binomial tree: in each step, every second rank that is left sends its sum
 * and leaves. A rank without a partner counts the step too. */
void
control_sum(struct world *w, const char *what, uint64_t *sum, uint64_t *other,
    int count)
{
	int rank = w->group_rank;

	for (int far = 1; far < w->group_size; far *= 2) {
		int sends = (rank & far) != 0;
		int peer = sends ? rank - far : rank + far;
		struct control_peers p = { .what = what,
			.comm = w->group,
			.ranks = &peer,
			.count = 1,
			.limit_ns = w->stuck_ns };
		MPI_Request req;

		if (rank % far != 0 || peer >= w->group_size) {
			w->at++;
			continue;
		}
		if (sends)
			MPI_DO(MPI_Isend(sum, count, MPI_UINT64_T, peer,
			    TAG_SUM, w->group, &req));
		else
			MPI_DO(MPI_Irecv(other, count, MPI_UINT64_T, peer,
			    TAG_SUM, w->group, &req));
		control_exchange(w, &p, &req, 1);
		for (int i = 0; !sends && i < count; i++)
			sum[i] += other[i];
	}
}

static void
control_watch_over(int signo)
{
	(void)signo;
	rank_watch_send(watch_line);
	(void)!write(STDERR_FILENO, watch_text, strlen(watch_text));
	poll(NULL, 0, (int)(LAST_WORDS_NS / CLK_NS_PER_MS));
	_exit(1);
}

static void
control_watch_for(const struct world *w, const char *what, unsigned limit_s,
    uint64_t at)
{
	signal(SIGALRM, control_watch_over);
	watch_s = limit_s;
	alarm(0);
	if (watch_s == 0)
		return;
	rank_watch_stuck_line(&(struct rank_stuck){ -1, "-", what, watch_s,
				  at },
	    watch_line);
	snprintf(watch_text, sizeof(watch_text),
	    "coalmine-probe: rank %d node %s: stuck for %u s; MPI does not "
	    "report the peer (%s)\n",
	    w->rank, w->names[w->node], watch_s, what);
	alarm(watch_s);
}

void
control_watch(const struct world *w, const char *what)
{
	control_watch_for(w, what,
	    what == NULL || w->stuck_ns == 0
		? 0
		: (unsigned)(control_round_limit_ns(w) / CLK_NS_PER_S) + 1,
	    w->at);
}

/* A rank that waits in MPI has completed its part, so that it is not behind. */
void
control_watch_plan(const struct world *w, uint64_t limit_ns)
{
	control_watch_for(w, NAMES_PLAN,
	    limit_ns == 0 ? 0 : (unsigned)(limit_ns / CLK_NS_PER_S) + 1,
	    INT64_MAX);
}

void
control_watch_again(void)
{
	if (watch_s > 0)
		alarm(watch_s);
}
