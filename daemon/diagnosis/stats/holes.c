/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holes.c - find the paths on which large datagrams are lost, and the place
 * that is on these paths and on few others; also a stage of spines that loses
 * small ones.
 */
#include "daemon/diagnosis/stats/holes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "daemon/diagnosis/stats/score.h"

enum sense { UNTOLD, WELL, HOLE };

static enum sense
holes_sense_of(const struct mesh_path *p)
{
	if (p->large_answered + p->large_unsent > 0)
		return WELL;
	return p->large_lost >= HOLES_MIN && p->answered >= HOLES_MIN ? HOLE
								      : UNTOLD;
}

static void
holes_note(struct hole_place *at, int far, const struct mesh_path *p,
    uint32_t whom)
{
	if (at->named)
		return; /* keeps the counts of when it was named */
	at->paths[far]++;
	if (holes_sense_of(p) != HOLE)
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
holes_forget(struct hole_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!places[i].named)
			memset(&places[i], 0, sizeof(places[i]));
}

/* Count all places again, without the explained paths. */
static void
holes_count_all(struct holes *h, const uint8_t *explained)
{
	holes_forget(h->nodes, h->node_count);
	holes_forget(h->leaves, h->leaf_count);
	h->rest = 0;
	for (size_t i = 0; i < h->count; i++) {
		const struct mesh_path *p = &h->paths[i];
		uint32_t la = h->leaf_of[p->a], lb = h->leaf_of[p->b];
		int far = la != lb || la == SCORE_NO_LEAF;

		if (explained[i] || holes_sense_of(p) == UNTOLD)
			continue;
		holes_note(&h->nodes[p->a], far, p, p->b);
		holes_note(&h->nodes[p->b], far, p, p->a);
		if (la != SCORE_NO_LEAF)
			holes_note(&h->leaves[la], far, p, p->a);
		if (lb != SCORE_NO_LEAF && far)
			holes_note(&h->leaves[lb], far, p, p->b);
		if (holes_sense_of(p) == HOLE && h->rest++ == 0)
			h->one = p;
	}
}

/* Return 1 if half or more of a leaf's holes to other leaves lead to leaves
 * that large datagrams reach from a third one. */
static int
holes_is_spared(const struct holes *h, uint32_t leaf)
{
	uint8_t *well = xcalloc(h->leaf_count + 1, 1);
	uint32_t spared = 0;

	for (size_t i = 0; i < h->count; i++) {
		uint32_t la = h->leaf_of[h->paths[i].a];
		uint32_t lb = h->leaf_of[h->paths[i].b];

		if (la == lb || la == leaf || lb == leaf ||
		    holes_sense_of(&h->paths[i]) != WELL)
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
		    holes_sense_of(&h->paths[i]) == HOLE;
	}
	free(well);
	return spared > 0 && 2 * spared >= h->leaves[leaf].holes[1];
}

static int
holes_is_leaf(const struct holes *h, uint32_t leaf)
{
	const struct hole_place *l = &h->leaves[leaf];

	return !l->named && l->many && l->holes[1] >= HOLES_MIN &&
	    4 * l->holes[1] >= 3 * l->paths[1] && holes_is_spared(h, leaf);
}

/* Within its leaf and to others, as for its link: if only other leaves are
 * unreachable, the fault is farther away. */
static int
holes_is_node(const struct holes *h, uint32_t node, const uint32_t *spared)
{
	const struct hole_place *n = &h->nodes[node];

	return !n->named && n->many && 2 * n->holes[0] >= n->paths[0] &&
	    2 * n->holes[1] >= n->paths[1] &&
	    2 * spared[node] >= n->holes[0] + n->holes[1];
}

static double
holes_share_of(const struct hole_place *n)
{
	return (double)(n->holes[0] + n->holes[1]) /
	    (double)(n->paths[0] + n->paths[1]);
}

/* Mark the nodes with the largest share of holes; of two nodes on one hole only
 * the first. Return how many. spared: scratch. */
static size_t
holes_worst_nodes(const struct holes *h, const uint8_t *explained,
    uint32_t *spared, uint8_t *worst)
{
	double most = 0;
	size_t count = 0;

	memset(spared, 0, h->node_count * sizeof(*spared));
	for (size_t i = 0; i < h->count; i++) {
		const struct mesh_path *p = &h->paths[i];

		if (explained[i] || holes_sense_of(p) != HOLE)
			continue;
		spared[p->a] += holes_share_of(&h->nodes[p->b]) < 1;
		spared[p->b] += holes_share_of(&h->nodes[p->a]) < 1;
	}
	for (uint32_t i = 0; i < h->node_count; i++)
		if (holes_is_node(h, i, spared))
			most = fmax(most, holes_share_of(&h->nodes[i]));
	for (uint32_t i = 0; i < h->node_count; i++)
		worst[i] = holes_is_node(h, i, spared) &&
		    holes_share_of(&h->nodes[i]) >= most;
	for (size_t i = 0; i < h->count; i++) {
		uint32_t a = h->paths[i].a, b = h->paths[i].b;

		if (worst[a] && worst[b] && !explained[i] &&
		    holes_sense_of(&h->paths[i]) == HOLE)
			worst[a > b ? a : b] = 0;
	}
	for (uint32_t i = 0; i < h->node_count; i++)
		count += worst[i];
	return count;
}

