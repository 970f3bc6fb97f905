/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/multipath/emulated_links.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"

#define PS_PER_S    1e12
#define PS_PER_NS   1000
#define PIECE_BYTES (256 << 10) /* copied between two looks at the clock */

static uint64_t
now_ps(const struct emulated_links *w)
{
	return w->real ? clk_ns() * PS_PER_NS : w->now_ps;
}

static double
now_s_cb(void *wires)
{
	return (double)now_ps(wires) / PS_PER_S;
}

uint64_t
wires_link_take(struct wires_link *l, uint64_t not_before_ps, uint64_t bytes)
{
	uint64_t took = (uint64_t)llround(
	    (l->overhead_s + (double)bytes / l->bytes_per_s) * PS_PER_S);
	uint64_t was = atomic_load(&l->free_ps), start;

	do {
		start = was > not_before_ps ? was : not_before_ps;
	} while (
	    !atomic_compare_exchange_weak(&l->free_ps, &was, start + took));
	return start + took;
}

/* In virtual time no bytes are needed. The direct move is large: it is copied
 * piece by piece while others are waited for. */
static void
move_bytes(struct emulated_links *w, const struct wires_move *mv)
{
	if (!w->real || mv->to == NULL)
		return;
	if (mv->way > 0) {
		memcpy(mv->to, mv->from, mv->bytes);
		return;
	}
	w->to = mv->to;
	w->from = mv->from;
	w->left = mv->bytes;
}

static int
start_cb(void *wires, const struct wires_move *mv)
{
	struct emulated_links *w = wires;
	struct wires_link *l = mv->stage == 0 ? w->in[mv->way]
					      : w->out[mv->way];
	uint64_t from_ps = now_ps(w);

	if (l == NULL || l->bytes_per_s <= 0)
		return -ENOLINK;
	if (w->moves_count == WIRES_MOVES_MAX)
		return -ENOBUFS;
	if (mv->first)
		from_ps += (uint64_t)llround(w->setup_s[mv->way] * PS_PER_S);
	w->moves[w->moves_count].id = mv->id;
	w->moves[w->moves_count++].end_ps = wires_link_take(l, from_ps,
	    mv->bytes);
	move_bytes(w, mv);
	return 0;
}

static void
piece(struct emulated_links *w)
{
	uint64_t n = w->left < PIECE_BYTES ? w->left : PIECE_BYTES;

	memcpy(w->to, w->from, n);
	w->to += n;
	w->from += n;
	w->left -= n;
}

static void
pass_until(struct emulated_links *w, uint64_t end_ps)
{
	uint64_t ns = end_ps / PS_PER_NS;
	struct timespec at = { (time_t)(ns / CLK_NS_PER_S),
		(long)(ns % CLK_NS_PER_S) };

	if (!w->real) {
		w->now_ps = end_ps > w->now_ps ? end_ps : w->now_ps;
		return;
	}
	while (w->left > 0 && clk_ns() < ns)
		piece(w);
	while (
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		continue;
}

static int
wait_cb(void *wires, uint32_t *ret_id, double *ret_s)
{
	struct emulated_links *w = wires;
	uint32_t next = 0;

	if (w->moves_count == 0)
		return -EINVAL;
	for (uint32_t i = 1; i < w->moves_count; i++)
		if (w->moves[i].end_ps < w->moves[next].end_ps)
			next = i;
	pass_until(w, w->moves[next].end_ps);
	*ret_id = w->moves[next].id;
	w->moves[next] = w->moves[--w->moves_count];
	while (w->left > 0 && *ret_id == 0)
		piece(w); /* late: its bytes must be there */
	*ret_s = (double)now_ps(w) / PS_PER_S;
	return 0;
}

const struct wires_ops wires_emul = {
	.name = "emulated",
	.start = start_cb,
	.wait = wait_cb,
	.now_s = now_s_cb,
};
