/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor_model.h - a neighborhood allgather as each rank would set it up
 * separately: its sends follow from its destinations, its receives and forwards
 * from the sources of the ranks of its node. It shares no code with the
 * builder. Random cases by number, for both.
 *
 * After docs/algorithms-neighbor-multipath.md, 1.1: send_side, recv_side.
 */
#ifndef TESTS_UNIT_PLAN_NEIGHBOR_MODEL_H
#define TESTS_UNIT_PLAN_NEIGHBOR_MODEL_H

#include "common/rng.h"
#include "common/str.h"
#include "tests/unit/probes/plan/cases.h"

#define MODEL_RANKS_MAX 32
#define MODEL_G         8

/* As printed in the document, not as shipped. */
static const int model_links[2][MODEL_G][MODEL_G] = {
	{ { 0, 4, 0, 0, 2, 0, 1, 0 }, { 4, 0, 0, 1, 0, 0, 0, 1 },
	    { 0, 0, 0, 4, 1, 0, 2, 0 }, { 0, 1, 4, 0, 0, 1, 0, 0 },
	    { 2, 0, 1, 0, 0, 4, 0, 0 }, { 0, 0, 0, 1, 4, 0, 0, 1 },
	    { 1, 0, 2, 0, 0, 0, 0, 4 }, { 0, 1, 0, 0, 0, 1, 4, 0 } },
	{ { 0, 4, 1, 0, 0, 0, 2, 0 }, { 4, 0, 0, 1, 0, 1, 0, 0 },
	    { 1, 0, 0, 4, 2, 0, 0, 0 }, { 0, 1, 4, 0, 0, 0, 0, 1 },
	    { 0, 0, 2, 0, 0, 4, 1, 0 }, { 0, 1, 0, 0, 4, 0, 0, 1 },
	    { 2, 0, 0, 0, 1, 0, 0, 4 }, { 0, 0, 0, 1, 0, 1, 4, 0 } },
};
static const int model_hops[2][MODEL_G][MODEL_G] = {
	{ { 0, 1, 2, 2, 1, 2, 1, 2 }, { 1, 0, 2, 1, 2, 2, 2, 1 },
	    { 2, 2, 0, 1, 1, 2, 1, 2 }, { 2, 1, 1, 0, 2, 1, 2, 2 },
	    { 1, 2, 1, 2, 0, 1, 2, 2 }, { 2, 2, 2, 1, 1, 0, 2, 1 },
	    { 1, 2, 1, 2, 2, 2, 0, 1 }, { 2, 1, 2, 2, 2, 1, 1, 0 } },
	{ { 0, 1, 1, 2, 2, 2, 1, 2 }, { 1, 0, 2, 1, 2, 1, 2, 2 },
	    { 1, 2, 0, 1, 1, 2, 2, 2 }, { 2, 1, 1, 0, 2, 2, 2, 1 },
	    { 2, 2, 1, 2, 0, 1, 1, 2 }, { 2, 1, 2, 2, 1, 0, 2, 1 },
	    { 1, 2, 2, 2, 1, 2, 0, 1 }, { 2, 2, 2, 1, 2, 1, 1, 0 } },
};
static const char *const model_names[2] = { "mi250", "mi250x" };

/* A piece in flight, at one of its two ends. */
struct model_event {
	uint64_t lo, hi;
	int step, source, from, to;
};

struct model_events {
	struct model_event at[MODEL_RANKS_MAX * MODEL_RANKS_MAX * 4];
	int count;
};

struct model {
	int ranks, g, topology;
	uint64_t unit, threshold;
	uint64_t sizes[MODEL_RANKS_MAX];
	uint8_t edges[MODEL_RANKS_MAX][MODEL_RANKS_MAX]; /* times */
	struct model_events sends, recvs;
};

static void
model_add(struct model_events *list, int step, int source, int from, int to,
    uint64_t lo, uint64_t hi)
{
	if (lo == hi)
		return;
	list->at[list->count++] = (struct model_event){ lo, hi, step, source,
		from, to };
}

static uint64_t
model_cut(const struct model *m, uint64_t bytes, uint64_t acc, uint64_t sum)
{
	uint64_t parts = (bytes + m->unit - 1) / m->unit;
	uint64_t at = parts * acc / sum * m->unit;

	return acc == sum || at > bytes ? bytes : at;
}

static int
model_wants(const struct model *m, int rank, int source)
{
	return rank >= 0 && rank < m->ranks && rank != source &&
	    m->edges[source][rank] > 0;
}

static int
model_peer(const struct model *m, int rank)
{
	int slot = rank % m->g ^ 1;

	return slot < m->g ? rank / m->g * m->g + slot : -1;
}

/* Where the lower of two packaged receivers' part ends. */
static uint64_t
model_half(const struct model *m, int source, int lower)
{
	int s = source % m->g, a = lower % m->g;
	const int *links = model_links[m->topology][s];
	const int *hops = model_hops[m->topology][s];
	int wa = links[a], wb = links[a + 1];

	if (wa + wb == 0) {
		wa = hops[a + 1];
		wb = hops[a];
	}
	return model_cut(m, m->sizes[source], (uint64_t)wa,
	    (uint64_t)(wa + wb));
}

