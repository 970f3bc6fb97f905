/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allreduce.c - all-reduce among the devices of nodes: flat or by sockets, over
 * several paths where these do not disturb each other (Temucin and others,
 * "Accelerating Deep Learning using Interconnect-Aware UCX Communication").
 *
 * The wiring decides between the two: if each pair of devices has a direct
 * link, the flat form keeps all links busy; otherwise data should cross between
 * sockets only once. The reason is a remark of the plan.
 */
#include "probes/collective/allreduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/builders.h"
#include "probes/plan/order.h"
#include "probes/topology/machine.h"
#include "probes/topology/machine_path.h"

#define SECTION ALLREDUCE_SECTION

#define RANKS_FALLBACK   4 /* of both machines in the paper */
#define PER_SOCKET       2 /* of both machines in the paper */
#define STAGED_CHUNKS    4 /* of one message through the host */
#define STAGED_SLOTS     2
#define CHANNELS_A_CHUNK (1 + STAGED_SLOTS)

enum form { FORM_AUTO, FORM_FLAT, FORM_HIERARCHICAL };

static const char *const allreduce_ways[] = { [WAYS_NONE] = "none",
	[WAYS_IDLE] = "idle",
	[WAYS_SOCKET] = "socket" };

struct ask {
	const struct conf *c;
	struct machine *m; /* NULL: none was named */
	uint32_t per_socket, per_node;
	struct err *err;
};

struct allreduce_piece
allreduce_cut(struct allreduce_piece whole, uint64_t i, uint64_t parts)
{
	uint64_t n = whole.hi - whole.lo;

	return (struct allreduce_piece){
		whole.lo + plan_cut_share(n, 1, i, parts),
		whole.lo + plan_cut_share(n, 1, i + 1, parts),
	};
}

struct plan_place
allreduce_at(const struct allreduce *ar, uint16_t buf,
    struct allreduce_piece piece)
{
	return (struct plan_place){ piece.lo * ar->size, buf };
}

struct plan_place
allreduce_room(struct allreduce *ar, uint32_t rank,
    struct allreduce_piece piece)
{
	struct plan_place at = { ar->worked[rank], ar->work };

	ar->worked[rank] += (piece.hi - piece.lo) * ar->size;
	plan_buf_need(ar->p, ar->work, rank, ar->worked[rank]);
	return at;
}

void
allreduce_send(struct allreduce *ar, uint32_t src, struct plan_place from,
    uint32_t dst, struct plan_place to, struct allreduce_piece piece,
    int several)
{
	uint16_t channel = (uint16_t)(ar->chunk * CHANNELS_A_CHUNK);
	struct paths_stage staged = { .owner = src,
		.buf = ar->host,
		.off = ar->hosted[src],
		.chunks = STAGED_CHUNKS,
		.slots = STAGED_SLOTS,
		.channel = (uint16_t)(channel + 1),
		.share = paths_share_of(ar->share) };
	struct paths_message m = { .src = src,
		.dst = dst,
		.from = from.buf,
		.from_off = from.off,
		.to = to.buf,
		.to_off = to.off,
		.bytes = (piece.hi - piece.lo) * ar->size,
		.unit = ar->size,
		.step = ar->chunk,
		.channel = channel,
		.vias = { ar->vias[0], ar->vias[1], ar->vias[1] },
		.stages = &staged,
		.stages_count = several && ar->share > 0 };

	if (m.stages_count > 0)
		ar->hosted[src] += paths_memory(&m, 0);
	paths_add(ar->p, ar->o, &m);
}

void
allreduce_fold(struct allreduce *ar, uint32_t rank,
    const struct plan_place *inputs, uint32_t count, struct plan_place to,
    struct allreduce_piece piece)
{
	struct plan_local l = { .rank = rank,
		.to = to.buf,
		.to_off = to.off,
		.bytes = (piece.hi - piece.lo) * ar->size,
		.step = ar->chunk,
		.channel = (uint16_t)(ar->chunk * CHANNELS_A_CHUNK),
		.op = count > 1 ? ar->op : PLAN_COPY,
		.type = ar->type };

	if (l.bytes == 0)
		return;
	order_local(ar->o, &l, inputs, count);
	plan_local_add(ar->p, &l, inputs, count);
}

/* ---- who sits where ---- */

/* The host that a device is nearest to, or its socket by number. */
static uint32_t
allreduce_host_of(const struct ask *a, uint32_t on_node)
{
	if (a->per_socket > 0)
		return on_node / a->per_socket;
	if (a->m == NULL)
		return on_node / PER_SOCKET;
	return machine_host(a->m, machine_rank_vertex(a->m, on_node));
}

/* First to last of a node; the last one of the first socket and the first one
 * of the others are neighbours in rank. */
