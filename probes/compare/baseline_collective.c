/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/baseline_collective.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/pattern.h"
#include "probes/job/world.h"
#include "probes/transport/xccl_coll.h"

#define WORDS_MAX 32

struct baseline_collective {
	const struct transport_team *team;
	const struct rival_row *row;
	struct xccl_coll *xccl; /* in the place of row; or NULL */
	const struct exec *exec;
	uint16_t send_buf, recv_buf; /* of the plan */
	uint64_t send_bytes, recv_bytes;
	char *send, *recv;
	int count, all; /* elements of a block, of a block for every rank */
	int root;
	MPI_Datatype type;
	MPI_Op op;
};

struct rival_row {
	const char *of, *name;
	int reduces;
	int root_keeps; /* the root's recv is not written */
	int (*run)(struct baseline_collective *r);
};

static int
bcast(struct baseline_collective *r)
{
	return MPI_Bcast(r->team->rank == r->root ? r->send : r->recv, r->all,
	    r->type, r->root, r->team->comm);
}

static int
reduce(struct baseline_collective *r)
{
	return MPI_Reduce(r->send, r->recv, r->all, r->type, r->op, r->root,
	    r->team->comm);
}

static int
gather(struct baseline_collective *r)
{
	return MPI_Gather(r->send, r->count, r->type, r->recv, r->count,
	    r->type, r->root, r->team->comm);
}

static int
scatter(struct baseline_collective *r)
{
	return MPI_Scatter(r->send, r->count, r->type, r->recv, r->count,
	    r->type, r->root, r->team->comm);
}

static int
allgather(struct baseline_collective *r)
{
	return MPI_Allgather(r->send, r->count, r->type, r->recv, r->count,
	    r->type, r->team->comm);
}

static int
reduce_scatter(struct baseline_collective *r)
{
	return MPI_Reduce_scatter_block(r->send, r->recv, r->count, r->type,
	    r->op, r->team->comm);
}

static int
allreduce(struct baseline_collective *r)
{
	return MPI_Allreduce(r->send, r->recv, r->all, r->type, r->op,
	    r->team->comm);
}

static int
alltoall(struct baseline_collective *r)
{
	return MPI_Alltoall(r->send, r->count, r->type, r->recv, r->count,
	    r->type, r->team->comm);
}

/* Builders of what MPI has too. */
static const struct subject {
	const char *section;
	const char *name; /* of the collective; NULL: an option says it */
	int blocks;       /* count is of a block, of which every rank has one */
} subjects[] = {
	{ "collective", NULL, 1 },
	{ "allreduce", "allreduce", 0 },
};

static const struct rival_row rows[] = {
	{ "broadcast", "MPI_Bcast", 0, 1, bcast },
	{ "reduce", "MPI_Reduce", 1, 0, reduce },
	{ "gather", "MPI_Gather", 0, 0, gather },
	{ "scatter", "MPI_Scatter", 0, 0, scatter },
	{ "allgather", "MPI_Allgather", 0, 0, allgather },
	{ "reduce-scatter", "MPI_Reduce_scatter_block", 1, 0, reduce_scatter },
	{ "allreduce", "MPI_Allreduce", 1, 0, allreduce },
	{ "alltoall", "MPI_Alltoall", 0, 0, alltoall },
};

/* ---- what to do ---- */

/* The title as options again. */
static struct conf *
options_of(const struct plan *p, const struct subject **ret_subject)
{
	char *copy = xstrdup(p->title), *words[WORDS_MAX], *save = NULL;
	struct conf *c = NULL;
	struct err err;
	int n = 0;

	for (char *w = strtok_r(copy, " ", &save); w != NULL && n < WORDS_MAX;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	for (size_t i = 0; n > 0 && i < ARRAY_LEN(subjects); i++)
		if (strcmp(words[0], subjects[i].section) == 0)
			*ret_subject = &subjects[i];
	if (*ret_subject == NULL ||
	    pattern_options(pattern_find(words[0]), words + 1, n - 1, &c,
		&err) < 0)
		c = NULL;
	free(copy);
	return c;
}

static MPI_Datatype
type_of(enum plan_type type, int reduces)
{
	switch (type) {
	case PLAN_INT32:
		return MPI_INT32_T;
	case PLAN_INT64:
		return MPI_INT64_T;
	case PLAN_FLOAT:
		return MPI_FLOAT;
	case PLAN_DOUBLE:
		return MPI_DOUBLE;
	default:
		if (reduces)
			return MPI_DATATYPE_NULL;
		return plan_types[type].bytes == 2 ? MPI_INT16_T : MPI_BYTE;
	}
}

static MPI_Op
op_of(enum plan_op op)
{
	switch (op) {
	case PLAN_PROD:
		return MPI_PROD;
	case PLAN_MIN:
		return MPI_MIN;
	case PLAN_MAX:
		return MPI_MAX;
	case PLAN_LAND:
		return MPI_LAND;
	case PLAN_LOR:
		return MPI_LOR;
	default:
		return MPI_SUM;
	}
}

static int
refuse(struct err *err, const char *text)
{
	return err_set(err, -ENOTSUP, "%s", text);
}

static int
read_options(struct baseline_collective *r, const struct conf *c,
    const struct subject *s, struct err *err)
{
	const char *name = s->name != NULL ? s->name
					   : conf_string(c, s->section, "name");
	int64_t count = conf_int(c, s->section, "count");
	int64_t blocks = s->blocks ? r->team->ranks : 1;
	enum plan_type type = (enum plan_type)plan_type_find(
	    conf_string(c, s->section, "type"));

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].of, name) == 0)
			r->row = &rows[i];
	if (r->row == NULL)
		return refuse(err, "MPI has no such collective");
	r->type = type_of(type, r->row->reduces);
	if (r->type == MPI_DATATYPE_NULL)
		return refuse(err,
		    "MPI reduces int32, int64, float and double only");
	if (count > INT_MAX / blocks)
		return refuse(err, "MPI counts with int: too many elements");
	r->count = (int)count;
	r->all = (int)(count * blocks);
	r->op = op_of(
	    (enum plan_op)plan_op_find(conf_string(c, s->section, "op")));
	r->root = s->blocks ? (int)conf_int(c, s->section, "root") : 0;
	return 0;
}