/* Acting leaders of a node for a source; how many. */
static int
model_leaders(const struct model *m, int node, int source, int *ret)
{
	int count = 0;

	for (int x = node * m->g; x < (node + 1) * m->g && x < m->ranks; x++) {
		int lower = x % m->g % 2 == 1 ? x - 1 : -1;

		if (model_wants(m, x, source) && !model_wants(m, lower, source))
			ret[count++] = x;
	}
	return count;
}

/* Add all sends of a source, from its destinations alone. */
static void
model_send_own(struct model *m, int s, int r)
{
	int p = model_peer(m, r);
	uint64_t bytes = m->sizes[s], at;

	if (p == s || !model_wants(m, p, s) || bytes < m->threshold) {
		model_add(&m->sends, 0, s, s, r, 0, bytes);
		return;
	}
	at = model_half(m, s, r < p ? r : p);
	model_add(&m->sends, 0, s, s, r, r < p ? 0 : at, r < p ? at : bytes);
}

static void
model_send_side(struct model *m, int s)
{
	uint64_t bytes = m->sizes[s];

	for (int r = 0; r < m->ranks; r++)
		if (model_wants(m, r, s) && r / m->g == s / m->g)
			model_send_own(m, s, r);
		else if (model_wants(m, r, s) && bytes < m->threshold)
			model_add(&m->sends, 0, s, s, r, 0, bytes);
	for (int node = 0; node * m->g < m->ranks; node++) {
		int leaders[MODEL_G], k;

		if (node == s / m->g || bytes < m->threshold)
			continue;
		k = model_leaders(m, node, s, leaders);
		for (int i = 0; i < k; i++)
			model_add(&m->sends, 0, s, s, leaders[i],
			    model_cut(m, bytes, (uint64_t)i, (uint64_t)k),
			    model_cut(m, bytes, (uint64_t)i + 1, (uint64_t)k));
	}
}

static void
model_recv_own(struct model *m, int r, int s)
{
	int p = model_peer(m, r);
	uint64_t bytes = m->sizes[s], at;

	if (p == s || !model_wants(m, p, s)) {
		model_add(&m->recvs, 0, s, s, r, 0, bytes);
		return;
	}
	at = model_half(m, s, r < p ? r : p);
	model_add(&m->recvs, 0, s, s, r, r < p ? 0 : at, r < p ? at : bytes);
	model_add(&m->sends, 1, s, r, p, r < p ? 0 : at, r < p ? at : bytes);
	model_add(&m->recvs, 1, s, p, r, r < p ? at : 0, r < p ? bytes : at);
}

static void
model_recv_other(struct model *m, int r, int s)
{
	int leaders[MODEL_G], p = model_peer(m, r), own = -1;
	int k = model_leaders(m, r / m->g, s, leaders);
	uint64_t bytes = m->sizes[s], lo, hi;

	for (int i = 0; i < k; i++)
		own = leaders[i] == r ? i : own;
	if (own < 0) {
		model_add(&m->recvs, 2, s, p, r, 0, bytes);
		return;
	}
	lo = model_cut(m, bytes, (uint64_t)own, (uint64_t)k);
	hi = model_cut(m, bytes, (uint64_t)own + 1, (uint64_t)k);
	model_add(&m->recvs, 0, s, s, r, lo, hi);
	for (int i = 0; i < k; i++) {
		if (i == own)
			continue;
		model_add(&m->sends, 1, s, r, leaders[i], lo, hi);
		model_add(&m->recvs, 1, s, leaders[i], r,
		    model_cut(m, bytes, (uint64_t)i, (uint64_t)k),
		    model_cut(m, bytes, (uint64_t)i + 1, (uint64_t)k));
	}
	if (model_wants(m, p, s))
		model_add(&m->sends, 2, s, r, p, 0, bytes);
}

/* Add all receives and forwards of a rank, from the sources of its node. */
static void
model_recv_side(struct model *m, int r)
{
	for (int s = 0; s < m->ranks; s++) {
		if (!model_wants(m, r, s))
			continue;
		if (m->sizes[s] < m->threshold)
			model_add(&m->recvs, 0, s, s, r, 0, m->sizes[s]);
		else if (s / m->g == r / m->g)
			model_recv_own(m, r, s);
		else
			model_recv_other(m, r, s);
	}
}

