/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roles.c - nodes dealt to canaries and congestors, and the rings of canaries.
 */
#include "probes/job/roles.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/rng.h"
#include "common/xalloc.h"

#define STREAM_ROLES 1 /* of the seed; rings have others */

/* Canary nodes among that many: the share rounded to nearest, at least 2. */
static int
roles_canary_nodes(const struct roles_ask *ask)
{
	int count = (int)lround(ask->share * ask->nodes);

	if (ask->kinds == 0)
		return ask->nodes;
	return count < ROLES_CANARY_MIN ? ROLES_CANARY_MIN : count;
}

static int
roles_enough(const struct roles_ask *ask)
{
	int canaries = roles_canary_nodes(ask);

	return canaries >= ROLES_CANARY_MIN &&
	    ask->nodes - canaries >= ROLES_PER_KIND * ask->kinds;
}

int
roles_needed(const struct roles_ask *ask)
{
	struct roles_ask try = *ask;

	/* A share of 1 leaves no node to a congestor, however many there are.
	 */
	for (try.nodes = ROLES_CANARY_MIN; try.nodes < 65536; try.nodes++)
		if (roles_enough(&try))
			break;
	return try.nodes;
}

/* Return the number of nodes of a kind among `rest` nodes of all kinds. With
 * equal shares the first kinds get the remainder. Otherwise each kind has the
 * least number, and each further node goes to the kind that is furthest below
 * its share. */
static int
roles_part(const struct roles_ask *ask, int rest, int kind)
{
	int *parts, part;

	if (ask->shares == NULL || ask->shares[0] == 0)
		return rest / ask->kinds + (kind < rest % ask->kinds);
	parts = xcalloc((size_t)ask->kinds, sizeof(*parts));
	for (int k = 0; k < ask->kinds; k++)
		parts[k] = ROLES_PER_KIND;
	for (int left = rest - ROLES_PER_KIND * ask->kinds; left > 0; left--) {
		int best = 0;

		for (int k = 1; k < ask->kinds; k++)
			if ((long)parts[k] * ask->shares[best] <
			    (long)parts[best] * ask->shares[k])
				best = k;
		parts[best]++;
	}
	part = parts[kind];
	free(parts);
	return part;
}

struct roles_place {
	const char *name;
	int node, leaf;
};

static int
roles_compare_name(const void *a, const void *b)
{
	return hostlist_compare(((const struct roles_place *)a)->name,
	    ((const struct roles_place *)b)->name);
}

static int
roles_compare_leaf(const void *a, const void *b)
{
	int x = ((const struct roles_place *)a)->leaf;
	int y = ((const struct roles_place *)b)->leaf;

	return x != y ? (x > y) - (x < y) : roles_compare_name(a, b);
}

void
roles_order(const char *const *names, int nodes, const char *leaves,
    int *ret_order)
{
	struct roles_place *places = xcalloc((size_t)nodes, sizeof(*places));
	char *words = xstrdup(leaves), *rest = words, *word;

	for (int i = 0; i < nodes; i++)
		places[i] = (struct roles_place){ names[i], i, INT_MAX };
	qsort(places, (size_t)nodes, sizeof(*places), roles_compare_name);
	for (int leaf = 0; (word = strsep(&rest, " \t")) != NULL; leaf++) {
		struct hostlist hosts = { NULL, 0 };

		if (hostlist_parse(word, &hosts, NULL) < 0)
			continue;
		for (size_t i = 0; i < hosts.count; i++) {
			struct roles_place key = { hosts.names[i], 0, 0 },
					   *found = bsearch(&key, places,
					       (size_t)nodes, sizeof(*places),
					       roles_compare_name);

			if (found != NULL)
				found->leaf = leaf;
		}
		hostlist_clear(&hosts);
	}
	qsort(places, (size_t)nodes, sizeof(*places), roles_compare_leaf);
	for (int i = 0; i < nodes; i++)
		ret_order[i] = places[i].node;
	free(places);
	free(words);
}

/* Return the role that is furthest below its share of the first at + 1 nodes:
 * an index into counts, of which used are assigned. */
static int
roles_behind(const struct roles_ask *ask, const int *counts, const int *used,
    int at)
{
	long most = 0;
	int best = -1;

	for (int i = 0; i <= ask->kinds; i++) {
		long behind = (long)counts[i] * (at + 1) -
		    (long)used[i] * ask->nodes;

		if (used[i] < counts[i] && (best < 0 || behind > most)) {
			best = i;
			most = behind;
		}
	}
	return best;
}

