/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripe.c - one message from rank 0 to rank g over all g devices of both
 * nodes: split to the neighbours, translate across, assemble at the target.
 * The stripe of rank 0 crosses directly. Stripes are cut in bytes, or in whole
 * elements when count is given; what does not divide goes to the first ones.
 */
#include "probes/pattern/stripe.h"

#include "common/err.h"

#include <errno.h>
#include <stdlib.h>

#include "probes/pattern/builders.h"

#define SECTION STRIPE_SECTION

struct stripe {
	uint64_t g;
	uint64_t units;
	unsigned size; /* bytes of a unit */
	uint8_t vias[3];
	uint16_t send, recv, temp;
};

static int
options(const struct conf *c, struct stripe *st, struct err *err)
{
	uint64_t count = (uint64_t)conf_int(c, SECTION, "count");

	st->g = (uint64_t)conf_int(c, SECTION, "g");
	st->units = count > 0 ? count : conf_bytes(c, SECTION, "bytes");
	st->size = count > 0
	    ? plan_types[plan_type_find(conf_string(c, SECTION, "type"))].bytes
	    : 1;
	return pattern_vias(c, SECTION, 3, st->vias, err);
}

/* The three hops of stripe i, and what it promises. */
static void
stripe_add(const struct stripe *st, struct plan *p, uint32_t i)
{
	uint32_t g = (uint32_t)st->g;
	uint64_t off = plan_cut(st->units, st->g, i) * st->size;
	uint64_t bytes = plan_cut(st->units, st->g, i + 1) * st->size - off;
	struct plan_transfer t = { .from_off = off, .bytes = bytes };

	if (i > 0) {
		t.dst = i;
		t.from = st->send;
		t.to = st->temp;
		t.via = st->vias[0];
		plan_transfer_add(p, &t);
		plan_buf_need(p, st->temp, i, bytes);
		plan_buf_need(p, st->temp, g + i, bytes);
		t.from_off = 0;
	}
	t.step = 1;
	t.src = i;
	t.dst = g + i;
	t.from = i > 0 ? st->temp : st->send;
	t.to = i > 0 ? st->temp : st->recv;
	t.via = st->vias[1];
	plan_transfer_add(p, &t);
	if (i > 0) {
		t.step = 2;
		t.src = g + i;
		t.dst = g;
		t.from = st->temp;
		t.to = st->recv;
		t.to_off = off;
		t.via = st->vias[2];
		plan_transfer_add(p, &t);
	}
}

static int
build(const struct conf *c, uint32_t ranks, struct plan **ret, struct err *err)
{
	struct stripe st;
	struct plan *p;
	uint64_t bytes;
	char *title;
	int rc;

	rc = options(c, &st, err);
	if (rc == 0)
		rc = pattern_ranks(c, SECTION, "g", 2 * st.g, &ranks, err);
	if (rc < 0)
		return rc;
	title = pattern_title(c, SECTION);
	p = plan_new(ranks, title);
	free(title);
	bytes = st.units * st.size;
	st.send = plan_buf_add(p, "send", PLAN_IN);
	st.recv = plan_buf_add(p, "recv", PLAN_OUT);
	st.temp = plan_buf_add(p, "stripe", PLAN_TEMP);
	plan_buf_need(p, st.send, 0, bytes);
	plan_buf_need(p, st.recv, (uint32_t)st.g, bytes);
	for (uint32_t i = 0; i < st.g; i++)
		stripe_add(&st, p, i);
	plan_promise_copy(p,
	    &(struct plan_transfer){ .dst = (uint32_t)st.g,
		.from = st.send,
		.to = st.recv,
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
	.build = build,
};
