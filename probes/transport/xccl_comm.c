/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl_comm.c - creation and reuse of communicators.
 *
 * Creating one takes seconds and hundreds of megabytes of each device, so a
 * team keeps them by their members until it ends. Two existing plans never
 * share one: ranks would match messages of different plans.
 * Every rank keeps the same list, even ranks outside of a communicator, so all
 * know which are free.
 *
 * Calls block, as in the library's own benchmarks. A call that waits for other
 * ranks runs in a separate thread, so that a rank that never comes is an error.
 */
#include "probes/transport/xccl_comm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/transport/backoff.h"

#define JOIN_S         60 /* and a second more for as many ranks: */
#define RANKS_PER_JOIN 10
#define ONE_CONNECTION "1"

static SLIST_HEAD(, xccl_comm) comms = SLIST_HEAD_INITIALIZER(comms);

/* ---- calls that wait for other ranks ---- */

struct waiting {
	const struct transport_team *team;
	int (*call)(void *arg);
	void *arg;
	int result;
	atomic_int done;
};

static void *
xccl_comm_call_main(void *arg)
{
	struct waiting *w = arg;
	struct device_facts facts;

	/* The device is current in the thread that asks it. */
	(void)w->team->ops->facts(w->team->device, &facts);
	w->result = w->call(w->arg);
	atomic_store(&w->done, 1);
	return NULL;
}

int
xccl_within(const struct transport_team *team, int (*call)(void *arg),
    void *arg, int *ret_result, struct err *err)
{
	uint64_t limit_s = JOIN_S + (uint64_t)team->ranks / RANKS_PER_JOIN;
	uint64_t end_ns = clk_ns() + limit_s * CLK_NS_PER_S;
	struct waiting *w = xcalloc(1, sizeof(*w));
	pthread_t thread;
	int rc;

	*w = (struct waiting){ .team = team, .call = call, .arg = arg };
	rc = pthread_create(&thread, NULL, xccl_comm_call_main, w);
	if (rc != 0) {
		free(w);
		return err_set(err, -rc,
		    "xccl: cannot create a thread: %s; raise the limit on "
		    "processes, ulimit -u",
		    strerror(rc));
	}
	while (!atomic_load(&w->done)) {
		if (clk_ns() > end_ns) {
			pthread_detach(thread); /* it keeps w and arg */
			return err_set(err, -ETIMEDOUT,
			    "xccl: a rank did not connect to the others "
			    "within %d s; run again with NCCL_DEBUG=INFO",
			    (int)limit_s);
		}
		clk_sleep_ns(CLK_NS_PER_MS / 4);
	}
	pthread_join(thread, NULL);
	*ret_result = w->result;
	free(w);
	return 0;
}

/* ---- meeting ---- */

/* The members of a new communicator: ranks of comm. The root makes the id.
 * number: of this rank in the communicator, -1: not a member. */
struct meeting {
	MPI_Comm comm;
	int root, number;
};

/* From the root to all; its result on all ranks. */
static int
xccl_comm_share_id(const struct xccl_comm *c, const struct meeting *m,
    struct xccl_id *ret)
{
	struct {
		int result;
		struct xccl_id id;
	} news = { 0 };
	MPI_Request req;
	int rank;

	MPI_Comm_rank(m->comm, &rank);
	if (rank == m->root && c->lib != NULL)
		news.result = c->lib->get_unique_id(&news.id);
	MPI_Ibcast(&news, sizeof(news), MPI_BYTE, m->root, m->comm, &req);
	backoff_request(&req);
	*ret = news.id;
	return news.result;
}

struct join {
	const struct xccl_comm *c;
	int number;
	struct xccl_id id;
	void *native;
};

static int
xccl_comm_join_call(void *arg)
{
	struct join *j = arg;

	return j->c->lib->comm_init_rank(&j->native, j->c->members, j->id,
	    j->number);
}