static int
model_compare_cb(const void *va, const void *vb)
{
	const struct model_event *a = va, *b = vb;

	if (a->step != b->step)
		return a->step - b->step;
	if (a->from != b->from)
		return a->from - b->from;
	if (a->to != b->to)
		return a->to - b->to;
	if (a->source != b->source)
		return a->source - b->source;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

static void
model_sort(struct model_events *list)
{
	qsort(list->at, (size_t)list->count, sizeof(list->at[0]),
	    model_compare_cb);
}

/* The plan's rows in the form of events. */
static void
model_take(const struct plan *p, struct model_events *ret)
{
	ret->count = 0;
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];
		const char *to = p->bufs[t->to].name;
		const char *from = p->bufs[t->from].name;

		assert_int_equal(strncmp(to, "recv.", 5), 0);
		assert_string_equal(from, t->step == 0 ? "send" : to);
		assert_true(t->from_off == t->to_off);
		model_add(ret, (int)t->step, atoi(to + 5), (int)t->src,
		    (int)t->dst, t->to_off, t->to_off + t->bytes);
	}
	model_sort(ret);
}

static int
model_same(const struct model_events *a, const struct model_events *b)
{
	if (a->count != b->count)
		return 0;
	for (int i = 0; i < a->count; i++)
		if (model_compare_cb(&a->at[i], &b->at[i]) != 0 ||
		    a->at[i].hi != b->at[i].hi)
			return 0;
	return 1;
}

/* Random case x of a seed: 1-4 nodes of 1-8 ranks, the last one ragged. */
static void
model_make(struct model *m, uint64_t seed, uint64_t x)
{
	static const uint64_t units[] = { 1, 4, 64, 256 };
	struct rng r;
	double density;

	memset(m, 0, sizeof(*m));
	rng_seed3(&r, seed, 5, x);
	m->g = 1 + (int)rng_below(&r, MODEL_G);
	m->ranks = 1 + (int)rng_below(&r, 4 * (uint64_t)m->g);
	m->topology = (int)(x % 2);
	m->unit = units[rng_below(&r, 4)];
	m->threshold = rng_below(&r, 4) == 0 ? 4096 : 0;
	density = .05 + .95 * rng_unit(&r);
	for (int s = 0; s < m->ranks; s++) {
		static const uint64_t most[] = { 1, 2, 300, 10000, 1000004 };

		m->sizes[s] = rng_below(&r, most[rng_below(&r, 5)]);
		for (int d = 0; d < m->ranks; d++)
			if (rng_unit(&r) < density)
				m->edges[s][d] = (uint8_t)(1 +
				    (rng_below(&r, 10) == 0));
	}
}

/* The same as files and words, edges in any order. */
static void
model_write(const struct model *m, const char *folder, struct rng *r,
    char *ret_words, size_t cap_bytes)
{
	int order[2 * MODEL_RANKS_MAX * MODEL_RANKS_MAX], count = 0;
	char path[300];
	FILE *fp;

	for (int s = 0; s < m->ranks; s++)
		for (int d = 0; d < m->ranks; d++)
			for (int i = 0; i < m->edges[s][d]; i++)
				order[count++] = s * m->ranks + d;
	rng_shuffle(r, order, (size_t)count);
	snprintf(path, sizeof(path), "%s/graph", folder);
	fp = fopen(path, "w");
	assert_non_null(fp);
	for (int i = 0; i < count; i++)
		fprintf(fp, "%d %d\n", order[i] / m->ranks,
		    order[i] % m->ranks);
	assert_int_equal(fclose(fp), 0);
	snprintf(path, sizeof(path), "%s/sizes", folder);
	fp = fopen(path, "w");
	assert_non_null(fp);
	for (int i = 0; i < m->ranks; i++)
		fprintf(fp, "%llu\n", (unsigned long long)m->sizes[i]);
	assert_int_equal(fclose(fp), 0);
	snprintf(ret_words, cap_bytes,
	    "neighbor graph=%s/graph sizes=%s/sizes ranks=%d per_node=%d "
	    "topology=%s unit=%llu threshold=%llu order=%s",
	    folder, folder, m->ranks, m->g, model_names[m->topology],
	    (unsigned long long)m->unit, (unsigned long long)m->threshold,
	    rng_below(r, 2) == 0 ? "phased" : "dataflow");
}

/* Check one case, from files to proof: the plan is correct, and both ends of
 * each transfer derive it independently. */
static inline void
model_case(uint64_t seed, uint64_t x, const char *folder)
{
	static struct model m;
	static struct model_events rows;
	char words[900];
	struct plan *p;
	struct rng r;

	model_make(&m, seed, x);
	rng_seed3(&r, seed, 6, x);
	model_write(&m, folder, &r, words, sizeof(words));
	p = case_proven(words, 0);
	for (int i = 0; i < m.ranks; i++) {
		model_send_side(&m, i);
		model_recv_side(&m, i);
	}
	model_sort(&m.sends);
	model_sort(&m.recvs);
	model_take(p, &rows);
	if (!model_same(&rows, &m.sends))
		fail_msg("case %llu: %s: senders see another plan",
		    (unsigned long long)x, words);
	if (!model_same(&rows, &m.recvs))
		fail_msg("case %llu: %s: receivers see another plan",
		    (unsigned long long)x, words);
	plan_free(p);
}

#endif
