/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.c - nodes meet in pairs, all at once and both ways: what each node's
 * own link gives. With shift 0 and then 1 every node meets two others, so that
 * one slow end can be told from the other; of an odd number the first and the
 * last meet with shift 2.
 */
#include "probes/pattern/builders.h"

#include "common/str.h"

#define SECTION "pairs"

struct pairs {
	struct plan *p;
	struct plan_transfer t; /* what all have alike */
	uint64_t bytes;         /* of a device */
	uint32_t g, pieces;
};

/* Both ways between the devices of two nodes; what does not divide is spread
 * over the first pieces. */
static void
pairs_meet(struct pairs *ps, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < 2 * ps->g; i++) {
		struct plan_transfer t = ps->t;
		uint64_t off = 0;

		t.src = (i < ps->g ? a : b) * ps->g + i % ps->g;
		t.dst = (i < ps->g ? b : a) * ps->g + i % ps->g;
		plan_buf_need(ps->p, t.from, t.src, ps->bytes);
		plan_buf_need(ps->p, t.to, t.dst, ps->bytes);
		for (uint32_t k = 0; k < ps->pieces; k++) {
			t.bytes = ps->bytes / ps->pieces +
			    (k < ps->bytes % ps->pieces);
			t.from_off = t.to_off = off;
			off += t.bytes;
			if (t.bytes == 0)
				break;
			plan_transfer_add(ps->p, &t);
			plan_promise_copy(ps->p, &t);
		}
	}
}

static int
pairs_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t ranks = site->ranks;
	uint32_t shift = (uint32_t)conf_int(c, SECTION, "shift"), nodes;
	struct pairs ps = { .g = (uint32_t)conf_int(c, SECTION, "g"),
		.pieces = (uint32_t)conf_int(c, SECTION, "pieces"),
		.bytes = conf_bytes(c, SECTION, "bytes") };
	int rc;

	ps.t.via = (uint8_t)STR_FIND(plan_vias, conf_string(c, SECTION, "via"));
	rc = pattern_ranks(c, SECTION, "g", (2 + (uint64_t)(shift > 0)) * ps.g,
	    &ranks, err);
	if (rc < 0)
		return rc;
	nodes = ranks / ps.g;
	ps.p = pattern_begin(c, SECTION, ranks);
	ps.t.from = plan_buf_add(ps.p, "send", PLAN_IN);
	ps.t.to = plan_buf_add(ps.p, "recv", PLAN_OUT);
	for (uint32_t k = 0; k < nodes / 2; k++)
		pairs_meet(&ps, (shift + 2 * k) % nodes,
		    (shift + 2 * k + 1) % nodes);
	plan_note_add(ps.p, "footprint", "bytes", plan_volume(ps.p));
	plan_sort(ps.p);
	*ret = ps.p;
	return 0;
}

const struct pattern pattern_pairs = {
	.name = SECTION,
	.text =
	    "Nodes in pairs, in both directions: the rate of each node's link.",
	.build = pairs_build,
};