static int
xccl_comm_join(struct xccl_comm *c, const struct meeting *m, struct err *err)
{
	const char *one = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
	struct join *j = xcalloc(1, sizeof(*j));
	int result, rc;

	if (one != NULL && strcmp(one, ONE_CONNECTION) == 0 &&
	    !SLIST_EMPTY(&comms))
		log_warnx("CUDA_DEVICE_MAX_CONNECTIONS = 1: two concurrent "
			  "plans by xccl may deadlock");
	j->c = c;
	j->number = m->number;
	result = xccl_comm_share_id(c, m, &j->id);
	if (result == XCCL_SUCCESS && m->number >= 0) {
		rc = xccl_within(c->team, xccl_comm_join_call, j, &result, err);
		if (rc < 0)
			return rc; /* the thread keeps j */
		c->native = j->native;
	}
	free(j);
	if (result == XCCL_SUCCESS)
		return 0;
	return err_set(err, -ENOTSUP, "%s: cannot join the communicator: %s",
	    c->lib != NULL ? c->lib->name : "xccl",
	    c->lib != NULL ? c->lib->error_string(result)
			   : "rank 0 sent no communicator id");
}

/* ---- which ---- */

static void
xccl_comm_free(struct xccl_comm *c, int broken)
{
	/* Others may still wait for what this rank sent last: finalize first.
	 */
	if (c->native != NULL && !broken && c->lib->comm_finalize != NULL)
		c->lib->comm_finalize(c->native);
	if (c->native != NULL && broken)
		c->lib->comm_abort(c->native);
	else if (c->native != NULL)
		c->lib->comm_destroy(c->native);
	free(c->numbers);
	free(c);
}

int
xccl_comm_take(const struct transport_team *team, const struct xccl_lib *lib,
    const int *numbers, struct xccl_comm **ret, struct err *err)
{
	size_t bytes = (size_t)team->ranks * sizeof(*numbers);
	struct meeting m = { team->comm, 0, numbers[team->rank] };
	struct xccl_comm *c;
	int rc;

	SLIST_FOREACH (c, &comms, next)
		if (c->team == team && !c->taken &&
		    memcmp(c->numbers, numbers, bytes) == 0)
			break;
	if (c == NULL) {
		c = xcalloc(1, sizeof(*c));
		c->team = team;
		c->lib = lib;
		c->numbers = xcalloc((size_t)team->ranks, sizeof(*numbers));
		memcpy(c->numbers, numbers, bytes);
		for (int r = 0; r < team->ranks; r++)
			c->members += numbers[r] >= 0;
		while (numbers[m.root] < 0)
			m.root++;
		rc = transport_agree_why(team, xccl_comm_join(c, &m, err), NULL,
		    err);
		if (rc < 0) {
			xccl_comm_free(c, 1);
			return rc;
		}
		SLIST_INSERT_HEAD(&comms, c, next);
	}
	c->taken = 1;
	*ret = c;
	return 0;
}

void
xccl_comm_give(struct xccl_comm *c, int broken)
{
	if (c == NULL)
		return;
	c->taken = 0;
	if (!broken)
		return;
	SLIST_REMOVE(&comms, c, xccl_comm, next);
	xccl_comm_free(c, 1);
}

void
xccl_comms_end(const struct transport_team *team)
{
	struct xccl_comm *c, *after;

	for (c = SLIST_FIRST(&comms); c != NULL; c = after) {
		after = SLIST_NEXT(c, next);
		if (c->team != team)
			continue;
		SLIST_REMOVE(&comms, c, xccl_comm, next);
		xccl_comm_free(c, 0);
	}
}

/* ---- without a plan ---- */

int
xccl_comm_of(const struct transport_team *team, MPI_Comm comm,
    struct xccl_comm **ret, struct err *err)
{
	struct xccl_comm *c = xcalloc(1, sizeof(*c));
	struct meeting m = { .comm = comm };
	int rc, all;

	c->team = team;
	err->text[0] = '\0';
	MPI_Comm_size(comm, &c->members);
	MPI_Comm_rank(comm, &m.number);
	rc = xccl_lib_open(team->ops->name, &c->lib, err);
	MPI_Allreduce(&rc, &all, 1, MPI_INT, MPI_MIN, comm);
	if (all == 0) {
		rc = xccl_comm_join(c, &m, err);
		MPI_Allreduce(&rc, &all, 1, MPI_INT, MPI_MIN, comm);
	}
	if (all < 0) {
		if (rc == 0)
			err_say(err,
			    "xccl: another rank could not join the "
			    "communicator");
		xccl_comm_free(c, 1);
		return all;
	}
	*ret = c; /* handed over */
	return 0;
}

void
xccl_comm_end(struct xccl_comm *c)
{
	if (c != NULL)
		xccl_comm_free(c, 0);
}
