/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripe.c - one message from rank 0 to rank g over all g devices of both
 * nodes: split to the neighbours, translate across, assemble at the target.
 * The stripe of rank 0 crosses directly. Stripes are cut in bytes, or in whole
 * elements when count is given; what does not divide goes to the first ones.
 */
#include "probes/pattern/builders.h"

#include "common/str.h"

#define SECTION "stripe"

static int
stripe_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t ranks = site->ranks;
	uint64_t count = (uint64_t)conf_int(c, SECTION, "count"), bytes;
	uint64_t units = count > 0 ? count : conf_bytes(c, SECTION, "bytes");
	uint32_t g = (uint32_t)conf_int(c, SECTION, "g");
	unsigned size = count == 0
	    ? 1
	    : plan_types[STR_FIND(plan_types, conf_string(c, SECTION, "type"))]
		  .bytes;
	uint16_t send, recv, temp;
	uint8_t vias[3];
	struct plan *p;
	int rc = pattern_vias(c, SECTION, 3, vias, err);

	if (rc == 0)
		rc = pattern_ranks(c, SECTION, "g", 2 * (uint64_t)g, &ranks,
		    err);
	if (rc < 0)
		return rc;
	p = pattern_begin(c, SECTION, ranks);
	bytes = units * size;
	send = plan_buf_add(p, "send", PLAN_IN);
	recv = plan_buf_add(p, "recv", PLAN_OUT);
	temp = plan_buf_add(p, "stripe", PLAN_TEMP);
	plan_buf_need(p, send, 0, bytes);
	plan_buf_need(p, recv, g, bytes);
	/* the three hops of each stripe; the first of them is there already */
	for (uint32_t i = 0; i < g; i++) {
		uint64_t off = plan_cut(units, g, i) * size;
		uint64_t end = plan_cut(units, g, i + 1) * size;
		struct plan_transfer to = { .dst = i,
			.from = send,
			.to = temp,
			.from_off = off,
			.bytes = end - off,
			.via = vias[0] };
		struct plan_transfer over = { .step = 1,
			.src = i,
			.dst = g + i,
			.from = i > 0 ? temp : send,
			.to = i > 0 ? temp : recv,
			.from_off = i > 0 ? 0 : off,
			.bytes = end - off,
			.via = vias[1] };
		struct plan_transfer home = { .step = 2,
			.src = g + i,
			.dst = g,
			.from = temp,
			.to = recv,
			.to_off = off,
			.bytes = end - off,
			.via = vias[2] };

		if (i > 0) {
			plan_transfer_add(p, &to);
			plan_buf_need(p, temp, i, end - off);
			plan_buf_need(p, temp, g + i, end - off);
		}
		plan_transfer_add(p, &over);
		if (i > 0)
			plan_transfer_add(p, &home);
	}
	plan_promise_copy(p,
	    &(struct plan_transfer){ .dst = g,
		.from = send,
		.to = recv,
		.bytes = bytes });
	plan_note_add(p, "message", "bytes", bytes);
	plan_note_add(p, "footprint", "bytes", plan_volume(p));
	plan_sort(p);
	*ret = p;
	return 0;
}

struct plan *
stripe_direct(const struct plan *p)
{
	const struct plan_promise *m = &p->promises[0];
	struct plan_transfer t = { .src = p->sources[m->source].lo,
		.dst = p->spans[m->span].lo,
		.bytes = m->bytes };
	struct plan *direct = plan_new(p->ranks, "direct");

	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].step == 1)
			t.via = p->transfers[i].via;
	t.from = plan_buf_add(direct, "send", PLAN_IN);
	t.to = plan_buf_add(direct, "recv", PLAN_OUT);
	plan_buf_need(direct, t.from, t.src, t.bytes);
	plan_buf_need(direct, t.to, t.dst, t.bytes);
	plan_transfer_add(direct, &t);
	plan_promise_copy(direct, &t);
	plan_sort(direct);
	return direct;
}

const struct pattern pattern_stripe = {
	.name = SECTION,
	.text = "One message striped over all devices and NICs of two nodes.",
	.build = stripe_build,
};
