/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spool_power.c - power failures at 500 random points, on a disk that
 * keeps synced data and random parts of the rest: some blocks, zeros instead,
 * old names. Every record that was synced and not acknowledged exists
 * afterwards, once; and still after another power failure.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int power_fdatasync(int fd);
static int power_fsync(int fd);
static int power_unlink(const char *path);
static int power_rename(const char *from, const char *to);
#define fdatasync power_fdatasync
#define fsync     power_fsync
#define unlink    power_unlink
#define rename    power_rename
#include "agents/spool/spool.c"
#undef fdatasync
#undef fsync
#undef unlink
#undef rename

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "common/rng.h"

#define POINTS      500
#define INODES_MAX  256
#define NAMES_MAX   8
#define BLOCK_BYTES 64
#define FILE_MAX    (48 * 1024)
#define SPOOL_MAX   (32 * 1024)

/* The disk's contents of a file, and of the folder. */
static struct inode {
	ino_t ino;
	char *bytes;
	size_t len;
} inodes[INODES_MAX];
static size_t inode_count;
static struct name {
	char name[256];
	ino_t ino;
} names[NAMES_MAX];
static size_t name_count;
static int pins[INODES_MAX]; /* so that no number is used again */
static size_t pin_count;
static int refuses; /* the disk: -1 and EIO of every sync */
static char top[] = "/tmp/coalmine-power-XXXXXX";
static char dir[64];
static struct rng rng;

static struct inode *
inode_of(ino_t ino)
{
	for (size_t i = 0; i < inode_count; i++)
		if (inodes[i].ino == ino)
			return &inodes[i];
	return NULL;
}

static size_t
content(int fd, char **ret)
{
	*ret = xcalloc(1, FILE_MAX);
	return (size_t)pread(fd, *ret, FILE_MAX, 0);
}

static int
power_fdatasync(int fd)
{
	struct inode *in;
	struct stat st;

	if (refuses) {
		errno = EIO;
		return -1;
	}
	assert_int_equal(fstat(fd, &st), 0);
	in = inode_of(st.st_ino);
	if (in == NULL) {
		assert_true(inode_count < INODES_MAX);
		in = &inodes[inode_count++];
		in->ino = st.st_ino;
	}
	free(in->bytes);
	in->len = content(fd, &in->bytes);
	return 0;
}

