/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holes.c - large datagrams that vanish: which paths they vanish on, and which
 * place is on those paths and on few others.
 */
#include "daemon/diagnosis/judge/holes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "daemon/diagnosis/judge/score.h"

enum sense { UNTOLD, WELL, HOLE };

static enum sense
sense_of(const struct mesh_path *p)
{
	if (p->large_answered + p->large_unsent > 0)
		return WELL;
	return p->large_lost >= HOLES_MIN && p->answered >= HOLES_MIN ? HOLE
								      : UNTOLD;
}

static int
is_far(const struct holes *h, const struct mesh_path *p)
{
	return h->leaf_of[p->a] != h->leaf_of[p->b] ||
	    h->leaf_of[p->a] == SCORE_NO_LEAF;
}

static void
note(struct hole_place *at, int far, const struct mesh_path *p, uint32_t whom)
{
	if (at->named)
		return; /* as it was when it was named */
	at->paths[far]++;
	if (sense_of(p) != HOLE)
		return;
	if (at->bytes == 0)
		at->whom = whom;
	at->many |= at->whom != whom;
	if (at->bytes == 0 || p->large_bytes < at->bytes) {
		at->bytes = p->large_bytes;
		at->mtu = p->mtu;
	}
	at->holes[far]++;
}

static void
forget(struct hole_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!places[i].named)
			memset(&places[i], 0, sizeof(places[i]));
}

/* All places anew, without the paths that are explained. */
static void
count_all(struct holes *h, const uint8_t *explained)
{
	forget(h->nodes, h->node_count);
	forget(h->leaves, h->leaf_count);
	h->rest = 0;
	for (size_t i = 0; i < h->count; i++) {
		const struct mesh_path *p = &h->paths[i];
		uint32_t la = h->leaf_of[p->a], lb = h->leaf_of[p->b];
		int far = is_far(h, p);

		if (explained[i] || sense_of(p) == UNTOLD)
			continue;
		note(&h->nodes[p->a], far, p, p->b);
		note(&h->nodes[p->b], far, p, p->a);
		if (la != SCORE_NO_LEAF)
			note(&h->leaves[la], far, p, p->a);
		if (lb != SCORE_NO_LEAF && far)
			note(&h->leaves[lb], far, p, p->b);
		if (sense_of(p) == HOLE && h->rest++ == 0)
			h->one = p;
	}
}

/* Of the holes of a leaf to others, half or more lead to leaves from which
 * large ones reach a third one. */
static int
is_spared(const struct holes *h, uint32_t leaf)
{
	uint8_t *well = xcalloc(h->leaf_count + 1, 1);
	uint32_t spared = 0;

	for (size_t i = 0; i < h->count; i++) {
		uint32_t la = h->leaf_of[h->paths[i].a];
		uint32_t lb = h->leaf_of[h->paths[i].b];

		if (la == lb || la == leaf || lb == leaf ||
		    sense_of(&h->paths[i]) != WELL)
			continue;
		if (la != SCORE_NO_LEAF)
			well[la] = 1;
		if (lb != SCORE_NO_LEAF)
			well[lb] = 1;
	}
	for (size_t i = 0; i < h->count; i++) {
		uint32_t la = h->leaf_of[h->paths[i].a];
		uint32_t lb = h->leaf_of[h->paths[i].b];
		uint32_t other = la == leaf ? lb : la;

		spared += la != lb && (la == leaf || lb == leaf) &&
		    other != SCORE_NO_LEAF && well[other] &&
		    sense_of(&h->paths[i]) == HOLE;
	}
	free(well);
	return spared > 0 && 2 * spared >= h->leaves[leaf].holes[1];
}

static int
is_leaf(const struct holes *h, uint32_t leaf)
{
	const struct hole_place *l = &h->leaves[leaf];

	return !l->named && l->many && l->holes[1] >= HOLES_MIN &&
	    4 * l->holes[1] >= 3 * l->paths[1] && is_spared(h, leaf);
}

