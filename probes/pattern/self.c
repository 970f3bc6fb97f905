/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self.c - every rank copies to itself: the memory's own bandwidth.
 */
#include "probes/pattern/builders.h"

#include "common/str.h"

#define SECTION "self"

static int
self_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t ranks = site->ranks;
	struct plan_transfer t = { .bytes = conf_bytes(c, SECTION, "bytes") };
	struct plan *p;
	int rc;

	t.via = (uint8_t)STR_FIND(plan_vias, conf_string(c, SECTION, "via"));
	rc = pattern_ranks(c, SECTION, "bytes", 1, &ranks, err);
	if (rc < 0)
		return rc;
	p = pattern_begin(c, SECTION, ranks);
	t.from = plan_buf_add(p, "send", PLAN_IN);
	t.to = plan_buf_add(p, "recv", PLAN_OUT);
	for (uint32_t r = 0; r < ranks; r++) {
		t.src = t.dst = r;
		plan_buf_need(p, t.from, r, t.bytes);
		plan_buf_need(p, t.to, r, t.bytes);
		plan_transfer_add(p, &t);
		plan_promise_copy(p, &t);
	}
	plan_note_add(p, "footprint", "bytes", plan_volume(p));
	plan_sort(p);
	*ret = p;
	return 0;
}

const struct pattern pattern_self = {
	.name = SECTION,
	.text = "Copies within each device.",
	.build = self_build,
};
