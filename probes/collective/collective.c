/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.c - the eight collectives as compositions (HiCCL Table II).
 *
 * A block has count elements. send and recv have one for every rank, but for
 * the send of gather and all-gather and the recv of scatter and reduce-scatter,
 * which have one. Intermediate results are in work, or at their final place in
 * recv.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/collective/exchange_butterfly.h"
#include "probes/collective/exchange_tree.h"
#include "probes/pattern/builders.h"
#include "probes/collective/compose.h"
#include "probes/collective/exchange.h"
#include "probes/collective/shape.h"
#include "schema/names_probe.h"

#define SECTION "collective"

/* As in names_collectives. */
enum collective {
	BROADCAST,
	REDUCE,
	GATHER,
	SCATTER,
	ALLGATHER,
	REDUCE_SCATTER,
	ALLREDUCE,
	ALLTOALL,
	COLLECTIVE_MAX
};

struct collective_build {
	struct plan *p;
	struct compose *c;
	struct compose_shape shape;
	uint32_t ranks, root;
	uint64_t count; /* elements of a block */
	uint64_t block; /* bytes of it */
	uint16_t send, recv, work;
	uint32_t *all; /* every rank */
};

typedef void (*form_cb)(struct collective_build *cb);

/* A place in a buffer, by blocks. */
static struct plan_place
collective_at(const struct collective_build *cb, uint16_t buf, uint64_t block)
{
	return (struct plan_place){ block * cb->block, buf };
}

/* One block of rank i, or all blocks, to one rank or to all. */
static void
collective_cast(struct collective_build *cb, uint32_t i, struct plan_place from,
    struct plan_place to, uint64_t blocks, const uint32_t *leaves,
    uint32_t leaves_count)
{
	compose_add(cb->c,
	    &(struct compose_prim){ COMPOSE_MULTICAST, i, leaves, leaves_count,
		from, to, blocks * cb->count });
}

static void
collective_fold(struct collective_build *cb, uint32_t j, struct plan_place from,
    struct plan_place to, uint64_t blocks)
{
	compose_add(cb->c,
	    &(struct compose_prim){ COMPOSE_REDUCTION, j, cb->all, cb->ranks,
		from, to, blocks * cb->count });
}

static void
collective_fence(struct collective_build *cb)
{
	compose_add(cb->c, &(struct compose_prim){ .kind = COMPOSE_FENCE });
}

/* From one rank, as a reduction of one: the hop inside its node comes first.
 */
static void
collective_hand_out(struct collective_build *cb, uint16_t from, uint16_t to,
    int spread)
{
	for (uint32_t j = 0; j < cb->ranks; j++)
		compose_add(cb->c,
		    &(struct compose_prim){ COMPOSE_REDUCTION, j, &cb->root, 1,
			collective_at(cb, from, j),
			collective_at(cb, to, spread ? j : 0), cb->count });
}

static void
collective_broadcast_single(struct collective_build *cb)
{
	collective_cast(cb, cb->root, collective_at(cb, cb->send, 0),
	    collective_at(cb, cb->recv, 0), cb->ranks, cb->all, cb->ranks);
}

/* Every rank has its block of recv; the others get it. */
static void
collective_spread_recv(struct collective_build *cb)
{
	for (uint32_t i = 0; i < cb->ranks; i++)
		collective_cast(cb, i, collective_at(cb, cb->recv, i),
		    collective_at(cb, cb->recv, i), 1, cb->all, cb->ranks);
}

static void
collective_broadcast_allgather_scatter(struct collective_build *cb)
{
	collective_hand_out(cb, cb->send, cb->recv, 1);
	collective_fence(cb);
	collective_spread_recv(cb);
}

static void
collective_reduce_single(struct collective_build *cb)
{
	collective_fold(cb, cb->root, collective_at(cb, cb->send, 0),
	    collective_at(cb, cb->recv, 0), cb->ranks);
}

static void
collective_reduce_gather_reduce_scatter(struct collective_build *cb)
{
	for (uint32_t j = 0; j < cb->ranks; j++)
		collective_fold(cb, j, collective_at(cb, cb->send, j),
		    collective_at(cb, j == cb->root ? cb->recv : cb->work, j),
		    1);
	collective_fence(cb);
	for (uint32_t i = 0; i < cb->ranks; i++)
		if (i != cb->root)
			collective_cast(cb, i, collective_at(cb, cb->work, i),
			    collective_at(cb, cb->recv, i), 1, &cb->root, 1);
}

