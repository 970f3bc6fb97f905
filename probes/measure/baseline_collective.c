/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_collective.c - the collective of MPI, or on GPU memory of the
 * vendor's library, that does the same as a plan of the builders collective or
 * allreduce.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/job/world.h"
#include "probes/measure/baseline.h"
#include "probes/pattern/pattern.h"
#include "probes/catalog/patterns.h"
#include "probes/transport/xccl_coll.h"

#define WORDS_MAX 32

struct collective {
	struct baseline base;
	const struct collective_row *row;
	struct xccl_coll *xccl;      /* in the place of row; or NULL */
	uint16_t send_buf, recv_buf; /* of the plan */
	uint64_t send_bytes, recv_bytes;
	char *send, *recv;
	int count, all; /* elements of a block, of a block for every rank */
	int root;
	MPI_Datatype type;
	MPI_Op op;
};

struct collective_row {
	const char *of, *name;
	int reduces;
	int root_keeps; /* the root's recv is not written */
	int (*run)(struct collective *r);
};

static int
baseline_collective_bcast(struct collective *r)
{
	return MPI_Bcast(r->base.team->rank == r->root ? r->send : r->recv,
	    r->all, r->type, r->root, r->base.team->comm);
}

static int
baseline_collective_reduce(struct collective *r)
{
	return MPI_Reduce(r->send, r->recv, r->all, r->type, r->op, r->root,
	    r->base.team->comm);
}

static int
baseline_collective_gather(struct collective *r)
{
	return MPI_Gather(r->send, r->count, r->type, r->recv, r->count,
	    r->type, r->root, r->base.team->comm);
}

static int
baseline_collective_scatter(struct collective *r)
{
	return MPI_Scatter(r->send, r->count, r->type, r->recv, r->count,
	    r->type, r->root, r->base.team->comm);
}

static int
baseline_collective_allgather(struct collective *r)
{
	return MPI_Allgather(r->send, r->count, r->type, r->recv, r->count,
	    r->type, r->base.team->comm);
}

static int
baseline_collective_reduce_scatter(struct collective *r)
{
	return MPI_Reduce_scatter_block(r->send, r->recv, r->count, r->type,
	    r->op, r->base.team->comm);
}

static int
baseline_collective_allreduce(struct collective *r)
{
	return MPI_Allreduce(r->send, r->recv, r->all, r->type, r->op,
	    r->base.team->comm);
}

static int
baseline_collective_alltoall(struct collective *r)
{
	return MPI_Alltoall(r->send, r->count, r->type, r->recv, r->count,
	    r->type, r->base.team->comm);
}

static const MPI_Datatype types[PLAN_TYPE_MAX] = {
	[PLAN_INT32] = MPI_INT32_T,
	[PLAN_INT64] = MPI_INT64_T,
	[PLAN_FLOAT] = MPI_FLOAT,
	[PLAN_DOUBLE] = MPI_DOUBLE,
	/* MPI moves the rest, and reduces none of it. */
	[PLAN_HALF] = MPI_INT16_T,
	[PLAN_BFLOAT16] = MPI_INT16_T,
	[PLAN_BYTE] = MPI_BYTE,
};

static const MPI_Op ops[PLAN_OP_MAX] = {
	[PLAN_COPY] = MPI_SUM,
	[PLAN_SUM] = MPI_SUM,
	[PLAN_PROD] = MPI_PROD,
	[PLAN_MIN] = MPI_MIN,
	[PLAN_MAX] = MPI_MAX,
	[PLAN_LAND] = MPI_LAND,
	[PLAN_LOR] = MPI_LOR,
};

/* Builders of what MPI has too. */
static const struct subject_row {
	const char *section;
	const char *name; /* of the collective; NULL: an option says it */
	int blocks;       /* count is per block, and every rank has one block */
} subjects[] = {
	{ "collective", NULL, 1 },
	{ "allreduce", "allreduce", 0 },
};

static const struct collective_row rows[] = {
	{ "broadcast", "MPI_Bcast", 0, 1, baseline_collective_bcast },
	{ "reduce", "MPI_Reduce", 1, 0, baseline_collective_reduce },
	{ "gather", "MPI_Gather", 0, 0, baseline_collective_gather },
	{ "scatter", "MPI_Scatter", 0, 0, baseline_collective_scatter },
	{ "allgather", "MPI_Allgather", 0, 0, baseline_collective_allgather },
	{ "reduce-scatter", "MPI_Reduce_scatter_block", 1, 0,
	    baseline_collective_reduce_scatter },
	{ "allreduce", "MPI_Allreduce", 1, 0, baseline_collective_allreduce },
	{ "alltoall", "MPI_Alltoall", 0, 0, baseline_collective_alltoall },
};

/* ---- what to do ---- */

