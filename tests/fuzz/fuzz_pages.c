/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of SQLite and its log, page by page: the bytes are the log's length
 * (two bytes, the lowest first), the log, and the file.
 */
#include "daemon/store/store_pages.h"

#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

static int
pages_file(const uint8_t *data, size_t len_bytes)
{
	int fd = memfd_create("pages", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, len_bytes) != (ssize_t)len_bytes)
		abort();
	return fd;
}

static void
pages_rows(struct store_pages *p, int cells)
{
	struct store_pages_row row;
	volatile unsigned sum = 0;

	for (int i = 0; i < cells; i++) {
		if (store_pages_row(p, i, &row) < 0)
			continue;
		assert(row.count >= 0 && row.count <= STORE_PAGES_COLUMNS);
		for (int k = 0; k < row.count; k++)
			for (size_t b = 0; b < row.columns[k].len_bytes; b++)
				sum +=
				    ((const uint8_t *)row.columns[k].bytes)[b];
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct store_pages p;
	size_t log_bytes;
	uint8_t *free_pages;
	int cells;

	if (len_bytes < 2)
		return 0;
	log_bytes = data[0] | (size_t)data[1] << 8;
	if (log_bytes > len_bytes - 2)
		log_bytes = len_bytes - 2;
	if (store_pages_open(&p,
		pages_file(data + 2 + log_bytes, len_bytes - 2 - log_bytes),
		log_bytes == 0 ? -1 : pages_file(data + 2, log_bytes)) < 0)
		abort();
	assert(p.count <= len_bytes / 512);
	free_pages = calloc((size_t)p.count + 1, 1);
	if (free_pages == NULL)
		abort();
	store_pages_free_list(&p, free_pages);
	for (uint32_t n = 1; n <= p.count; n++) {
		enum store_pages_kind kind = store_pages_load(&p, n, &cells);

		if (kind == PAGE_LEAF)
			pages_rows(&p, cells);
		for (int i = 0; kind == PAGE_INTERIOR && i <= cells; i++)
			(void)store_pages_child(&p, cells, i);
	}
	free(free_pages);
	store_pages_close(&p);
	return 0;
}
