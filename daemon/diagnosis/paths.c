/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c - the mesh's paths of one epoch: an incident where a place swallows
 * large datagrams, an event where no place explains what is lost.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/store/store.h"

/* Said once, when there have been enough epochs of it in a row. */
static void
tell(struct diagnosis *d, const struct mesh_path *one, int epochs, int enough,
    const char *text)
{
	struct err err;

	if (epochs != enough)
		return;
	err_say(&err, "%s, one of them %.64s to %.64s", text,
	    roster_by_id(d->roster, one->a)->name,
	    roster_by_id(d->roster, one->b)->name);
	log_warnx("mesh: %s", err.text);
	store_put_event(d->store, "alarm", "mesh", err.text);
}

/* What no place explains. A dead path may be a link that has just gone down. */
static void
tell_rest(struct diagnosis *d, const struct holes *h)
{
	char text[200];

	d->hole_epochs = h->rest > 0 ? d->hole_epochs + 1 : 0;
	if (h->rest > 0) {
		snprintf(text, sizeof(text),
		    "datagrams of %u bytes are lost on %zu of %zu paths while "
		    "those of %d bytes arrive, and no node or leaf explains it",
		    h->one->large_bytes, h->rest, h->count, MESH_PACKET_BYTES);
		tell(d, h->one, d->hole_epochs, 1, text);
	}
	d->dead_epochs = h->dead > 0 ? d->dead_epochs + 1 : 0;
	if (h->dead > 0) {
		snprintf(text, sizeof(text),
		    "nothing arrives on %zu of %zu paths, though both ends are "
		    "answered by others",
		    h->dead, h->count);
		tell(d, h->dead_one, d->dead_epochs, 2, text);
	}
}

void
diagnosis_paths(struct diagnosis *d, const struct mesh_path *paths,
    size_t count)
{
	size_t nodes = roster_count(d->roster);
	uint32_t *leaf_of = xcalloc(nodes + 1, sizeof(*leaf_of));
	struct holes h = { .paths = paths,
		.count = count,
		.leaf_of = leaf_of,
		.node_count = nodes };

	for (size_t i = 0; i < nodes; i++)
		leaf_of[i] = diagnosis_leaf(d,
		    roster_by_id(d->roster, i)->leaf);
	h.leaf_count = d->leaf_count;
	h.nodes = xcalloc(nodes + 1, sizeof(*h.nodes));
	h.leaves = xcalloc(h.leaf_count + 1, sizeof(*h.leaves));
	holes_find(&h);
	for (uint32_t i = 0; i < h.node_count; i++)
		incident_mtu(d, JUDGE_NODE, i, &h.nodes[i]);
	for (uint32_t i = 0; i < h.leaf_count; i++)
		incident_mtu(d, JUDGE_LEAF, i, &h.leaves[i]);
	tell_rest(d, &h);
	free(h.nodes);
	free(h.leaves);
	free(leaf_of);
}
