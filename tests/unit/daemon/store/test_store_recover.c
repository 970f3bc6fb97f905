/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery of a damaged file: for any missing page, all rows of all other pages
 * are saved, in their own tables and unchanged, and the result is sound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "daemon/store/store_recover.h"

#include "tests/unit/daemon/store/store_fix.h"

#define RECORDS    40
#define PAGE_BYTES 4096

static const char *const tables[] = { "setting", "node", "run", "record",
	"counters", "event", "verdict", "topology", "baseline", "job",
	"occasion", "share", "in_band", "node_inventory" };

static char whole[256], damaged[256], fresh[256];
static int64_t all, settings; /* rows of the whole file */

static void
path_in(const struct fix *f, const char *name, char ret[256])
{
	snprintf(ret, 256, "%s/%s", f->dir, name);
}

static void
exec(const char *path, const char *sql)
{
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	sqlite3_close(db);
}

/* The number that sql, which malloc made, selects of the fresh file, to which
 * the whole one is attached as w. */
static int64_t
number(char *sql)
{
	char *attach = xasprintf("ATTACH '%s' AS w", whole);
	sqlite3_stmt *q = NULL;
	sqlite3 *db;
	int64_t n;

	assert_int_equal(sqlite3_open(fresh, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, attach, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	free(attach);
	free(sql);
	return n;
}

static void
copy(const char *from, const char *to)
{
	char *block = malloc(1 << 20);
	int in = open(from, O_RDONLY), out;
	ssize_t n;

	out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, block, 1 << 20)) > 0)
		assert_int_equal(write(out, block, (size_t)n), n);
	close(in);
	close(out);
	free(block);
}

static int64_t
rows_of(const char *table)
{
	return number(xasprintf("SELECT count(*) FROM main.%s", table));
}

/* A store with rows in all tables, some of several pages. */
static int
setup(void **state)
{
	static struct fix f;
	char name[64], *pad = xasprintf("%0*d", 3000, 0);
	struct answer a = { 0 };

	fix_folder(&f);
	f.options.url = NULL;
	path_in(&f, "coalmine.db", whole);
	path_in(&f, "damaged.db", damaged);
	path_in(&f, "fresh.db", fresh);
	fix_open(&f);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		fix_put_run(&f,
		    fix_run(name, "watch", "finished", clk_unix_ns()));
		for (int seq = 1; seq <= RECORDS; seq++) {
			json_t *record = fix_canary(name, seq, "lat",
			    "isolated", seq);

			store_put_record(f.st, record, NULL, answer_cb, &a);
			json_decref(record);
		}
	}
	fix_wait(&f, &a.got, 3 * RECORDS);
	store_close(f.st);
	f.st = NULL;
	for (int i = 0; i < 30; i++) {
		char *sql = xasprintf(
		    "INSERT INTO setting VALUES ('key%d', 'value');"
		    "INSERT INTO node VALUES ('node%d', %d,"
		    " '{\"node\":\"node%d\",\"nics\":[\"%s\"]}');"
		    "INSERT INTO node_inventory VALUES ('node%d',"
		    " '{\"nics\":[\"%s\"]}');"
		    "INSERT INTO counters VALUES (1, %d, 'node1', 5, '[]');"
		    "INSERT INTO event (at_unix_ns, kind, subject, text, body)"
		    " VALUES (%d, 'alarm', 'node%d', 'something', '{}');"
		    "INSERT INTO verdict (at_unix_ns, kind, subject, verdict,"
		    " body) VALUES (%d, 'node', 'node%d', 'warn', '{}');"
		    "INSERT INTO topology (from_unix_ns, body) VALUES (%d,"
		    " '{\"text\":\"leaf\"}');"
		    "INSERT INTO baseline VALUES ('b%d', 7, '{\"run\":\"r0\","
		    "\"tests\":[]}');"
		    "INSERT INTO job VALUES ('%d', '%d', 5, 9, NULL, 'job',"
		    " '{}');"
		    "INSERT INTO occasion VALUES ('%d', 5, 'lat', 'job', '{}');"
		    "INSERT INTO share VALUES (%d, '{}');"
		    "INSERT INTO in_band VALUES ('%d', '%d', 5, 'node1', 6,"
		    " '{}');",
		    i, i, i, i, i % 7 == 0 ? pad : "", i, i % 7 == 0 ? pad : "",
		    i, i, i, i, i, i, i, i, i, i, i, i, i);

		exec(whole, sql);
		free(sql);
	}
	exec(whole, "PRAGMA journal_mode = DELETE");
	copy(whole, fresh);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		all += rows_of(tables[i]);
	settings = rows_of("setting");
	free(pad);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	fix_close(*state);
	return 0;
}

static int
recover(void)
{
	struct err err;
	int rc;

	unlink(fresh);
	rc = store_recover(damaged, fresh, &err);
	if (rc < 0)
		print_message("%s\n", err.text);
	return rc;
}

/* Return the number of rows in all tables of the fresh file. Each row must be
 * equal to one in the original file. */
static int64_t
saved_check(void)
{
	int64_t rows = 0;

	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		if (number(
			xasprintf("SELECT count(*) FROM (SELECT * FROM main.%s"
				  " EXCEPT SELECT * FROM w.%s)",
			    tables[i], tables[i])) != 0)
			fail_msg("%s has additional rows", tables[i]);
		rows += rows_of(tables[i]);
	}
	assert_int_equal(number(xasprintf(
			     "SELECT count(*) = 1 AND min(integrity_check) ="
			     " 'ok' FROM pragma_integrity_check")),
	    1);
	return rows;
}

