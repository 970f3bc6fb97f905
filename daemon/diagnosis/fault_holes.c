/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_holes.c - paths on which nothing arrives: an incident if a place drops
 * large datagrams of the mesh, or a stage of spines all, an event if no place
 * explains the losses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/fault_spine.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/diagnosis/stats/holes.h"
#include "daemon/diagnosis/spines.h"
#include "daemon/store/store.h"

/* The result of an epoch: whether it drops large datagrams silently. */
static void
fault_holes_open(struct diagnosis *d, enum judge_kind kind, uint32_t index,
    const struct hole_place *seen)
{
	struct incident *k = incident_find(d, kind, index);
	const struct fault_kind *fault = seen->dead ? &fault_dead : &fault_mtu;
	struct diagnosis_series *s = series_fact(d, fault->what);
	int is_new = k == NULL || k->series != s;
	/* Paths that do not cross a stage do not count for it. */
	int first = kind == JUDGE_STAGE;

	if (!seen->named) {
		if (!is_new && seen->paths[1] + !first * seen->paths[0] > 0 &&
		    seen->holes[1] + !first * seen->holes[0] == 0)
			incident_end(d, k, VERDICT_OK,
			    seen->dead
				? "echoes arrive on all paths over these "
				  "switches"
				: "large packets pass, or the network "
				  "reports that they are too large");
		return;
	}
	/* A slow port is the better explanation, and a confirmation run in
	 * progress is awaited. */
	if (s == NULL ||
	    (k != NULL && is_new &&
		((k->fault->is_certain && k->verdict == VERDICT_BAD) ||
		    d->pass.of == k)))
		return;
	k = incident_take(d, k, fault, kind, index);
	memcpy(k->data, seen, sizeof(*seen));
	incident_show_from(d, k, s, is_new ? &incident_no_run : NULL);
}

/* Report once, after enough consecutive epochs. */
static void
fault_holes_tell(struct diagnosis *d, const struct mesh_path *one, int epochs,
    int enough, const char *text)
{
	struct err err;

	if (epochs != enough)
		return;
	err_say(&err, "%s; for example %.64s to %.64s", text,
	    roster_by_id(d->roster, one->a)->name,
	    roster_by_id(d->roster, one->b)->name);
	log_warnx("mesh: %s", err.text);
	store_put_event(d->store, "alarm", "mesh", err.text);
}

/* Report paths that no place explains. A dead path may be a link that has just
 * failed. */
static void
fault_holes_tell_rest(struct diagnosis *d, const struct holes *h)
{
	char text[200 + 2 * TOPO_LEAF_MAX], where[50 + 2 * TOPO_LEAF_MAX] = "";
	uint32_t a, b;

	d->hole_epochs = h->rest > 0 ? d->hole_epochs + 1 : 0;
	if (h->rest > 0) {
		a = h->leaf_of[h->one->a];
		b = h->leaf_of[h->one->b];
		if (h->rest_alike == h->rest && h->rest > 1 && a != b &&
		    a != SCORE_NO_LEAF && b != SCORE_NO_LEAF) {
			int swap = strcmp(d->leaves[a], d->leaves[b]) > 0;

			snprintf(where, sizeof(where),
			    ", all of them between %s and %s",
			    d->leaves[swap ? b : a], d->leaves[swap ? a : b]);
		}
		snprintf(text, sizeof(text),
		    "datagrams of %u bytes are lost on %zu of %zu paths while "
		    "those of %d bytes arrive%s, and no single node or "
		    "leaf is the cause",
		    h->one->large_bytes, h->rest, h->count, MESH_PACKET_BYTES,
		    where);
		fault_holes_tell(d, h->one, d->hole_epochs, 1, text);
	}
	d->dead_epochs = h->dead > 0 ? d->dead_epochs + 1 : 0;
	if (h->dead > 0) {
		snprintf(text, sizeof(text),
		    "no datagram arrives on %zu of %zu paths, although both "
		    "ends "
		    "answer other nodes",
		    h->dead, h->count);
		fault_holes_tell(d, h->dead_one, d->dead_epochs, 2, text);
	}
}

/* Report stages of switches; without names in a topology, as an event. A dead
 * path may be a link that has just failed, so dead stages are reported in the
 * second epoch. */
static void
fault_holes_tell_spines(struct diagnosis *d, struct holes *h)
{
	struct hole_place *of[2] = { h->spines, h->dead_spines };
	char text[300];

	for (int dead = 0; dead < 2; dead++) {
		int named = 0;

		for (uint32_t k = 0; k < h->stages->count; k++)
			named |= of[dead][k].named;
		d->stage_epochs[dead] = named ? d->stage_epochs[dead] + 1 : 0;
		/* Losses on these paths do not count against nodes. */
		for (uint32_t i = 0; dead && named && i < h->node_count; i++)
			loss_forget(&d->loss, i);
		if (!stages_are_named(h->stages)) {
			snprintf(text, sizeof(text),
			    "%s on %" PRIu32 " of %" PRIu32
			    " paths between leaves, on all %" PRIu32
			    " leaves equally: the paths may share a faulty "
			    "spine; to find it, add the spines to "
			    "topology.leaves",
			    dead ? "no datagram arrives"
				 : "large datagrams are lost",
			    of[dead]->holes[1], of[dead]->paths[1],
			    of[dead]->leaves);
			if (d->stage_epochs[dead] == 1 + dead) {
				log_warnx("mesh: %s", text);
				store_put_event(d->store, "alarm", "mesh",
				    text);
			}
			continue;
		}
		for (uint32_t k = 0; k < h->stages->count; k++) {
			if (d->stage_epochs[dead] < 1 + dead)
				of[dead][k].named = 0;
			fault_holes_open(d, JUDGE_STAGE, k, &of[dead][k]);
		}
	}
}