static void
allreduce_place(const struct ask *a, struct allreduce *ar)
{
	struct allreduce_socket *s = NULL;

	ar->sockets = xcalloc(ar->ranks, sizeof(*ar->sockets));
	ar->socket_of = xcalloc(ar->ranks, sizeof(*ar->socket_of));
	for (uint32_t r = 0; r < ar->ranks; r++) {
		uint32_t node = r / a->per_node, on = r % a->per_node;

		if (s == NULL || s->node != node ||
		    allreduce_host_of(a, on) != allreduce_host_of(a, on - 1)) {
			s = &ar->sockets[ar->sockets_count++];
			*s = (struct allreduce_socket){ .lo = r, .node = node };
		}
		s->hi = r + 1;
		s->leader = s->lo % a->per_node == 0 ? r : s->lo;
		ar->socket_of[r] = ar->sockets_count - 1;
		ar->nodes = node + 1;
	}
}

/* ---- which of the two ---- */

/* Find two devices of a node without a direct link; return 0 if there are
 * none. */
static int
allreduce_strangers(const struct ask *a, uint32_t ranks, uint32_t *ret_a,
    uint32_t *ret_b)
{
	uint32_t n = ranks < a->per_node ? ranks : a->per_node;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++) {
			uint32_t v = machine_rank_vertex(a->m, i);
			uint32_t w = machine_rank_vertex(a->m, k);

			if (v == w || machine_joined(a->m, v, w))
				continue;
			*ret_a = v;
			*ret_b = w;
			return 1;
		}
	return 0;
}

/* The form, with the reason as a remark. */
static enum form
allreduce_choose(const struct ask *a, const struct allreduce *ar)
{
	static const char *const forms[] = { [FORM_AUTO] = "auto",
		[FORM_FLAT] = "flat",
		[FORM_HIERARCHICAL] = "hierarchical" };
	enum form form = (enum form)CONF_CHOICE_OF(a->c, SECTION, "form",
	    forms);
	uint32_t v = 0, w = 0;

	if (form != FORM_AUTO) {
		plan_remark(ar->p, "%s: set by allreduce.form",
		    conf_string(a->c, SECTION, "form"));
		return form;
	}
	if (ar->nodes > 1) {
		plan_remark(ar->p,
		    "hierarchical: %u nodes, so that data crosses between "
		    "nodes only once",
		    ar->nodes);
		return FORM_HIERARCHICAL;
	}
	if (a->m == NULL) {
		plan_remark(ar->p,
		    "flat: allreduce.machine is not set, so all devices count "
		    "as equally near");
		return FORM_FLAT;
	}
	if (allreduce_strangers(a, ar->ranks, &v, &w)) {
		plan_remark(ar->p,
		    "hierarchical: d%u and d%u of %s have no direct link", v, w,
		    a->m->name);
		return FORM_HIERARCHICAL;
	}
	plan_remark(ar->p, "flat: each pair of devices of %s has a direct link",
	    a->m->name);
	return FORM_FLAT;
}

/* ---- options ---- */

