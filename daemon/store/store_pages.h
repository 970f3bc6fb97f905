/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_pages.h - the rows of an SQLite file without SQLite, page by page, for
 * files that SQLite refuses. Every byte of the file may be wrong: what does not
 * fit is an error of that page or row, and never of another one.
 *
 * The format, and the names used here, are those of
 * https://www.sqlite.org/fileformat2.html. Pages are numbered from 1. The
 * write-ahead log is read with the file; only its complete transactions count.
 */
#ifndef DAEMON_STORE_STORE_PAGES_H
#define DAEMON_STORE_STORE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/store/store_sql.h"

#define STORE_PAGES_COLUMNS 32 /* of a row; a wider one is refused */

struct store_pages {
	int db_fd, log_fd;
	uint32_t page_bytes;
	uint32_t usable_bytes; /* of a page */
	uint32_t count;        /* of pages; 0: an empty file */
	uint32_t log_count;    /* of entries of log_at */
	uint64_t *log_at; /* place of a page's newest frame; 0: not logged */
	uint8_t *page;    /* the loaded one */
	uint32_t page_cells_at; /* where its array of cells begins */
	uint8_t *payload;       /* of the row that is read */
	size_t payload_cap_bytes;
};

enum store_pages_kind {
	PAGE_OTHER,    /* an index, a list of free pages, or an overflow */
	PAGE_INTERIOR, /* of a table: has children */
	PAGE_LEAF,     /* of a table: has rows */
	PAGE_DAMAGED   /* cannot be read */
};

/* A row. What it points to lives until the next one is read. */
struct store_pages_row {
	int64_t rowid;
	int count; /* of columns */
	struct sql_value columns[STORE_PAGES_COLUMNS];
};

/* Read the headers of both files. Takes db_fd and log_fd, which may be -1 if
 * there is no log. -errno: not even the size is known. */
int store_pages_open(struct store_pages *p, int db_fd, int log_fd);
void store_pages_close(struct store_pages *p);
/* Make page number the one whose rows are read. *ret_cells: its cells. */
enum store_pages_kind store_pages_load(struct store_pages *p, uint32_t number,
    int *ret_cells);
/* Of the loaded interior page: child `at`, from 0 to cells inclusive. 0: its
 * pointer is damaged. */
uint32_t store_pages_child(const struct store_pages *p, int cells, int at);
/* Of the loaded leaf: row `at`. -EBADMSG: it is damaged. */
int store_pages_row(struct store_pages *p, int at, struct store_pages_row *ret);
/* Set free_pages[number] to 1 for each page of the list of free pages, as far
 * as it can be followed; an entry that is not 0 stays. free_pages has count + 1
 * entries. Loads other pages. */
void store_pages_free_list(struct store_pages *p, uint8_t *free_pages);

#endif
