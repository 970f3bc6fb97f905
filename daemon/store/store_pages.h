/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_pages.h - read the rows of an SQLite file page by page without SQLite,
 * for files that SQLite rejects. Every byte of the file may be wrong: a
 * mismatch is an error of only this page or row.
 *
 * The format, and the names used here, are documented in
 * https://www.sqlite.org/fileformat2.html. Pages are numbered from 1. The
 * write-ahead log is read with the file; only its complete transactions count.
 */
#ifndef DAEMON_STORE_STORE_PAGES_H
#define DAEMON_STORE_STORE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/store/store_sql.h"

#define STORE_PAGES_COLUMNS 32 /* columns of a row; a wider row is rejected */

/* The files of a damaged database. */
struct store_pages {
	int db_fd, log_fd;
	uint32_t page_bytes;
	uint32_t usable_bytes; /* usable bytes of a page */
	uint32_t count;        /* number of pages; 0: an empty file */
	uint32_t log_count;    /* number of entries of log_at */
	uint64_t *log_at; /* place of a page's newest frame; 0: not logged */
	/* Transactions after damage in the log; -1: its header is unreadable,
	 * and all its transactions are missing. */
	int64_t log_lost;
	uint8_t *page;          /* the loaded page */
	uint32_t page_cells_at; /* offset of its array of cells */
	uint8_t *payload;       /* bytes of the current row */
	size_t payload_cap_bytes;
};

enum store_pages_kind {
	PAGE_OTHER,    /* an index, a list of free pages, or an overflow */
	PAGE_INTERIOR, /* page of a table that has children */
	PAGE_LEAF,     /* page of a table that has rows */
	PAGE_DAMAGED   /* cannot be read */
};

/* A row. Its pointers are valid until the next row is read. */
struct store_pages_row {
	int64_t rowid;
	int count; /* number of columns */
	struct sql_value columns[STORE_PAGES_COLUMNS];
};

/* Read the headers of both files. Takes db_fd and log_fd; log_fd may be -1 for
 * no log. -errno: the size of the file is unknown. */
int store_pages_open(struct store_pages *p, int db_fd, int log_fd);
void store_pages_close(struct store_pages *p);
/* Load a page, whose rows can then be read. *ret_cells: number of its cells. */
enum store_pages_kind store_pages_load(struct store_pages *p, uint32_t number,
    int *ret_cells);
/* Return child `at` of the loaded interior page, from 0 to cells inclusive. 0:
 * the pointer is damaged. */
uint32_t store_pages_child(const struct store_pages *p, int cells, int at);
/* Read row `at` of the loaded leaf. -EBADMSG: the row is damaged. */
int store_pages_row(struct store_pages *p, int at, struct store_pages_row *ret);
/* Set free_pages[number] to 1 for each page of the list of free pages, as far
 * as the list is readable; an entry that is not 0 does not change. free_pages
 * has count + 1 entries. Loads other pages. */
void store_pages_free_list(struct store_pages *p, uint8_t *free_pages);

#endif