int
roles_assign(const struct roles_ask *ask, int *ret_role)
{
	int rest = ask->nodes - roles_canary_nodes(ask);
	int *order, *counts, *used, role = 0;
	struct rng r;

	if (!roles_enough(ask))
		return -ERANGE;
	counts = xcalloc((size_t)ask->kinds + 1, sizeof(*counts));
	used = xcalloc((size_t)ask->kinds + 1, sizeof(*used));
	counts[0] = ask->nodes - rest;
	for (int kind = 0; kind < ask->kinds; kind++)
		counts[kind + 1] = roles_part(ask, rest, kind);
	order = xcalloc((size_t)ask->nodes, sizeof(*order));
	for (int i = 0; i < ask->nodes; i++)
		order[i] = ask->order != NULL ? ask->order[i] : i;
	rng_seed3(&r, ask->seed, STREAM_ROLES, 0);
	if (ask->placement == ROLES_RANDOM)
		rng_shuffle(&r, order, (size_t)ask->nodes);
	for (int at = 0; at < ask->nodes; at++) {
		if (ask->placement == ROLES_SPREAD)
			role = roles_behind(ask, counts, used, at);
		else
			while (used[role] == counts[role])
				role++;
		used[role]++;
		ret_role[order[at]] = role - 1; /* ROLES_CANARY is -1 */
	}
	free(order);
	free(counts);
	free(used);
	return 0;
}

#define STREAM_RINGS 16 /* first of the seed's streams for rings */

/* order[0..size-1]: ranks in ring order. */
static void
roles_order_draw(const struct ring *ring, int *order)
{
	struct rng r;

	for (int i = 0; i < ring->size; i++)
		order[i] = i;
	if (ring->natural)
		return;
	rng_seed3(&r, ring->seed, STREAM_RINGS + (uint64_t)ring->test,
	    (uint64_t)ring->round << 16 | (uint64_t)ring->slice);
	rng_shuffle(&r, order, (size_t)ring->size);
}

/* (0, 1) (0, 2) (1, 2) (0, 3) ...: the pairs with the larger rank b start at
 * b (b - 1) / 2. */
int
roles_ring_pair(int round, int size, int rank)
{
	int at, b = 1;

	if (size < 2)
		return rank;
	at = (int)((long)round % ((long)size * (size - 1) / 2));
	while (at >= b)
		at -= b++;
	return rank == at ? b : rank == b ? at : rank;
}

int
roles_ring_turn(int round, int size)
{
	return size < 2 ? 0 : (int)(round / ((long)size * (size - 1) / 2) % 2);
}

int
roles_ring_match(const struct ring *ring, int rank)
{
	int *order = xcalloc((size_t)ring->size, sizeof(*order));
	int at = 0, with;

	assert(rank >= 0 && rank < ring->size);
	roles_order_draw(ring, order);
	while (order[at] != rank)
		at++;
	with = (at ^ 1) < ring->size ? order[at ^ 1] : rank;
	free(order);
	return with;
}

static int
roles_groups_of(int size)
{
	int groups = size / (RING_SENDERS + 1);

	return groups > 0 ? groups : 1;
}

int
roles_ring_turns(int size)
{
	int groups = roles_groups_of(size);

	return (size + groups - 1) / groups; /* of the largest group */
}

int
roles_ring_incast(const struct ring *ring, int rank, int ret[RING_SENDERS_MAX])
{
	int *order = xcalloc((size_t)ring->size, sizeof(*order));
	int groups = roles_groups_of(ring->size),
	    turns = roles_ring_turns(ring->size);
	struct ring drawn = *ring;
	int at = 0, first, count, receiver, n = 0;

	assert(rank >= 0 && rank < ring->size);
	drawn.round /= turns; /* the same groups until all had their turn */
	roles_order_draw(&drawn, order);
	while (order[at] != rank)
		at++;
	/* Ranks at, at + groups, at + 2 groups ... are a group. */
	first = at % groups;
	count = (ring->size - first + groups - 1) / groups;
	receiver = order[first + ring->round % turns % count * groups];
	if (rank != receiver || count == 1)
		ret[0] = receiver;
	for (int i = first; rank == receiver && i < ring->size; i += groups)
		if (order[i] != rank)
			ret[n++] = order[i];
	free(order);
	return n;
}

void
roles_ring_neighbours(const struct ring *ring, int rank, int *ret_left,
    int *ret_right)
{
	int *order = xcalloc((size_t)ring->size, sizeof(*order));
	int at = 0;

	assert(rank >= 0 && rank < ring->size);
	roles_order_draw(ring, order);
	while (order[at] != rank)
		at++;
	*ret_left = order[(at + ring->size - 1) % ring->size];
	*ret_right = order[(at + 1) % ring->size];
	free(order);
}
