/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse.c - an application's own pattern, direct or striped (CommBench section
 * 5.4).
 *
 * Direct: one transfer per entry; send and recv are packed as MPI_Alltoallv
 * packs them, whatever part of the pattern is in scope.
 *
 * Striped: an entry between nodes is cut into stripes. With node(i) = i / g,
 * stripe k of i -> j goes i -> a = node(i)*g + k, a -> b = node(j)*g + k, b ->
 * j, and all bytes from one rank to another in one step are one message. In
 * such a message bytes are ordered
 *   split      by final receiver
 *   translate  by sender, then receiver
 *   assemble   by sender
 * and a copy at a and b brings them from one order into the next. send has its
 * part between nodes in the order of the split (by stripe, then receiver), recv
 * in the order of the assembly (by stripe, then sender), so the ends need no
 * copy.
 * Entries within a node go directly, in the first step.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/builders.h"
#include "probes/pattern/numbers.h"
#include "probes/pattern/matrix.h"

#define SECTION "sparse"

enum scope { SCOPE_ALL, SCOPE_INTRA, SCOPE_INTER };
static const char *const scopes[] = { "all", "intra", "inter" };
static const char *const formats[] = { [MATRIX_AUTO] = "auto",
	[MATRIX_MATRIX] = "matrix",
	[MATRIX_LIST] = "list" };

struct sparse {
	struct matrix m;
	uint32_t g, stripes;
	unsigned size; /* bytes of an element */
	int scope;
	uint8_t vias[3];
	struct plan *p;
	uint16_t send, recv;
	/* striped only */
	uint16_t split, out, in, merge;
	uint64_t *sent, *received; /* by rank, so far */
	uint64_t *next; /* by sender: what of this stripe comes next */
};

static uint64_t
sparse_cell(const struct sparse *sp, uint32_t src, uint32_t dst)
{
	return sp->m.cells[(size_t)src * sp->m.ranks + dst];
}

static int
sparse_is_inter(const struct sparse *sp, uint32_t src, uint32_t dst)
{
	return src / sp->g != dst / sp->g;
}

/* Bytes of stripe k of an entry; 0 for one within a node. */
static uint64_t
sparse_piece(const struct sparse *sp, uint32_t src, uint32_t dst, uint32_t k)
{
	uint64_t c = sparse_cell(sp, src, dst);

	if (!sparse_is_inter(sp, src, dst))
		return 0;
	return (plan_cut(c, sp->stripes, k + 1) - plan_cut(c, sp->stripes, k)) *
	    sp->size;
}

/* Entries as transfers from and to the next free bytes: within nodes only when
 * the rest is striped, everything otherwise. One that is not in scope is left
 * out; its place is not. */
static void
sparse_direct_add(struct sparse *sp)
{
	size_t ranks = sp->m.ranks;

	for (size_t i = 0; i < ranks * ranks; i++) {
		struct plan_transfer t = { .src = (uint32_t)(i / ranks),
			.dst = (uint32_t)(i % ranks),
			.from = sp->send,
			.to = sp->recv,
			.bytes = sp->m.cells[i] * sp->size,
			.via = sp->vias[0] };
		int inter = sparse_is_inter(sp, t.src, t.dst);

		if (t.bytes == 0 || (inter && sp->stripes > 0))
			continue;
		t.from_off = sp->sent[t.src];
		t.to_off = sp->received[t.dst];
		sp->sent[t.src] += t.bytes;
		sp->received[t.dst] += t.bytes;
		plan_buf_need(sp->p, sp->send, t.src, sp->sent[t.src]);
		plan_buf_need(sp->p, sp->recv, t.dst, sp->received[t.dst]);
		if (sp->scope != SCOPE_ALL &&
		    inter != (sp->scope == SCOPE_INTER))
			continue;
		plan_transfer_add(sp->p, &t);
		plan_promise_copy(sp->p, &t);
	}
}

/* Split: everything of src for owner k of its node, as one message. */
static void
sparse_split_add(struct sparse *sp, uint32_t src, uint32_t k, uint64_t *at)
{
	uint32_t owner = src / sp->g * sp->g + k;
	struct plan_transfer t = { .src = src,
		.dst = owner,
		.from = sp->send,
		.to = sp->split,
		.from_off = sp->sent[src],
		.to_off = *at,
		.via = sp->vias[0] };

	for (uint32_t dst = 0; dst < sp->m.ranks; dst++)
		t.bytes += sparse_piece(sp, src, dst, k);
	*at += t.bytes;
	sp->sent[src] += t.bytes;
	plan_buf_need(sp->p, sp->send, src, sp->sent[src]);
	plan_buf_need(sp->p, sp->split, owner, *at);
	plan_transfer_add(sp->p, &t);
}

/* At owner k of node, bring what arrived by sender into the order by node of
 * the receiver, then sender: all that goes from one sender to one node lies
 * together already. */
