/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/neighbor/csr.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

void
csr_entries_add(struct csr_entries *list, uint32_t row, uint32_t column,
    double value)
{
	if (list->count == list->cap) {
		list->cap = list->cap * 2 + 1024;
		list->at = xreallocarray(list->at, list->cap,
		    sizeof(*list->at));
	}
	list->at[list->count++] = (struct csr_entry){ value, row, column };
}

static int
entry_compare_cb(const void *va, const void *vb)
{
	const struct csr_entry *a = va, *b = vb;

	if (a->row != b->row)
		return (a->row > b->row) - (a->row < b->row);
	return (a->column > b->column) - (a->column < b->column);
}

void
csr_make(uint32_t rows, struct csr_entries *list, struct csr *ret)
{
	struct csr m = { .rows = rows };

	m.starts = xcalloc((size_t)rows + 1, sizeof(*m.starts));
	m.columns = xcalloc(list->count + 1, sizeof(*m.columns));
	m.values = xcalloc(list->count + 1, sizeof(*m.values));
	if (list->count > 1)
		qsort(list->at, list->count, sizeof(*list->at),
		    entry_compare_cb);
	for (size_t i = 0; i < list->count; i++) {
		const struct csr_entry *e = &list->at[i];

		if (i > 0 && entry_compare_cb(e, e - 1) == 0) {
			m.values[m.nonzeros - 1] += e->value;
			continue;
		}
		m.starts[e->row + 1]++;
		m.columns[m.nonzeros] = e->column;
		m.values[m.nonzeros++] = e->value;
	}
	for (uint32_t i = 0; i < rows; i++)
		m.starts[i + 1] += m.starts[i];
	free(list->at);
	memset(list, 0, sizeof(*list));
	*ret = m;
}

void
csr_clear(struct csr *m)
{
	free(m->starts);
	free(m->columns);
	free(m->values);
	memset(m, 0, sizeof(*m));
}

uint32_t
csr_block(const struct csr *m, uint32_t ranks, uint32_t rank)
{
	return (uint32_t)((uint64_t)rank * m->rows / ranks);
}

/* The inverse of csr_block: the last rank whose block starts no later. */
uint32_t
csr_owner(const struct csr *m, uint32_t ranks, uint32_t row)
{
	return (uint32_t)((((uint64_t)row + 1) * ranks - 1) / m->rows);
}

void
csr_graph(const struct csr *m, uint32_t ranks, struct graph *ret)
{
	uint32_t *seen = xcalloc(ranks, sizeof(*seen)); /* by whom, + 1 */

	memset(ret, 0, sizeof(*ret));
	ret->ranks = ranks;
	for (uint32_t row = 0; row < m->rows; row++) {
		uint32_t dst = csr_owner(m, ranks, row);

		for (size_t i = m->starts[row]; i < m->starts[row + 1]; i++) {
			uint32_t src = csr_owner(m, ranks, m->columns[i]);

			if (src == dst || seen[src] == dst + 1)
				continue;
			seen[src] = dst + 1;
			graph_add(ret, src, dst);
		}
	}
	free(seen);
}
