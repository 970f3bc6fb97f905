/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spool.c - an agent killed at any byte of a write finds every whole
 * record again, and only those; the limit holds and losses are counted.
 */
#include "agents/spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/record.h"

#define ENTRY_BYTES(line_bytes)                                                \
	((off_t)spool_entry_bytes(                                             \
	    &(struct spool_entry){ .len_bytes = (line_bytes) }))

static int write_error; /* 0, or the error of every write */

/* In place of the C library's. */
ssize_t
pwritev(int fd, const struct iovec *iov, int count, off_t at)
{
	if (write_error != 0) {
		errno = write_error;
		return -1;
	}
	return syscall(SYS_pwritev, fd, iov, count, at, 0);
}

static int open_fails; /* opens of spool files that fail */

int
open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (open_fails > 0 && strstr(path, ".spool") != NULL) {
		open_fails--;
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int read_fails; /* the call that fails; 0: none */
static struct {
	ino_t inode; /* 0: none */
	off_t from;
} unreadable;
static int rename_fails;

int
rename(const char *from, const char *to)
{
	errno = EROFS;
	return rename_fails
	    ? -1
	    : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

ssize_t
pread(int fd, void *to, size_t n, off_t at)
{
	struct stat st;

	if (unreadable.inode != 0 && fstat(fd, &st) == 0 &&
	    st.st_ino == unreadable.inode && at + (off_t)n > unreadable.from) {
		errno = EIO;
		if (at >= unreadable.from)
			return -1;
		n = (size_t)(unreadable.from - at);
	}
	if (read_fails > 0 && --read_fails == 0) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, to, n, at);
}

static char top[] = "/tmp/coalmine-spool-XXXXXX";
static char dir[64];

static int
setup(void **state)
{
	(void)state;
	log_init("test", LOG_LEVEL_ERROR);
	strcpy(top + sizeof(top) - 7, "XXXXXX");
	if (mkdtemp(top) == NULL)
		return -1;
	snprintf(dir, sizeof(dir), "%s/spool", top);
	return 0;
}

static int
teardown(void **state)
{
	char cmd[100];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", top);
	return system(cmd);
}

static struct spool *
open_max(uint64_t max_bytes)
{
	struct spool *sp;

	assert_int_equal(spool_open(dir, max_bytes, &sp), 0);
	return sp;
}

static void
put(struct spool *sp, const char *run, uint64_t seq, int raw, size_t len)
{
	char *line = xcalloc(1, len + 1);

	memset(line, 'a' + (int)(seq % 26), len);
	memcpy(line, "{\"\":\"", 5);
	memcpy(line + len - 2, "\"}", 2);
	spool_append(sp, run, seq, raw, line, len);
	free(line);
}

/* Read the records to send. Return their number, and the sequence number of the
 * last one. */
static int
take(struct spool *sp, const char *run, uint64_t *ret_last)
{
	struct spool_entry e;
	uint64_t last = 0;
	int count = 0;

	while (spool_next(sp, run, SIZE_MAX, &e)) {
		assert_true(e.seq > last);
		assert_int_equal(e.line[5], 'a' + (int)(e.seq % 26));
		last = e.seq;
		count++;
		free(e.line);
	}
	if (ret_last != NULL)
		*ret_last = last;
	return count;
}

/* Write bytes at an offset of run r's file, from its end where at < 0. */
static void
damage(off_t at, const void *bytes, size_t len)
{
	struct stat st;
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/r.spool", dir);
	fd = open(path, O_WRONLY);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, bytes, len, at < 0 ? st.st_size + at : at),
	    (ssize_t)len);
	close(fd);
}

/* Write an entry at an offset of run r's file. */
static void
damage_entry(off_t at, const struct spool_entry *e)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/r.spool", dir);
	fd = open(path, O_RDWR);
	assert_int_equal(spool_entry_write(fd, (uint64_t)at, e), 0);
	close(fd);
}

static int
files(void)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	int count = 0;

	while ((de = readdir(d)) != NULL)
		count += de->d_name[0] != '.';
	closedir(d);
	return count;
}

