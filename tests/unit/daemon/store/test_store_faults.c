/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of the store: damaged, foreign and newer files, a full disk, a low
 * disk, kill -9 in mid-write, old rows. A full disk is a real one: a small
 * tmpfs in a separate mount namespace; where that is not allowed the test is
 * skipped with the reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <utime.h>

#include "daemon/store/store_file.c"

#include "tests/unit/daemon/store/store_fix.h"

static int
setup(void **state)
{
	static struct fix f;

	fix_folder(&f);
	f.st = NULL;
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	fix_close(*state);
	return 0;
}

static void
path_in(const struct fix *f, const char *name, char ret[256])
{
	snprintf(ret, 256, "%s/%s", f->dir, name);
}

static int64_t
count_records(struct fix *f, const char *run)
{
	json_t *list = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", run),
	    0);
	int64_t n = (int64_t)json_array_size(list);

	json_decref(list);
	return n;
}

/* Run sql on the file while the store does not write. */
static void
meddle(const struct fix *f, const char *sql)
{
	char path[256];
	sqlite3 *db;

	path_in(f, "coalmine.db", path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static char *
dump_schema(const char *path)
{
	sqlite3_stmt *q;
	struct strbuf sb = { 0 };
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_prepare_v2(db,
	    "SELECT sql FROM sqlite_master WHERE sql IS NOT"
	    " NULL ORDER BY type, name",
	    -1, &q, NULL);
	while (sqlite3_step(q) == SQLITE_ROW)
		strbuf_addf(&sb, "%s\n", sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	sqlite3_close(db);
	return sb.text;
}

static int64_t
count_rows(struct fix *f, const char *table)
{
	char path[256], sql[128];
	int64_t n;
	sqlite3 *db;

	path_in(f, "coalmine.db", path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
	n = sqlite_int(db, sql, -1);
	sqlite3_close(db);
	return n;
}

/* Data of an older program is read after the migration: then a mesh record was
 * plain text, and records had no roll-up. */
static void
test_old_bodies_are_read(void **state)
{
	struct fix *f = *state;
	char path[256], long_text[2048];
	sqlite3 *db;
	json_t *list;

	path_in(f, "coalmine.db", path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(store_file_migrate_step(db, &embed_steps[i],
				     i + 1),
		    0);
	snprintf(long_text, sizeof(long_text),
	    "INSERT INTO run VALUES (1, 'm', 'mesh', 'finished', 1, 5, 1,"
	    " '{\"class\":\"background\"}');"
	    "INSERT INTO record (run_id, seq, at_unix_ns, raw, probe, body)"
	    " VALUES (1, 1, 5, 0, 'mesh', '{\"seq\":1,\"pad\":\"%01200d\"}')",
	    7);
	assert_int_equal(sqlite_exec(db, long_text), 0);
	/* "CMIN" */
	assert_int_equal(sqlite_exec(db, "PRAGMA application_id=0x434d494e"),
	    0);
	sqlite3_close(db);
	f->options.retention_ns = f->options.raw_retention_ns = 0;
	fix_open(f);
	list = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", "m"), 0);
	assert_int_equal(json_integer_value(
			     json_object_get(json_array_get(list, 0), "seq")),
	    1);
	json_decref(list);
	assert_int_equal(count_rows(f, "record WHERE raw = 2"), 1);
}

static void
test_newer_is_refused_and_kept(void **state)
{
	struct fix *f = *state;
	char ours[40];
	int newest = 0;

	while (embed_steps[newest].name != NULL)
		newest++;
	snprintf(ours, sizeof(ours), "PRAGMA user_version=%d", newest);
	fix_open(f);
	fix_put_record(f, fix_canary("r", 1, "lat", "isolated", 1));
	store_close(f->st);
	f->st = NULL;
	meddle(f, "PRAGMA user_version=999");
	assert_int_equal(store_open(&f->options, f->base, &f->st), -ENOTSUP);
	assert_null(f->st);
	meddle(f, ours);
	fix_open(f);
	assert_int_equal(count_records(f, "r"), 1);
}

static void
test_foreign_database_is_not_touched(void **state)
{
	struct fix *f = *state;
	char path[256], *schema;

	meddle(f, "CREATE TABLE cookies (a)");
	assert_int_equal(store_open(&f->options, f->base, &f->st), -EEXIST);
	path_in(f, "coalmine.db", path);
	schema = dump_schema(path);
	assert_string_equal(schema, "CREATE TABLE cookies (a)\n");
	free(schema);
}

static const struct embed steps_ok[] = {
	{ "1", (const unsigned char *)"CREATE TABLE a (x);", 0 },
	{ "2",
	    (const unsigned char *)"INSERT INTO a VALUES (2);"
				   "ALTER TABLE a ADD COLUMN y;",
	    0 },
	{ NULL, NULL, 0 },
};
static const struct embed steps_bad[] = {
	{ "1", (const unsigned char *)"CREATE TABLE a (x);", 0 },
	{ "2",
	    (const unsigned char *)"INSERT INTO a VALUES (2);"
				   "ALTER TABLE none ADD COLUMN y;",
	    0 },
	{ NULL, NULL, 0 },
};

static void
test_migration_is_all_or_nothing(void **state)
{
	struct fix *f = *state;
	struct embed first[2] = { steps_ok[0], { NULL, NULL, 0 } };
	char path[256], copy[256];
	struct utimbuf long_ago = { .modtime = time(NULL) - 8 * 24 * 3600 };
	struct sqlite *s;
	struct err err;
	sqlite3 *db;

	path_in(f, "m.db", path);
	path_in(f, "m.db.v1", copy);
	assert_int_equal(sqlite_open(path, SQL_WRITER, &s, NULL), 0);
	db = s->db;
	assert_int_equal(store_file_migrate(db, path, first, &err), 0);
	assert_int_equal(store_file_migrate(db, path, steps_bad, &err), -EIO);
	assert_int_equal(sqlite_int(db, "PRAGMA user_version", -1), 1);
	assert_int_equal(sqlite_int(db, "SELECT count(*) FROM a", -1), 0);
	assert_int_equal(store_file_migrate(db, path, steps_ok, &err), 0);
	assert_int_equal(sqlite_int(db, "PRAGMA user_version", -1), 2);
	assert_int_equal(sqlite_int(db, "SELECT count(y IS NULL) FROM a", -1),
	    1);
	assert_int_equal(store_file_migrate(db, path, steps_ok, &err), 0);
	assert_int_equal(access(copy, F_OK), 0); /* the earlier file */
	assert_int_equal(utime(copy, &long_ago), 0);
	assert_int_equal(store_file_migrate(db, path, steps_ok, &err), 0);
	assert_int_equal(access(copy, F_OK), -1); /* for a week */
	assert_int_equal(sqlite_exec(db, "PRAGMA user_version=-1"), 0);
	assert_int_equal(store_file_migrate(db, path, steps_ok, &err),
	    -ENOTSUP);
	sqlite_shut(s);
}

static void
test_network_file_systems(void **state)
{
	(void)state;
	assert_int_equal(store_file_fs_judge("/x", 0x6969), -EINVAL); /* NFS */
	assert_int_equal(store_file_fs_judge("/x", 0x0BD00BD0),
	    -EINVAL); /* Lustre */
	assert_int_equal(store_file_fs_judge("/x", 0xFF534D42),
	    -EINVAL);                                               /* CIFS */
	assert_int_equal(store_file_fs_judge("/x", 0x65735546), 0); /* FUSE */
	assert_int_equal(store_file_fs_judge("/x", 0xEF53), 0);     /* ext4 */
	assert_int_equal(store_file_fs_judge("/x", 0x01021994), 0); /* tmpfs */
}

static int
count_corrupt(const struct fix *f)
{
	char command[128];
	FILE *fp;
	int n = 0;

	snprintf(command, sizeof(command),
	    "ls %s | grep -c 'coalmine.db.corrupt-[0-9]*$'", f->dir);
	fp = popen(command, "r");
	assert_non_null(fp);
	assert_int_equal(fscanf(fp, "%d", &n), 1);
	pclose(fp);
	return n;
}

static void
test_damaged_file_is_moved_aside(void **state)
{
	struct fix *f = *state;
	struct store_health h;
	char path[256];
	int fd;

	fix_open(f);
	for (int seq = 1; seq < 200; seq++) {
		json_t *record = fix_canary("r", seq, "lat", "isolated", 1);

		store_put_record(f->st, record, NULL, NULL, NULL);
		json_decref(record);
	}
	store_close(f->st);
	path_in(f, "coalmine.db", path);
	fd = open(path, O_WRONLY);
	for (off_t at = 4096; at < 60000; at += 4096)
		assert_int_equal(pwrite(fd, "rubbish rubbish", 15, at), 15);
	close(fd);
	fix_open(f);
	store_health(f->st, &h);
	assert_true(h.writable);
	assert_non_null(strstr(h.alarm, "was damaged"));
	assert_int_equal(count_corrupt(f), 1);
	assert_int_equal(fix_put_record(f,
			     fix_canary("r", 1, "lat", "isolated", 1)),
	    0);
	assert_int_equal(count_records(f, "r"), 1);
}

static void
test_no_database_at_all(void **state)
{
	struct fix *f = *state;
	struct store_health h;
	char path[256];
	FILE *fp;

	path_in(f, "coalmine.db", path);
	fp = fopen(path, "we");
	for (int i = 0; i < 5000; i++)
		fprintf(fp, "this is a text\n");
	fclose(fp);
	fix_open(f);
	store_health(f->st, &h);
	assert_non_null(strstr(h.alarm, "was damaged"));
	assert_int_equal(count_corrupt(f), 1);
}

/* The file is gone, as after rm, but its log is not: frames of a log fit any
 * file, so the log must not stay next to a restored one. */
static void
test_restore_beside_an_old_log(void **state)
{
	struct fix *f = *state;
	char path[256], log[256], kept[256], backup[256];
	struct err err;

	path_in(f, "coalmine.db", path);
	path_in(f, "coalmine.db-wal", log);
	path_in(f, "kept", kept);
	path_in(f, "backup.db", backup);
	fix_open(f);
	fix_put_record(f, fix_canary("r", 1, "lat", "isolated", 1));
	json_decref(
	    fix_ask(f, STORE_BACKUP, json_pack("{s:s}", "path", backup), 0));
	for (int seq = 2; seq < 20; seq++)
		fix_put_record(f, fix_canary("r", seq, "lat", "isolated", 1));
	assert_int_equal(link(log, kept), 0);
	store_close(f->st);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(kept, log), 0);
	assert_int_equal(store_restore(f->dir, backup, &err), 0);
	fix_open(f);
	assert_int_equal(count_records(f, "r"), 1);
}

/* Flip a bit of a value in the file, not of SQLite's own data. */
static void
flip(const char *path, const char *column, int seq)
{
	sqlite3 *db;
	sqlite3_stmt *q;
	char sql[200];
	uint8_t *bytes;
	int n, is_text;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	snprintf(sql, sizeof(sql), "SELECT %s FROM record WHERE seq = %d",
	    column, seq);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	is_text = sqlite3_column_type(q, 0) == SQLITE_TEXT;
	n = sqlite3_column_bytes(q, 0);
	assert_true(n > 20);
	bytes = malloc((size_t)n);
	memcpy(bytes, sqlite3_column_blob(q, 0), (size_t)n);
	sqlite3_finalize(q);
	bytes[n - 8] ^= 1;
	snprintf(sql, sizeof(sql), "UPDATE record SET %s = ?1 WHERE seq = %d",
	    column, seq);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(is_text
		? sqlite3_bind_text(q, 1, (char *)bytes, n, free)
		: sqlite3_bind_blob(q, 1, bytes, n, free),
	    SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_DONE);
	sqlite3_finalize(q);
	sqlite3_close(db);
}

/* One bit in a body or a histogram costs that record and no other, and is
 * found. */
static void
test_a_bit(void **state)
{
	static const char *const columns[] = { "body", "hist", "body" };
	struct fix *f = *state;
	char path[256], name[64];
	json_t *answer, *records, *short_one;
	const char *text;

	path_in(f, "coalmine.db", path);
	fix_open(f);
	for (int seq = 1; seq <= 20; seq++)
		fix_put_record(f, fix_canary("r", seq, "lat", "isolated", seq));
	short_one = json_pack("{s:s, s:i, s:s, s:f}", "run", "r", "seq", 21,
	    "probe", "impact", "value", 1234567.25);
	fix_put_record(f, short_one);
	answer = fix_ask(f, STORE_CHECK, json_object(), 0);
	assert_true(json_is_true(json_object_get(answer, "ok")));
	assert_string_equal(json_string_value(json_object_get(answer, "text")),
	    "ok");
	json_decref(answer);
	store_close(f->st);
	for (int i = 0; i < 3; i++)
		flip(path, columns[i], 7 + 7 * i);
	fix_open(f);
	records = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", "r"), 0);
	assert_int_equal(json_array_size(records), 18);
	json_decref(records);
	answer = fix_ask(f, STORE_CHECK, json_object(), 0);
	assert_true(json_is_false(json_object_get(answer, "ok")));
	text = json_string_value(json_object_get(answer, "text"));
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "record %d of run r is damaged",
		    7 + 7 * i);
		assert_non_null(strstr(text, name));
	}
	json_decref(answer);
}

#define STRANGER 65534

/* 0: restored, without root's rights; 1: not restored. No file is made at
 * `not_made`. */
static int
restore_as_root(struct fix *f, const char *backup, const char *not_made)
{
	struct err err;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int rc = store_restore(f->dir, backup, &err);
		uid_t ruid, euid, suid;

		getresuid(&ruid, &euid, &suid);
		_exit(rc < 0 ? 1
			: ruid != STRANGER || euid != STRANGER ||
			    suid != STRANGER || getgroups(0, NULL) != 0
			? 2
			: 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(access(not_made, F_OK), -1);
	return WEXITSTATUS(status);
}

/* Restored by root in a folder of another user: no operation there has root's
 * rights. */
static void
test_restore_by_root(void **state)
{
	struct fix *f = *state;
	char backup[256], lock[256], roots[] = "/tmp/coalmine-root-XXXXXX";
	char *target;
	struct stat st;

	path_in(f, "coalmine.db", backup);
	path_in(f, "lock", lock);
	fix_open(f);
	fix_put_record(f, fix_canary("r", 1, "lat", "isolated", 1));
	assert_non_null(mkdtemp(roots));
	target = xasprintf("%s/made", roots);
	json_decref(
	    fix_ask(f, STORE_BACKUP, json_pack("{s:s}", "path", target), 0));
	store_close(f->st);
	f->st = NULL;
	if (geteuid() == 0) {
		char *from = xasprintf("%s/backup", roots);

		assert_int_equal(rename(target, from), 0);
		assert_int_equal(chown(f->dir, STRANGER, STRANGER), 0);
		assert_int_equal(unlink(lock), 0);
		assert_int_equal(symlink(target, lock), 0);
		assert_int_equal(restore_as_root(f, from, target), 1);
		assert_int_equal(unlink(lock), 0);
		/* the backup is one that only root may read */
		assert_int_equal(chmod(roots, 0700), 0);
		assert_int_equal(restore_as_root(f, from, target), 0);
		assert_int_equal(stat(backup, &st), 0);
		assert_int_equal(st.st_uid, STRANGER);
		assert_int_equal(unlink(from), 0);
		free(from);
	}
	(void)unlink(target);
	assert_int_equal(rmdir(roots), 0);
	free(target);
}

#include "daemon/store/store_db.h"
#include "daemon/store/store_keep.h"

/* Old means: records by when they came, runs by when they were made. */
static void
test_retention(void **state)
{
	struct fix *f = *state;
	uint64_t now = clk_unix_ns();
	json_t *raw = fix_canary("old", 2000, "lat", "isolated", 1);
	struct sql *db;
	int slices = 0, rc;

	/* Not by the writer: this test checks each slice. */
	f->options.retention_ns = f->options.raw_retention_ns = 0;
	fix_open(f);
	fix_put_run(f, fix_run("old", "x", "finished", now - 100 * DAY_NS));
	fix_put_run(f, fix_run("live", "x", "running", now - 100 * DAY_NS));
	fix_put_run(f, fix_run("new", "x", "finished", now - DAY_NS));
	for (int seq = 1; seq <= 1200; seq++) {
		json_t *record = fix_canary("old", seq, "lat", "isolated", 1);

		store_put_record(f->st, record, NULL, NULL, NULL);
		json_decref(record);
	}
	json_object_set_new(raw, "probe", json_string("round"));
	json_object_set_new(raw, "run", json_string("new"));
	fix_put_record(f, raw);
	fix_put_record(f, fix_canary("new", 1, "lat", "isolated", 1));
	fix_put_record(f, fix_canary("live", 1, "lat", "isolated", 1));
	store_close(f->st);
	f->st = NULL;
	assert_int_equal(sql_open(&f->options, SQL_WRITER, &db), 0);
	/* Eight days on: the raw record is over its time, the run is not. */
	do {
		rc = store_keep_slice(db, now + 8 * DAY_NS,
		    &(struct store_options){ .retention_ns = 90 * DAY_NS,
			.raw_retention_ns = 7 * DAY_NS,
			.jobs_retention_ns = 8 * DAY_NS });
		slices += rc > 0;
	} while (rc > 0);
	assert_int_equal(rc, 0);
	assert_true(slices >= 4); /* in pieces */
	assert_int_equal(db->engine->tidy(db, 1), 0);
	sql_close(db);
	assert_int_equal(count_rows(f, "run"), 2);
	assert_int_equal(count_rows(f, "record"), 2);
	assert_int_equal(count_rows(f, "record WHERE raw = 1"), 0);
}

static _Atomic uint64_t fake_ns, fake_ahead_ns;

static uint64_t
fake_clock(void)
{
	return fake_ns;
}

static uint64_t
fake_unix(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * CLK_NS_PER_S + fake_ahead_ns;
}

static int
alarm_is(struct fix *f, const char *word)
{
	struct store_health h;

	store_health(f->st, &h);
	return word == NULL ? h.alarm[0] == '\0'
			    : strstr(h.alarm, word) != NULL;
}

static void
wait_alarm(struct fix *f, const char *word)
{
	uint64_t end_ns = clk_ns() + WAIT_NS;

	while (!alarm_is(f, word) && clk_ns() < end_ns)
		usleep(20000);
	assert_true(alarm_is(f, word));
}

/* A clock that is two years ahead, while the store is open or at its start,
 * deletes nothing and raises an alarm, which ends when the clock is right. */
static void
test_clock_ahead(void **state)
{
	struct fix *f = *state;
	uint64_t now;

	fake_ahead_ns = 0;
	clk_set_source(NULL, fake_unix);
	now = clk_unix_ns();
	fix_open(f);
	fix_put_run(f, fix_run("r", "x", "finished", now - 10 * DAY_NS));
	fix_put_record(f, fix_canary("r", 1, "lat", "isolated", 1));
	for (int life = 0; life < 2; life++) {
		fake_ahead_ns = 730 * DAY_NS;
		if (life == 1)
			fix_reopen(f);
		/* Later writes must not make it trusted. */
		fix_put_run(f, fix_run("n", "x", "finished", clk_unix_ns()));
		store_put_event(f->st, "alarm", "x", "y");
		if (life == 1)
			wait_alarm(f, "the clock");
		fake_ahead_ns = 0;
		wait_alarm(f, NULL);
	}
	store_close(f->st);
	f->st = NULL;
	clk_set_source(NULL, NULL);
	assert_int_equal(count_rows(f, "run"), 2);
	assert_int_equal(count_rows(f, "record"), 1);
}

/* The clock of deletions: never ahead of the wall clock; a jump is accepted
 * after a week; a step back does not confirm a jump. */
static void
test_clock_believed(void **state)
{
	struct fix *f = *state;
	struct store_clock c;
	uint64_t start, at;
	struct sql *db;

	fix_open(f);
	store_close(f->st);
	f->st = NULL;
	assert_int_equal(sql_open(&f->options, SQL_WRITER, &db), 0);
	fake_ns = CLK_NS_PER_S;
	fake_ahead_ns = 0;
	clk_set_source(fake_clock, fake_unix);
	assert_int_equal(store_clock_read(db, &c), 0);
	start = store_clock_now(db, &c);
	fake_ahead_ns = 365 * DAY_NS;
	at = store_clock_now(db, &c);
	assert_true(c.is_ahead && at - start < DAY_NS);
	fake_ns += 6 * DAY_NS;
	fake_ahead_ns += 6 * DAY_NS;
	at = store_clock_now(db, &c);
	assert_true(c.is_ahead && at - start < 7 * DAY_NS);
	/* restart: the saved value counts */
	assert_int_equal(store_clock_read(db, &c), 0);
	at = store_clock_now(db, &c);
	assert_true(c.is_ahead && at - start < 7 * DAY_NS);
	fake_ns += DAY_NS; /* six before the restart */
	at = store_clock_now(db, &c);
	assert_true(!c.is_ahead && at - start > 365 * DAY_NS);
	fake_ahead_ns = 0; /* back to now: less is old */
	at = store_clock_now(db, &c);
	assert_true(!c.is_ahead && at - start < DAY_NS);
	clk_set_source(NULL, NULL);
	sql_close(db);
}

/* The writer compacts automatically, while others keep writing, and the file
 * shrinks. */
static void
test_retention_goes_on_under_load(void **state)
{
	struct fix *f = *state;
	uint64_t end_ns = clk_ns() + WAIT_NS, now = clk_unix_ns();
	struct store_health full, h;
	int seq = 0;

	fix_open(f);
	fix_put_run(f, fix_run("old", "x", "finished", now - 100 * DAY_NS));
	for (int i = 1; i <= 3000; i++) {
		json_t *record = fix_canary("old", i, "lat", "isolated", 1);

		store_put_record(f->st, record, NULL, NULL, NULL);
		json_decref(record);
	}
	fix_reopen(f);
	store_health(f->st, &full);
	do {
		assert_int_equal(fix_put_record(f,
				     fix_canary("new", ++seq, "lat", "isolated",
					 1)),
		    0);
		store_health(f->st, &h);
	} while (
	    h.db_bytes + h.wal_bytes > (full.db_bytes + full.wal_bytes) / 2 &&
	    clk_ns() < end_ns);
	assert_true(clk_ns() < end_ns);
	assert_int_equal(count_records(f, "new"), seq);
	assert_null(
	    fix_ask(f, STORE_RUN, json_pack("{s:s}", "run", "old"), -ENOENT));
}

static void
test_low_disk_refuses_records_only(void **state)
{
	struct fix *f = *state;
	struct store_health h;

	f->options.free_min_bytes = 1ULL << 60;
	fix_open(f);
	store_health(f->st, &h);
	assert_false(h.writable);
	assert_non_null(strstr(h.alarm, "MiB are free"));
	assert_int_equal(fix_put_record(f,
			     fix_canary("r", 1, "lat", "isolated", 1)),
	    -ENOSPC);
	/* Orders and states use the reserve. */
	assert_int_equal(fix_put_run(f, fix_run("r", "x", "failed", 1)), 0);
	f->options.free_min_bytes = 0;
	fix_reopen(f);
	assert_int_equal(count_records(f, "r"), 0);
	store_health(f->st, &h);
	assert_true(h.writable);
}

/* A child writes and reports acknowledged records; it is killed at once. */
static void
child_writes(struct fix *f, int report)
{
	struct answer a = { 0 };

	f->base = event_base_new();
	fix_open(f);
	for (int seq = 1;; seq++) {
		json_t *record = fix_canary("killed", seq, "lat", "isolated",
		    1);

		store_put_record(f->st, record, NULL, answer_cb, &a);
		json_decref(record);
		if (seq % 500 != 0)
			continue;
		fix_wait(f, &a.got, seq);
		if (a.status == 0 && write(report, &seq, sizeof(seq)) < 0)
			_exit(1);
	}
}

static void
test_kill_loses_nothing_acknowledged(void **state)
{
	struct fix *f = *state;

	for (int life = 0; life < 5; life++) {
		int fds[2], acked = 0, seq, status;
		char path[256];
		pid_t pid;

		assert_int_equal(pipe(fds), 0);
		pid = fork();
		if (pid == 0) {
			close(fds[0]);
			child_writes(f, fds[1]);
		}
		close(fds[1]);
		for (int i = 0; i < 2 + life; i++)
			if (read(fds[0], &seq, sizeof(seq)) == sizeof(seq))
				acked = seq;
		clk_sleep_ns((uint64_t)life * 7 * CLK_NS_PER_MS);
		kill(pid, SIGKILL);
		while (read(fds[0], &seq, sizeof(seq)) == sizeof(seq))
			acked = seq;
		close(fds[0]);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		assert_true(acked > 0);
		fix_open(f);
		assert_true(count_records(f, "killed") >= acked);
		json_t *check = fix_ask(f, STORE_CHECK, json_object(), 0);
		assert_true(json_is_true(json_object_get(check, "ok")));
		json_decref(check);
		store_close(f->st);
		f->st = NULL;
		path_in(f, "coalmine.db", path);
		assert_int_equal(count_corrupt(f), 0);
		meddle(f, "DELETE FROM record; DELETE FROM run");
	}
}

static int
small_disk(const char *dir, const char *size)
{
	char options[32];

	snprintf(options, sizeof(options), "size=%s", size);
	if (unshare(CLONE_NEWNS) < 0 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("coalmine-test", dir, "tmpfs", 0, options) < 0)
		return -errno;
	return 0;
}

/* Return the number of rows that were accepted before the disk was full. */
static int
fill(struct fix *f, int from)
{
	for (int seq = from; seq < from + 200000; seq += 100) {
		struct answer a = { 0 };

		for (int i = 0; i < 100; i++) {
			json_t *record = fix_canary("full", seq + i, "lat",
			    "isolated", 1);

			store_put_record(f->st, record, NULL, answer_cb, &a);
			json_decref(record);
		}
		fix_wait(f, &a.got, 100);
		if (a.status != 0) {
			assert_int_equal(a.status, -ENOSPC);
			return seq;
		}
	}
	fail_msg("the disk was never full");
	return 0;
}

static int
wait_writable(struct fix *f, int want)
{
	uint64_t end_ns = clk_ns() + WAIT_NS;
	struct store_health h;

	do {
		store_health(f->st, &h);
		clk_sleep_ns(20 * CLK_NS_PER_MS);
	} while (h.writable != want && clk_ns() < end_ns);
	assert_int_equal(h.writable, want);
	assert_true(want == (h.alarm[0] == '\0'));
	return 0;
}

#define BRIM_CHECKS 65 /* of 20 ms: more than a tick of the writer */

/* The writer retries a full disk with the few rows that it has kept, and these
 * may still fit. Use that space too, until no row fits. */
static int
fill_to_the_brim(struct fix *f, int from)
{
	struct store_health h = { .writable = 1 };
	int seq = from, quiet;

	for (int tries = 0; tries < 100; tries++) {
		seq = fill(f, seq);
		for (quiet = 0; quiet < BRIM_CHECKS; quiet++) {
			clk_sleep_ns(20 * CLK_NS_PER_MS);
			store_health(f->st, &h);
			if (h.writable)
				break;
		}
		if (quiet == BRIM_CHECKS)
			return seq;
	}
	fail_msg("the disk was never full for long");
	return 0;
}

/* In a child, whose mounts end with it: full disk, alarm, free space,
 * normal. */
static void
live_on_small_disk(struct fix *f)
{
	char ballast[256], state[32] = "";
	json_t *got;
	int seq, fd;

	f->base = event_base_new();
	path_in(f, "ballast", ballast);
	fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(posix_fallocate(fd, 0, 2 << 20), 0);
	close(fd);
	fix_open(f);
	fix_put_run(f, fix_run("full", "x", "running", 1));
	seq = fill_to_the_brim(f, 1);
	wait_writable(f, 0);
	/* The end of the run is reported while no write is possible. */
	fix_put_run(f, fix_run("full", "x", "finished", 1));
	unlink(ballast);
	wait_writable(f, 1);
	assert_int_equal(fix_put_record(f,
			     fix_canary("full", seq, "lat", "isolated", 1)),
	    0);
	got = fix_ask(f, STORE_RUN, json_pack("{s:s}", "run", "full"), 0);
	snprintf(state, sizeof(state), "%s",
	    json_string_value(json_object_get(got, "state")));
	assert_string_equal(state, "finished");
	json_decref(got);
	assert_true(count_records(f, "full") >= seq - 1);
	got = fix_ask(f, STORE_CHECK, json_object(), 0);
	assert_true(json_is_true(json_object_get(got, "ok")));
	json_decref(got);
	store_close(f->st);
}

static void
test_full_disk(void **state)
{
	struct fix *f = *state;
	int status, rc;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		rc = small_disk(f->dir, "4m");
		if (rc < 0)
			_exit(77);
		live_on_small_disk(f);
		_exit(0); /* a failed check ends in main, with a status */
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("skipped: no mount namespace for us here\n");
		skip();
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A row that the table rejects is reported as invalid, and does not count as a
 * duplicate; others are stored. */
static void
test_refused_by_the_table(void **state)
{
	struct fix *f = *state;

	fix_open(f);
	fix_put_run(f, fix_run("r-1", "quick", "running", 5));
	meddle(f, "CREATE UNIQUE INDEX odd ON record (test)");
	assert_int_equal(fix_put_record(f,
			     fix_canary("r-1", 1, "lat", "isolated", 1e-5)),
	    0);
	assert_int_equal(fix_put_record(f,
			     fix_canary("r-1", 2, "lat", "isolated", 1e-5)),
	    -EPROTO);
	assert_int_equal(fix_put_record(f,
			     fix_canary("r-1", 1, "lat", "isolated", 1e-5)),
	    0); /* a copy */
	assert_int_equal(fix_put_record(f,
			     fix_canary("r-1", 3, "bw", "isolated", 1e-5)),
	    0);
	assert_int_equal(count_rows(f, "record"), 2);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_old_bodies_are_read),
		T(test_newer_is_refused_and_kept),
		T(test_foreign_database_is_not_touched),
		T(test_migration_is_all_or_nothing),
		T(test_network_file_systems),
		T(test_damaged_file_is_moved_aside),
		T(test_no_database_at_all),
		T(test_restore_beside_an_old_log),
		T(test_restore_by_root),
		T(test_a_bit),
		T(test_retention),
		T(test_clock_ahead),
		T(test_clock_believed),
		T(test_retention_goes_on_under_load),
		T(test_low_disk_refuses_records_only),
		T(test_kill_loses_nothing_acknowledged),
		T(test_full_disk),
		T(test_refused_by_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
