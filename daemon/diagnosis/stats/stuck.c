/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck.c - find the node that explains most stuck pairs, and the node of a
 * pair that is skipped in the next run.
 */
#include "daemon/diagnosis/stats/stuck.h"

static int
stuck_has(const struct stuck_pair *p, uint32_t node)
{
	return p->nodes[0] == node || p->nodes[1] == node;
}

void
stuck_note(struct stuck_watch *w, const struct stuck_pair *p)
{
	size_t at = 0, oldest = 0;

	while (at < w->count &&
	    !(stuck_has(&w->pairs[at], p->nodes[0]) &&
		stuck_has(&w->pairs[at], p->nodes[1]))) {
		if (w->pairs[at].at_ns < w->pairs[oldest].at_ns)
			oldest = at;
		at++;
	}
	if (at == STUCK_PAIRS_MAX)
		at = oldest;
	else if (at == w->count)
		w->count++;
	w->pairs[at] = *p;
}

size_t
stuck_partners(const struct stuck_watch *w, uint32_t node)
{
	size_t count = 0;

	for (size_t i = 0; i < w->count; i++)
		count += (size_t)stuck_has(&w->pairs[i], node);
	return count;
}

int
stuck_is_named(const struct stuck_watch *w, uint32_t node)
{
	size_t own = stuck_partners(w, node);

	for (size_t i = 0; i < w->count; i++) {
		const struct stuck_pair *p = &w->pairs[i];
		uint32_t other = p->nodes[p->nodes[0] == node];

		if (stuck_has(p, node) && stuck_partners(w, other) >= own)
			return 0;
	}
	return own >= 2;
}

void
stuck_measured(struct stuck_watch *w, const uint8_t *measured)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct stuck_pair p = w->pairs[i];
		uint8_t a = measured[p.nodes[0]], b = measured[p.nodes[1]];

		if (a && b)
			continue;
		p.fine[0] |= a;
		p.fine[1] |= b;
		w->pairs[kept++] = p;
	}
	w->count = kept;
}

void
stuck_echoes(struct stuck_watch *w, const double *lost)
{
	uint8_t is_over[STUCK_PAIRS_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct stuck_pair *p = &w->pairs[i];
		double a = lost[p->nodes[0]], b = lost[p->nodes[1]];

		if (a > 0 || b > 0) {
			p->lossy = 1;
			p->clean = 0;
		} else if (a == 0 && b == 0) {
			p->clean += p->clean < STUCK_CLEAN;
		}
		is_over[i] = p->lossy && p->clean == STUCK_CLEAN &&
		    !stuck_is_named(w, p->nodes[0]) &&
		    !stuck_is_named(w, p->nodes[1]);
	}
	for (size_t i = 0; i < w->count; i++)
		if (!is_over[i])
			w->pairs[kept++] = w->pairs[i];
	w->count = kept;
}

const struct stuck_pair *
stuck_out(const struct stuck_watch *w, uint32_t node, uint64_t now_ns)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct stuck_pair *p = &w->pairs[i];
		int side = p->nodes[1] == node, out;

		if (!stuck_has(p, node) || now_ns - p->at_ns > STUCK_OUT_NS)
			continue;
		out = p->fine[0] && !p->fine[1] ? 0 : 1;
		if (stuck_is_named(w, p->nodes[0]))
			out = 0;
		else if (stuck_is_named(w, p->nodes[1]))
			out = 1;
		if (side == out)
			return p;
	}
	return NULL;
}