/* A hole between the same two leaves as the example. */
static int
holes_is_alike(const struct holes *h, const struct mesh_path *p)
{
	uint32_t a = h->leaf_of[p->a], b = h->leaf_of[p->b];
	uint32_t c = h->leaf_of[h->one->a], d = h->leaf_of[h->one->b];

	return holes_sense_of(p) == HOLE &&
	    ((a == c && b == d) || (a == d && b == c));
}

/* One bad member of a bond, or one bad uplink of a leaf: all remaining holes
 * share that place, and nothing else. */
static struct hole_place *
holes_shared_place(const struct holes *h, const uint8_t *explained)
{
	uint32_t other = SCORE_NO_LEAF;
	int others = 0;

	if (h->rest < HOLES_MIN)
		return NULL;
	for (int end = 0; end < 2; end++) {
		struct hole_place *n = &h->nodes[end ? h->one->b : h->one->a];

		if (!n->named && n->many &&
		    n->holes[0] + n->holes[1] == h->rest)
			return n;
	}
	for (int end = 0; end < 2; end++) {
		uint32_t leaf = h->leaf_of[end ? h->one->b : h->one->a];
		struct hole_place *l = &h->leaves[leaf];

		if (leaf == SCORE_NO_LEAF || l->named || !l->many ||
		    l->holes[1] != h->rest)
			continue;
		for (size_t i = 0; i < h->count; i++) {
			uint32_t la = h->leaf_of[h->paths[i].a];
			uint32_t lb = h->leaf_of[h->paths[i].b];

			if (explained[i] ||
			    holes_sense_of(&h->paths[i]) != HOLE)
				continue;
			others += other != SCORE_NO_LEAF &&
			    other != (la == leaf ? lb : la);
			other = la == leaf ? lb : la;
		}
		return others > 0 ? l : NULL;
	}
	return NULL;
}

/* ---- stages of spines ---- */

struct share { /* of a leaf's paths over a stage */
	uint32_t leaf, paths, bad;
};

