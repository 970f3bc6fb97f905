/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_ship.c - the file and its write-ahead log as bytes that another
 * machine copies, and there a store again.
 *
 * In WAL mode the file changes by checkpoints alone. While a copy is held, none
 * is made but when the copy has all of the log: so the file can be read piece
 * by piece, and the log's bytes behind it are all that ever happened since. The
 * log's checksums tell the copy's SQLite where the last whole commit ends.
 */
#include "daemon/store/store_sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/xalloc.h"
#include "daemon/store/store.h"

#define HELD_NS       (30 * CLK_NS_PER_S)     /* since the copy last asked */
#define LOG_BYTES_MAX (1024ULL * 1024 * 1024) /* then it is too slow */
#define LOG_EMPTY_BYTES                                                        \
	(4 * 1024 * 1024)     /* emptied when it has all of more               \
			       */
#define LOG_PAGES        1000 /* SQLite's own measure, where nobody copies */
#define LOG_HEAD_BYTES   32   /* https://sqlite.org/fileformat2.html 4.1 */
#define FRAME_HEAD_BYTES 24

/* Empty the log, or as much of it as nobody reads. */
static int
store_sqlite_ship_checkpoint(struct sqlite *s, int mode)
{
	int frames = 0, done = 0, rc;

	/* A reader in the way is no error: the next time tries again. */
	sqlite3_busy_timeout(s->db, 50);
	rc = sqlite3_wal_checkpoint_v2(s->db, NULL, mode, &frames, &done);
	sqlite3_busy_timeout(s->db, SQLITE_BUSY_MS);
	if (rc == SQLITE_OK && mode == SQLITE_CHECKPOINT_TRUNCATE) {
		s->ship.base_bytes += s->ship.log_bytes;
		s->ship.log_bytes = 0;
	} else if (rc != SQLITE_OK && rc != SQLITE_BUSY) {
		log_debug("store: checkpoint: %s", sqlite3_errmsg(s->db));
	}
	return frames;
}

static int
store_sqlite_ship_is_held(struct sqlite *s)
{
	struct sqlite_ship *h = &s->ship;
	const char *why = NULL;

	if (h->hold == 0)
		return 0;
	if (clk_ns() > h->until_ns)
		why = "has not asked for half a minute";
	else if (h->log_bytes > LOG_BYTES_MAX)
		why = "is over a GiB behind";
	if (why != NULL) {
		log_warnx("store: the copy on another machine %s: it has to "
			  "begin anew",
		    why);
		h->hold = 0;
	}
	return h->hold != 0;
}

void
sqlite_ship_checkpoint(struct sqlite *s)
{
	if (!store_sqlite_ship_is_held(s))
		store_sqlite_ship_checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE);
}

/* After each commit: how long the log is. It gets shorter only by beginning
 * anew, when all of it is in the file. */
static int
store_sqlite_ship_committed_cb(void *arg, sqlite3 *db, const char *name,
    int pages)
{
	struct sqlite *s = arg;
	struct sqlite_ship *h = &s->ship;
	uint64_t bytes = LOG_HEAD_BYTES +
	    (uint64_t)pages * (FRAME_HEAD_BYTES + h->page_bytes);

	(void)db;
	(void)name;
	if (bytes <= h->log_bytes)
		h->base_bytes += h->log_bytes;
	h->log_bytes = bytes;
	if (pages >= LOG_PAGES && !store_sqlite_ship_is_held(s))
		store_sqlite_ship_checkpoint(s, SQLITE_CHECKPOINT_PASSIVE);
	return SQLITE_OK;
}

void
sqlite_ship_open(struct sqlite *s)
{
	int frames;

	s->ship.page_bytes = (uint64_t)sqlite_int(s->db, "PRAGMA page_size",
	    4096);
	/* What another life has left there. */
	frames = store_sqlite_ship_checkpoint(s, SQLITE_CHECKPOINT_PASSIVE);
	if (frames > 0)
		(void)store_sqlite_ship_committed_cb(s, s->db, NULL, frames);
	sqlite3_wal_hook(s->db, store_sqlite_ship_committed_cb, s);
}

static sqlite3_file *
store_sqlite_ship_file_of(sqlite3 *db, int what)
{
	sqlite3_file *f = NULL;

	if (sqlite3_file_control(db, "main", what, &f) != SQLITE_OK ||
	    f == NULL || f->pMethods == NULL)
		return NULL;
	return f;
}

/* Of the log's head; 0 where the log is empty. Two logs that follow each other
 * differ in it. */
static int
store_sqlite_ship_generation_read(struct sqlite *s, sqlite3_file *log,
    uint64_t *ret)
{
	unsigned char head[LOG_HEAD_BYTES];

	*ret = 0;
	if (s->ship.log_bytes == 0)
		return 0;
	if (log->pMethods->xRead(log, head, sizeof(head), 0) != SQLITE_OK)
		return -EIO;
	for (int i = 16; i < 24; i++)
		*ret = *ret << 8 | head[i];
	/* as a number that JSON has */
	*ret = (*ret & INT64_MAX) | 1;
	return 0;
}

/* Where the copy is in the log, in bytes of all that were written since we
 * began; it goes on at *at. -ESTALE: nobody knows. */