static void
collective_gather_single(struct collective_build *cb)
{
	for (uint32_t i = 0; i < cb->ranks; i++)
		collective_cast(cb, i, collective_at(cb, cb->send, 0),
		    collective_at(cb, cb->recv, i), 1, &cb->root, 1);
}

static void
collective_scatter_single(struct collective_build *cb)
{
	collective_hand_out(cb, cb->send, cb->recv, 0);
}

static void
collective_allgather_single(struct collective_build *cb)
{
	for (uint32_t i = 0; i < cb->ranks; i++)
		collective_cast(cb, i, collective_at(cb, cb->send, 0),
		    collective_at(cb, cb->recv, i), 1, cb->all, cb->ranks);
}

/* Broadcast the root's whole recv to recv of all others. */
static void
collective_broadcast_recv(struct collective_build *cb)
{
	collective_cast(cb, cb->root, collective_at(cb, cb->recv, 0),
	    collective_at(cb, cb->recv, 0), cb->ranks, cb->all, cb->ranks);
}

static void
collective_allgather_broadcast_gather(struct collective_build *cb)
{
	collective_gather_single(cb);
	collective_fence(cb);
	collective_broadcast_recv(cb);
}

static void
collective_reduce_scatter_single(struct collective_build *cb)
{
	for (uint32_t j = 0; j < cb->ranks; j++)
		collective_fold(cb, j, collective_at(cb, cb->send, j),
		    collective_at(cb, cb->recv, 0), 1);
}

static void
collective_reduce_scatter_scatter_reduce(struct collective_build *cb)
{
	collective_fold(cb, cb->root, collective_at(cb, cb->send, 0),
	    collective_at(cb, cb->work, 0), cb->ranks);
	collective_fence(cb);
	collective_hand_out(cb, cb->work, cb->recv, 0);
}

static void
collective_allreduce_single(struct collective_build *cb)
{
	for (uint32_t j = 0; j < cb->ranks; j++)
		collective_fold(cb, j, collective_at(cb, cb->send, 0),
		    collective_at(cb, cb->recv, 0), cb->ranks);
}

static void
collective_allreduce_broadcast_reduce(struct collective_build *cb)
{
	collective_reduce_single(cb);
	collective_fence(cb);
	collective_broadcast_recv(cb);
}

static void
collective_allreduce_allgather_reduce_scatter(struct collective_build *cb)
{
	for (uint32_t j = 0; j < cb->ranks; j++)
		collective_fold(cb, j, collective_at(cb, cb->send, j),
		    collective_at(cb, cb->recv, j), 1);
	collective_fence(cb);
	collective_spread_recv(cb);
}

static void
collective_alltoall_single(struct collective_build *cb)
{
	for (uint32_t i = 0; i < cb->ranks; i++)
		for (uint32_t j = 0; j < cb->ranks; j++)
			collective_cast(cb, i, collective_at(cb, cb->send, j),
			    collective_at(cb, cb->recv, i), 1, &cb->all[j], 1);
}

/* ---- in rounds of pairs ---- */

static void
collective_pairs_broadcast(struct exchange *x)
{
	exchange_broadcast(x, 0);
}

static void
collective_pairs_broadcast_allgather_scatter(struct exchange *x)
{
	exchange_scatter(x, x->send, EXCHANGE_SPREAD);
	exchange_allgather(x, EXCHANGE_SPREAD);
}

static void
collective_pairs_reduce(struct exchange *x)
{
	exchange_reduce(x, x->recv);
}

static void
collective_pairs_reduce_gather_reduce_scatter(struct exchange *x)
{
	exchange_reduce_scatter(x, EXCHANGE_IN_WORK);
	exchange_gather(x, EXCHANGE_IN_WORK);
}

static void
collective_pairs_gather(struct exchange *x)
{
	exchange_gather(x, EXCHANGE_OWN);
}

static void
collective_pairs_scatter(struct exchange *x)
{
	exchange_scatter(x, x->send, EXCHANGE_OWN);
}

static void
collective_pairs_allgather(struct exchange *x)
{
	exchange_allgather(x, EXCHANGE_OWN);
}

static void
collective_pairs_allgather_broadcast_gather(struct exchange *x)
{
	exchange_gather(x, EXCHANGE_OWN);
	exchange_broadcast(x, 1);
}

