/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allreduce_forms.c - the rows of the two forms (Temucin and others,
 * "Accelerating Deep Learning ..."). Flat, for Cedar: two stages among devices
 * that all have links to each other: device d reduces part d of all data, then
 * sends the result to all. The paper speaks of "a distinct quarter"; it must be
 * quarter d, of each sender's own data (correction A2).
 *
 * Hierarchical, for Mist: three stages among sockets: each socket reduces to
 * its leader, leaders exchange, each leader gives the result to its socket.
 *
 * On several nodes, the leaders of a node reduce and scatter, each runs an
 * all-reduce of its share with the same leaders of the other nodes, and they
 * gather the results. The paper leaves that all-reduce to the MPI library; here
 * it is the flat one, whose volume is the least.
 *
 * Data from another leader is never received into the buffer of the local sum
 * (correction A4), and sums are made in the order of sockets, then of nodes.
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/collective/allreduce.h"

/* ---- flat ---- */

/* Several ways only where they stay within a socket. */
static int
allreduce_forms_near(const struct allreduce *ar, uint32_t a, uint32_t b)
{
	return ar->ways != WAYS_NONE && ar->socket_of[a] == ar->socket_of[b];
}

/* Parts are of the whole vector, and chunks are of parts, so that each device
 * works on its own part all the time. */
static struct allreduce_piece
allreduce_forms_part_of(const struct allreduce *ar, uint32_t d)
{
	struct allreduce_piece all = { 0, ar->count };

	return allreduce_cut(allreduce_cut(all, d, ar->ranks), ar->chunk,
	    ar->chunks);
}

void
allreduce_flat(struct allreduce *ar)
{
	struct plan_place *in = xcalloc(ar->ranks, sizeof(*in));

	for (uint32_t d = 0; d < ar->ranks; d++) {
		struct allreduce_piece part = allreduce_forms_part_of(ar, d);
		struct plan_place result = allreduce_at(ar, ar->to, part);

		for (uint32_t r = 0; r < ar->ranks; r++) {
			struct plan_place own = allreduce_at(ar, ar->from,
			    part);

			in[r] = r == d ? own : allreduce_room(ar, d, part);
			if (r != d)
				allreduce_send(ar, r, own, d, in[r], part,
				    allreduce_forms_near(ar, r, d));
		}
		allreduce_fold(ar, d, in, ar->ranks, result, part);
	}
	for (uint32_t d = 0; d < ar->ranks; d++) {
		struct allreduce_piece part = allreduce_forms_part_of(ar, d);
		struct plan_place result = allreduce_at(ar, ar->to, part);

		for (uint32_t r = 0; r < ar->ranks; r++)
			if (r != d)
				allreduce_send(ar, d, result, r, result, part,
				    allreduce_forms_near(ar, r, d));
	}
	free(in);
}

/* ---- hierarchical ---- */

/* The sockets of a node. */
struct node {
	uint32_t first, count;
};

static struct node
allreduce_forms_node_of(const struct allreduce *ar, uint32_t n)
{
	struct node nd = { 0, 0 };

	for (uint32_t s = 0; s < ar->sockets_count; s++)
		if (ar->sockets[s].node == n) {
			nd.first = nd.count == 0 ? s : nd.first;
			nd.count++;
		}
	return nd;
}

/* Where a leader has what its socket adds up to. */
static struct plan_place
allreduce_forms_sum_at(const struct allreduce *ar, uint32_t socket,
    struct allreduce_piece piece)
{
	const struct allreduce_socket *s = &ar->sockets[socket];

	return allreduce_at(ar, s->hi - s->lo > 1 ? ar->to : ar->from, piece);
}

/* May several paths be used without slowing other transfers? Nothing moves
 * between sockets before the first chunk is with the leaders, nor after the
 * last one has left them. */
static int
allreduce_forms_several(const struct allreduce *ar, int last)
{
	if (ar->ways == WAYS_IDLE && ar->sockets_count > 1)
		return ar->chunk == (last ? ar->chunks - 1 : 0);
	return ar->ways != WAYS_NONE;
}

