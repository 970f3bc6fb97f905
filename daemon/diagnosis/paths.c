/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c - the mesh's paths of one epoch and their large datagrams: an
 * incident where a place swallows them, an event where no place explains it.
 */
#include <stdlib.h>

#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/store/store.h"

/* Once, until an epoch has none. */
static void
tell_rest(struct diagnosis *d, const struct holes *h)
{
	struct err err;

	if (h->rest > 0 && !d->holes_told) {
		err_say(&err,
		    "datagrams of %u bytes are lost on %zu of %zu paths while "
		    "those of %d bytes arrive, one of them %.64s to %.64s; no "
		    "node or leaf explains it",
		    h->one->large_bytes, h->rest, h->count, MESH_PACKET_BYTES,
		    roster_by_id(d->roster, h->one->a)->name,
		    roster_by_id(d->roster, h->one->b)->name);
		log_warnx("mesh: %s", err.text);
		store_put_event(d->store, "alarm", "mesh", err.text);
	}
	d->holes_told = h->rest > 0;
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
