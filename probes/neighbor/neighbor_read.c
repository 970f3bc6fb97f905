/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor_read.c - options become a graph, sizes and wiring: which source of a
 * graph was asked for, and whether all of it fits.
 */
#include "probes/neighbor/neighbor_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/neighbor/neighbor.h"
#include "probes/neighbor/csr.h"
#include "probes/neighbor/graph.h"
#include "probes/pattern/builders.h"

#define SECTION NEIGHBOR_SECTION

/* Where the bytes that all ranks have to do with still fit 64 bits. */
#define BYTES_MAX 0x1p61

struct ask {
	const struct conf *c;
	struct neighbor *nb;
	uint32_t ranks; /* 0: not said */
	struct err *err;
};

#define REFUSE(a, key, ...)                                                    \
	pattern_refuse((a)->c, SECTION, key, (a)->err, __VA_ARGS__)

/* Return the ranks of a generated graph, which has no fixed size. */
static int
neighbor_read_ranks_need(struct ask *a)
{
	if (a->ranks > 0)
		return 0;
	REFUSE(a, "ranks", "2 to %d with a generated graph", GRAPH_RANKS_MAX);
	return -ENODATA; /* a run says how many */
}

static int
neighbor_read_source_file(struct ask *a)
{
	return graph_load(conf_string(a->c, SECTION, "graph"), a->ranks,
	    &a->nb->graph, a->err);
}

static int
neighbor_read_source_random(struct ask *a)
{
	double density = conf_real(a->c, SECTION, "rsg");
	int rc = neighbor_read_ranks_need(a);

	if (rc < 0)
		return rc;
	if (density * a->ranks * a->ranks > GRAPH_EDGES_MAX)
		return REFUSE(a, "rsg", "at most %u edges", GRAPH_EDGES_MAX);
	a->nb->density = density;
	graph_random(a->ranks, density,
	    (uint64_t)conf_int(a->c, SECTION, "seed"), &a->nb->graph);
	return 0;
}

/* moore = "2,1": dimensions and radius. */
static int
neighbor_read_source_moore(struct ask *a)
{
	struct graph_dims dims;
	int64_t count, radius;
	size_t given = 0;
	char **words;
	int rc = neighbor_read_ranks_need(a);

	if (rc < 0)
		return rc;
	words = str_list_parse(conf_string(a->c, SECTION, "moore"), &given);
	if (words == NULL || given != 2 ||
	    str_to_int(words[0], 1, GRAPH_DIMS_MAX, &count) < 0 ||
	    str_to_int(words[1], 1, GRAPH_RANKS_MAX, &radius) < 0)
		rc = REFUSE(a, "moore",
		    "dimensions,radius: 1 to %d and 1 to %d", GRAPH_DIMS_MAX,
		    GRAPH_RANKS_MAX);
	str_list_free(words);
	if (rc < 0)
		return rc;
	graph_dims_make(a->ranks, (uint32_t)count, &dims);
	if (graph_moore_degree(&dims, (uint32_t)radius) * a->ranks >
	    GRAPH_EDGES_MAX)
		return REFUSE(a, "moore", "at most %u edges", GRAPH_EDGES_MAX);
	graph_moore(&dims, (uint32_t)radius, &a->nb->graph);
	return 0;
}

static int
neighbor_read_source_cart(struct ask *a)
{
	struct graph_dims dims;
	int rc = neighbor_read_ranks_need(a);

	if (rc < 0)
		return rc;
	graph_dims_make(a->ranks, (uint32_t)conf_int(a->c, SECTION, "cart"),
	    &dims);
	graph_cart(&dims, &a->nb->graph);
	return 0;
}

static int
neighbor_read_source_matrix(struct ask *a)
{
	struct neighbor *nb = a->nb;
	const char *path = conf_string(a->c, SECTION, "matrix");
	uint64_t columns = (uint64_t)conf_int(a->c, SECTION, "columns");
	int rc = neighbor_read_ranks_need(a);

	if (rc == 0 && path[0] == '\0')
		rc = REFUSE(a, "matrix", "the path of a Matrix Market file");
	if (rc == 0)
		rc = mtx_load(path, &nb->matrix, a->err);
	if (rc < 0)
		return rc;
	nb->columns = columns > 0 ? (uint32_t)columns : nb->matrix.rows;
	csr_graph(&nb->matrix, a->ranks, &nb->graph);
	return 0;
}

static const struct source_row {
	const char *key;
	int (*make)(struct ask *a);
} sources[] = {
	{ "graph", neighbor_read_source_file },
	{ "rsg", neighbor_read_source_random },
	{ "moore", neighbor_read_source_moore },
	{ "cart", neighbor_read_source_cart },
	{ "matrix", neighbor_read_source_matrix },
};

#define SOURCES_WORDS "graph, rsg, moore, cart or matrix"

static int
neighbor_read_graph_read(struct ask *a)
{
	const struct source_row *found = NULL;
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		if (!conf_given(a->c, SECTION, sources[i].key))
			continue;
		if (found != NULL)
			return REFUSE(a, sources[i].key,
			    "only one of " SOURCES_WORDS "; %s is also given",
			    found->key);
		found = &sources[i];
	}
	if (found == NULL)
		return REFUSE(a, "graph",
		    "the path of a graph, or one of rsg, moore and cart");
	rc = found->make(a);
	if (rc < 0)
		return rc;
	graph_sort(&a->nb->graph);
	a->nb->ranks = a->nb->graph.ranks;
	return 0;
}