static void
allreduce_forms_to_leader(struct allreduce *ar,
    const struct allreduce_socket *s, struct allreduce_piece chunk)
{
	uint32_t n = s->hi - s->lo;
	struct plan_place *in = xcalloc(n, sizeof(*in));
	struct plan_place own = allreduce_at(ar, ar->from, chunk);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = s->lo + i;

		in[i] = own;
		if (r == s->leader)
			continue;
		in[i] = allreduce_room(ar, s->leader, chunk);
		allreduce_send(ar, r, own, s->leader, in[i], chunk,
		    allreduce_forms_several(ar, 0));
	}
	if (n > 1)
		allreduce_fold(ar, s->leader, in, n,
		    allreduce_at(ar, ar->to, chunk), chunk);
	free(in);
}

static void
allreduce_forms_from_leader(struct allreduce *ar,
    const struct allreduce_socket *s, struct allreduce_piece chunk)
{
	struct plan_place result = allreduce_at(ar, ar->to, chunk);

	for (uint32_t r = s->lo; r < s->hi; r++)
		if (r != s->leader)
			allreduce_send(ar, s->leader, result, r, result, chunk,
			    allreduce_forms_several(ar, 1));
}

/* Leader b of a node gets a piece from all leaders of it; in: of all. */
static void
allreduce_forms_meet(struct allreduce *ar, struct node nd, uint32_t b,
    struct allreduce_piece piece, struct plan_place *in)
{
	uint32_t at = ar->sockets[nd.first + b].leader;

	for (uint32_t a = 0; a < nd.count; a++) {
		struct plan_place sum = allreduce_forms_sum_at(ar, nd.first + a,
		    piece);

		in[a] = a == b ? sum : allreduce_room(ar, at, piece);
		if (a != b)
			allreduce_send(ar, ar->sockets[nd.first + a].leader,
			    sum, at, in[a], piece, 0);
	}
}

static void
allreduce_forms_add_up(struct allreduce *ar, struct node nd, uint32_t b,
    struct allreduce_piece piece, const struct plan_place *in)
{
	allreduce_fold(ar, ar->sockets[nd.first + b].leader, in, nd.count,
	    allreduce_at(ar, ar->to, piece), piece);
}

/* All leaders of the only node. No leader sums before all have sent the data
 * that the result may overwrite. */
static void
allreduce_forms_exchange(struct allreduce *ar, struct node nd,
    struct allreduce_piece chunk)
{
	struct plan_place *in = xcalloc((size_t)nd.count * nd.count,
	    sizeof(*in));

	for (uint32_t b = 0; b < nd.count; b++)
		allreduce_forms_meet(ar, nd, b, chunk,
		    in + (size_t)b * nd.count);
	for (uint32_t b = 0; b < nd.count; b++)
		allreduce_forms_add_up(ar, nd, b, chunk,
		    in + (size_t)b * nd.count);
	free(in);
}

/* Leader j of a node adds up share j. */
static void
allreduce_forms_scatter(struct allreduce *ar, struct node nd, uint32_t shares,
    struct allreduce_piece chunk)
{
	struct plan_place *in = xcalloc(nd.count, sizeof(*in));

	for (uint32_t j = 0; j < shares; j++) {
		struct allreduce_piece part = allreduce_cut(chunk, j, shares);

		allreduce_forms_meet(ar, nd, j, part, in);
		allreduce_forms_add_up(ar, nd, j, part, in);
	}
	free(in);
}

/* And gives it to the others, once it is the sum over all nodes. */
static void
allreduce_forms_gather(struct allreduce *ar, struct node nd, uint32_t shares,
    struct allreduce_piece chunk)
{
	for (uint32_t j = 0; j < shares; j++) {
		struct allreduce_piece part = allreduce_cut(chunk, j, shares);
		struct plan_place at = allreduce_at(ar, ar->to, part);

		for (uint32_t k = 0; k < nd.count; k++)
			if (k != j)
				allreduce_send(ar,
				    ar->sockets[nd.first + j].leader, at,
				    ar->sockets[nd.first + k].leader, at, part,
				    0);
	}
}

