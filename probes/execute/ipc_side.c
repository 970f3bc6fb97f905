/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/execute/ipc_side.h"

#include <stdlib.h>

#include "common/xalloc.h"

/* What is longer is worth a wake-up, which with its share of the copy took 23
 * us of a core for 16 KiB, with 48 ranks on two cores. */
#define SHORT_BYTES (64ULL << 10)

/* Of one transfer, with what its sender sends and its receiver receives in this
 * step. */
static uint8_t
receiver_gets(const struct plan_transfer *t, uint32_t sent, uint32_t received,
    int cores_are_shared)
{
	if (cores_are_shared && t->bytes <= SHORT_BYTES)
		return received > sent;
	return sent > received;
}

static size_t
step_end(const struct plan *p, size_t lo)
{
	size_t hi = lo;

	while (hi < p->transfers_count &&
	    p->transfers[hi].step == p->transfers[lo].step)
		hi++;
	return hi;
}

uint8_t *
ipc_side_choose(const struct plan *p, int cores_are_shared)
{
	uint8_t *gets = xcalloc(p->transfers_count + 1, sizeof(*gets));
	uint32_t *out = xcalloc(2 * (size_t)p->ranks, sizeof(*out));
	uint32_t *in = out + p->ranks;
	const struct plan_transfer *t = p->transfers;

	for (size_t lo = 0, hi; lo < p->transfers_count; lo = hi) {
		hi = step_end(p, lo);
		for (size_t i = lo; i < hi; i++) {
			out[t[i].src]++;
			in[t[i].dst]++;
		}
		for (size_t i = lo; i < hi; i++)
			gets[i] = receiver_gets(&t[i], out[t[i].src],
			    in[t[i].dst], cores_are_shared);
		for (size_t i = lo; i < hi; i++)
			out[t[i].src] = in[t[i].dst] = 0;
	}
	free(out);
	return gets;
}
