/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - graphs from files, by chance, and around each rank of a torus.
 */
#include "probes/neighbor/graph.h"
#include "probes/neighbor/neighbor.h"

#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/rng.h"
#include "common/xalloc.h"

void
graph_clear(struct graph *g)
{
	free(g->edges);
	memset(g, 0, sizeof(*g));
}

void
graph_add(struct graph *g, uint32_t src, uint32_t dst)
{
	g->edges = xmore(g->edges, g->count, sizeof(*g->edges));
	g->edges[g->count++] = (struct graph_edge){ src, dst };
}

static int
graph_edge_compare_cb(const void *va, const void *vb)
{
	const struct graph_edge *a = va, *b = vb;

	if (a->src != b->src)
		return (a->src > b->src) - (a->src < b->src);
	return (a->dst > b->dst) - (a->dst < b->dst);
}

void
graph_sort(struct graph *g)
{
	if (g->count > 0)
		qsort(g->edges, g->count, sizeof(*g->edges),
		    graph_edge_compare_cb);
}

/* A graph without edges is one too. */
int
graph_parse(const struct numbers_text *from, uint32_t ranks, struct graph *ret,
    struct err *err)
{
	struct numbers n = { .name = from->name,
		.max = INT64_MAX,
		.most = 2 * ((size_t)GRAPH_EDGES_MAX + 1),
		.err = err };
	uint64_t limit = ranks > 0 ? ranks : GRAPH_RANKS_MAX;
	struct graph g = { .ranks = ranks > 0 ? ranks : 1 };
	int rc = numbers_read(&n, from->text, from->len_bytes);

	for (size_t i = 0; rc == 0 && i < n.rows_count; i++) {
		const uint64_t *row = &n.all[n.rows[i]];

		if (numbers_columns(&n, i) != 2)
			rc = numbers_refuse(&n, n.lines[i],
			    "%zu numbers: expected src dst",
			    numbers_columns(&n, i));
		for (int k = 0; rc == 0 && k < 2; k++) {
			if (row[k] >= limit)
				rc = numbers_refuse(&n, n.lines[i],
				    "rank %llu: expected 0 to %llu",
				    (unsigned long long)row[k],
				    (unsigned long long)limit - 1);
			else if (row[k] >= g.ranks)
				g.ranks = (uint32_t)row[k] + 1;
		}
		if (rc == 0 && g.count == GRAPH_EDGES_MAX)
			rc = numbers_refuse(&n, n.lines[i],
			    "expected at most %u edges", GRAPH_EDGES_MAX);
		if (rc == 0)
			graph_add(&g, (uint32_t)row[0], (uint32_t)row[1]);
	}
	numbers_clear(&n);
	if (rc < 0) {
		graph_clear(&g);
		return rc;
	}
	*ret = g; /* handed over */
	return 0;
}

int
graph_load(const char *path, uint32_t ranks, struct graph *ret, struct err *err)
{
	size_t len = 0;
	char *text = NULL;
	int rc = file_read(path, NUMBERS_FILE_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	rc = graph_parse(&(struct numbers_text){ path, text, len }, ranks, ret,
	    err);
	free(text);
	return rc;
}

void
graph_random(uint32_t ranks, double density, uint64_t seed, struct graph *ret)
{
	uint64_t salt = rng_mix(seed);

	memset(ret, 0, sizeof(*ret));
	ret->ranks = ranks;
	for (uint32_t src = 0; src < ranks; src++)
		for (uint32_t dst = 0; dst < ranks; dst++) {
			uint64_t pair = (uint64_t)src << 32 | dst;
			uint64_t draw = rng_mix(pair ^ salt);

			if (src != dst &&
			    (double)(draw >> 11) * 0x1p-53 < density)
				graph_add(ret, src, dst);
		}
}

void
graph_dims_make(uint32_t ranks, uint32_t count, struct graph_dims *ret)
{
	uint32_t factors[32], n = 0;

	ret->count = count;
	for (uint32_t i = 0; i < count; i++)
		ret->extent[i] = 1;
	for (uint32_t f = 2; ranks > 1; f++)
		while (ranks % f == 0) {
			factors[n++] = f;
			ranks /= f;
		}
	while (n-- > 0) { /* the largest factor onto the least extent */
		uint32_t least = count - 1, i;

		for (i = 0; i < count; i++)
			if (ret->extent[i] < ret->extent[least])
				least = i;
		ret->extent[least] *= factors[n];
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = i + 1; k < count; k++)
			if (ret->extent[k] > ret->extent[i]) {
				uint32_t kept = ret->extent[i];

				ret->extent[i] = ret->extent[k];
				ret->extent[k] = kept;
			}
}

static uint32_t
graph_dims_ranks(const struct graph_dims *d)
{
	uint32_t ranks = 1;

	for (uint32_t i = 0; i < d->count; i++)
		ranks *= d->extent[i];
	return ranks;
}

/* Ranks in a window of radius: one as wide as the torus, or wider, is the
 * whole of it once. */
static uint32_t
graph_window(uint32_t extent, uint32_t radius)
{
	return radius < extent / 2 ? 2 * radius + 1 : extent;
}

double
graph_moore_degree(const struct graph_dims *d, uint32_t radius)
{
	double all = 1;

	for (uint32_t i = 0; i < d->count; i++)
		all *= graph_window(d->extent[i], radius);
	return all - 1;
}

void
graph_moore(const struct graph_dims *d, uint32_t radius, struct graph *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->ranks = graph_dims_ranks(d);
	for (uint32_t src = 0; src < ret->ranks; src++) {
		uint32_t step[GRAPH_DIMS_MAX] = { 0 }, i;

		/* every step of the window, the last dimension fastest */
		do {
			uint32_t below = ret->ranks, dst = 0;

			for (i = 0; i < d->count; i++) {
				uint32_t n = d->extent[i];
				uint32_t wide = graph_window(n, radius);

				below /= n;
				dst += (src / below % n + n - wide / 2 +
					   step[i]) %
				    n * below;
			}
			if (dst != src)
				graph_add(ret, src, dst);
			for (i = d->count; i-- > 0;) {
				if (++step[i] <
				    graph_window(d->extent[i], radius))
					break;
				step[i] = 0;
			}
		} while (i < d->count);
	}
}

void
graph_cart(const struct graph_dims *d, struct graph *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->ranks = graph_dims_ranks(d);
	for (uint32_t src = 0; src < ret->ranks; src++) {
		uint32_t below = ret->ranks;

		for (uint32_t i = 0; i < d->count; i++) {
			uint32_t n = d->extent[i], x;

			below /= n;
			x = src / below % n;
			graph_add(ret, src,
			    src - x * below + (x + n - 1) % n * below);
			graph_add(ret, src,
			    src - x * below + (x + 1) % n * below);
		}
	}
}
