/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.c - how any baseline is opened, proven and closed, and those that
 * are small: of stripes and of bindings.
 */

#include "probes/measure/baseline.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/execute/fill.h"
#include "probes/execute/trial.h"
#include "probes/job/world.h"
#include "probes/measure/ab_timing.h"
#include "probes/pattern/builders.h"

#define PROVE_DATA        1 /* "iteration" of fill: any number */
#define SEND_BUF          0
#define SYNCHRONOUS_STEPS 3 /* of a stripe that takes a detour */

void
baseline_open(const struct baseline_row *row, struct exec *e,
    const struct plan *p, struct beside *ret)
{
	struct baseline *b = xcalloc(1, row->bytes);

	memset(ret, 0, sizeof(*ret));
	b->row = row;
	b->exec = e;
	b->team = exec_team(e);
	b->plan = p;
	b->name = ret->name = row->name;
	ret->rc = row->open(b, &ret->err);
	if (ret->rc == 0) {
		ret->rc = row->prove(b);
		if (ret->rc == 0) {
			ret->baseline = b;
			ret->name = b->name;
			return;
		}
		err_say(&ret->err, "%s produced different data", b->name);
		row->close(b);
	}
	free(b);
}

void
baseline_close(struct beside *x)
{
	if (x->baseline != NULL)
		x->baseline->row->close(x->baseline);
	free(x->baseline);
	ab_timing_clear(&x->turns);
	memset(x, 0, sizeof(*x));
}

/* ---- a striped message in one piece, and with barriers ---- */

struct direct {
	struct baseline base;
	struct plan *plan;
	struct exec *exec;
};

static int
baseline_direct_open(struct baseline *b, struct err *err)
{
	struct direct *d = (struct direct *)b;
	int rc;

	d->plan = stripe_direct(b->plan);
	rc = exec_new(b->team, d->plan, &d->exec, err);
	if (rc < 0)
		plan_free(d->plan);
	return rc;
}

static int
baseline_direct_prove(struct baseline *b)
{
	struct exec_fault fault;

	return trial_prove(b->team, ((struct direct *)b)->exec, PROVE_DATA,
	    &fault);
}

static void
baseline_direct_run_cb(void *b)
{
	exec_run(((struct direct *)b)->exec);
}

static void
baseline_direct_close(struct baseline *b)
{
	exec_free(((struct direct *)b)->exec);
	plan_free(((struct direct *)b)->plan);
}

const struct baseline_row baseline_direct = { "direct", sizeof(struct direct),
	baseline_direct_open, baseline_direct_prove, baseline_direct_run_cb,
	baseline_direct_close };

/* It runs the plan itself, so there is nothing to prove or to close. */
static int
baseline_synchronous_open(struct baseline *b, struct err *err)
{
	if (b->plan->steps == SYNCHRONOUS_STEPS)
		return 0;
	return err_set(err, -ENOTSUP,
	    "the synchronous baseline needs a plan of %d steps; this plan has "
	    "%u",
	    SYNCHRONOUS_STEPS, b->plan->steps);
}

static int
baseline_synchronous_prove(struct baseline *b)
{
	(void)b;
	return 0;
}

/* All ranks end a step before any begins the next. */
static void
baseline_synchronous_run_cb(void *arg)
{
	struct baseline *b = arg;

	for (uint32_t i = 0; i < b->plan->steps; i++) {
		if (i > 0)
			trial_meet(b->team);
		exec_start(b->exec, i, i + 1);
		exec_wait(b->exec);
	}
}

static void
baseline_synchronous_close(struct baseline *b)
{
	(void)b;
}

const struct baseline_row baseline_synchronous = { "synchronous",
	sizeof(struct baseline), baseline_synchronous_open,
	baseline_synchronous_prove, baseline_synchronous_run_cb,
	baseline_synchronous_close };

/* ---- blocks for the 2g ranks of a binding ---- */