static void
test_sound(void **state)
{
	copy(whole, damaged);
	assert_int_equal(recover(), 0);
	assert_int_equal(saved_check(), all);
	/* An existing file is not overwritten. */
	assert_int_equal(store_recover(damaged, fresh, &(struct err){ 0 }),
	    -EEXIST);
	(void)state;
}

/* Write a byte of a file. */
static void
spoil(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0xff;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static int64_t
key_count(const char *key)
{
	return number(
	    xasprintf("SELECT count(*) FROM main.setting WHERE key = '%s'",
		key));
}

/* Committed rows in the log are recovered too. A log that is damaged is
 * reported; one that cannot be opened ends the recovery. */
static void
test_log(void **state)
{
	struct fix *f = *state;
	char log[256], other[256];
	struct stat st;
	sqlite3 *db;

	copy(whole, damaged);
	assert_int_equal(sqlite3_open(damaged, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
			     "PRAGMA journal_mode = WAL;"
			     "PRAGMA wal_autocheckpoint = 0;"
			     "DELETE FROM setting WHERE key = 'key1';"
			     "INSERT INTO setting VALUES ('new', 'value');"
			     "INSERT INTO setting VALUES ('newer', 'value');",
			     NULL, NULL, NULL),
	    SQLITE_OK);
	path_in(f, "other.db", other);
	copy(damaged, other);
	path_in(f, "damaged.db-wal", log);
	snprintf(damaged, sizeof(damaged), "%s/other.db-wal", f->dir);
	copy(log, damaged);
	sqlite3_close(db);
	snprintf(damaged, sizeof(damaged), "%s", other);
	assert_int_equal(recover(), 0);
	assert_int_equal(rows_of("setting"), settings + 1);
	assert_int_equal(key_count("new"), 1);

	/* The last transaction. */
	path_in(f, "other.db-wal", log);
	assert_int_equal(stat(log, &st), 0);
	spoil(log, st.st_size - 1);
	assert_int_equal(recover(), 1);
	assert_int_equal(key_count("new"), 1);
	assert_int_equal(key_count("newer"), 0);
	spoil(log, st.st_size - 1);
	/* The first one: those after it cannot be applied. */
	spoil(log, 32 + 24 + 100);
	assert_int_equal(recover(), 1);
	assert_int_equal(key_count("new"), 0);
	spoil(log, 32 + 24 + 100);
	for (off_t at = 0; at < 32; at += 16) {
		spoil(log, at);
		assert_int_equal(recover(), 1);
		assert_int_equal(key_count("new"), 0);
		spoil(log, at);
	}
	assert_int_equal(recover(), 0);
	assert_int_equal(truncate(log, 0), 0);
	assert_int_equal(recover(), 0);
	assert_int_equal(unlink(log), 0);
	assert_int_equal(symlink(log, log), 0);
	assert_int_equal(recover(), -ELOOP);
	unlink(log);
	path_in(f, "damaged.db", damaged);
}

/* Each page in turn is replaced with zeros, noise, or a leaf of noise: no row
 * of the other pages is lost. */
static void
test_each_page(void **state)
{
	uint8_t page[PAGE_BYTES];
	struct stat st;

	assert_int_equal(stat(whole, &st), 0);
	srand(1);
	print_message("%lld pages\n", (long long)(st.st_size / PAGE_BYTES));
	for (off_t at = 0; at < st.st_size; at += PAGE_BYTES) {
		int how = (int)(at / PAGE_BYTES % 3), fd, rc;
		int64_t saved, records, runs;

		copy(whole, damaged);
		for (size_t i = 0; i < sizeof(page); i++)
			page[i] = how == 0 ? 0 : (uint8_t)rand();
		if (how == 2) {
			page[0] = 0x0d;
			page[3] = 0;
		}
		fd = open(damaged, O_WRONLY);
		assert_int_equal(pwrite(fd, page, sizeof(page), at),
		    sizeof(page));
		close(fd);
		rc = recover();
		assert_true(rc >= 0);
		saved = saved_check();
		records = rows_of("record");
		runs = rows_of("run");
		/* Recovered runs include all their rows. */
		if (runs == 3)
			assert_in_range(saved, all - 100, all);
		else
			assert_int_equal(runs + records, 0);
		if (rc == 0)
			assert_int_equal(saved, all);
	}
	(void)state;
}

/* One bit in a record costs that record. */
static void
test_a_bit(void **state)
{
	copy(whole, damaged);
	exec(damaged,
	    "UPDATE record SET crc = crc + 1 WHERE run_id = 2 AND seq = 7");
	assert_int_equal(recover(), 1);
	assert_int_equal(rows_of("record"), 3 * RECORDS - 1);
	(void)state;
}

/* A file that is not a store. */
static void
test_nothing(void **state)
{
	int fd = open(damaged, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(recover(), -EBADMSG);
	assert_int_equal(access(fresh, F_OK), -1);
	assert_int_equal(write(fd, "SQLite format 3", 16), 16);
	close(fd);
	assert_int_equal(recover(), -EBADMSG);
	(void)state;
}

/* A store that a collector uses is not read: it would be torn. */
static void
test_in_use(void **state)
{
	struct fix *f = *state;
	struct err err;

	fix_open(f);
	unlink(fresh);
	assert_int_equal(store_recover(whole, fresh, &err), -EBUSY);
	assert_non_null(strstr(err.text, "stop it first"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_each_page),
		cmocka_unit_test(test_a_bit),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_in_use),
	};

	log_init("test", LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, setup, teardown);
}