int
neighbor_sizes_parse(const struct numbers_text *from, uint32_t least,
    uint32_t most, struct neighbor *nb, struct err *err)
{
	struct numbers n = { .name = from->name,
		.max = 1ULL << 50,
		.most = (size_t)most + 1,
		.err = err };
	int rc = numbers_read(&n, from->text, from->len_bytes);

	if (rc == 0 && (n.count < least || n.count > most))
		rc = numbers_refuse(&n, n.line > 0 ? n.line : 1,
		    "%zu sizes: expected one for each of %s%u ranks", n.count,
		    n.count < least && least < most ? "at least " : "",
		    n.count < least ? least : most);
	if (rc == 0) {
		nb->ranks = (uint32_t)n.count;
		nb->sizes = n.all; /* handed over */
		n.all = NULL;
	}
	numbers_clear(&n);
	return rc;
}

/* What each rank gives: bytes, a file's, or its rows of the dense matrix. Every
 * sum that is made of this graph's messages must fit. */
static int
neighbor_read_sizes_read(struct ask *a)
{
	struct neighbor *nb = a->nb;
	const char *const keys[] = { "bytes", "sizes", "matrix" };
	const char *given = NULL, *key = "bytes";
	struct numbers_text from = { 0 };
	uint32_t least = a->ranks > 0 ? a->ranks : nb->ranks;
	char *text = NULL;
	double sum = 0;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!conf_given(a->c, SECTION, keys[i]))
			continue;
		if (given != NULL)
			return REFUSE(a, given, "either this option or %s",
			    keys[i]);
		given = keys[i];
	}
	if (conf_given(a->c, SECTION, "sizes")) {
		/* The file may speak of more ranks than the graph does. */
		key = "sizes";
		from.name = conf_string(a->c, SECTION, key);
		rc = file_read(from.name, NUMBERS_FILE_MAX, &text,
		    &from.len_bytes, a->err);
		from.text = text;
		if (rc == 0)
			rc = neighbor_sizes_parse(&from, least,
			    a->ranks > 0 ? least : GRAPH_RANKS_MAX, nb, a->err);
		free(text);
	} else {
		nb->sizes = xcalloc(nb->ranks, sizeof(*nb->sizes));
		for (uint32_t i = 0; i < nb->ranks; i++)
			nb->sizes[i] = conf_bytes(a->c, SECTION, "bytes");
	}
	if (nb->matrix.rows > 0) {
		const struct csr *m = &nb->matrix;

		key = "columns";
		for (uint32_t i = 0; i < nb->ranks; i++)
			nb->sizes[i] = (uint64_t)(csr_block(m, nb->ranks,
						      i + 1) -
					   csr_block(m, nb->ranks, i)) *
			    nb->columns * sizeof(double);
	}
	for (size_t i = 0; rc == 0 && i < nb->graph.count; i++)
		sum += (double)nb->sizes[nb->graph.edges[i].src];
	if (sum > BYTES_MAX)
		return REFUSE(a, key, "at most 2 EiB over all edges");
	return rc;
}

static int
neighbor_read_topology_read(struct ask *a)
{
	const char *name = conf_string(a->c, SECTION, "topology");
	struct neighbor *nb = a->nb;
	struct links *l = &nb->links;
	int rc = 0;

	nb->per_node = (uint32_t)conf_int(a->c, SECTION, "per_node");
	if (name[0] == '\0')
		return REFUSE(a, "topology",
		    "mi250, mi250x, none, machine or the path of a matrix");
	if (strcmp(name, "none") == 0)
		links_none(nb->per_node, l);
	else if (strcmp(name, "machine") == 0)
		rc = links_machine("/sys", l, a->err);
	else if (links_shipped(name, l) < 0)
		rc = links_load(name, l, a->err);
	if (rc == 0 && l->devices < nb->per_node)
		rc = REFUSE(a, "topology",
		    "at least per_node = %u devices; this topology has %u",
		    nb->per_node, l->devices);
	return rc;
}

int
neighbor_read(const struct conf *c, uint32_t ranks, struct neighbor *ret,
    struct err *err)
{
	uint32_t own = (uint32_t)conf_int(c, SECTION, "ranks");
	struct neighbor nb = { .density = -1 };
	struct ask a = { c, &nb, own > 0 ? own : ranks, err };
	int rc;

	nb.unit = conf_bytes(c, SECTION, "unit");
	nb.threshold = conf_bytes(c, SECTION, "threshold");
	nb.dataflow = conf_is(c, SECTION, "order", "dataflow");
	rc = pattern_vias(c, SECTION, 3, nb.vias, err);
	if (rc == 0 && own > 0 && ranks > 0 && own > ranks)
		rc = REFUSE(&a, "ranks", "at most %u, the number of ranks",
		    ranks);
	if (rc == 0 && own == 0 && ranks > GRAPH_RANKS_MAX)
		rc = REFUSE(&a, "ranks", "1 to %d; there are %u ranks",
		    GRAPH_RANKS_MAX, ranks);
	if (rc == 0)
		rc = neighbor_read_topology_read(&a);
	if (rc == 0)
		rc = neighbor_read_graph_read(&a);
	if (rc == 0)
		rc = neighbor_read_sizes_read(&a);
	if (rc < 0) {
		neighbor_clear(&nb);
		return rc;
	}
	*ret = nb; /* handed over */
	return 0;
}

void
neighbor_clear(struct neighbor *nb)
{
	graph_clear(&nb->graph);
	csr_clear(&nb->matrix);
	free(nb->sizes);
	memset(nb, 0, sizeof(*nb));
}
