/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multipath.c - the plan of one message from rank 0 to rank 1, over the direct
 * path, through pinned memory of the sender's host, and through any number of
 * relay devices, ranks 2 and up (Temucin and others, "Accelerating Deep
 * Learning using Interconnect-Aware UCX Communication").
 *
 * Shares and chunks are the given ones, or the best ones by the closed form
 * (paths.h) for the given rates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "probes/multipath/paths.h"
#include "probes/pattern/builders.h"

#define SECTION "multipath"

struct multipath {
	struct paths_message m;
	struct paths_links links;
	struct paths_split split;
	uint32_t chunks, chunks_max, slots;
};

/* Chunks of each staged path; 0 where it carries nothing. */
static void
multipath_chunks_choose(struct multipath *mp)
{
	for (uint32_t i = 0; i < mp->links.count; i++) {
		double bytes = mp->split.staged[i] * (double)mp->m.bytes;

		if (bytes <= 0)
			mp->split.chunks[i] = 0;
		else if (mp->chunks > 0)
			mp->split.chunks[i] = mp->chunks;
		else
			mp->split.chunks[i] = paths_chunks(&mp->links.staged[i],
			    bytes, mp->chunks_max);
	}
}

/* "0.3,0.1": as many as there are staged paths. */
static int
multipath_shares_read(const struct conf *c, struct multipath *mp,
    struct err *err)
{
	size_t count = 0;
	char **words = str_list_parse(conf_string(c, SECTION, "share"), &count);
	double sum = 0, x = 0;
	int good = words != NULL && count == mp->links.count;

	for (size_t i = 0; good && i < count; i++) {
		char *end;

		x = strtod(words[i], &end);
		good = end != words[i] && *end == '\0' && x >= 0 && x <= 1;
		mp->split.staged[i] = x;
		sum += x;
	}
	str_list_free(words);
	if (good && sum <= 1) {
		mp->split.share = sum;
		multipath_chunks_choose(mp);
		return 0;
	}
	return pattern_refuse(c, SECTION, "share", err,
	    "auto, or %u numbers separated by commas, each 0 to 1, "
	    "whose sum is at most 1: one for each staged path",
	    mp->links.count);
}

/* By the model, for as many chunks as are asked for. */
static void
multipath_split_auto(struct multipath *mp)
{
	double bytes = (double)mp->m.bytes;
	struct paths_direct lines[PATHS_STAGED_MAX + 1] = { mp->links.direct };
	double carried[PATHS_STAGED_MAX + 1];

	paths_split(&mp->links, bytes, mp->chunks_max, &mp->split);
	if (mp->chunks == 0 || mp->split.share <= 0)
		return;
	for (uint32_t i = 0; i < mp->links.count; i++)
		lines[i + 1] = paths_line(&mp->links.staged[i], mp->chunks);
	paths_fill(lines, mp->links.count + 1, bytes, carried);
	mp->split.share = 0;
	for (uint32_t i = 0; i < mp->links.count; i++) {
		mp->split.staged[i] = carried[i + 1] / bytes;
		mp->split.share += mp->split.staged[i];
	}
	multipath_chunks_choose(mp);
}

static struct plan *
multipath_plan_of(const struct multipath *mp, const char *title, uint32_t ranks)
{
	struct plan *p = plan_new(ranks, title);
	struct paths_stage stages[PATHS_STAGED_MAX];
	struct paths_message m = mp->m;
	uint16_t host, relay, channel = 1;
	uint64_t direct, hosted = 0, relayed = 0;
	uint32_t used = 0;

	m.from = plan_buf_add(p, "send", PLAN_IN);
	m.to = plan_buf_add(p, "recv", PLAN_OUT);
	host = plan_buf_add(p, "host", PLAN_TEMP);
	relay = plan_buf_add(p, "relay", PLAN_TEMP);
	plan_buf_on_host(p, host);
	plan_buf_need(p, m.from, 0, m.bytes);
	plan_buf_need(p, m.to, 1, m.bytes);
	for (uint32_t i = 0; i < mp->links.count; i++) {
		if (mp->split.chunks[i] == 0)
			continue;
		stages[used++] = (struct paths_stage){
			.owner = i < mp->links.host ? 0
						    : i - mp->links.host + 2,
			.buf = i < mp->links.host ? host : relay,
			.chunks = mp->split.chunks[i],
			.slots = mp->slots,
			.channel = channel,
			.share = paths_share_of(mp->split.staged[i]),
		};
		channel = (uint16_t)(channel + mp->slots);
	}
	m.stages = stages;
	m.stages_count = used;
	direct = paths_add(p, NULL, &m);
	plan_promise_copy(p,
	    &(struct plan_transfer){ .dst = 1,
		.from = m.from,
		.to = m.to,
		.bytes = m.bytes });
	/* Bytes by the kind of path, with the model's values. */
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];

		if (t->dst == 1 && t->from != mp->m.from)
			*(t->src == 0 ? &hosted : &relayed) += t->bytes;
	}
	plan_note_add(p, "message", "bytes", m.bytes);
	plan_note_add(p, "direct", "bytes", direct);
	plan_note_add(p, "host", "bytes", hosted);
	plan_note_add(p, "relay", "bytes", relayed);
	plan_note_real(p, "share", "1",
	    (double)(hosted + relayed) / (double)m.bytes);
	for (uint32_t i = 0; i < mp->links.count; i++) {
		char name[32] = "host_chunks";

		if (i >= mp->links.host)
			snprintf(name, sizeof(name), "relay%u_chunks",
			    i - mp->links.host + 2);
		plan_note_add(p, name, "1", mp->split.chunks[i]);
	}
	plan_note_real(p, "model_time", "s", mp->split.time_s);
	plan_note_real(p, "model_speedup", "1",
	    mp->split.direct_s / mp->split.time_s);
	return p;
}

static int
multipath_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t ranks = site->ranks;
	struct multipath mp = { .chunks = 0 };
	double bytes;
	char *title;
	int rc = 0;

	mp.m.dst = 1;
	mp.m.bytes = conf_bytes(c, SECTION, "bytes");
	mp.m.unit = conf_bytes(c, SECTION, "unit");
	mp.chunks = (uint32_t)conf_int(c, SECTION, "chunks");
	mp.chunks_max = (uint32_t)conf_int(c, SECTION, "chunks_max");
	mp.slots = (uint32_t)conf_int(c, SECTION, "streams");
	paths_read(c, SECTION, &mp.links);
	if (pattern_vias(c, SECTION, 3, mp.m.vias, err) < 0)
		return -1;
	if (strcmp(conf_string(c, SECTION, "share"), "auto") == 0)
		multipath_split_auto(&mp);
	else
		rc = multipath_shares_read(c, &mp, err);
	if (rc == 0)
		rc = pattern_ranks(c, SECTION, "relays",
		    2 + mp.links.count - mp.links.host, &ranks, err);
	if (rc < 0)
		return rc;
	bytes = (double)mp.m.bytes;
	mp.split.direct_s = paths_direct_s(&mp.links.direct, bytes);
	mp.split.time_s = paths_time_s(&mp.links, bytes, &mp.split);
	title = pattern_title(c, SECTION);
	*ret = multipath_plan_of(&mp, title, ranks);
	free(title);
	plan_sort(*ret);
	return 0;
}

const struct pattern pattern_multipath = {
	.name = SECTION,
	.text =
	    "One message over the direct path, the host and relays at once.",
	.build = multipath_build,
};