/* Of options: which row, and its arguments. */
static int
baseline_collective_read(struct collective *r, const struct conf *c,
    const struct subject_row *s, struct err *err)
{
	const char *name = s->name != NULL ? s->name
					   : conf_string(c, s->section, "name");
	int64_t count = conf_int(c, s->section, "count");
	int64_t blocks = s->blocks ? r->base.team->ranks : 1;
	enum plan_type type = (enum plan_type)STR_FIND(plan_types,
	    conf_string(c, s->section, "type"));
	enum plan_op op = (enum plan_op)STR_FIND(plan_ops,
	    conf_string(c, s->section, "op"));

	r->root = s->blocks ? (int)conf_int(c, s->section, "root") : 0;
	if (!r->base.team->ops->host_access) {
		const struct xccl_coll_ask ask = {
			.of = name,
			.type = type,
			.op = op,
			.count = (uint64_t)count,
			.all = (uint64_t)(count * blocks),
			.root = r->root,
			.send_bytes = r->send_bytes,
			.recv_bytes = r->recv_bytes,
		};

		return xccl_coll_open(r->base.team, &ask, &r->xccl, err);
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].of, name) == 0)
			r->row = &rows[i];
	if (r->row == NULL)
		return err_set(err, -ENOTSUP,
		    "MPI does not have this collective");
	if (r->row->reduces && type > PLAN_DOUBLE)
		return err_set(err, -ENOTSUP,
		    "MPI reduces int32, int64, float and double only");
	if (count > INT_MAX / blocks)
		return err_set(err, -ENOTSUP,
		    "too many elements: the count exceeds MPI's int");
	r->count = (int)count;
	r->all = (int)(count * blocks);
	r->type = types[type];
	r->op = ops[op];
	return 0;
}

static uint16_t
baseline_collective_buffer_of(const struct plan *p, const char *name)
{
	uint16_t b = 0;

	while (strcmp(p->bufs[b].name, name) != 0)
		b++;
	return b;
}

static int
baseline_collective_open(struct baseline *b, struct err *err)
{
	struct collective *r = (struct collective *)b;
	const struct subject_row *s = NULL;
	const struct plan *p = b->plan;
	char *copy = xstrdup(p->title), *words[WORDS_MAX], *save = NULL;
	int rc, n = 0, rank = b->team->rank;
	struct conf *c = NULL;

	/* The title as options again. */
	for (char *w = strtok_r(copy, " ", &save); w != NULL && n < WORDS_MAX;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	for (size_t i = 0; n > 0 && i < ARRAY_LEN(subjects); i++)
		if (strcmp(words[0], subjects[i].section) == 0)
			s = &subjects[i];
	rc = s == NULL ? -EINVAL
		       : pattern_options(patterns_find(words[0]), words + 1,
			     n - 1, &c, err);
	free(copy);
	if (rc < 0)
		return err_set(err, -ENOTSUP, "the plan is not a collective");
	r->send_buf = baseline_collective_buffer_of(p, "send");
	r->recv_buf = baseline_collective_buffer_of(p, "recv");
	r->send_bytes = p->bufs[r->send_buf].bytes[rank];
	r->recv_bytes = p->bufs[r->recv_buf].bytes[rank];
	if (conf_int(c, s->section, "ranks") > 0 &&
	    conf_int(c, s->section, "ranks") != b->team->ranks)
		rc = err_set(err, -ENOTSUP,
		    "the baseline needs all ranks, but the plan leaves some "
		    "idle");
	else
		rc = baseline_collective_read(r, c, s, err);
	conf_free(c);
	if (rc < 0)
		return rc;
	b->name = r->xccl != NULL ? xccl_coll_name(r->xccl) : r->row->name;
	b->impl = r->xccl != NULL ? xccl_coll_impl(r->xccl) : "mpi";
	if (r->xccl == NULL) {
		r->send = xcalloc(r->send_bytes + 1, 1);
		r->recv = xcalloc(r->recv_bytes + 1, 1);
	}
	return 0;
}

static void
baseline_collective_close(struct baseline *b)
{
	struct collective *r = (struct collective *)b;

	xccl_coll_close(r->xccl);
	free(r->send);
	free(r->recv);
}

static void
baseline_collective_run_cb(void *b)
{
	struct collective *r = b;

	if (r->xccl != NULL)
		xccl_coll_run(r->xccl);
	else
		MPI_DO(r->row->run(r));
}

/* With the sources of the plan, whose results have been proven. */
static int
baseline_collective_prove(struct baseline *b)
{
	struct collective *r = (struct collective *)b;
	const char *from = exec_place(b->exec, r->send_buf, 0);
	const char *want = exec_place(b->exec, r->recv_buf, 0);
	int rc = 0;

	if (r->xccl != NULL)
		return transport_agree(b->team,
		    xccl_coll_prove(r->xccl, from, want));
	memcpy(r->send, from, r->send_bytes);
	memset(r->recv, 0, r->recv_bytes);
	baseline_collective_run_cb(r);
	if (!(r->row->root_keeps && b->team->rank == r->root) &&
	    memcmp(r->recv, want, r->recv_bytes) != 0)
		rc = -EBADMSG;
	return transport_agree(b->team, rc);
}

const struct baseline_row baseline_collective = { NULL,
	sizeof(struct collective), baseline_collective_open,
	baseline_collective_prove, baseline_collective_run_cb,
	baseline_collective_close };
