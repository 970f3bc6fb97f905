/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.c - nodes meet in pairs, all at once and both ways: what each node's
 * own link gives. With shift 0 and then 1 every node meets two others, so that
 * one slow end can be told from the other.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "probes/pattern/builders.h"

#define SECTION "pairs"

struct pair_medians {
	struct plan *p;
	struct plan_transfer t; /* what all have alike */
	uint64_t bytes;         /* of a device */
	uint32_t nodes, g, pieces;
};

/* What a device sends: the rest is spread over the first pieces. */
static void
send_all(struct pair_medians *ps)
{
	struct plan_transfer t = ps->t;
	uint64_t off = 0;

	plan_buf_need(ps->p, t.from, t.src, ps->bytes);
	plan_buf_need(ps->p, t.to, t.dst, ps->bytes);
	for (uint32_t i = 0; i < ps->pieces; i++) {
		t.bytes = ps->bytes / ps->pieces + (i < ps->bytes % ps->pieces);
		t.from_off = t.to_off = off;
		off += t.bytes;
		if (t.bytes == 0)
			break;
		plan_transfer_add(ps->p, &t);
		plan_promise_copy(ps->p, &t);
	}
}

static void
meet(struct pair_medians *ps, uint32_t a, uint32_t b)
{
	struct plan_transfer *t = &ps->t;

	for (uint32_t i = 0; i < 2 * ps->g; i++) {
		uint32_t device = i % ps->g;

		t->src = (i < ps->g ? a : b) * ps->g + device;
		t->dst = (i < ps->g ? b : a) * ps->g + device;
		send_all(ps);
	}
}

/* The last with the first, where their number lets both be without another. */
static void
meet_all(struct pair_medians *ps, uint32_t shift)
{
	for (uint32_t a = shift; a + 1 < ps->nodes; a += 2)
		meet(ps, a, a + 1);
	if (shift == 1 && ps->nodes % 2 == 0)
		meet(ps, ps->nodes - 1, 0);
}

static int
build(const struct conf *c, uint32_t ranks, struct plan **ret, struct err *err)
{
	uint32_t shift = (uint32_t)conf_int(c, SECTION, "shift");
	struct pair_medians ps = { .g = (uint32_t)conf_int(c, SECTION, "g"),
		.pieces = (uint32_t)conf_int(c, SECTION, "pieces"),
		.bytes = conf_bytes(c, SECTION, "bytes") };
	char *title;
	int rc;

	ps.t.via = (uint8_t)plan_via_find(conf_string(c, SECTION, "via"));
	rc = pattern_ranks(c, SECTION, "g", (2 + (uint64_t)shift) * ps.g,
	    &ranks, err);
	if (rc < 0)
		return rc;
	ps.nodes = ranks / ps.g;
	title = pattern_title(c, SECTION);
	ps.p = plan_new(ranks, title);
	free(title);
	ps.t.from = plan_buf_add(ps.p, "send", PLAN_IN);
	ps.t.to = plan_buf_add(ps.p, "recv", PLAN_OUT);
	meet_all(&ps, shift);
	plan_note_add(ps.p, "footprint", "bytes", plan_volume(ps.p));
	plan_sort(ps.p);
	*ret = ps.p;
	return 0;
}

const struct pattern pattern_pairs = {
	.name = SECTION,
	.text = "Nodes in pairs, both ways: what each node's link gives.",
	.build = build,
};
