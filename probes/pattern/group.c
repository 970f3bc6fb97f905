/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - group-to-group patterns (CommBench section 4).
 *
 * Device i of group a is rank a*g + i. Of the first k devices, the active
 * ones, each sends count elements in all when data flows out of its group:
 * cut over its k*(n-1) or n-1 partners, or, asymmetric, count to every other
 * group, cut over that group's g devices. What does not divide goes to the
 * first partners, one element each, so the volume is exact. Inward is the
 * mirror image.
 */
#include <stdlib.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/builders.h"

#define SECTION "group"

enum shape { RAIL, ASYMMETRIC, SYMMETRIC };
enum direction { OUT, IN, BI, OMNI };
static const char *const shapes[] = { "rail", "asymmetric", "symmetric" };
static const char *const directions[] = { "out", "in", "bi", "omni" };

struct group {
	uint64_t n, g, k;
	uint64_t count;
	unsigned size; /* of an element, bytes */
	int shape, direction;
	uint8_t via;
	struct plan *p;
	uint16_t send, recv;
	uint64_t *sent, *received; /* bytes by rank, so far */
};

/* Partners of an active device in one other group. */
static uint64_t
group_partners(const struct group *gr)
{
	if (gr->shape == RAIL)
		return 1;
	return gr->shape == ASYMMETRIC ? gr->g : gr->k;
}

static void
group_message(struct group *gr, uint32_t src, uint32_t dst, uint64_t elements)
{
	struct plan_transfer t = { .src = src,
		.dst = dst,
		.from = gr->send,
		.to = gr->recv,
		.from_off = gr->sent[src],
		.to_off = gr->received[dst],
		.bytes = elements * gr->size,
		.via = gr->via };

	gr->sent[src] += t.bytes;
	gr->received[dst] += t.bytes;
	plan_buf_need(gr->p, gr->send, src, gr->sent[src]);
	plan_buf_need(gr->p, gr->recv, dst, gr->received[dst]);
	plan_transfer_add(gr->p, &t);
	if (t.bytes > 0)
		plan_promise_copy(gr->p, &t);
}

/* All messages of active device i of group a, or to it. */
static void
group_device(struct group *gr, uint64_t a, uint64_t i, int inward)
{
	uint64_t parts = group_partners(gr), turn = 0, own = a * gr->g + i;
	uint64_t cuts = gr->shape == ASYMMETRIC ? parts : parts * (gr->n - 1);

	for (uint64_t b = 0; b < gr->n; b++) {
		if (b == a)
			continue;
		if (gr->shape == ASYMMETRIC)
			turn = 0;
		for (uint64_t j = 0; j < parts; j++, turn++) {
			uint64_t to = gr->shape == RAIL ? i : j;
			uint64_t other = b * gr->g + to;
			uint64_t elements = plan_cut(gr->count, cuts,
						turn + 1) -
			    plan_cut(gr->count, cuts, turn);

			if (inward)
				group_message(gr, (uint32_t)other,
				    (uint32_t)own, elements);
			else
				group_message(gr, (uint32_t)own,
				    (uint32_t)other, elements);
		}
	}
}

static int
group_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t ranks = site->ranks;
	struct group gr = { 0 };
	uint64_t footprint = 0, own = 0;
	double rows;
	int rc;

	gr.shape = CONF_CHOICE_OF(c, SECTION, "pattern", shapes);
	gr.direction = CONF_CHOICE_OF(c, SECTION, "direction", directions);
	gr.n = (uint64_t)conf_int(c, SECTION, "n");
	gr.g = (uint64_t)conf_int(c, SECTION, "g");
	gr.k = (uint64_t)conf_int(c, SECTION, "k");
	gr.count = (uint64_t)conf_int(c, SECTION, "count");
	gr.size =
	    plan_types[STR_FIND(plan_types, conf_string(c, SECTION, "type"))]
		.bytes;
	gr.via = (uint8_t)STR_FIND(plan_vias, conf_string(c, SECTION, "via"));
	if (gr.k > gr.g)
		return pattern_refuse(c, SECTION, "k", err, "1 to g = %llu",
		    (unsigned long long)gr.g);
	if (gr.shape == ASYMMETRIC && gr.direction == OMNI)
		return pattern_refuse(c, SECTION, "direction", err,
		    "out, in or bi with pattern = asymmetric");
	rows = (double)gr.k * (double)group_partners(&gr) * (double)(gr.n - 1) *
	    (gr.direction == OMNI ? (double)gr.n : 2);
	if (rows > (double)PLAN_TRANSFERS_MAX)
		return pattern_refuse(c, SECTION, "n", err,
		    "at most %llu messages; this plan has %.0f",
		    (unsigned long long)PLAN_TRANSFERS_MAX, rows);
	if ((double)gr.count * gr.size * (double)gr.n * (double)gr.k >
	    (double)PLAN_BYTES_MAX)
		return pattern_refuse(c, SECTION, "count", err,
		    "at most 4 EiB in a buffer");
	rc = pattern_ranks(c, SECTION, "n", gr.n * gr.g, &ranks, err);
	if (rc < 0)
		return rc;
	gr.p = pattern_begin(c, SECTION, ranks);
	gr.send = plan_buf_add(gr.p, "send", PLAN_IN);
	gr.recv = plan_buf_add(gr.p, "recv", PLAN_OUT);
	gr.sent = xcalloc(ranks, sizeof(*gr.sent));
	gr.received = xcalloc(ranks, sizeof(*gr.received));
	for (uint64_t a = 0; a < (gr.direction == OMNI ? gr.n : 1); a++)
		for (uint64_t i = 0; i < gr.k; i++) {
			if (gr.direction != IN)
				group_device(&gr, a, i, 0);
			if (gr.direction == IN || gr.direction == BI)
				group_device(&gr, a, i, 1);
		}
	free(gr.sent);
	free(gr.received);
	/* Both volumes that papers speak of: everything, and what one group
	 * sends and receives. They differ when every group sends. */
	for (size_t i = 0; i < gr.p->transfers_count; i++) {
		const struct plan_transfer *t = &gr.p->transfers[i];

		footprint += t->bytes;
		if (t->src < gr.g || t->dst < gr.g)
			own += t->bytes;
	}
	plan_note_add(gr.p, "footprint", "bytes", footprint);
	plan_note_add(gr.p, "per_group", "bytes", own);
	plan_note_add(gr.p, "messages", "1", gr.p->transfers_count);
	plan_sort(gr.p);
	*ret = gr.p;
	return 0;
}

const struct pattern pattern_group = {
	.name = SECTION,
	.text = "Messages between groups of devices, usually nodes. The option "
		"pattern selects which devices of two groups communicate.",
	.build = group_build,
};