/* Leader j of node n. */
static uint32_t
allreduce_forms_leader(const struct allreduce *ar, uint32_t n, uint32_t j)
{
	return ar->sockets[allreduce_forms_node_of(ar, n).first + j].leader;
}

/* Leaders j of all nodes all-reduce the share, each a part of it. */
static void
allreduce_forms_across(struct allreduce *ar, uint32_t j,
    struct allreduce_piece share)
{
	struct plan_place *in = xcalloc(ar->nodes, sizeof(*in));

	for (uint32_t t = 0; t < ar->nodes; t++) {
		struct allreduce_piece part = allreduce_cut(share, t,
		    ar->nodes);
		uint32_t at = allreduce_forms_leader(ar, t, j);

		for (uint32_t n = 0; n < ar->nodes; n++) {
			struct node nd = allreduce_forms_node_of(ar, n);
			/* the node's sum lies where scatter left it */
			struct plan_place own = nd.count > 1
			    ? allreduce_at(ar, ar->to, part)
			    : allreduce_forms_sum_at(ar, nd.first, part);

			in[n] = n == t ? own : allreduce_room(ar, at, part);
			if (n != t)
				allreduce_send(ar,
				    allreduce_forms_leader(ar, n, j), own, at,
				    in[n], part, 0);
		}
		allreduce_fold(ar, at, in, ar->nodes,
		    allreduce_at(ar, ar->to, part), part);
	}
	for (uint32_t t = 0; t < ar->nodes; t++) {
		struct allreduce_piece part = allreduce_cut(share, t,
		    ar->nodes);
		struct plan_place result = allreduce_at(ar, ar->to, part);

		for (uint32_t n = 0; n < ar->nodes; n++)
			if (n != t)
				allreduce_send(ar,
				    allreduce_forms_leader(ar, t, j), result,
				    allreduce_forms_leader(ar, n, j), result,
				    part, 0);
	}
	free(in);
}

/* As many leaders of each node take a share as the smallest node has. */
static void
allreduce_forms_between_nodes(struct allreduce *ar,
    struct allreduce_piece chunk)
{
	uint32_t shares = allreduce_forms_node_of(ar, 0).count;

	for (uint32_t n = 1; n < ar->nodes; n++)
		if (allreduce_forms_node_of(ar, n).count < shares)
			shares = allreduce_forms_node_of(ar, n).count;
	for (uint32_t n = 0; n < ar->nodes; n++)
		if (allreduce_forms_node_of(ar, n).count > 1)
			allreduce_forms_scatter(ar,
			    allreduce_forms_node_of(ar, n), shares, chunk);
	for (uint32_t j = 0; j < shares; j++)
		allreduce_forms_across(ar, j, allreduce_cut(chunk, j, shares));
	for (uint32_t n = 0; n < ar->nodes; n++)
		allreduce_forms_gather(ar, allreduce_forms_node_of(ar, n),
		    shares, chunk);
}

void
allreduce_tree(struct allreduce *ar)
{
	struct allreduce_piece chunk =
	    allreduce_cut((struct allreduce_piece){ 0, ar->count }, ar->chunk,
		ar->chunks);

	for (uint32_t s = 0; s < ar->sockets_count; s++)
		allreduce_forms_to_leader(ar, &ar->sockets[s], chunk);
	if (ar->nodes > 1)
		allreduce_forms_between_nodes(ar, chunk);
	else if (ar->sockets_count > 1)
		allreduce_forms_exchange(ar, allreduce_forms_node_of(ar, 0),
		    chunk);
	for (uint32_t s = 0; s < ar->sockets_count; s++)
		allreduce_forms_from_leader(ar, &ar->sockets[s], chunk);
}