static uint16_t
buffer_of(const struct plan *p, const char *name)
{
	uint16_t b = 0;

	while (strcmp(p->bufs[b].name, name) != 0)
		b++;
	return b;
}

static void
buffers_find(struct baseline_collective *r, const struct plan *p)
{
	r->send_buf = buffer_of(p, "send");
	r->recv_buf = buffer_of(p, "recv");
	r->send_bytes = p->bufs[r->send_buf].bytes[r->team->rank];
	r->recv_bytes = p->bufs[r->recv_buf].bytes[r->team->rank];
}

static int
ranks_idle(const struct baseline_collective *r, const struct conf *c,
    const struct subject *s)
{
	int64_t ranks = conf_int(c, s->section, "ranks");

	return ranks > 0 && ranks != r->team->ranks;
}

/* On memory of GPUs their vendor's library is the rival. */
static int
open_xccl(struct baseline_collective *r, const struct conf *c,
    const struct subject *s, struct err *err)
{
	const char *section = s->section;
	uint64_t count = (uint64_t)conf_int(c, section, "count");
	const struct xccl_coll_ask ask = {
		.of = s->name != NULL ? s->name
				      : conf_string(c, section, "name"),
		.type = (enum plan_type)plan_type_find(
		    conf_string(c, section, "type")),
		.op = (enum plan_op)plan_op_find(conf_string(c, section, "op")),
		.count = count,
		.all = s->blocks ? count * (uint64_t)r->team->ranks : count,
		.root = s->blocks ? (int)conf_int(c, section, "root") : 0,
		.send_bytes = r->send_bytes,
		.recv_bytes = r->recv_bytes,
	};

	return xccl_coll_open(r->team, &ask, &r->xccl, err);
}

int
baseline_collective_open(struct exec *e, const struct plan *p,
    struct baseline_collective **ret, struct err *err)
{
	struct baseline_collective *r = xcalloc(1, sizeof(*r));
	const struct subject *s = NULL;
	struct conf *c = options_of(p, &s);
	int rc;

	r->team = exec_team(e);
	r->exec = e;
	buffers_find(r, p);
	if (c == NULL)
		rc = refuse(err, "the plan is no collective");
	else if (ranks_idle(r, c, s))
		rc = refuse(err,
		    "it takes all ranks, and the plan leaves some idle");
	else if (!r->team->ops->host_access)
		rc = open_xccl(r, c, s, err);
	else
		rc = read_options(r, c, s, err);
	conf_free(c);
	if (rc < 0) {
		free(r);
		return rc;
	}
	if (r->xccl == NULL) {
		r->send = xcalloc(r->send_bytes + 1, 1);
		r->recv = xcalloc(r->recv_bytes + 1, 1);
	}
	*ret = r; /* handed over */
	return 0;
}

void
baseline_collective_close(struct baseline_collective *r)
{
	if (r == NULL)
		return;
	xccl_coll_close(r->xccl);
	free(r->send);
	free(r->recv);
	free(r);
}

const char *
baseline_collective_name(const struct baseline_collective *r)
{
	return r->xccl != NULL ? xccl_coll_name(r->xccl) : r->row->name;
}

const char *
baseline_collective_impl(const struct baseline_collective *r)
{
	return r->xccl != NULL ? xccl_coll_impl(r->xccl) : "mpi";
}

void
baseline_collective_run(struct baseline_collective *r)
{
	if (r->xccl != NULL)
		xccl_coll_run(r->xccl);
	else
		MPI_DO(r->row->run(r));
}

int
baseline_collective_prove(struct baseline_collective *r)
{
	const char *want = exec_place(r->exec, r->recv_buf, 0);
	int rc = 0, skip;

	if (r->xccl != NULL)
		return transport_agree(r->team,
		    xccl_coll_prove(r->xccl,
			exec_place(r->exec, r->send_buf, 0), want));
	skip = r->row->root_keeps && r->team->rank == r->root;
	memcpy(r->send, exec_place(r->exec, r->send_buf, 0), r->send_bytes);
	memset(r->recv, 0, r->recv_bytes);
	baseline_collective_run(r);
	if (!skip && memcmp(r->recv, want, r->recv_bytes) != 0)
		rc = -EBADMSG;
	return transport_agree(r->team, rc);
}