static void
test_order_and_ack(void **state)
{
	struct spool *sp = open_max(1 << 20);
	struct spool_entry e;
	uint64_t last;

	(void)state;
	for (uint64_t seq = 1; seq <= 10; seq++)
		put(sp, "r", seq, 0, 100);
	assert_int_equal(spool_next(sp, "r", 99, &e), 0); /* too long */
	assert_int_equal(take(sp, "r", &last), 10);
	assert_int_equal(take(sp, "r", NULL), 0);
	spool_ack(sp, "r", 4);
	spool_rewind(sp);
	assert_int_equal(take(sp, "r", &last), 6);
	assert_int_equal(last, 10);
	spool_ack(sp, "r", 3);  /* late and old: nothing changes */
	spool_ack(sp, "r", 99); /* more than exist */
	spool_rewind(sp);
	assert_int_equal(take(sp, "r", NULL), 0);
	assert_int_equal(spool_bytes(sp), 0);
	put(sp, "r", 11, 0, 100);
	assert_int_equal(take(sp, "r", NULL), 1);
	assert_int_equal(files(), 1);
	spool_finish(sp, "r");
	assert_int_equal(files(), 1); /* 11 waits for its ack */
	spool_ack(sp, "r", 11);
	assert_int_equal(files(), 0);
	assert_int_equal(take(sp, "none", NULL), 0);
	spool_ack(sp, "none", 1);
	spool_free(sp);
}

/* Cut the file at every byte of its last entry. */
static void
test_torn(void **state)
{
	const uint64_t size = (uint64_t)ENTRY_BYTES(50);
	struct spool *sp;
	char path[100];
	uint64_t last, lost, bytes;

	(void)state;
	for (uint64_t cut = 0; cut <= size; cut++) {
		sp = open_max(1 << 20);
		for (uint64_t seq = 1; seq <= 3; seq++)
			put(sp, "run-1", seq, 0, 50);
		spool_free(sp);
		snprintf(path, sizeof(path), "%s/run-1.spool", dir);
		assert_int_equal(truncate(path, (off_t)(3 * size - cut)), 0);
		sp = open_max(1 << 20);
		assert_int_equal(take(sp, "run-1", &last), cut == 0 ? 3 : 2);
		assert_int_equal(spool_bytes(sp), (cut == 0 ? 3 : 2) * size);
		spool_ack(sp, "run-1", last);
		assert_int_equal(spool_lost(sp, "run-1", &lost, &bytes),
		    cut != 0 && cut != size);
		assert_int_equal(files(), 0); /* its run is long over */
		spool_free(sp);
	}
}

/* Only incomplete entries after a power failure, and lines that are not JSON,
 * are lost: they are counted, and the file is consistent again. */
static void
test_holes(void **state)
{
	const off_t size = ENTRY_BYTES(50);
	static const struct {
		int from, bytes; /* within the third of five entries */
		char fill;
		uint64_t lost;
	} holes[] = {
		{ 47, 1, '!', 1 },       /* a byte of a line */
		{ 0, 91, '\0', 1 },      /* an entry */
		{ -20, 60, '\0', 2 },    /* parts of two */
		{ 0, 91 + 91, '\0', 2 }, /* two of them */
		{ 5, 1, 'x', 1 },        /* a byte of a head */
		{ 40, 0, '\0', 1 },      /* only its JSON */
	};
	uint64_t lost, bytes, last;
	char fill[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(holes); i++) {
		struct spool *sp = open_max(1 << 20);

		for (uint64_t seq = 1; seq <= 5; seq++)
			put(sp, "r", seq, 0, 50);
		if (holes[i].bytes == 0) {
			struct spool_entry e = { 3, 0, xcalloc(1, 51), 50 };

			memset(e.line, 'c', 50);
			damage_entry(2 * size, &e);
			free(e.line);
		}
		spool_free(sp);
		memset(fill, holes[i].fill, sizeof(fill));
		damage(2 * size + holes[i].from, fill, (size_t)holes[i].bytes);
		sp = open_max(1 << 20);
		assert_int_equal(take(sp, "r", &last), 5 - holes[i].lost);
		assert_int_equal(last, 5);
		assert_true(spool_lost(sp, "r", &lost, &bytes));
		assert_int_equal(lost, holes[i].lost);
		spool_free(sp);
		sp = open_max(1 << 20); /* once */
		assert_false(spool_lost(sp, "r", &lost, &bytes));
		spool_ack(sp, "r", 5);
		assert_int_equal(files(), 0);
		spool_free(sp);
	}
}

/* A line that no message could carry is lost when it comes, or found. */
static void
test_line_limits(void **state)
{
	struct spool *sp = open_max(1 << 24);
	struct spool_entry e = { 2, 0, xcalloc(1, RECORD_LINE_MAX + 2),
		RECORD_LINE_MAX + 1 };
	uint64_t lost, bytes;

	(void)state;
	memset(e.line, ' ', e.len_bytes);
	memcpy(e.line, "{}", 2);
	put(sp, "r", 1, 0, 50);
	spool_append(sp, "r", 2, 0, e.line, RECORD_LINE_MAX + 1);
	spool_append(sp, "r", 3, 0, "", 0);
	assert_true(spool_lost(sp, "r", &lost, &bytes));
	assert_int_equal(lost, 2);
	damage_entry(ENTRY_BYTES(50), &e);
	free(e.line);
	spool_free(sp);
	sp = open_max(1 << 24);
	assert_int_equal(take(sp, "r", NULL), 1);
	assert_true(spool_lost(sp, "r", &lost, &bytes));
	spool_free(sp);
}