static int
holes_share_order(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	uint64_t l = (uint64_t)x->bad * y->paths;
	uint64_t r = (uint64_t)y->bad * x->paths;

	return l != r ? (l < r) - (l > r)
		      : (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

static int
holes_is_over(const struct holes *h, uint32_t stage, const struct mesh_path *p)
{
	uint32_t la = h->leaf_of[p->a], lb = h->leaf_of[p->b];

	return la != lb && la != SCORE_NO_LEAF && lb != SCORE_NO_LEAF &&
	    stages_cross(h->stages, stage, h->stage_of[la], h->stage_of[lb]);
}

/* Keep the leaves without the worst third. Return how many there were. */
static uint32_t
holes_keep_better(const struct holes *h, uint32_t stage, const uint8_t *sense,
    uint8_t *kept)
{
	struct share *leaves = xcalloc(h->leaf_count + 1, sizeof(*leaves));
	uint32_t count = 0;

	for (uint32_t l = 0; l < h->leaf_count; l++)
		leaves[l].leaf = l;
	for (size_t i = 0; i < h->count; i++)
		for (int e = 0; e < 2 && sense[i] != UNTOLD &&
		     holes_is_over(h, stage, &h->paths[i]);
		     e++) {
			uint32_t l =
			    h->leaf_of[e ? h->paths[i].a : h->paths[i].b];

			leaves[l].paths++;
			leaves[l].bad += sense[i] == HOLE;
		}
	for (uint32_t l = 0; l < h->leaf_count; l++)
		if (leaves[l].paths > 0)
			leaves[count++] = leaves[l];
	qsort(leaves, count, sizeof(*leaves), holes_share_order);
	for (uint32_t k = (count + 2) / 3; k < count; k++)
		kept[leaves[k].leaf] = 1;
	free(leaves);
	return count;
}

/* A bad stage affects all of its leaves alike. So bad paths must remain when
 * the worst third of the leaves is removed, since these may be faulty
 * themselves. */
static int
holes_is_spread(const struct holes *h, uint32_t stage, const uint8_t *sense,
    struct hole_place *at)
{
	uint8_t *kept = xcalloc(h->leaf_count + 1, 1);
	uint32_t all = 0, bad = 0;

	at->leaves = holes_keep_better(h, stage, sense, kept);
	for (size_t i = 0; i < h->count; i++) {
		const struct mesh_path *p = &h->paths[i];

		if (sense[i] == UNTOLD || !holes_is_over(h, stage, p) ||
		    !kept[h->leaf_of[p->a]] || !kept[h->leaf_of[p->b]])
			continue;
		all++;
		bad += sense[i] == HOLE;
	}
	free(kept);
	return bad >= HOLES_MIN / 2 &&
	    2 * (uint64_t)bad * at->paths[1] >= (uint64_t)at->holes[1] * all;
}

/* Name the stage that explains most bad paths; of two, the one with fewer
 * paths. sense: by path, UNTOLD if another place explains it; set for the paths
 * that the stage explains. */
static void
holes_name_stage(const struct holes *h, uint8_t *sense,
    struct hole_place *places)
{
	struct hole_place *best = NULL;

	for (uint32_t k = 0; k < h->stages->count; k++) {
		struct hole_place *at = &places[k];

		for (size_t i = 0; i < h->count; i++) {
			int over = holes_is_over(h, k, &h->paths[i]);

			if (sense[i] == UNTOLD)
				continue;
			at->paths[over]++;
			at->holes[over] += sense[i] == HOLE;
			if (!over || sense[i] != HOLE)
				continue;
			if (at->bytes == 0 ||
			    h->paths[i].large_bytes < at->bytes) {
				at->bytes = h->paths[i].large_bytes;
				at->mtu = h->paths[i].mtu;
			}
		}
		if (at->paths[0] >= HOLES_MIN &&
		    at->holes[1] >= HOLES_STAGE_MIN &&
		    4 * (uint64_t)at->holes[0] * at->paths[1] <=
			(uint64_t)at->holes[1] * at->paths[0] &&
		    (best == NULL || at->holes[1] > best->holes[1] ||
			(at->holes[1] == best->holes[1] &&
			    at->paths[1] < best->paths[1])) &&
		    holes_is_spread(h, k, sense, at))
			best = at;
	}
	if (best == NULL)
		return;
	best->named = 1;
	for (size_t i = 0; i < h->count; i++)
		if (holes_is_over(h, (uint32_t)(best - places), &h->paths[i]))
			sense[i] = UNTOLD;
}

static void
holes_name_hole_stage(struct holes *h, uint8_t *explained)
{
	uint8_t *sense = xcalloc(h->count + 1, 1);

	for (size_t i = 0; i < h->count; i++)
		sense[i] = (uint8_t)holes_sense_of(&h->paths[i]);
	holes_name_stage(h, sense, h->spines);
	for (size_t i = 0; i < h->count; i++)
		explained[i] = sense[i] !=
		    (uint8_t)holes_sense_of(&h->paths[i]);
	free(sense);
}

static void
holes_find_dead(struct holes *h)
{
	uint8_t *lives = xcalloc(h->node_count + 1, 1);
	uint8_t *sense = xcalloc(h->count + 1, 1);

	for (size_t i = 0; i < h->count; i++)
		if (h->paths[i].answered > 0) {
			lives[h->paths[i].a] = lives[h->paths[i].b] = 1;
			sense[i] = WELL;
		}
	for (size_t i = 0; i < h->count; i++) {
		const struct mesh_path *p = &h->paths[i];

		if (p->answered == 0 && p->lost >= HOLES_MIN && lives[p->a] &&
		    lives[p->b])
			sense[i] = HOLE;
	}
	if (h->stages != NULL)
		holes_name_stage(h, sense, h->dead_spines);
	for (size_t i = 0; i < h->count; i++)
		if (sense[i] == HOLE && h->dead++ == 0)
			h->dead_one = &h->paths[i];
	for (uint32_t k = 0; h->stages != NULL && k < h->stages->count; k++)
		h->dead_spines[k].dead = 1;
	free(sense);
	free(lives);
}

void
holes_find(struct holes *h)
{
	uint8_t *explained = xcalloc(h->count + 1, 1);
	uint32_t *spared = xcalloc(h->node_count + 1, sizeof(*spared));
	uint8_t *worst = xcalloc(h->node_count + 1, 1);
	struct hole_place *shared;

	if (h->stages != NULL)
		holes_name_hole_stage(h, explained);
	holes_count_all(h, explained);
	for (uint32_t leaf = 0; leaf < h->leaf_count; leaf++) {
		struct hole_place *l = &h->leaves[leaf];

		if (!holes_is_leaf(h, leaf))
			continue;
		l->named = 1;
		for (size_t i = 0; i < h->count; i++) {
			uint32_t la = h->leaf_of[h->paths[i].a];
			uint32_t lb = h->leaf_of[h->paths[i].b];

			/* Paths inside only if the leaf itself is the hole. */
			explained[i] |= la != lb
			    ? la == leaf || lb == leaf
			    : la == leaf && 2 * l->holes[0] > l->paths[0];
		}
		holes_count_all(h, explained);
	}
	while (
	    h->rest > 0 && holes_worst_nodes(h, explained, spared, worst) > 0) {
		for (size_t i = 0; i < h->node_count; i++)
			h->nodes[i].named |= worst[i];
		for (size_t i = 0; i < h->count; i++)
			explained[i] |= worst[h->paths[i].a] ||
			    worst[h->paths[i].b];
		holes_count_all(h, explained);
	}
	shared = holes_shared_place(h, explained);
	if (shared != NULL) {
		shared->named = 1;
		h->rest = 0;
	}
	for (size_t i = 0; i < h->count && h->rest > 0; i++)
		h->rest_alike += !explained[i] &&
		    holes_is_alike(h, &h->paths[i]);
	free(worst);
	free(spared);
	free(explained);
	holes_find_dead(h);
}