struct blocks {
	struct baseline base;
	MPI_Comm
	    comm; /* of the ranks that take part; MPI_COMM_NULL at others */
	uint32_t ranks;
	int block_bytes;
	char *send, *recv;
};

static int
baseline_blocks_open(struct baseline *b, struct err *err)
{
	struct blocks *k = (struct blocks *)b;
	uint32_t g = b->plan->steps / 3;
	uint64_t bytes = b->plan->transfers[0].bytes;

	if (strcmp(b->team->ops->name, "host") != 0)
		return err_set(err, -ENOTSUP,
		    "the baseline supports host memory only");
	if (bytes / g > INT_MAX)
		return err_set(err, -ENOTSUP, "the count exceeds MPI's int");
	if (bytes < g)
		return err_set(err, -ENOTSUP,
		    "each device would send less than one byte");
	k->ranks = 2 * g;
	k->block_bytes = (int)(bytes / g);
	MPI_DO(MPI_Comm_split(b->team->comm,
	    (uint32_t)b->team->rank < k->ranks ? 0 : MPI_UNDEFINED,
	    b->team->rank, &k->comm));
	if (k->comm == MPI_COMM_NULL)
		return 0;
	k->send = xcalloc((size_t)k->ranks * (size_t)k->block_bytes + 1, 1);
	k->recv = xcalloc((size_t)k->ranks * (size_t)k->block_bytes + 1, 1);
	return 0;
}

static void
baseline_blocks_close(struct baseline *b)
{
	struct blocks *k = (struct blocks *)b;

	if (k->comm != MPI_COMM_NULL)
		MPI_Comm_free(&k->comm);
	free(k->send);
	free(k->recv);
}

static void
baseline_scatter_run_cb(void *b)
{
	struct blocks *k = b;

	if (k->comm != MPI_COMM_NULL)
		MPI_DO(MPI_Scatter(k->send, k->block_bytes, MPI_BYTE, k->recv,
		    k->block_bytes, MPI_BYTE, 0, k->comm));
}

static void
baseline_alltoall_run_cb(void *b)
{
	struct blocks *k = b;

	if (k->comm != MPI_COMM_NULL)
		MPI_DO(MPI_Alltoall(k->send, k->block_bytes, MPI_BYTE, k->recv,
		    k->block_bytes, MPI_BYTE, k->comm));
}

static void
baseline_block_fill(const struct blocks *k, uint32_t from, uint32_t to,
    char *at)
{
	struct fill f = { .op = PLAN_COPY };

	fill_make(&f, PROVE_DATA, from, SEND_BUF,
	    (uint64_t)to * (uint64_t)k->block_bytes, at,
	    (size_t)k->block_bytes);
}

static int
baseline_blocks_prove(struct baseline *b)
{
	struct blocks *k = (struct blocks *)b;
	uint32_t rank = (uint32_t)b->team->rank, senders;
	size_t block = (size_t)k->block_bytes;
	char *want = xcalloc(block + 1, 1);
	int rc = 0;

	senders = b->row == &baseline_scatter ? 1 : k->ranks;
	for (uint32_t i = 0; k->comm != MPI_COMM_NULL && i < k->ranks; i++)
		baseline_block_fill(k, rank, i, k->send + i * block);
	b->row->run(b);
	for (uint32_t i = 0; k->comm != MPI_COMM_NULL && i < senders; i++) {
		baseline_block_fill(k, i, rank, want);
		if (memcmp(k->recv + i * block, want, block) != 0)
			rc = -EBADMSG;
	}
	free(want);
	return transport_agree(b->team, rc);
}

const struct baseline_row baseline_scatter = { "MPI_Scatter",
	sizeof(struct blocks), baseline_blocks_open, baseline_blocks_prove,
	baseline_scatter_run_cb, baseline_blocks_close };
const struct baseline_row baseline_alltoall = { "MPI_Alltoall",
	sizeof(struct blocks), baseline_blocks_open, baseline_blocks_prove,
	baseline_alltoall_run_cb, baseline_blocks_close };
