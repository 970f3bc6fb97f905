/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_ring.c - the targets of each node: on a circle of nodes each probes the
 * one a stride further, so a node is probed at most once per ring; strides over
 * pairs without a recent measurement come first.
 */

#include "daemon/mesh/mesh_ring.h"

#include <stdlib.h>

#include "common/rng.h"
#include "common/xalloc.h"

/* A stride is judged by this many of its pairs, and this many strides are
 * tried: for 10,000 nodes a ring costs some milliseconds. */
#define JUDGED_PAIRS   64
#define JUDGED_STRIDES 2048
/* A pair that was not exercised outweighs any number of exercised ones. */
#define WEIGHT_NEW (2 * JUDGED_PAIRS)
/* Rings across the spine for each target of a node: in a cluster of two leaves
 * half of the partners are on the node's own leaf. */
#define SPINE_TRIES 4

struct circle {
	const struct mesh_rings *r;
	enum mesh_class class;
	const int *member; /* indices of sites, in the circle's order */
	size_t count;
	struct rng *rng;
	uint8_t *used; /* strides of this epoch, and their mirror images */
};

/* Return the target of the i-th site of the circle. */
static int
mesh_ring_partner(const struct circle *c, size_t i, size_t stride)
{
	return c->member[(i + stride) % c->count];
}

static int
mesh_ring_is_wanted(const struct circle *c, size_t i, size_t stride)
{
	const struct mesh_site *s = c->r->sites;
	int same = s[c->member[i]].leaf ==
	    s[mesh_ring_partner(c, i, stride)].leaf;

	return c->class == MESH_LEAF ? same : !same;
}

/* Return the best stride that is not used yet; 0 if none is useful. The search
 * starts at a random stride, so that equal ones have equal chances. */
static size_t
mesh_ring_stride_draw(const struct circle *c)
{
	const struct mesh_site *s = c->r->sites;
	size_t all = c->count - 1, best = 0;
	size_t from = (size_t)rng_below(c->rng, all);
	size_t step = c->count > JUDGED_PAIRS ? c->count / JUDGED_PAIRS : 1;
	unsigned best_weight = 0;

	for (size_t n = 0; n < all && n < JUDGED_STRIDES; n++) {
		size_t stride = (from + n) % all + 1;
		unsigned weight = 0;

		if (c->used[stride])
			continue;
		for (size_t i = 0, k = 0; i < c->count && k < JUDGED_PAIRS;
		     i += step, k++)
			if (mesh_ring_is_wanted(c, i, stride))
				weight +=
				    c->r->covered(c->r->arg, s[c->member[i]].id,
					s[mesh_ring_partner(c, i, stride)].id)
				    ? 1
				    : WEIGHT_NEW;
		if (weight > best_weight) {
			best_weight = weight;
			best = stride;
		}
	}
	if (best != 0)
		c->used[best] = c->used[c->count - best] = 1;
	return best;
}

static void
mesh_ring_circle_draw(struct circle *c, size_t targets, size_t rings,
    struct mesh_aims *aims)
{
	size_t stride;

	if (c->count < 2)
		return;
	c->used = xcalloc(c->count + 1, 1);
	while (rings-- > 0 && (stride = mesh_ring_stride_draw(c)) != 0)
		for (size_t i = 0; i < c->count; i++) {
			struct mesh_aims *a = &aims[c->member[i]];

			if (mesh_ring_is_wanted(c, i, stride) &&
			    a->count < targets)
				a->site[a->count++] = (uint32_t)
				    mesh_ring_partner(c, i, stride);
		}
	free(c->used);
}

struct placed {
	size_t leaf;
	int site;
};

static int
mesh_ring_placed_compare(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->leaf != y->leaf)
		return x->leaf < y->leaf ? -1 : 1;
	return x->site - y->site;
}

void
mesh_rings_draw(const struct mesh_rings *r, enum mesh_class class,
    size_t targets, struct mesh_aims *aims)
{
	struct rng order, rng;
	struct circle c = { .r = r, .class = class, .rng = &rng };
	struct placed *p = xcalloc(r->count + 1, sizeof(p[0]));
	int *list = xcalloc(r->count + 1, sizeof(list[0]));

	/* Sites of one leaf are adjacent, in the order in which they were first
	 * seen. */
	for (size_t i = 0; i < r->count; i++)
		p[i] = (struct placed){ r->sites[i].leaf, (int)i };
	qsort(p, r->count, sizeof(p[0]), mesh_ring_placed_compare);
	for (size_t i = 0; i < r->count; i++)
		list[i] = p[i].site;
	if (targets > MESH_RING_MAX)
		targets = MESH_RING_MAX;
	rng_seed3(&order, r->order_seed, 0, 0);
	rng_seed3(&rng, r->seed, 1, (uint64_t) class);
	if (class == MESH_SPINE) {
		rng_shuffle(&order, list, r->count);
		c.member = list;
		c.count = r->count;
		mesh_ring_circle_draw(&c, targets, targets * SPINE_TRIES, aims);
	} else {
		for (size_t i = 0, end; i < r->count; i = end) {
			for (end = i;
			     end < r->count && p[end].leaf == p[i].leaf;)
				end++;
			c.member = list + i;
			c.count = end - i;
			mesh_ring_circle_draw(&c, targets, targets, aims);
		}
	}
	free(list);
	free(p);
}