static void
sparse_sort_out(struct sparse *sp, uint32_t node, uint32_t k)
{
	uint32_t owner = node * sp->g + k, nodes = sp->m.ranks / sp->g;
	struct plan_local l = { .rank = owner,
		.to = sp->out,
		.op = PLAN_COPY,
		.type = PLAN_BYTE };
	uint64_t *at = xcalloc(sp->g, sizeof(*at)); /* in split, by sender */
	uint64_t off = 0;

	for (uint32_t i = 0; i < sp->g; i++) {
		at[i] = off;
		for (uint32_t dst = 0; dst < sp->m.ranks; dst++)
			off += sparse_piece(sp, node * sp->g + i, dst, k);
	}
	plan_buf_need(sp->p, sp->out, owner, off);
	for (uint32_t n = 0; n < nodes; n++)
		for (uint32_t i = 0; i < sp->g; i++) {
			struct plan_place from = { at[i], sp->split };

			l.bytes = 0;
			for (uint32_t j = 0; j < sp->g; j++)
				l.bytes += sparse_piece(sp, node * sp->g + i,
				    n * sp->g + j, k);
			plan_local_add(sp->p, &l, &from, 1);
			at[i] += l.bytes;
			l.to_off += l.bytes;
		}
	free(at);
}

/* What owners k of two nodes exchange. */
static void
sparse_translate(struct sparse *sp, uint32_t k)
{
	uint32_t nodes = sp->m.ranks / sp->g;
	uint64_t *in = xcalloc(nodes, sizeof(*in));

	for (uint32_t from = 0; from < nodes; from++) {
		struct plan_transfer t = { .step = 1,
			.src = from * sp->g + k,
			.from = sp->out,
			.to = sp->in,
			.via = sp->vias[1] };

		for (uint32_t to = 0; to < nodes; to++) {
			t.dst = to * sp->g + k;
			t.bytes = 0;
			for (uint32_t i = 0; i < sp->g; i++)
				for (uint32_t j = 0; j < sp->g; j++)
					t.bytes += sparse_piece(sp,
					    from * sp->g + i, to * sp->g + j,
					    k);
			t.to_off = in[to];
			plan_transfer_add(sp->p, &t);
			t.from_off += t.bytes;
			in[to] += t.bytes;
			plan_buf_need(sp->p, sp->in, t.dst, in[to]);
		}
	}
	free(in);
}

/* At owner k of node, from the order sender, receiver to receiver, sender. */
static void
sparse_sort_in(struct sparse *sp, uint32_t node, uint32_t k)
{
	uint32_t owner = node * sp->g + k;
	struct plan_local l = { .rank = owner,
		.step = 1,
		.to = sp->merge,
		.op = PLAN_COPY,
		.type = PLAN_BYTE };
	uint64_t *to = xcalloc(sp->g + 1u, sizeof(*to)); /* by receiver */
	struct plan_place from = { 0, sp->in };

	for (uint32_t j = 0; j < sp->g; j++) {
		to[j + 1] = to[j];
		for (uint32_t src = 0; src < sp->m.ranks; src++)
			to[j + 1] += sparse_piece(sp, src, node * sp->g + j, k);
	}
	plan_buf_need(sp->p, sp->merge, owner, to[sp->g]);
	for (uint32_t src = 0; src < sp->m.ranks; src++)
		for (uint32_t j = 0; j < sp->g; j++) {
			l.bytes = sparse_piece(sp, src, node * sp->g + j, k);
			l.to_off = to[j];
			plan_local_add(sp->p, &l, &from, 1);
			from.off += l.bytes;
			to[j] += l.bytes;
		}
	free(to);
}

/* Assemble: all stripes k for dst; and what dst may expect of them. Called for
 * receivers in ascending order, which is the order of each send buffer. */
static void
sparse_assemble_add(struct sparse *sp, uint32_t dst, uint32_t k, uint64_t *at)
{
	uint32_t owner = dst / sp->g * sp->g + k;
	struct plan_transfer t = { .step = 2,
		.src = owner,
		.dst = dst,
		.from = sp->merge,
		.to = sp->recv,
		.from_off = *at,
		.to_off = sp->received[dst],
		.via = sp->vias[2] };

	for (uint32_t src = 0; src < sp->m.ranks; src++) {
		struct plan_transfer m = { .src = src,
			.dst = dst,
			.from = sp->send,
			.to = sp->recv,
			.to_off = t.to_off + t.bytes,
			.bytes = sparse_piece(sp, src, dst, k) };

		t.bytes += m.bytes;
		if (m.bytes == 0)
			continue;
		m.from_off = sp->next[src];
		sp->next[src] += m.bytes;
		plan_promise_copy(sp->p, &m);
	}
	*at += t.bytes;
	sp->received[dst] += t.bytes;
	plan_buf_need(sp->p, sp->recv, dst, sp->received[dst]);
	plan_transfer_add(sp->p, &t);
}