static void
no_run(const struct spool_run *sr, void *arg)
{
	(void)arg;
	fail_msg("run %s", sr->run);
}

/* Foreign files and rewrites that a kill left half-made. */
static void
test_foreign(void **state)
{
	static const char *const names[] = { "r.spool.tmp", "notes", ".spool",
		"bad name.spool", "-x.spool", "empty.spool" };
	struct spool *sp = open_max(1 << 20);
	char path[200];

	(void)state;
	spool_free(sp);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		close(open(path, O_WRONLY | O_CREAT, 0600));
	}
	sp = open_max(1 << 20);
	spool_walk(sp, no_run, NULL);
	snprintf(path, sizeof(path), "%s/r.spool.tmp", dir);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof(path), "%s/notes", dir);
	assert_int_equal(access(path, F_OK), 0); /* not ours to remove */
	spool_free(sp);
}

/* Above the limit the oldest raw records are dropped and counted; others are
 * kept. */
static void
test_limit_raw(void **state)
{
	struct spool *sp = open_max(64 * 1024);
	uint64_t records, bytes, lost = 0, seq;
	int got;

	(void)state;
	for (seq = 1; seq <= 1000; seq++) {
		put(sp, "r", seq, seq % 10 != 0, 200);
		assert_true(spool_bytes(sp) <= 64 * 1024);
		if (spool_lost(sp, "r", &records, &bytes)) {
			assert_int_equal(bytes, records * 200);
			lost += records;
		}
	}
	got = take(sp, "r", NULL);
	assert_int_equal((uint64_t)got + lost, 1000);
	assert_true(got > 150);
	spool_rewind(sp);
	for (seq = 0; got > 0; got--) { /* every tenth is still there */
		struct spool_entry e;

		assert_int_equal(spool_next(sp, "r", SIZE_MAX, &e), 1);
		seq += !e.raw;
		free(e.line);
	}
	assert_int_equal(seq, 100);
	spool_free(sp);
}

/* Without raw records the oldest of all are dropped: the newest always fits. */
static void
test_limit_any(void **state)
{
	struct spool *sp = open_max(64 * 1024);
	uint64_t records, bytes, last;
	int got;

	(void)state;
	for (uint64_t seq = 1; seq <= 500; seq++)
		put(sp, seq <= 250 ? "old" : "new", seq, 0, 400);
	assert_true(spool_bytes(sp) <= 64 * 1024);
	got = take(sp, "new", &last);
	assert_int_equal(last, 500);
	assert_true(got > 100);
	assert_true(spool_lost(sp, "old", &records, &bytes));
	assert_int_equal(records, 250 - take(sp, "old", NULL));
	put(sp, "new", 501, 1, 60 * 1024); /* half of the limit or more */
	assert_true(spool_lost(sp, "new", &records, &bytes));
	spool_free(sp);
}

/* Acknowledged records make room without counting as lost. */
static void
test_limit_acked(void **state)
{
	struct spool *sp = open_max(64 * 1024);
	uint64_t records, bytes;

	(void)state;
	for (uint64_t seq = 1; seq <= 2000; seq++) {
		put(sp, "r", seq, 1, 400);
		if (seq > 20)
			spool_ack(sp, "r", seq - 20);
	}
	assert_false(spool_lost(sp, "r", &records, &bytes));
	spool_rewind(sp);
	assert_int_equal(take(sp, "r", NULL), 20);
	spool_free(sp);
}

/* The disk is full (here: the file size limit): an alarm is raised, and records
 * wait in memory in order. With space everything continues. */
