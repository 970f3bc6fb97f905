/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allreduce_flat.c - two stages among devices that all have links to each other
 * (Temucin and others, "Accelerating Deep Learning ...", for Cedar): device d
 * reduces part d of everyone's data, then everyone gets part d from it. The
 * paper speaks of "a distinct quarter"; it must be quarter d, of each sender's
 * own data (correction A2).
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/collective/allreduce.h"

/* Several ways only where they stay within a socket. */
static int
near(const struct allreduce *ar, uint32_t a, uint32_t b)
{
	return ar->ways != WAYS_NONE && ar->socket_of[a] == ar->socket_of[b];
}

/* Parts are of the whole vector, and chunks are of parts, so that each device
 * works on its own part all the time. */
static struct allreduce_piece
part_of(const struct allreduce *ar, uint32_t d)
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
		struct allreduce_piece part = part_of(ar, d);
		struct plan_place result = allreduce_at(ar, ar->to, part);

		for (uint32_t r = 0; r < ar->ranks; r++) {
			struct plan_place own = allreduce_at(ar, ar->from,
			    part);

			in[r] = r == d ? own : allreduce_room(ar, d, part);
			if (r != d)
				allreduce_send(ar, r, own, d, in[r], part,
				    near(ar, r, d));
		}
		allreduce_fold(ar, d, in, ar->ranks, result, part);
	}
	for (uint32_t d = 0; d < ar->ranks; d++) {
		struct allreduce_piece part = part_of(ar, d);
		struct plan_place result = allreduce_at(ar, ar->to, part);

		for (uint32_t r = 0; r < ar->ranks; r++)
			if (r != d)
				allreduce_send(ar, d, result, r, result, part,
				    near(ar, r, d));
	}
	free(in);
}