/* Both within its leaf and to others, as what passes its link does: where only
 * others are out of reach, the fault is further away. */
static int
is_node(const struct holes *h, uint32_t node, const uint32_t *spared)
{
	const struct hole_place *n = &h->nodes[node];

	return !n->named && n->many && 2 * n->holes[0] >= n->paths[0] &&
	    2 * n->holes[1] >= n->paths[1] &&
	    2 * spared[node] >= n->holes[0] + n->holes[1];
}

static double
share_of(const struct hole_place *n)
{
	return (double)(n->holes[0] + n->holes[1]) /
	    (double)(n->paths[0] + n->paths[1]);
}

/* Mark the nodes with the greatest share of holes, of two on one hole only the
 * first: how many. spared: scratch. */
static size_t
worst_nodes(const struct holes *h, const uint8_t *explained, uint32_t *spared,
    uint8_t *worst)
{
	double most = 0;
	size_t count = 0;

	memset(spared, 0, h->node_count * sizeof(*spared));
	for (size_t i = 0; i < h->count; i++) {
		const struct mesh_path *p = &h->paths[i];

		if (explained[i] || sense_of(p) != HOLE)
			continue;
		spared[p->a] += share_of(&h->nodes[p->b]) < 1;
		spared[p->b] += share_of(&h->nodes[p->a]) < 1;
	}
	for (uint32_t i = 0; i < h->node_count; i++)
		if (is_node(h, i, spared))
			most = fmax(most, share_of(&h->nodes[i]));
	for (uint32_t i = 0; i < h->node_count; i++)
		worst[i] = is_node(h, i, spared) &&
		    share_of(&h->nodes[i]) >= most;
	for (size_t i = 0; i < h->count; i++) {
		uint32_t a = h->paths[i].a, b = h->paths[i].b;

		if (worst[a] && worst[b] && !explained[i] &&
		    sense_of(&h->paths[i]) == HOLE)
			worst[a > b ? a : b] = 0;
	}
	for (uint32_t i = 0; i < h->node_count; i++)
		count += worst[i];
	return count;
}

static void
find_dead(struct holes *h)
{
	uint8_t *lives = xcalloc(h->node_count + 1, 1);
	const struct mesh_path *p;

	for (p = h->paths; p < h->paths + h->count; p++)
		if (p->answered > 0)
			lives[p->a] = lives[p->b] = 1;
	for (p = h->paths; p < h->paths + h->count; p++)
		if (p->answered == 0 && p->lost >= HOLES_MIN && lives[p->a] &&
		    lives[p->b] && h->dead++ == 0)
			h->dead_one = p;
	free(lives);
}

void
holes_find(struct holes *h)
{
	uint8_t *explained = xcalloc(h->count + 1, 1);
	uint32_t *spared = xcalloc(h->node_count + 1, sizeof(*spared));
	uint8_t *worst = xcalloc(h->node_count + 1, 1);

	count_all(h, explained);
	for (uint32_t leaf = 0; leaf < h->leaf_count; leaf++) {
		struct hole_place *l = &h->leaves[leaf];

		if (!is_leaf(h, leaf))
			continue;
		l->named = 1;
		for (size_t i = 0; i < h->count; i++) {
			uint32_t la = h->leaf_of[h->paths[i].a];
			uint32_t lb = h->leaf_of[h->paths[i].b];

			/* Inside only where the leaf itself is the hole. */
			explained[i] |= la != lb
			    ? la == leaf || lb == leaf
			    : la == leaf && 2 * l->holes[0] > l->paths[0];
		}
		count_all(h, explained);
	}
	while (h->rest > 0 && worst_nodes(h, explained, spared, worst) > 0) {
		for (size_t i = 0; i < h->node_count; i++)
			h->nodes[i].named |= worst[i];
		for (size_t i = 0; i < h->count; i++)
			explained[i] |= worst[h->paths[i].a] ||
			    worst[h->paths[i].b];
		count_all(h, explained);
	}
	free(worst);
	free(spared);
	free(explained);
	find_dead(h);
}
