/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs, sizes, link matrices and sparse matrices; the first byte chooses the
 * kind, and whether the number of ranks is known. */
#include "common/err.h"
#include "probes/neighbor/neighbor_read.h"
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "probes/neighbor/neighbor.h"
#include "probes/neighbor/csr.h"
#include "probes/neighbor/graph.h"

static struct err err;

static int
fuzz_edges(const char *text, size_t len_bytes, uint32_t ranks)
{
	struct graph g;
	int rc = graph_parse(&(struct numbers_text){ "fuzz", text, len_bytes },
	    ranks, &g, &err);

	if (rc < 0)
		return rc;
	assert(g.ranks >= 1 && g.ranks <= GRAPH_RANKS_MAX);
	assert(ranks == 0 || g.ranks == ranks);
	graph_sort(&g);
	for (size_t i = 0; i < g.count; i++)
		assert(g.edges[i].src < g.ranks && g.edges[i].dst < g.ranks);
	graph_clear(&g);
	return 0;
}

static int
fuzz_sizes(const char *text, size_t len_bytes, uint32_t ranks)
{
	static struct neighbor nb;
	int rc = neighbor_sizes_parse(&(struct numbers_text){ "fuzz", text,
					  len_bytes },
	    ranks, GRAPH_RANKS_MAX, &nb, &err);

	if (rc < 0)
		return rc;
	assert(nb.ranks >= ranks && nb.ranks <= GRAPH_RANKS_MAX);
	for (uint32_t i = 0; i < nb.ranks; i++)
		assert(nb.sizes[i] <= 1ULL << 50);
	free(nb.sizes);
	return 0;
}

static int
fuzz_links(const char *text, size_t len_bytes, uint32_t ranks)
{
	static struct links l;
	int rc = links_parse("fuzz", text, len_bytes, &l, &err);

	(void)ranks;
	if (rc < 0)
		return rc;
	assert(l.devices >= 1 && l.devices <= LINKS_DEVICES_MAX);
	for (uint32_t i = 0; i < l.devices; i++) {
		assert(l.mate[i] < l.devices && l.mate[l.mate[i]] == i);
		assert(l.hops[i][i] == 0);
	}
	return 0;
}

static int
fuzz_mtx(const char *text, size_t len_bytes, uint32_t ranks)
{
	struct csr m;
	int rc = mtx_parse("fuzz", text, len_bytes, &m, &err);

	(void)ranks;
	if (rc < 0)
		return rc;
	assert(m.rows >= 1 && m.rows <= CSR_ROWS_MAX);
	assert(m.starts[m.rows] == m.nonzeros);
	for (size_t i = 0; i < m.nonzeros; i++)
		assert(m.columns[i] < m.rows);
	csr_clear(&m);
	return 0;
}

static int (*const parsers[])(const char *text, size_t len_bytes,
    uint32_t ranks) = { fuzz_edges, fuzz_sizes, fuzz_links, fuzz_mtx };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *text;

	if (len_bytes == 0)
		return 0;
	text = fuzz_text(data + 1, len_bytes - 1);
	err.text[0] = '\0';
	if (parsers[data[0] % 4](text, len_bytes - 1, data[0] & 64 ? 4 : 0) < 0)
		assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
	free(text);
	return 0;
}