void
diagnosis_paths(struct diagnosis *d, const struct mesh_path *paths,
    size_t count)
{
	size_t nodes = roster_ids(d->roster);
	uint32_t *leaf_of = xcalloc(nodes + 1, sizeof(*leaf_of));
	struct holes h = { .paths = paths,
		.count = count,
		.leaf_of = leaf_of,
		.node_count = nodes };

	for (size_t i = 0; i < nodes; i++)
		leaf_of[i] = diagnosis_leaf(d,
		    roster_by_id(d->roster, i)->leaf);
	h.leaf_count = d->leaf_count;
	h.stages = spines_map(d);
	h.stage_of = d->stage_of;
	h.spines = xcalloc(h.stages->count, sizeof(*h.spines));
	h.dead_spines = xcalloc(h.stages->count, sizeof(*h.dead_spines));
	h.nodes = xcalloc(nodes + 1, sizeof(*h.nodes));
	h.leaves = xcalloc(h.leaf_count + 1, sizeof(*h.leaves));
	holes_find(&h);
	for (uint32_t i = 0; i < h.node_count; i++)
		fault_holes_open(d, JUDGE_NODE, i, &h.nodes[i]);
	for (uint32_t i = 0; i < h.leaf_count; i++)
		fault_holes_open(d, JUDGE_LEAF, i, &h.leaves[i]);
	fault_holes_tell_spines(d, &h);
	fault_holes_tell_rest(d, &h);
	free(h.spines);
	free(h.dead_spines);
	free(h.nodes);
	free(h.leaves);
	free(leaf_of);
}

/* ---- an open case ---- */

static void
fault_holes_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	const struct hole_place *h = k->data;
	int inside = 2 * h->holes[0] > h->paths[0];
	int is_leaf = k->kind == JUDGE_LEAF;

	if (k->kind == JUDGE_STAGE) {
		fault_spine_add(d, k, h, text);
		return;
	}

	if (is_leaf)
		fault_text_add(text,
		    "leaf %s: datagrams of %" PRIu32 " bytes are lost on "
		    "%" PRIu32 " of %" PRIu32 " paths to other leaves and on "
		    "%" PRIu32 " of %" PRIu32 " inside",
		    k->subject, h->bytes, h->holes[1], h->paths[1], h->holes[0],
		    h->paths[0]);
	else
		fault_text_add(text,
		    "%s: datagrams of %" PRIu32 " bytes are lost on %" PRIu32
		    " of %" PRIu32 " paths",
		    k->subject, h->bytes, h->holes[0] + h->holes[1],
		    h->paths[0] + h->paths[1]);
	fault_text_add(text,
	    " while those of %d bytes arrive: the cause is an MTU below "
	    "%" PRIu32 " on its %s, and no ICMP error was received (%s)",
	    MESH_PACKET_BYTES, h->mtu,
	    !is_leaf     ? "link"
		: inside ? "switch"
			 : "uplink",
	    series_kind(k->series->sort).name);
}

static void
fault_holes_json(const struct diagnosis *d, const struct incident *k, json_t *o)
{
	const struct hole_place *h = k->data;

	(void)d;
	if (h->dead)
		json_object_set_new(o, "rounds", json_integer(0));
	else
		json_object_set_new(o, "mtu", json_integer(h->mtu));
}

static int
fault_holes_restore(struct diagnosis *d, struct incident *k, const json_t *o)
{
	struct hole_place *h = k->data;

	(void)d;
	h->mtu = (uint32_t)member_int(o, "mtu");
	return k->kind == JUDGE_STAGE ? -EAGAIN : 0;
}

const struct fault_kind fault_mtu = {
	.what = WHAT_MTU,
	.about = 1 << JUDGE_NODE | 1 << JUDGE_LEAF | 1 << JUDGE_STAGE,
	.severity = VERDICT_BAD,
	.source = FAULT_FACT,
	.bytes = sizeof(struct hole_place),
	.is_certain = 1,
	.stops_runs = 1,
	.text = fault_holes_text,
	.json = fault_holes_json,
	.restore = fault_holes_restore,
};

const struct fault_kind fault_dead = {
	.what = WHAT_SPINE,
	.about = 1 << JUDGE_STAGE,
	.severity = VERDICT_BAD,
	.source = FAULT_FACT,
	.bytes = sizeof(struct hole_place),
	.is_volatile = 1,
	.text = fault_holes_text,
	.json = fault_holes_json,
};