static void
collective_pairs_reduce_scatter(struct exchange *x)
{
	exchange_reduce_scatter(x, EXCHANGE_OWN);
}

static void
collective_pairs_reduce_scatter_scatter_reduce(struct exchange *x)
{
	exchange_reduce(x, x->work);
	exchange_scatter(x, x->work, EXCHANGE_OWN);
}

static void
collective_pairs_allreduce_broadcast_reduce(struct exchange *x)
{
	exchange_reduce(x, x->recv);
	exchange_broadcast(x, 1);
}

static void
collective_pairs_allreduce_allgather_reduce_scatter(struct exchange *x)
{
	exchange_reduce_scatter(x, EXCHANGE_KEPT);
	exchange_allgather(x, EXCHANGE_KEPT);
}

static const struct form_row {
	enum collective of;
	const char *form; /* right to left */
	int is_default;
	int pairs; /* what every rank has for every other travels alone */
	form_cb build;
	void (*exchange)(struct exchange *x); /* NULL: not in rounds of pairs */
	int tree;                             /* a stage of it follows a tree */
} forms[] = {
	{ BROADCAST, "single", 1, 0, collective_broadcast_single,
	    collective_pairs_broadcast, 1 },
	{ BROADCAST, "allgather.scatter", 0, 1,
	    collective_broadcast_allgather_scatter,
	    collective_pairs_broadcast_allgather_scatter, 1 },
	{ REDUCE, "single", 1, 0, collective_reduce_single,
	    collective_pairs_reduce, 1 },
	{ REDUCE, "gather.reduce-scatter", 0, 1,
	    collective_reduce_gather_reduce_scatter,
	    collective_pairs_reduce_gather_reduce_scatter, 1 },
	{ GATHER, "single", 1, 0, collective_gather_single,
	    collective_pairs_gather, 1 },
	{ SCATTER, "single", 1, 0, collective_scatter_single,
	    collective_pairs_scatter, 1 },
	{ ALLGATHER, "single", 1, 1, collective_allgather_single,
	    collective_pairs_allgather, 0 },
	{ ALLGATHER, "broadcast.gather", 0, 0,
	    collective_allgather_broadcast_gather,
	    collective_pairs_allgather_broadcast_gather, 1 },
	{ REDUCE_SCATTER, "single", 1, 1, collective_reduce_scatter_single,
	    collective_pairs_reduce_scatter, 0 },
	{ REDUCE_SCATTER, "scatter.reduce", 0, 0,
	    collective_reduce_scatter_scatter_reduce,
	    collective_pairs_reduce_scatter_scatter_reduce, 1 },
	{ ALLREDUCE, "single", 0, 1, collective_allreduce_single,
	    exchange_allreduce, 0 },
	{ ALLREDUCE, "broadcast.reduce", 0, 0,
	    collective_allreduce_broadcast_reduce,
	    collective_pairs_allreduce_broadcast_reduce, 1 },
	{ ALLREDUCE, "allgather.reduce-scatter", 1, 1,
	    collective_allreduce_allgather_reduce_scatter,
	    collective_pairs_allreduce_allgather_reduce_scatter, 0 },
	{ ALLTOALL, "single", 1, 1, collective_alltoall_single, NULL, 0 },
};

/* Blocks of send and recv: where, and whether one or one a rank. */
static const struct layout_row {
	uint8_t send_rooted, send_one; /* only the root has it */
	uint8_t recv_rooted, recv_one;
} layouts[COLLECTIVE_MAX] = {
	[BROADCAST] = { 1, 0, 0, 0 },
	[REDUCE] = { 0, 0, 1, 0 },
	[GATHER] = { 0, 1, 1, 0 },
	[SCATTER] = { 1, 0, 0, 1 },
	[ALLGATHER] = { 0, 1, 0, 0 },
	[REDUCE_SCATTER] = { 0, 0, 0, 1 },
	[ALLREDUCE] = { 0, 0, 0, 0 },
	[ALLTOALL] = { 0, 0, 0, 0 },
};

