/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/compare/binding_run.h"
#include "probes/execute/fill.h"
#include "probes/compare/ab_timing.h"

#define PROVE_DATA 1 /* "iteration" of fill: any number */
#define SEND_BUF   0

/* Blocks for 2g ranks, on the ranks that take part. */
struct baseline {
	MPI_Comm comm; /* MPI_COMM_NULL at others */
	uint32_t ranks;
	int block_bytes;
	char *send, *recv;
};

static void
scatter_cb(void *arg)
{
	struct baseline *r = arg;

	if (r->comm != MPI_COMM_NULL)
		MPI_DO(MPI_Scatter(r->send, r->block_bytes, MPI_BYTE, r->recv,
		    r->block_bytes, MPI_BYTE, 0, r->comm));
}

static void
alltoall_cb(void *arg)
{
	struct baseline *r = arg;

	if (r->comm != MPI_COMM_NULL)
		MPI_DO(MPI_Alltoall(r->send, r->block_bytes, MPI_BYTE, r->recv,
		    r->block_bytes, MPI_BYTE, r->comm));
}

static const struct {
	const char *name;
	enum binding_part part;
	int all; /* k is g, and every rank's blocks arrive */
	void (*run)(void *arg);
} rivals[BINDING_RIVALS] = {
	{ "MPI_Scatter", BINDING_ASYMMETRIC, 0, scatter_cb },
	{ "MPI_Alltoall", BINDING_BOTH, 1, alltoall_cb },
};

static void
baseline_open(struct baseline *r, const struct transport_team *team,
    const struct binding_run *b)
{
	size_t bytes;

	memset(r, 0, sizeof(*r));
	r->ranks = 2 * b->g;
	r->block_bytes = (int)(b->bytes / b->g);
	MPI_DO(MPI_Comm_split(team->comm,
	    (uint32_t)team->rank < r->ranks ? 0 : MPI_UNDEFINED, team->rank,
	    &r->comm));
	if (r->comm == MPI_COMM_NULL)
		return;
	bytes = (size_t)r->ranks * (size_t)r->block_bytes;
	r->send = xcalloc(bytes + 1, 1);
	r->recv = xcalloc(bytes + 1, 1);
}

static void
baseline_close(struct baseline *r)
{
	if (r->comm != MPI_COMM_NULL)
		MPI_Comm_free(&r->comm);
	free(r->send);
	free(r->recv);
}

static void
block_fill(const struct baseline *r, uint32_t from, uint32_t to, char *at)
{
	struct fill f = { .op = PLAN_COPY };

	fill_make(&f, PROVE_DATA, from, SEND_BUF,
	    (uint64_t)to * (uint64_t)r->block_bytes, at,
	    (size_t)r->block_bytes);
}

/* Run once and compare: 0 or -EBADMSG, on every rank the same. */
static int
baseline_prove(struct baseline *r, const struct transport_team *team, int which)
{
	uint32_t rank = (uint32_t)team->rank;
	size_t block = (size_t)r->block_bytes;
	char *want = xcalloc(block + 1, 1);
	int rc = 0;

	for (uint32_t i = 0; r->comm != MPI_COMM_NULL && i < r->ranks; i++)
		block_fill(r, rank, i, r->send + i * block);
	rivals[which].run(r);
	for (uint32_t i = 0; r->comm != MPI_COMM_NULL && i < r->ranks; i++) {
		if (i > 0 && !rivals[which].all)
			break;
		block_fill(r, i, rank, want);
		if (memcmp(r->recv + i * block, want, block) != 0)
			rc = -EBADMSG;
	}
	free(want);
	return transport_agree(team, rc);
}

static int
rivals_refuse(const struct binding_run *b, const struct transport_team *team,
    struct err *err)
{
	if (strcmp(team->ops->name, "host") != 0)
		err_say(err, "buffers are not in the processor's reach");
	else if (b->bytes / b->g > INT_MAX)
		err_say(err, "MPI counts with int");
	else if (b->bytes < b->g)
		err_say(err, "less than a byte for each device");
	else
		return 0;
	return -ENOTSUP;
}

void
binding_run_rivals(struct binding_run *b, const struct transport_team *team,
    const struct trial_ask *ask)
{
	struct baseline r;
	struct err err = { 0 };
	int rc = rivals_refuse(b, team, &err);

	for (int i = 0; i < BINDING_RIVALS; i++) {
		b->rivals[i].name = rivals[i].name;
		b->rivals[i].part = rivals[i].part;
		b->rivals[i].k = rivals[i].all ? b->g : 1;
		b->rivals[i].err = err;
	}
	if (rc < 0)
		return;
	baseline_open(&r, team, b);
	for (int i = 0; i < BINDING_RIVALS; i++) {
		struct ab_timing v = { .sides = 1 };

		if (baseline_prove(&r, team, i) < 0) {
			err_say(&b->rivals[i].err, "%s gave other data",
			    rivals[i].name);
			continue;
		}
		v.side[0].run = rivals[i].run;
		v.side[0].arg = &r;
		ab_timing_time(team, ask, &v);
		b->rivals[i].trial = v.side[0].trial; /* handed over */
	}
	baseline_close(&r);
}