static void
test_full(void **state)
{
	struct rlimit old, small;
	struct spool *sp = open_max(1 << 30);
	uint64_t records, bytes, last;
	int got;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 5000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (uint64_t seq = 1; seq <= 100; seq++)
		put(sp, "r", seq, 0, 100);
	assert_non_null(spool_alarm(sp));
	assert_int_equal(take(sp, "r", &last), 100);
	assert_int_equal(last, 100);
	spool_rewind(sp);
	assert_int_equal(take(sp, "r", NULL), 100);
	for (uint64_t seq = 101; seq <= 20000; seq++)
		put(sp, "r", seq, seq % 2, 100);
	assert_true(spool_bytes(sp) <= 5000 + 1024 * 1024);
	spool_rewind(sp);
	got = take(sp, "r", &last);
	assert_true(spool_lost(sp, "r", &records, &bytes));
	assert_int_equal((uint64_t)got + records, 20000);
	setrlimit(RLIMIT_FSIZE, &old);
	/* With space again: held records are written to disk before they are
	 * sent, and sent records are not sent again. */
	put(sp, "r", 20001, 0, 100);
	assert_null(spool_alarm(sp));
	assert_int_equal(take(sp, "r", &last), 1);
	assert_int_equal(last, 20001);
	spool_rewind(sp);
	assert_int_equal(take(sp, "r", &last), got + 1);
	spool_ack(sp, "r", 20001);
	assert_int_equal(spool_bytes(sp), 0);
	spool_free(sp);
}

/* An entry that is damaged on disk while the agent runs is lost, and no
 * other. */
static void
test_damaged_meanwhile(void **state)
{
	struct spool *sp = open_max(1 << 20);
	uint64_t records, bytes, last;

	(void)state;
	for (uint64_t seq = 1; seq <= 9; seq++)
		put(sp, "r", seq, 0, 100);
	damage(3 * ENTRY_BYTES(100) + 20, "XXXXXX", 6);
	assert_int_equal(take(sp, "r", &last), 8);
	assert_int_equal(last, 9);
	assert_true(spool_lost(sp, "r", &records, &bytes));
	assert_int_equal(records, 1);
	assert_false(spool_lost(sp, "r", &records, &bytes));
	/* the last record, which no other follows */
	put(sp, "r", 10, 0, 100);
	damage(-20, "XXXXXX", 6);
	assert_int_equal(take(sp, "r", NULL), 0);
	spool_ack(sp, "r", 9);
	spool_finish(sp, "r");
	assert_true(spool_lost(sp, "r", &records, &bytes));
	assert_int_equal(files(), 0);
	spool_free(sp);
}

/* From the middle of entry `entry` on the file of run r cannot be read. */
static void
make_unreadable(int entry)
{
	struct stat st;
	char path[100];

	snprintf(path, sizeof(path), "%s/r.spool", dir);
	assert_int_equal(stat(path, &st), 0);
	unreadable.inode = st.st_ino;
	unreadable.from = (entry - 1) * ENTRY_BYTES(100) + 10;
}

static void
assert_kept(struct spool *sp)
{
	uint64_t records, bytes;

	assert_true(spool_lost(sp, "r", &records, &bytes));
	assert_int_equal(records, 1); /* at least */
	assert_int_equal(bytes, 4 * ENTRY_BYTES(100));
	assert_non_null(strstr(spool_alarm(sp), "cannot be read"));
	assert_false(spool_can_retry(sp)); /* it is set aside */
}

/* A file that stays unreadable is kept; its readable records are sent. */
static void
test_unreadable(void **state)
{
	struct spool *sp = open_max(1 << 20);
	char path[100], aside[120];
	uint64_t last;

	(void)state;
	for (uint64_t seq = 1; seq <= 9; seq++)
		put(sp, "r", seq, 0, 100);
	spool_free(sp);
	make_unreadable(6);
	sp = open_max(1 << 20);
	assert_int_equal(take(sp, "r", &last), 5);
	assert_int_equal(last, 5);
	assert_kept(sp);
	spool_ack(sp, "r", 5);
	assert_int_equal(files(), 1); /* the one kept */
	spool_free(sp);
	/* after a repair: all of them, by the former name */
	unreadable.inode = 0;
	snprintf(path, sizeof(path), "%s/r.spool", dir);
	snprintf(aside, sizeof(aside), "%s.unreadable1", path);
	assert_int_equal(rename(aside, path), 0);
	sp = open_max(1 << 20);
	assert_null(spool_alarm(sp));
	assert_int_equal(take(sp, "r", NULL), 9);
	spool_free(sp);
}