static void
collective_buffers(struct collective_build *cb, enum collective of)
{
	const struct layout_row *lay = &layouts[of];

	cb->send = plan_buf_add(cb->p, "send", PLAN_IN);
	cb->recv = plan_buf_add(cb->p, "recv", PLAN_OUT);
	cb->work = plan_buf_add(cb->p, "work", PLAN_TEMP);
	for (uint32_t r = 0; r < cb->ranks; r++) {
		if (!lay->send_rooted || r == cb->root)
			plan_buf_need(cb->p, cb->send, r,
			    cb->block * (lay->send_one ? 1 : cb->ranks));
		if (!lay->recv_rooted || r == cb->root)
			plan_buf_need(cb->p, cb->recv, r,
			    cb->block * (lay->recv_one ? 1 : cb->ranks));
	}
}

/* Block blocks of every rank in [lo, hi) end as a copy of source's, or as the
 * reduction over all. */
static void
collective_promise(struct collective_build *cb, uint32_t lo, uint32_t hi,
    uint64_t block, uint64_t blocks, uint32_t source, uint64_t source_block,
    int reduced)
{
	struct plan_promise m = { .to = cb->recv,
		.to_off = block * cb->block,
		.bytes = blocks * cb->block,
		.op = reduced ? (uint8_t)cb->shape.op : PLAN_COPY,
		.type = (uint8_t)cb->shape.type };
	struct plan_source s = { .lo = reduced ? 0 : source,
		.hi = reduced ? cb->ranks : source + 1,
		.buf = cb->send,
		.off = source_block * cb->block };

	plan_promise_add(cb->p, &m, &(struct plan_span){ lo, hi }, 1, &s, 1);
}

/* What each collective is by definition, whatever its form. */
static void
collective_promises(struct collective_build *cb, enum collective of)
{
	uint32_t n = cb->ranks, root = cb->root;

	if (of == BROADCAST)
		collective_promise(cb, 0, n, 0, n, root, 0, 0);
	if (of == REDUCE)
		collective_promise(cb, root, root + 1, 0, n, 0, 0, 1);
	if (of == ALLREDUCE)
		collective_promise(cb, 0, n, 0, n, 0, 0, 1);
	for (uint32_t i = 0; i < n; i++) {
		if (of == GATHER)
			collective_promise(cb, root, root + 1, i, 1, i, 0, 0);
		if (of == ALLGATHER)
			collective_promise(cb, 0, n, i, 1, i, 0, 0);
		if (of == SCATTER)
			collective_promise(cb, i, i + 1, 0, 1, root, i, 0);
		if (of == REDUCE_SCATTER)
			collective_promise(cb, i, i + 1, 0, 1, 0, i, 1);
		for (uint32_t j = 0; of == ALLTOALL && j < n; j++)
			collective_promise(cb, j, j + 1, i, 1, i, j, 0);
	}
}

static const struct form_row *
collective_form_find(enum collective of, const char *form)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (forms[i].of == of &&
		    (strcmp(forms[i].form, form) == 0 ||
			(strcmp(form, "default") == 0 && forms[i].is_default)))
			return &forms[i];
	return NULL;
}

static int
collective_refuse_form(const struct conf *c, enum collective of,
    struct err *err)
{
	char names[160] = "default";

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (forms[i].of == of) {
			size_t n = strlen(names);

			snprintf(names + n, sizeof(names) - n, ", %s",
			    forms[i].form);
		}
	return pattern_refuse(c, SECTION, "form", err, "%s", names);
}

/* The plan has at least this many transfers; some forms send for every pair. */
static int
collective_check_rows(const struct conf *c, const struct form_row *form,
    const struct collective_build *cb, struct err *err)
{
	uint64_t cuts = cb->shape.depth < cb->count ? cb->shape.depth
						    : cb->count;
	double rows = (double)cb->ranks * cb->ranks * (double)cuts;

	if (!form->pairs || rows <= (double)PLAN_TRANSFERS_MAX)
		return 0;
	return pattern_refuse(c, SECTION, "name", err,
	    "at most %llu messages; this plan has %.0f: use fewer than %u "
	    "ranks, or a smaller depth",
	    (unsigned long long)PLAN_TRANSFERS_MAX, rows, cb->ranks);
}

static int
collective_options(const struct conf *c, const struct pattern_site *site,
    struct collective_build *cb, struct err *err)
{
	int rc = compose_options(c, SECTION, site, &cb->shape, err);