static int
power_fsync(int fd)
{
	struct dirent *de;
	DIR *d;

	(void)fd;
	if (refuses) {
		errno = EIO;
		return -1;
	}
	d = opendir(dir);
	name_count = 0;
	while ((de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		assert_true(name_count < NAMES_MAX);
		snprintf(names[name_count].name, sizeof(names[0].name), "%s",
		    de->d_name);
		names[name_count++].ino = de->d_ino;
	}
	closedir(d);
	return 0;
}

static void
pin(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return;
	assert_true(pin_count < INODES_MAX);
	pins[pin_count++] = fd;
}

static int
power_unlink(const char *path)
{
	pin(path);
	return unlink(path);
}

static int
power_rename(const char *from, const char *to)
{
	pin(to);
	return rename(from, to);
}

/* A possible content of a file after a power failure: the old one, partly
 * overwritten by the new one. */
static size_t
mix(char *old, size_t old_len, const char *new, size_t new_len)
{
	size_t most = old_len > new_len ? old_len : new_len;
	size_t least = old_len > new_len ? new_len : old_len;

	for (size_t at = 0; at < new_len; at += BLOCK_BYTES) {
		size_t n = new_len - at < BLOCK_BYTES ? new_len - at
						      : BLOCK_BYTES;

		if (rng_below(&rng, 2))
			memcpy(old + at, new + at, n);
	}
	return least + rng_below(&rng, most - least + 1);
}

static void
file_put(const char *name, const char *bytes, size_t len)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "%s/%.200s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* Power failure: the folder becomes one of the possible contents of the
 * disk. */
static void
power_cut(void)
{
	struct {
		struct name n;
		char *bytes;
		size_t len;
		int known;
	} now[NAMES_MAX], left[2 * NAMES_MAX];
	size_t now_count = 0, left_count = 0;
	char path[400];
	DIR *d = opendir(dir);
	struct dirent *de;

	while ((de = readdir(d)) != NULL) {
		int fd;

		if (de->d_name[0] == '.')
			continue;
		snprintf(now[now_count].n.name, sizeof(names[0].name), "%s",
		    de->d_name);
		now[now_count].n.ino = de->d_ino;
		now[now_count].known = 0;
		snprintf(path, sizeof(path), "%s/%.200s", dir, de->d_name);
		fd = open(path, O_RDONLY);
		now[now_count].len = content(fd, &now[now_count].bytes);
		now_count++;
		close(fd);
		pin(path);
		unlink(path);
	}
	closedir(d);
	for (size_t i = 0; i < name_count + now_count; i++) {
		const struct name *n = i < name_count ? &names[i]
						      : &now[i - name_count].n;
		const struct inode *in = inode_of(n->ino);
		size_t len = 0;
		char *bytes = xcalloc(1, FILE_MAX);

		/* A name that is not on the disk, and one that is. */
		for (size_t k = 0; i >= name_count && k < name_count; k++)
			if (strcmp(names[k].name, n->name) == 0)
				n = NULL, k = name_count;
		if (n == NULL || (i >= name_count && rng_below(&rng, 2))) {
			free(bytes);
			continue;
		}
		if (in != NULL) {
			memcpy(bytes, in->bytes, in->len);
			len = in->len;
		}
		for (size_t k = 0; k < now_count; k++)
			if (now[k].n.ino == n->ino)
				len = mix(bytes, len, now[k].bytes, now[k].len);
		left[left_count].n = *n;
		left[left_count].bytes = bytes;
		left[left_count++].len = len;
	}
	name_count = 0;
	for (size_t i = 0; i < left_count; i++) {
		file_put(left[i].n.name, left[i].bytes, left[i].len);
		free(left[i].bytes);
	}
	for (size_t i = 0; i < now_count; i++)
		free(now[i].bytes);
	/* The disk now has these contents. */
	power_fsync(-1);
	for (size_t i = 0; i < name_count; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%.200s", dir, names[i].name);
		fd = open(path, O_RDONLY);
		power_fdatasync(fd);
		close(fd);
	}
}

static void
disk_forget(void)
{
	for (size_t i = 0; i < inode_count; i++)
		free(inodes[i].bytes);
	for (size_t i = 0; i < pin_count; i++)
		close(pins[i]);
	memset(inodes, 0, sizeof(inodes));
	inode_count = name_count = pin_count = 0;
}

static struct life {
	uint64_t put, synced, acked;
} runs[2];
static const char *const run_names[2] = { "a", "b" };

static void
line_of(int run, uint64_t seq, char ret[256])
{
	int len = snprintf(ret, 256, "{\"%d\":\"%llu ", run,
	    (unsigned long long)seq);
	int pad = (int)(seq * 37 % 200);

	memset(ret + len, 'x', (size_t)pad);
	strcpy(ret + len + pad, "\"}");
}

static void
step(struct spool *sp)
{
	int r = (int)rng_below(&rng, 2);
	char line[256];

	switch (rng_below(&rng, 8)) {
	case 0:
		spool_sync(sp);
		runs[0].synced = runs[0].put;
		runs[1].synced = runs[1].put;
		break;
	case 1:
		runs[r].acked += rng_below(&rng,
		    runs[r].put - runs[r].acked + 1);
		spool_ack(sp, run_names[r], runs[r].acked);
		break;
	default:
		if (runs[r].put - runs[r].acked > 30)
			return; /* the limit would lose some */
		line_of(r, ++runs[r].put, line);
		spool_append(sp, run_names[r], runs[r].put, 0, line,
		    strlen(line));
	}
}

static void
expect_all(struct spool *sp)
{
	for (int r = 0; r < 2; r++) {
		uint64_t want = runs[r].acked + 1, last = 0;
		struct spool_entry e;
		char line[256];

		while (spool_next(sp, run_names[r], SIZE_MAX, &e)) {
			line_of(r, e.seq, line);
			assert_string_equal(e.line, line);
			assert_true(e.seq > last && e.seq <= runs[r].put);
			last = e.seq;
			if (e.seq >= want && e.seq <= runs[r].synced)
				assert_int_equal(e.seq, want++);
			free(e.line);
		}
		if (runs[r].synced > runs[r].acked)
			assert_int_equal(want, runs[r].synced + 1);
	}
}

static void
test_power(void **state)
{
	(void)state;
	rng_seed(&rng, 11);
	for (int point = 0; point < POINTS; point++) {
		size_t steps = 1 + rng_below(&rng, 400);
		struct spool *sp;

		snprintf(dir, sizeof(dir), "%s/%d", top, point);
		memset(runs, 0, sizeof(runs));
		assert_int_equal(spool_open(dir, SPOOL_MAX, &sp), 0);
		while (steps-- > 0)
			step(sp);
		for (int again = 0; again < 2; again++) {
			/* Not spool_free, which syncs. */
			power_cut();
			for (struct file *f = TAILQ_FIRST(&sp->files);
			     f != NULL; f = TAILQ_NEXT(f, next))
				f->dirty = 0;
			sp->dir_dirty = 0;
			spool_free(sp);
			assert_int_equal(spool_open(dir, SPOOL_MAX, &sp), 0);
			expect_all(sp);
		}
		spool_free(sp);
		disk_forget();
	}
}

/* A failed sync raises an alarm, which ends only with a later successful sync,
 * independent of other writes. */
static void
test_refused(void **state)
{
	struct spool *sp;
	char line[256];

	(void)state;
	snprintf(dir, sizeof(dir), "%s/refused", top);
	memset(runs, 0, sizeof(runs));
	assert_int_equal(spool_open(dir, SPOOL_MAX, &sp), 0);
	refuses = 1;
	for (uint64_t seq = 1; seq <= 3; seq++) {
		line_of(0, seq, line);
		spool_append(sp, "a", seq, 0, line, strlen(line));
		assert_int_equal(spool_alarm(sp) != NULL, seq > 1);
		spool_sync(sp);
		assert_non_null(spool_alarm(sp));
	}
	assert_int_equal(inode_count, 0);
	refuses = 0;
	spool_sync(sp);
	assert_null(spool_alarm(sp));
	assert_int_equal(name_count, 1);
	runs[0].put = runs[0].synced = 3;
	power_cut();
	spool_free(sp);
	assert_int_equal(spool_open(dir, SPOOL_MAX, &sp), 0);
	expect_all(sp);
	spool_free(sp);
	disk_forget();
}

static int
setup(void **state)
{
	(void)state;
	log_init("test", LOG_LEVEL_ERROR);
	return mkdtemp(top) == NULL;
}

static int
teardown(void **state)
{
	char cmd[100];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", top);
	return system(cmd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_power),
		cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
