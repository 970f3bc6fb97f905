/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c - paths on which nothing arrives: an incident if a place drops large
 * datagrams of the mesh or MPI exchanges, an event if no place explains the
 * losses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/store/store.h"

/* Report once, after enough consecutive epochs. */
static void
paths_tell(struct diagnosis *d, const struct mesh_path *one, int epochs,
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
paths_tell_rest(struct diagnosis *d, const struct holes *h)
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
		paths_tell(d, h->one, d->hole_epochs, 1, text);
	}
	d->dead_epochs = h->dead > 0 ? d->dead_epochs + 1 : 0;
	if (h->dead > 0) {
		snprintf(text, sizeof(text),
		    "no datagram arrives on %zu of %zu paths, although both "
		    "ends "
		    "answer other nodes",
		    h->dead, h->count);
		paths_tell(d, h->dead_one, d->dead_epochs, 2, text);
	}
}

/* Report stages of switches; without names in a topology, as an event. A dead
 * path may be a link that has just failed, so dead stages are reported in the
 * second epoch. */
static void
paths_tell_spines(struct diagnosis *d, struct holes *h)
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
			incident_mtu(d, JUDGE_STAGE, k, &of[dead][k]);
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
		incident_mtu(d, JUDGE_NODE, i, &h.nodes[i]);
	for (uint32_t i = 0; i < h.leaf_count; i++)
		incident_mtu(d, JUDGE_LEAF, i, &h.leaves[i]);
	paths_tell_spines(d, &h);
	paths_tell_rest(d, &h);
	free(h.spines);
	free(h.dead_spines);
	free(h.nodes);
	free(h.leaves);
	free(leaf_of);
}

/* ---- exchanges of MPI that did not end ---- */

void
diagnosis_stuck(struct diagnosis *d, const struct diagnosis_source *from,
    const struct node *a, const struct node *b, const char *test,
    double waited_s)
{
	uint32_t ids[2] = { (uint32_t)a->id, (uint32_t)b->id };
	struct stuck_pair p = { { ids[0], ids[1] }, .at_ns = clk_ns(),
		.waited_s = waited_s };
	struct err err;

	snprintf(p.what, sizeof(p.what), "%.15s", test);
	stuck_note(&d->stuck, &p);
	if (!stuck_is_named(&d->stuck, ids[0]) &&
	    !stuck_is_named(&d->stuck, ids[1])) {
		err_say(&err,
		    "an exchange of %.80s with %.80s did not end within %.0f s "
		    "(%s, run %s): one of these nodes, or the path between "
		    "them, is faulty",
		    a->name, b->name, waited_s, test, from->run);
		log_warnx("%s", err.text);
		store_put_event(d->store, "alarm", a->name, err.text);
	}
	for (int i = 0; i < 2; i++)
		incident_stuck(d, ids[i], from);
}

int
diagnosis_avoid(const struct diagnosis *d, const struct node *n,
    struct err *err)
{
	const struct stuck_pair *p = stuck_out(&d->stuck, (uint32_t)n->id,
	    clk_ns());

	if (p == NULL)
		return 0;
	err_say(err, "%.80s is skipped: its exchange with %.80s did not end",
	    n->name,
	    roster_by_id(d->roster, p->nodes[p->nodes[0] == n->id])->name);
	return 1;
}

void
paths_run_over(struct diagnosis *d, const char *run)
{
	uint8_t *measured;
	struct incident *k, *next;
	struct err err;

	if (d->stuck.count == 0)
		return;
	measured = xcalloc(roster_ids(d->roster) + d->node_count + 1, 1);
	for (size_t i = 0; i < d->node_count; i++)
		measured[i] = strcmp(d->nodes[i].canary_run, run) == 0;
	for (size_t i = 0; i < d->stuck.count; i++) {
		const struct stuck_pair *p = &d->stuck.pairs[i];
		const uint32_t *of = p->nodes;

		/* The second node works without the first one, as the first one
		 * does without it. */
		if (p->fine[0] + p->fine[1] != 1 ||
		    measured[of[0]] == measured[of[1]] ||
		    !measured[of[p->fine[0]]])
			continue;
		err_say(&err,
		    "%.80s and %.80s exchange messages with other nodes "
		    "normally, but not with each other: the path between them "
		    "is faulty",
		    roster_by_id(d->roster, of[0])->name,
		    roster_by_id(d->roster, of[1])->name);
		log_warnx("%s", err.text);
		store_put_event(d->store, "alarm",
		    roster_by_id(d->roster, of[0])->name, err.text);
	}
	stuck_measured(&d->stuck, measured);
	free(measured);
	for (k = TAILQ_FIRST(&d->incidents); k != NULL; k = next) {
		next = TAILQ_NEXT(k, link);
		if (k->what == WHAT_STUCK)
			incident_stuck(d, k->index, NULL);
	}
}