	if (rc < 0)
		return rc;
	cb->ranks = cb->shape.ranks;
	cb->root = (uint32_t)conf_int(c, SECTION, "root");
	cb->count = (uint64_t)conf_int(c, SECTION, "count");
	cb->block = cb->count * plan_types[cb->shape.type].bytes;
	if (cb->root >= cb->ranks)
		return pattern_refuse(c, SECTION, "root", err, "0 to %u",
		    cb->ranks - 1);
	/* temporary places hold up to all data once for every rank */
	if ((double)cb->block * cb->ranks * cb->ranks > (double)PLAN_BYTES_MAX)
		return pattern_refuse(c, SECTION, "count", err,
		    "at most 4 EiB in a buffer");
	return 0;
}

/* Refuse what rounds of pairs cannot do. */
static int
collective_check_exchange(const struct conf *c, const struct form_row *form,
    const struct collective_build *cb, enum rounds_kind kind, struct err *err)
{
	const struct compose_shape *s = &cb->shape;

	if (form->exchange == NULL)
		return pattern_refuse(c, SECTION, "exchange", err,
		    "none for alltoall");
	if (kind == ROUNDS_SWING && form->tree)
		return pattern_refuse(c, SECTION, "exchange", err,
		    "none, recursive or bine; swing supports only allgather, "
		    "reduce-scatter, and allreduce of form single or "
		    "allgather.reduce-scatter");
	if (s->stripe > 1 || s->ring > 1 || s->depth > 1)
		return pattern_refuse(c, SECTION, "exchange", err,
		    "none, or stripe = 1, ring = 1 and depth = 1");
	if (cb->ranks > EXCHANGE_RANKS_MAX)
		return pattern_refuse(c, SECTION, "exchange", err,
		    "none for more than %u ranks", EXCHANGE_RANKS_MAX);
	return 0;
}

static void
collective_build_exchange(struct collective_build *cb,
    const struct form_row *form, enum rounds_kind kind)
{
	struct exchange x = { .p = cb->p,
		.shape = &cb->shape,
		.kind = kind,
		.root = cb->root,
		.block = cb->block,
		.send = cb->send,
		.recv = cb->recv,
		.work = cb->work,
		.temp = plan_buf_add(cb->p, "temp", PLAN_TEMP) };

	form->exchange(&x);
}

static void
collective_build_composition(struct collective_build *cb,
    const struct form_row *form)
{
	cb->all = xcalloc(cb->ranks, sizeof(*cb->all));
	for (uint32_t r = 0; r < cb->ranks; r++)
		cb->all[r] = r;
	/* partial results may pass through any rank */
	for (uint32_t r = 0; strcmp(form->form, "single") != 0 && r < cb->ranks;
	     r++)
		plan_buf_need(cb->p, cb->work, r, cb->block * cb->ranks);
	cb->c = compose_new(cb->p, &cb->shape);
	form->build(cb);
	compose_build(cb->c);
	compose_free(cb->c);
	free(cb->all);
}

static int
collective_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	enum collective of = (enum collective)CONF_CHOICE_OF(c, SECTION, "name",
	    names_collectives);
	enum rounds_kind kind = (enum rounds_kind)CONF_CHOICE_OF(c, SECTION,
	    "exchange", rounds_kinds);
	const struct form_row *form = collective_form_find(of,
	    conf_string(c, SECTION, "form"));
	struct collective_build cb = { 0 };
	char *title;
	int rc;

	if (form == NULL)
		return collective_refuse_form(c, of, err);
	if (conf_is(c, SECTION, "tune", "auto"))
		return shape_build(&pattern_collective, c, site, ret, err);
	rc = collective_options(c, site, &cb, err);
	if (rc == 0)
		rc = kind == ROUNDS_OFF
		    ? collective_check_rows(c, form, &cb, err)
		    : collective_check_exchange(c, form, &cb, kind, err);
	if (rc < 0)
		return rc;
	title = pattern_title(c, SECTION);
	cb.p = plan_new(cb.ranks, title);
	free(title);
	collective_buffers(&cb, of);
	if (kind == ROUNDS_OFF)
		collective_build_composition(&cb, form);
	else
		collective_build_exchange(&cb, form, kind);
	collective_promises(&cb, of);
	plan_note_add(cb.p, "data", "bytes", cb.block * cb.ranks);
	plan_note_add(cb.p, "footprint", "bytes", plan_volume(cb.p));
	plan_sort(cb.p);
	*ret = cb.p;
	return 0;
}

const struct pattern pattern_collective = {
	.name = SECTION,
	.text =
	    "A collective operation, composed of steps for each level of the "
	    "machine (hierarchy).",
	.build = collective_build,
};
