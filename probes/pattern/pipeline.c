/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.c - a chain of stages: each micro-batch goes from a rank to the
 * next, forward, and with backward = yes a gradient of the same size comes
 * back. While one micro-batch is between two ranks, others are between others:
 * hop i of micro-batch m is in step m + i.
 */
#include "probes/pattern/builders.h"

#include "common/str.h"

#define SECTION "pipeline"

struct pipeline {
	struct plan *p;
	uint32_t ranks, batches;
	uint64_t bytes;
	uint8_t via;
};

/* All batches along the chain, from its first rank's buf in to its last one's
 * out; backward from the last rank to the first. hold: what lies between. */
static void
pipeline_pass(struct pipeline *pl, const char *in, const char *out,
    const char *hold, int backward)
{
	uint16_t from = plan_buf_add(pl->p, in, PLAN_IN);
	uint16_t to = plan_buf_add(pl->p, out, PLAN_OUT);
	uint16_t between = plan_buf_add(pl->p, hold, PLAN_TEMP);
	uint32_t hops = pl->ranks - 1;

	for (uint32_t m = 0; m < pl->batches; m++) {
		struct plan_transfer whole = { .src = backward ? hops : 0,
			.dst = backward ? 0 : hops,
			.from = from,
			.to = to,
			.from_off = m * pl->bytes,
			.to_off = m * pl->bytes,
			.bytes = pl->bytes };

		for (uint32_t i = 0; i < hops; i++) {
			struct plan_transfer t = whole;

			t.src = backward ? hops - i : i;
			t.dst = backward ? hops - i - 1 : i + 1;
			t.from = i == 0 ? from : between;
			t.to = i == hops - 1 ? to : between;
			t.step = m + i + (backward ? hops : 0);
			t.via = pl->via;
			plan_buf_need(pl->p, t.from, t.src,
			    pl->batches * pl->bytes);
			plan_buf_need(pl->p, t.to, t.dst,
			    pl->batches * pl->bytes);
			plan_transfer_add(pl->p, &t);
		}
		plan_promise_copy(pl->p, &whole);
	}
}

static int
pipeline_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	struct pipeline pl = { .ranks = site->ranks,
		.batches = (uint32_t)conf_int(c, SECTION, "batches"),
		.bytes = conf_bytes(c, SECTION, "bytes"),
		.via = (uint8_t)STR_FIND(plan_vias,
		    conf_string(c, SECTION, "via")) };
	int rc;

	if (pl.ranks == 1)
		return pattern_refuse(c, SECTION, "batches", err,
		    "a run with at least 2 ranks; there is 1");
	rc = pattern_ranks(c, SECTION, "batches", 2, &pl.ranks, err);
	if (rc == 0)
		rc = pattern_transfers(c, SECTION, "batches",
		    2 * (uint64_t)pl.ranks * pl.batches, err);
	if (rc < 0)
		return rc;
	pl.p = pattern_begin(c, SECTION, pl.ranks);
	pipeline_pass(&pl, "send", "recv", "stage", 0);
	if (conf_bool(c, SECTION, "backward"))
		pipeline_pass(&pl, "loss", "gradient", "back", 1);
	plan_note_add(pl.p, "footprint", "bytes", plan_volume(pl.p));
	plan_sort(pl.p);
	*ret = pl.p;
	return 0;
}

const struct pattern pattern_pipeline = {
	.name = SECTION,
	.text = "Micro-batches along a chain of ranks, and gradients back.",
	.build = pipeline_build,
};