static void
test_unreadable_meanwhile(void **state)
{
	struct spool *sp = open_max(1 << 20);
	uint64_t last, records, bytes;

	(void)state;
	for (uint64_t seq = 1; seq <= 9; seq++)
		put(sp, "r", seq, 0, 100);
	make_unreadable(6);
	rename_fails = 1; /* it cannot be replaced: nothing is lost */
	assert_int_equal(take(sp, "r", &last), 5);
	put(sp, "r", 10, 0, 100);
	assert_int_equal(take(sp, "r", NULL), 0);
	assert_false(spool_lost(sp, "r", &records, &bytes));
	rename_fails = 0;
	spool_ack(sp, "r", 5);
	spool_rewind(sp);
	assert_int_equal(take(sp, "r", NULL), 0);
	put(sp, "r", 11, 0, 100);
	assert_int_equal(take(sp, "r", &last), 1);
	assert_int_equal(last, 11);
	assert_true(spool_lost(sp, "r", &records, &bytes));
	assert_int_equal(bytes, 5 * ENTRY_BYTES(100));
	spool_ack(sp, "r", 11);
	spool_finish(sp, "r");
	assert_int_equal(files(), 2); /* kept, once for each attempt */
	spool_free(sp);
	unreadable.inode = 0;
}

/* The alarm has the right cause: freeing space does not help a read-only
 * disk. */
static void
test_alarm(void **state)
{
	static const struct {
		int error;
		const char *says;
	} rows[] = { { ENOSPC, "disk is full" }, { EDQUOT, "disk is full" },
		{ EIO, "cannot write" }, { EROFS, "cannot write" } };
	struct spool *sp = open_max(1 << 20);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		write_error = rows[i].error;
		put(sp, "r", i + 1, 0, 100);
		assert_non_null(strstr(spool_alarm(sp), rows[i].says));
	}
	write_error = 0;
	put(sp, "r", 5, 0, 100);
	assert_null(spool_alarm(sp));
	assert_int_equal(take(sp, "r", NULL), 5);
	spool_free(sp);
}

/* One failed read, wherever it is, costs no record. */
static void
test_read_fails(void **state)
{
	struct spool *sp = open_max(1 << 20);
	struct spool_entry e;
	int count, fails = 1;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		spool_append(sp, "r", i, 0, "{\"a\":1}", 7);
	spool_sync(sp);
	spool_free(sp);
	do {
		read_fails = fails;
		sp = open_max(1 << 20);
		spool_rewind(sp);
		for (count = 0; spool_next(sp, "r", 1 << 20, &e); count++)
			free(e.line);
		spool_free(sp);
		assert_int_equal(count, 5);
	} while (read_fails == 0 && ++fails < 1000);
	assert_true(fails > 5);
	read_fails = 0;
}

/* A file that could not be opened at the start is opened by a retry. */
static void
test_open_fails(void **state)
{
	struct spool *sp = open_max(1 << 20);
	uint64_t last;

	(void)state;
	for (uint64_t seq = 1; seq <= 5; seq++)
		put(sp, "r", seq, 0, 100);
	put(sp, "other", 1, 0, 100);
	spool_free(sp);
	open_fails = 3; /* of two files, and of the first retry */
	sp = open_max(1 << 20);
	assert_non_null(strstr(spool_alarm(sp), "cannot be read"));
	assert_true(spool_can_retry(sp));
	assert_int_equal(take(sp, "r", NULL) + take(sp, "other", NULL), 0);
	assert_true(spool_retry(sp) < 0);
	assert_non_null(spool_alarm(sp));
	assert_int_equal(spool_retry(sp), 0);
	assert_false(spool_can_retry(sp));
	assert_null(spool_alarm(sp));
	assert_int_equal(take(sp, "r", &last), 5);
	assert_int_equal(take(sp, "other", NULL), 1);
	spool_ack(sp, "r", 5);
	spool_ack(sp, "other", 1);
	assert_int_equal(files(), 0); /* their runs have ended */
	assert_int_equal(spool_retry(sp), 0);
	spool_free(sp);
}

/* Records in memory are written when there is space, without a further one. */
static void
test_held_retry(void **state)
{
	struct spool *sp = open_max(1 << 20);

	(void)state;
	put(sp, "r", 1, 0, 100);
	write_error = ENOSPC;
	put(sp, "r", 2, 0, 100);
	put(sp, "r", 3, 0, 100);
	assert_int_equal(spool_retry(sp), -ENOSPC);
	assert_int_equal(take(sp, "r", NULL), 3);
	write_error = 0;
	assert_int_equal(spool_retry(sp), 0);
	assert_null(spool_alarm(sp));
	assert_int_equal(take(sp, "r", NULL), 0); /* all are sent */
	spool_free(sp);
	sp = open_max(1 << 20);
	assert_int_equal(take(sp, "r", NULL), 3);
	spool_free(sp);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order_and_ack, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_torn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_holes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_line_limits, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit_raw, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_limit_any, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_limit_acked, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_meanwhile, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_meanwhile,
		    setup, teardown),
		cmocka_unit_test_setup_teardown(test_alarm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_fails, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_open_fails, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_held_retry, setup,
		    teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