static void
sparse_striped(struct sparse *sp)
{
	uint32_t nodes = sp->m.ranks / sp->g;

	sp->split = plan_buf_add(sp->p, "split", PLAN_TEMP);
	sp->out = plan_buf_add(sp->p, "out", PLAN_TEMP);
	sp->in = plan_buf_add(sp->p, "in", PLAN_TEMP);
	sp->merge = plan_buf_add(sp->p, "merge", PLAN_TEMP);
	for (uint32_t k = 0; k < sp->stripes; k++) {
		for (uint32_t node = 0; node < nodes; node++) {
			uint64_t at = 0;

			for (uint32_t i = 0; i < sp->g; i++) {
				uint32_t src = node * sp->g + i;

				sp->next[src] = sp->sent[src];
				sparse_split_add(sp, src, k, &at);
			}
			sparse_sort_out(sp, node, k);
		}
		sparse_translate(sp, k);
		for (uint32_t node = 0; node < nodes; node++) {
			uint64_t at = 0;

			sparse_sort_in(sp, node, k);
			for (uint32_t j = 0; j < sp->g; j++)
				sparse_assemble_add(sp, node * sp->g + j, k,
				    &at);
		}
	}
}

/* The options, and the matrix. */
static int
sparse_read(const struct conf *c, uint32_t ranks, struct sparse *sp,
    struct err *err)
{
	const char *path = conf_string(c, SECTION, "file");
	int rc;

	sp->g = (uint32_t)conf_int(c, SECTION, "g");
	sp->stripes = (uint32_t)conf_int(c, SECTION, "stripes");
	sp->scope = CONF_CHOICE_OF(c, SECTION, "scope", scopes);
	if (sp->stripes > sp->g)
		return pattern_refuse(c, SECTION, "stripes", err, "0 to g = %u",
		    sp->g);
	rc = pattern_vias(c, SECTION, 3, sp->vias, err);
	if (rc < 0)
		return rc;
	if (path[0] == '\0')
		return pattern_refuse(c, SECTION, "file", err,
		    "the path of a matrix or list, or halo8");
	rc = matrix_load(path,
	    (enum matrix_format)CONF_CHOICE_OF(c, SECTION, "format", formats),
	    ranks, &sp->m, err);
	if (rc < 0 && rc != -EINVAL) {
		pattern_refuse(c, SECTION, "file", err,
		    "a readable regular file%s%s", rc == -ENOTSUP ? "" : ": ",
		    rc == -ENOTSUP ? "" : strerror(-rc));
		return -EINVAL;
	}
	if (rc < 0)
		return rc;
	sp->size = sp->m.is_list
	    ? 1
	    : plan_types[STR_FIND(plan_types, conf_string(c, SECTION, "type"))]
		  .bytes;
	if (sp->m.ranks % sp->g != 0)
		return pattern_refuse(c, SECTION, "g", err,
		    "a divisor of %u, the ranks in the file", sp->m.ranks);
	return 0;
}

static int
sparse_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t ranks = site->ranks;
	uint64_t inter = 0, self = 0, all = 0;
	struct sparse sp = { 0 };
	int rc = sparse_read(c, ranks, &sp, err);

	if (rc < 0) {
		matrix_clear(&sp.m);
		return rc;
	}
	sp.p = pattern_begin(c, SECTION, ranks > 0 ? ranks : sp.m.ranks);
	sp.send = plan_buf_add(sp.p, "send", PLAN_IN);
	sp.recv = plan_buf_add(sp.p, "recv", PLAN_OUT);
	sp.sent = xcalloc(sp.m.ranks, sizeof(*sp.sent));
	sp.received = xcalloc(sp.m.ranks, sizeof(*sp.received));
	sp.next = xcalloc(sp.m.ranks, sizeof(*sp.next));
	sparse_direct_add(&sp);
	if (sp.stripes > 0 && sp.scope != SCOPE_INTRA)
		sparse_striped(&sp);
	for (uint32_t src = 0; src < sp.m.ranks; src++)
		for (uint32_t dst = 0; dst < sp.m.ranks; dst++) {
			uint64_t bytes = sparse_cell(&sp, src, dst) * sp.size;

			all += bytes;
			inter += sparse_is_inter(&sp, src, dst) ? bytes : 0;
			self += src == dst ? bytes : 0;
		}
	plan_note_add(sp.p, "pattern", "bytes", all);
	plan_note_add(sp.p, "inter", "bytes", inter);
	plan_note_add(sp.p, "self", "bytes", self);
	plan_note_add(sp.p, "footprint", "bytes", plan_volume(sp.p));
	plan_note_add(sp.p, "delivered", "bytes",
	    sp.scope == SCOPE_ALL         ? all
		: sp.scope == SCOPE_INTER ? inter
					  : all - inter);
	plan_sort(sp.p);
	free(sp.sent);
	free(sp.received);
	free(sp.next);
	matrix_clear(&sp.m);
	if (sp.p->transfers_count == 0) {
		plan_free(sp.p);
		return pattern_refuse(c, SECTION, "scope", err,
		    "a scope in which %s has messages",
		    conf_string(c, SECTION, "file"));
	}
	*ret = sp.p;
	return 0;
}

const struct pattern pattern_sparse = {
	.name = SECTION,
	.text = "An application's matrix of messages, direct or striped.",
	.build = sparse_build,
};
