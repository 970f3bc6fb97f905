/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv.c - a cache of keys and values moves from ranks that fill it to ranks that
 * use it, as inference servers that keep the two apart do: many small blocks,
 * each a message, from places of paged memory in no order to the next free
 * place.
 */
#include "probes/pattern/builders.h"

#include <stdlib.h>

#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"

#define SECTION "kv"

static int
kv_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t count = (uint32_t)conf_int(c, SECTION, "count");
	uint32_t pairs = (uint32_t)conf_int(c, SECTION, "pairs");
	uint32_t ranks = site->ranks;
	uint64_t bytes = conf_bytes(c, SECTION, "bytes");
	struct plan_transfer t = { .bytes = bytes,
		.via = (uint8_t)STR_FIND(plan_vias,
		    conf_string(c, SECTION, "via")) };
	struct plan *p;
	struct rng rng;
	int *page, rc;

	rc = pattern_ranks(c, SECTION, "pairs", 2, &ranks, err);
	if (rc < 0)
		return rc;
	if (pairs == 0)
		pairs = ranks / 2;
	if (2 * (uint64_t)pairs > ranks)
		return pattern_refuse(c, SECTION, "pairs", err,
		    "at most half of the %u ranks", ranks);
	rc = pattern_transfers(c, SECTION, "count", (uint64_t)pairs * count,
	    err);
	if (rc < 0)
		return rc;
	page = xcalloc(count, sizeof(*page));
	for (uint32_t k = 0; k < count; k++)
		page[k] = (int)k;
	p = pattern_begin(c, SECTION, ranks);
	t.from = plan_buf_add(p, "send", PLAN_IN);
	t.to = plan_buf_add(p, "recv", PLAN_OUT);
	for (uint32_t i = 0; i < pairs; i++) {
		t.src = i;
		t.dst = ranks - pairs + i;
		plan_buf_need(p, t.from, t.src, bytes * count);
		plan_buf_need(p, t.to, t.dst, bytes * count);
		rng_seed(&rng, i + 1);
		rng_shuffle(&rng, page, count);
		for (uint32_t k = 0; k < count; k++) {
			t.from_off = (uint64_t)page[k] * bytes;
			t.to_off = k * bytes;
			plan_transfer_add(p, &t);
			plan_promise_copy(p, &t);
		}
	}
	free(page);
	plan_note_add(p, "footprint", "bytes", plan_volume(p));
	plan_sort(p);
	*ret = p;
	return 0;
}

const struct pattern pattern_kv = {
	.name = SECTION,
	.text = "Many small blocks between pairs, as caches of keys and values "
		"move.",
	.build = kv_build,
};