/* Chunks of the authors' code by the size of the vector. */
static uint32_t
allreduce_chunks_usual(uint64_t bytes)
{
	static const struct {
		uint64_t bytes;
		uint32_t chunks;
	} rows[] = { { 4ULL << 20, 2 }, { 16ULL << 20, 4 },
		{ 64ULL << 20, 8 } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (bytes <= rows[i].bytes)
			return rows[i].chunks;
	return 16;
}

static int
allreduce_ranks_read(struct ask *a, uint32_t *ranks, struct allreduce *ar)
{
	uint32_t asked = (uint32_t)conf_int(a->c, SECTION, "ranks");
	uint32_t fallback = a->m != NULL ? a->m->ranks : RANKS_FALLBACK;

	ar->ranks = asked > 0 ? asked : *ranks > 0 ? *ranks : fallback;
	if (*ranks > 0 && ar->ranks > *ranks)
		return pattern_refuse(a->c, SECTION, "ranks", a->err,
		    "0 to %u, the number of ranks", *ranks);
	if (ar->ranks > ALLREDUCE_RANKS_MAX)
		return pattern_refuse(a->c, SECTION, "ranks", a->err,
		    "at most %d; there are %u ranks", ALLREDUCE_RANKS_MAX,
		    ar->ranks);
	*ranks = *ranks > 0 ? *ranks : ar->ranks;
	a->per_socket = (uint32_t)conf_int(a->c, SECTION, "per_socket");
	a->per_node = (uint32_t)conf_int(a->c, SECTION, "per_node");
	if (a->per_node == 0)
		a->per_node = a->m != NULL ? a->m->ranks : ar->ranks;
	return 0;
}

static int
allreduce_options(struct ask *a, uint32_t *ranks, struct allreduce *ar)
{
	const struct conf *c = a->c;
	int rc = allreduce_ranks_read(a, ranks, ar);

	if (rc == 0)
		rc = pattern_vias(c, SECTION, 2, ar->vias, a->err);
	if (rc < 0)
		return rc;
	ar->type = (uint8_t)STR_FIND(plan_types,
	    conf_string(c, SECTION, "type"));
	ar->op = (uint8_t)STR_FIND(plan_ops, conf_string(c, SECTION, "op"));
	ar->size = plan_types[ar->type].bytes;
	ar->count = (uint64_t)conf_int(c, SECTION, "count");
	ar->chunks = (uint32_t)conf_int(c, SECTION, "chunks");
	ar->ways = (enum allreduce_ways)CONF_CHOICE_OF(c, SECTION, "multipath",
	    allreduce_ways);
	ar->share = conf_real(c, SECTION, "share");
	if (ar->chunks == 0)
		ar->chunks = allreduce_chunks_usual(ar->count * ar->size);
	/* a rank's places for what others send it */
	if ((double)ar->count * ar->size * 2 * ar->ranks >
	    (double)PLAN_BYTES_MAX)
		return pattern_refuse(c, SECTION, "count", a->err,
		    "at most 4 EiB in a buffer");
	if (2.0 * ar->ranks * ar->ranks * ar->chunks * 2 * STAGED_CHUNKS >
	    (double)PLAN_TRANSFERS_MAX)
		return pattern_refuse(c, SECTION, "chunks", a->err,
		    "a smaller number with %u ranks: the plan has too many "
		    "transfers",
		    ar->ranks);
	return 0;
}

/* ---- the plan ---- */

static void
allreduce_buffers(struct allreduce *ar, int in_place)
{
	uint64_t bytes = ar->count * ar->size;

	if (!in_place)
		ar->from = plan_buf_add(ar->p, "send", PLAN_IN);
	ar->to = plan_buf_add(ar->p, "recv", in_place ? PLAN_IN : PLAN_OUT);
	if (in_place)
		ar->from = ar->to;
	ar->work = plan_buf_add(ar->p, "work", PLAN_TEMP);
	ar->host = plan_buf_add(ar->p, "host", PLAN_TEMP);
	plan_buf_on_host(ar->p, ar->host);
	for (uint32_t r = 0; r < ar->ranks; r++) {
		plan_buf_need(ar->p, ar->from, r, bytes);
		plan_buf_need(ar->p, ar->to, r, bytes);
	}
	ar->worked = xcalloc(ar->ranks, sizeof(*ar->worked));
	ar->hosted = xcalloc(ar->ranks, sizeof(*ar->hosted));
}

static void
allreduce_promise(struct allreduce *ar)
{
	struct plan_promise m = { .to = ar->to,
		.bytes = ar->count * ar->size,
		.op = ar->ranks > 1 ? ar->op : PLAN_COPY,
		.type = ar->type };
	struct plan_span all = { 0, ar->ranks };
	struct plan_source s = { .hi = ar->ranks, .buf = ar->from };

	plan_promise_add(ar->p, &m, &all, 1, &s, 1);
	plan_note_add(ar->p, "data", "bytes", m.bytes);
	plan_note_add(ar->p, "footprint", "bytes", plan_volume(ar->p));
	plan_note_add(ar->p, "nodes", "1", ar->nodes);
	plan_note_add(ar->p, "sockets", "1", ar->sockets_count);
	plan_note_add(ar->p, "chunks", "1", ar->chunks);
}

static void
allreduce_rows(struct allreduce *ar, enum form form)
{
	struct allreduce_piece all = { 0, ar->count };
	struct plan_place own = allreduce_at(ar, ar->from, all);

	ar->o = order_new(ar->p);
	/* One rank, and the result is not where the data is. */
	if (ar->ranks == 1 && ar->from != ar->to)
		allreduce_fold(ar, 0, &own, 1, allreduce_at(ar, ar->to, all),
		    all);
	for (ar->chunk = 0; ar->ranks > 1 && ar->chunk < ar->chunks;
	     ar->chunk++)
		if (form == FORM_FLAT)
			allreduce_flat(ar);
		else
			allreduce_tree(ar);
	order_free(ar->o);
}

static int
allreduce_build_on(struct ask *a, uint32_t ranks, struct plan **ret)
{
	struct allreduce ar = { .count = 0 };
	char *title;
	int rc = allreduce_options(a, &ranks, &ar);

	if (rc < 0)
		return rc;
	allreduce_place(a, &ar);
	title = pattern_title(a->c, SECTION);
	ar.p = plan_new(ranks, title);
	free(title);
	allreduce_buffers(&ar, conf_bool(a->c, SECTION, "in_place"));
	allreduce_rows(&ar, allreduce_choose(a, &ar));
	allreduce_promise(&ar);
	plan_sort(ar.p);
	free(ar.sockets);
	free(ar.socket_of);
	free(ar.worked);
	free(ar.hosted);
	*ret = ar.p;
	return 0;
}

static int
allreduce_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	struct ask a = { .c = c, .err = err };
	const char *name = conf_string(c, SECTION, "machine");
	struct err text;
	int rc;

	if (name[0] != '\0' && machine_load(name, NULL, 0, &a.m, &text) < 0)
		return pattern_refuse(c, SECTION, "machine", err,
		    "a machine file or the name of one: %.300s", text.text);
	rc = allreduce_build_on(&a, site->ranks, ret);
	machine_free(a.m);
	return rc;
}

const struct pattern pattern_allreduce = {
	.name = SECTION,
	.text = "All-reduce among devices: flat, or by sockets and nodes.",
	.build = allreduce_build,
};
