/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/baseline_sparse.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/job/world.h"

/* What this rank has for each other, or each other for it. */
struct part {
	int *counts, *offs; /* bytes, by rank */
	char *data;
};

struct baseline_sparse {
	const struct transport_team *team;
	const struct exec *exec;
	const struct plan *plan;
	struct part sent, received;
};

/* Of promise i: who has it, and who gets it. */
static const struct plan_source *
source_of(const struct plan *p, size_t i)
{
	return &p->sources[p->promises[i].source];
}

static uint32_t
reader_of(const struct plan *p, size_t i)
{
	return p->spans[p->promises[i].span].lo;
}

/* No rank has more than MPI can count: known to all, since all see the plan. */
static int
is_countable(const struct plan *p)
{
	uint64_t *bytes = xcalloc(2 * (size_t)p->ranks, sizeof(*bytes));
	int good = 1;

	for (size_t i = 0; i < p->promises_count; i++) {
		bytes[source_of(p, i)->lo] += p->promises[i].bytes;
		bytes[p->ranks + reader_of(p, i)] += p->promises[i].bytes;
	}
	for (size_t i = 0; i < 2 * (size_t)p->ranks; i++)
		good = good && bytes[i] <= INT_MAX;
	free(bytes);
	return good;
}

static void
part_open(struct part *a, int ranks)
{
	a->counts = xcalloc((size_t)ranks, sizeof(*a->counts));
	a->offs = xcalloc((size_t)ranks, sizeof(*a->offs));
}

static void
part_close(struct part *a)
{
	free(a->counts);
	free(a->offs);
	free(a->data);
}

/* After all is counted: packed by rank. */
static void
part_place(struct part *a, int ranks)
{
	int all = 0;

	for (int i = 0; i < ranks; i++) {
		a->offs[i] = all;
		all += a->counts[i];
	}
	a->data = xcalloc((size_t)all + 1, 1);
}

static void
parts_open(struct baseline_sparse *r)
{
	uint32_t me = (uint32_t)r->team->rank;
	int ranks = r->team->ranks;

	part_open(&r->sent, ranks);
	part_open(&r->received, ranks);
	for (size_t i = 0; i < r->plan->promises_count; i++) {
		uint32_t from = source_of(r->plan, i)->lo;
		uint32_t to = reader_of(r->plan, i);
		int bytes = (int)r->plan->promises[i].bytes;

		if (from == me)
			r->sent.counts[to] += bytes;
		if (to == me)
			r->received.counts[from] += bytes;
	}
	part_place(&r->sent, ranks);
	part_place(&r->received, ranks);
}

int
baseline_sparse_open(struct exec *e, const struct plan *p,
    struct baseline_sparse **ret, struct err *err)
{
	const struct transport_team *team = exec_team(e);
	const char *lack = NULL;

	if (!team->ops->host_access)
		lack = "the baseline is measured on memory of the host only";
	else if (!is_countable(p))
		lack = "MPI counts with int: a rank has more than 2 GiB";
	if (lack != NULL)
		return err_set(err, -ENOTSUP, "%s", lack);
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->team = team;
	(*ret)->exec = e;
	(*ret)->plan = p;
	parts_open(*ret);
	return 0;
}

void
baseline_sparse_close(struct baseline_sparse *r)
{
	if (r == NULL)
		return;
	part_close(&r->sent);
	part_close(&r->received);
	free(r);
}

void
baseline_sparse_run(struct baseline_sparse *r)
{
	MPI_DO(MPI_Alltoallv(r->sent.data, r->sent.counts, r->sent.offs,
	    MPI_BYTE, r->received.data, r->received.counts, r->received.offs,
	    MPI_BYTE, r->team->comm));
}

/* The pieces of a pair lie in the order of the promises, at both ends. */
static void
pack(struct baseline_sparse *r)
{
	int *at = xcalloc((size_t)r->team->ranks, sizeof(*at));

	for (size_t i = 0; i < r->plan->promises_count; i++) {
		const struct plan_source *s = source_of(r->plan, i);
		uint32_t to = reader_of(r->plan, i);
		int bytes = (int)r->plan->promises[i].bytes;

		if (s->lo != (uint32_t)r->team->rank)
			continue;
		memcpy(r->sent.data + r->sent.offs[to] + at[to],
		    exec_place(r->exec, s->buf, s->off), (size_t)bytes);
		at[to] += bytes;
	}
	free(at);
}

static int
compare(const struct baseline_sparse *r)
{
	int *at = xcalloc((size_t)r->team->ranks, sizeof(*at));
	int rc = 0;

	for (size_t i = 0; i < r->plan->promises_count; i++) {
		const struct plan_promise *m = &r->plan->promises[i];
		uint32_t from = source_of(r->plan, i)->lo;

		if (reader_of(r->plan, i) != (uint32_t)r->team->rank)
			continue;
		if (memcmp(r->received.data + r->received.offs[from] + at[from],
			exec_place(r->exec, m->to, m->to_off), m->bytes) != 0)
			rc = -EBADMSG;
		at[from] += (int)m->bytes;
	}
	free(at);
	return rc;
}

int
baseline_sparse_prove(struct baseline_sparse *r)
{
	pack(r);
	baseline_sparse_run(r);
	return transport_agree(r->team, compare(r));
}