static int
store_sqlite_ship_place_take(struct sqlite *s, uint64_t generation,
    const struct sql_ship_ask *ask, uint64_t *ret_from)
{
	struct sqlite_ship *h = &s->ship;
	int is_begin = ask->generation == 0;
	int is_next = ask->generation == h->ended &&
	    ask->from == h->ended_bytes;

	if (generation != 0 && ask->generation == generation)
		*ret_from = ask->from;
	else if (is_begin || is_next)
		*ret_from = 0;
	else
		return -ESTALE;
	if (*ret_from > h->log_bytes)
		return -ESTALE;
	if (h->base_bytes + *ret_from > h->copied_bytes)
		h->copied_bytes = h->base_bytes + *ret_from;
	return 0;
}

static int
store_sqlite_ship_piece_read(sqlite3_file *f, uint64_t from, uint64_t end,
    struct sql_ship *ret)
{
	int len;

	ret->from = from;
	ret->end = end;
	len = end - from < SQL_SHIP_BYTES_MAX ? (int)(end - from)
					      : SQL_SHIP_BYTES_MAX;
	if (len == 0)
		return 0;
	ret->bytes = xcalloc(1, (size_t)len);
	ret->len_bytes = (size_t)len;
	if (f->pMethods->xRead(f, ret->bytes, len, (sqlite3_int64)from) ==
	    SQLITE_OK)
		return 0;
	free(ret->bytes);
	ret->bytes = NULL;
	ret->len_bytes = 0;
	return -EIO;
}

static int
store_sqlite_ship_log_ship(struct sqlite *s, const struct sql_ship_ask *ask,
    struct sql_ship *ret)
{
	sqlite3_file *log = store_sqlite_ship_file_of(s->db,
	    SQLITE_FCNTL_JOURNAL_POINTER);
	struct sqlite_ship *h = &s->ship;
	uint64_t generation, from;
	int rc;

	if (log == NULL)
		return -EIO;
	rc = store_sqlite_ship_generation_read(s, log, &generation);
	if (rc == 0)
		rc = store_sqlite_ship_place_take(s, generation, ask, &from);
	if (rc < 0)
		return rc;
	if (h->log_bytes == 0) { /* nothing is new */
		ret->generation = ask->generation;
		ret->from = ret->end = ask->from;
		return 0;
	}
	ret->generation = generation;
	rc = store_sqlite_ship_piece_read(log, from, h->log_bytes, ret);
	if (rc == 0 && from == h->log_bytes) {
		h->ended = generation;
		h->ended_bytes = from;
		if (h->log_bytes > LOG_EMPTY_BYTES)
			store_sqlite_ship_checkpoint(s,
			    SQLITE_CHECKPOINT_TRUNCATE);
	}
	return rc;
}

int
sqlite_ship(struct sql *db, const struct sql_ship_ask *ask,
    struct sql_ship *ret)
{
	struct sqlite *s = (struct sqlite *)db;
	struct sqlite_ship *h = &s->ship;
	sqlite3_file *f = store_sqlite_ship_file_of(s->db,
	    SQLITE_FCNTL_FILE_POINTER);
	sqlite3_int64 bytes = 0;
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	if (ask != NULL && ask->hold == 0) {
		h->hold = 0; /* of another copy, which begins anew, too */
		store_sqlite_ship_checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE);
		h->hold = (rng_entropy() & INT64_MAX) | 1;
		h->ended = h->ended_bytes = 0;
		h->copied_bytes = 0;
		h->until_ns = clk_ns() + HELD_NS;
	}
	ret->hold = store_sqlite_ship_is_held(s) ? h->hold : 0;
	if (ask != NULL && ask->hold != 0 && ask->hold != ret->hold)
		rc = -ESTALE;
	else if (ask != NULL)
		h->until_ns = clk_ns() + HELD_NS;
	if (rc == 0 && ask != NULL && ask->of_log)
		rc = store_sqlite_ship_log_ship(s, ask, ret);
	else if (rc == 0 && ask != NULL) {
		if (f == NULL || f->pMethods->xFileSize(f, &bytes) != SQLITE_OK)
			rc = -EIO;
		else if (ask->from > (uint64_t)bytes)
			rc = -EINVAL;
		else
			rc = store_sqlite_ship_piece_read(f, ask->from,
			    (uint64_t)bytes, ret);
	}
	ret->written_bytes = h->base_bytes + h->log_bytes;
	ret->copied_bytes = ret->hold != 0 ? h->copied_bytes : 0;
	return rc;
}

int
store_copy_apply(const char *path, struct err *err)
{
	sqlite3 *db = NULL;
	int rc;

	rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_wal_checkpoint_v2(db, NULL,
		    SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	if (rc == SQLITE_OK &&
	    sqlite_int(db, "PRAGMA application_id", -1) != STORE_APPLICATION_ID)
		rc = SQLITE_NOTADB;
	if (rc != SQLITE_OK)
		err_say(err, "%.300s: %s", path,
		    db != NULL ? sqlite3_errmsg(db) : "out of memory");
	sqlite3_close(db);
	return sqlite_errno(rc);
}
