/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding.c - steps that are measurements: which devices send at once in each.
 */
#include "probes/pattern/builders.h"

#include "common/str.h"

#define SECTION "binding"

const char *const binding_parts[BINDING_PART_MAX] = { "alone", "rail",
	"asymmetric", "both" };

struct binding {
	uint32_t g;
	uint64_t bytes;
	uint8_t via;
	struct plan *p;
	uint16_t send, recv;
	uint32_t step;
};

enum binding_part
binding_step(uint32_t g, uint32_t step, uint32_t *ret_k)
{
	if (step < g) {
		*ret_k = step + 1;
		return BINDING_ALONE;
	}
	if (step < 2 * g - 1) {
		*ret_k = step - g + 2;
		return BINDING_RAIL;
	}
	*ret_k = step < 3 * g - 1 ? step - 2 * g + 2 : g;
	return step < 3 * g - 1 ? BINDING_ASYMMETRIC : BINDING_BOTH;
}

uint32_t
binding_step_of(uint32_t g, enum binding_part part, uint32_t k)
{
	switch (part) {
	case BINDING_RAIL: /* the first of them is alone */
		return k == 1 ? 0 : g + k - 2;
	case BINDING_ASYMMETRIC:
		return 2 * g + k - 2;
	case BINDING_BOTH:
		return 3 * g - 1;
	default:
		return k - 1;
	}
}

/* Add a message with a separate receive range, so that each can be proven. */
static void
binding_message(struct binding *b, uint32_t src, uint32_t dst, uint64_t off,
    uint64_t bytes)
{
	struct plan_transfer t = { .step = b->step,
		.src = src,
		.dst = dst,
		.from = b->send,
		.to = b->recv,
		.from_off = off,
		.to_off = b->p->bufs[b->recv].bytes[dst],
		.bytes = bytes,
		.via = b->via };

	if (bytes == 0)
		return;
	plan_buf_need(b->p, b->send, src, off + bytes);
	plan_buf_need(b->p, b->recv, dst, t.to_off + bytes);
	plan_transfer_add(b->p, &t);
	plan_promise_copy(b->p, &t);
}

/* Device i of the group that begins at rank from, to all of the other. */
static void
binding_spread(struct binding *b, uint32_t from, uint32_t to, uint32_t i)
{
	for (uint32_t j = 0; j < b->g; j++) {
		uint64_t lo = plan_cut(b->bytes, b->g, j);
		uint64_t hi = plan_cut(b->bytes, b->g, j + 1);

		binding_message(b, from + i, to + j, lo, hi - lo);
	}
}

static int
binding_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t ranks = site->ranks;
	struct binding b = { .g = (uint32_t)conf_int(c, SECTION, "g"),
		.bytes = conf_bytes(c, SECTION, "bytes") };
	int rc = pattern_ranks(c, SECTION, "g", 2 * (uint64_t)b.g, &ranks, err);

	if (rc < 0)
		return rc;
	b.via = (uint8_t)STR_FIND(plan_vias, conf_string(c, SECTION, "via"));
	b.p = pattern_begin(c, SECTION, ranks);
	b.send = plan_buf_add(b.p, "send", PLAN_IN);
	b.recv = plan_buf_add(b.p, "recv", PLAN_OUT);
	for (; b.step < 3 * b.g; b.step++) {
		uint32_t k;
		enum binding_part part = binding_step(b.g, b.step, &k);

		if (part == BINDING_ALONE)
			binding_message(&b, k - 1, b.g + k - 1, 0, b.bytes);
		for (uint32_t i = 0; part == BINDING_RAIL && i < k; i++)
			binding_message(&b, i, b.g + i, 0, b.bytes);
		for (uint32_t i = 0; part >= BINDING_ASYMMETRIC && i < k; i++)
			binding_spread(&b, 0, b.g, i);
		for (uint32_t i = 0; part == BINDING_BOTH && i < k; i++)
			binding_spread(&b, b.g, 0, i);
	}
	plan_note_add(b.p, "g", "1", b.g);
	plan_note_add(b.p, "message", "bytes", b.bytes);
	plan_note_add(b.p, "footprint", "bytes", plan_volume(b.p));
	plan_sort(b.p);
	*ret = b.p;
	return 0;
}

const struct pattern pattern_binding = {
	.name = SECTION,
	.text =
	    "Which NIC serves which device, measured with each device alone "
	    "and then with the first k devices together.",
	.build = binding_build,
};
