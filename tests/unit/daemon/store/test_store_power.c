/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_power.c - power failures at 500 random points, on a disk that
 * keeps synced data and random sectors of later writes. Every acknowledged
 * record is in the remaining file, once.
 *
 * A VFS of SQLite tracks the synced data of each file; at a point it saves the
 * possible contents of the disk, with the number of records acknowledged by
 * then. The log is checkpointed and restarted often, so that points fall there
 * too. The same VFS returns errors of disks that are not full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "common/rng.h"
#include "tests/unit/daemon/store/store_fix.h"

#define POINTS       500
#define SECTOR_BYTES 512
#define FILES_MAX    8

/* A file of the store: as written, and as synced. */
static struct disk {
	char path[256];
	char *now, *synced;
	size_t now_len, synced_len;
	int dirty; /* written since it was synced */
} disks[FILES_MAX];
static size_t disk_count;
static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rng rng;
static atomic_int acked;   /* records 1 to acked are */
static atomic_int watched; /* points are taken now */
static atomic_int refusal; /* the error of writes, or 0 */
static int next_point;
static struct point {
	int acked;
	char *db, *wal;
	size_t db_len, wal_len;
} points[POINTS];
static int point_count;
static int torn_count; /* points in the middle of a checkpoint */

struct shim {
	sqlite3_file base;
	struct disk *disk; /* NULL: a file of no interest */
	sqlite3_file *real;
};

static sqlite3_vfs *under;
static sqlite3_io_methods methods;

/* A possible content of d after a power failure: malloc'd. */
static char *
left_of(const struct disk *d, size_t *ret_len)
{
	size_t most = d->now_len > d->synced_len ? d->now_len : d->synced_len;
	char *left = xcalloc(1, most + 1);

	if (d->synced_len > 0)
		memcpy(left, d->synced, d->synced_len);
	*ret_len = d->synced_len;
	for (size_t at = 0; at < d->now_len; at += SECTOR_BYTES) {
		size_t n = d->now_len - at < SECTOR_BYTES ? d->now_len - at
							  : SECTOR_BYTES;

		if (rng_below(&rng, 2) == 0)
			continue;
		memcpy(left + at, d->now + at, n);
		if (at + n > *ret_len)
			*ret_len = at + n;
	}
	return left;
}

/* The lock is held. */
static void
point_maybe(void)
{
	struct point *p = &points[point_count];

	if (!atomic_load(&watched) || point_count == POINTS || next_point-- > 0)
		return;
	next_point = (int)rng_below(&rng, 4);
	p->acked = atomic_load(&acked);
	for (size_t i = 0; i < disk_count; i++) {
		size_t len = strlen(disks[i].path);

		if (strcmp(disks[i].path + len - 3, ".db") == 0) {
			p->db = left_of(&disks[i], &p->db_len);
			torn_count += disks[i].dirty;
		} else {
			p->wal = left_of(&disks[i], &p->wal_len);
		}
	}
	point_count++;
}

static int
shim_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct shim *s = (struct shim *)file;
	size_t end = (size_t)at + (size_t)n;

	if (s->disk != NULL) {
		struct disk *d = s->disk;

		pthread_mutex_lock(&disk_lock);
		if (end > d->now_len) {
			d->now = xreallocarray(d->now, end, 1);
			memset(d->now + d->now_len, 0, end - d->now_len);
			d->now_len = end;
		}
		memcpy(d->now + at, bytes, (size_t)n);
		d->dirty = 1;
		point_maybe();
		pthread_mutex_unlock(&disk_lock);
		if (atomic_load(&refusal) != 0)
			return atomic_load(&refusal);
	}
	return s->real->pMethods->xWrite(s->real, bytes, n, at);
}

static int
shim_truncate(sqlite3_file *file, sqlite3_int64 len)
{
	struct shim *s = (struct shim *)file;

	pthread_mutex_lock(&disk_lock);
	if (s->disk != NULL && (size_t)len < s->disk->now_len)
		s->disk->now_len = (size_t)len;
	pthread_mutex_unlock(&disk_lock);
	return s->real->pMethods->xTruncate(s->real, len);
}

static int
shim_sync(sqlite3_file *file, int flags)
{
	struct disk *d = ((struct shim *)file)->disk;

	(void)flags;
	if (d == NULL)
		return SQLITE_OK;
	pthread_mutex_lock(&disk_lock);
	point_maybe(); /* just before */
	d->synced = xreallocarray(d->synced, d->now_len + 1, 1);
	memcpy(d->synced, d->now, d->now_len);
	d->synced_len = d->now_len;
	d->dirty = 0;
	pthread_mutex_unlock(&disk_lock);
	return SQLITE_OK;
}

#define REAL ((struct shim *)file)->real

/* The read of the store that is reads_until from now fails, once. */
static atomic_int reads_until;

static int
shim_Read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
	if (((struct shim *)file)->disk != NULL &&
	    atomic_load(&reads_until) > 0 &&
	    atomic_fetch_sub(&reads_until, 1) == 1)
		return SQLITE_IOERR_READ;
	return REAL->pMethods->xRead(REAL, to, n, at);
}
#define PASS(name, args, ...)                                                  \
	static int shim_##name args                                            \
	{                                                                      \
		return REAL->pMethods->x##name(REAL __VA_ARGS__);              \
	}
/* clang-format off */
PASS(Close, (sqlite3_file *file))
PASS(FileSize, (sqlite3_file *file, sqlite3_int64 *ret), , ret)
PASS(Lock, (sqlite3_file *file, int how), , how)
PASS(Unlock, (sqlite3_file *file, int how), , how)
PASS(CheckReservedLock, (sqlite3_file *file, int *ret), , ret)
PASS(FileControl, (sqlite3_file *file, int op, void *arg), , op, arg)
PASS(SectorSize, (sqlite3_file *file))
PASS(DeviceCharacteristics, (sqlite3_file *file))
PASS(ShmMap, (sqlite3_file *file, int page, int size, int extend,
    void volatile **ret), , page, size, extend, ret)
PASS(ShmLock, (sqlite3_file *file, int at, int n, int flags), , at, n, flags)
PASS(ShmUnmap, (sqlite3_file *file, int gone), , gone)
/* clang-format on */

static void
shim_ShmBarrier(sqlite3_file *file)
{
	REAL->pMethods->xShmBarrier(REAL);
}

static struct disk *
disk_of(const char *path)
{
	size_t len = path == NULL ? 0 : strlen(path);

	if (len < 4 ||
	    (strcmp(path + len - 3, ".db") != 0 &&
		strcmp(path + len - 4, "-wal") != 0))
		return NULL;
	for (size_t i = 0; i < disk_count; i++)
		if (strcmp(disks[i].path, path) == 0)
			return &disks[i];
	assert_true(disk_count < FILES_MAX);
	snprintf(disks[disk_count].path, sizeof(disks[0].path), "%s", path);
	return &disks[disk_count++];
}

static int
shim_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
    int *ret_flags)
{
	struct shim *s = (struct shim *)file;
	int rc;

	(void)vfs;
	pthread_mutex_lock(&disk_lock);
	s->disk = disk_of(path);
	pthread_mutex_unlock(&disk_lock);
	s->real = (sqlite3_file *)(s + 1);
	rc = under->xOpen(under, path, s->real, flags, ret_flags);
	s->base.pMethods = s->real->pMethods == NULL ? NULL : &methods;
	return rc;
}

static void
vfs_register(void)
{
	static sqlite3_vfs vfs;

	under = sqlite3_vfs_find("unix");
	vfs = *under;
	vfs.zName = "power";
	vfs.szOsFile = (int)sizeof(struct shim) + under->szOsFile;
	vfs.xOpen = shim_open;
	methods = (sqlite3_io_methods){ 2, shim_Close, shim_Read, shim_write,
		shim_truncate, shim_sync, shim_FileSize, shim_Lock, shim_Unlock,
		shim_CheckReservedLock, shim_FileControl, shim_SectorSize,
		shim_DeviceCharacteristics, shim_ShmMap, shim_ShmLock,
		shim_ShmBarrier, shim_ShmUnmap, NULL, NULL };
	assert_int_equal(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

static void
acked_cb(int status, json_t *result, void *arg)
{
	assert_int_equal(status, 0);
	json_decref(result);
	atomic_store(&acked, (int)(intptr_t)arg);
}

static void
file_write(const char *path, const char *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

/* The remaining file opens, and has the records. */
static void
point_check(const struct fix *f, const struct point *p)
{
	char path[256], wal[264], shm[264];
	sqlite3_stmt *q;
	sqlite3 *db;
	int at = 0;

	snprintf(path, sizeof(path), "%s/left", f->dir);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	snprintf(shm, sizeof(shm), "%s-shm", path);
	unlink(shm);
	file_write(path, p->db, p->db_len);
	file_write(wal, p->wal, p->wal_len);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE,
			     "unix"),
	    SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
			     "SELECT seq FROM record ORDER BY seq", -1, &q,
			     NULL),
	    SQLITE_OK);
	while (sqlite3_step(q) == SQLITE_ROW)
		assert_int_equal(sqlite3_column_int(q, 0), ++at);
	sqlite3_finalize(q);
	assert_true(at >= p->acked);
	sqlite3_prepare_v2(db, "PRAGMA quick_check", -1, &q, NULL);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(q, 0), "ok");
	sqlite3_finalize(q);
	sqlite3_close(db);
}

/* Another connection, to control when the log is copied into the file. */
static sqlite3 *
db_open(void)
{
	const char *path = "";
	sqlite3 *db;

	for (size_t i = 0; i < disk_count; i++)
		if (strstr(disks[i].path, "-wal") == NULL)
			path = disks[i].path;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	/* Before its first read it does not detect the log. */
	assert_int_equal(sqlite3_exec(db, "SELECT 1 FROM run", NULL, NULL,
			     NULL),
	    SQLITE_OK);
	return db;
}

static void
disks_forget(void)
{
	for (size_t i = 0; i < disk_count; i++) {
		free(disks[i].now);
		free(disks[i].synced);
	}
	memset(disks, 0, sizeof(disks));
	disk_count = 0;
}

static void
test_power(void **state)
{
	struct fix f = { 0 };
	int last = 0, most = 0;
	sqlite3 *db;

	(void)state;
	rng_seed(&rng, 5);
	fix_folder(&f);
	fix_open(&f);
	assert_int_equal(fix_put_run(&f, fix_run("r", "c", "running", 1)), 0);
	db = db_open();
	atomic_store(&watched, 1);
	while (point_count < POINTS && last < 100000) {
		int now = atomic_load(&acked), want = last + 1;

		want += (int)rng_below(&rng, 3);
		for (; last < want; last++) {
			json_t *record = fix_canary("r", last + 1, "lat",
			    "isolated", 1e-6);

			store_put_record(f.st, record, NULL, acked_cb,
			    (void *)(intptr_t)(last + 1));
			json_decref(record);
		}
		while (now < want) {
			event_base_loop(f.base, EVLOOP_ONCE);
			now = atomic_load(&acked);
		}
		if (last % 5 == 0)
			(void)sqlite3_wal_checkpoint_v2(db, NULL,
			    SQLITE_CHECKPOINT_RESTART, NULL, NULL);
	}
	atomic_store(&watched, 0);
	assert_int_equal(point_count, POINTS);
	sqlite3_close(db);
	store_close(f.st);
	f.st = NULL;
	for (int i = 0; i < POINTS; i++) {
		point_check(&f, &points[i]);
		most = points[i].acked > most ? points[i].acked : most;
		free(points[i].db);
		free(points[i].wal);
	}
	assert_true(most > 50);
	assert_true(torn_count > 20);
	disks_forget();
	fix_close(&f);
}

/* A disk that returns errors, or is suddenly read-only: no row is acknowledged,
 * an alarm is active, states are kept. Then everything continues. */
static void
test_refusal(void **state)
{
	const int says[] = { SQLITE_IOERR_WRITE, SQLITE_READONLY };
	const char *const states[] = { "running", "finished" };
	uint64_t now_ns = clk_unix_ns();
	struct fix f = { 0 };
	int seq = 1;

	(void)state;
	fix_folder(&f);
	fix_open(&f);
	assert_int_equal(fix_put_run(&f, fix_run("r", "c", "starting", now_ns)),
	    0);
	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++) {
		uint64_t end_ns = clk_ns() + WAIT_NS;
		struct store_health h = { 0 };
		json_t *got;

		atomic_store(&refusal, says[i]);
		assert_int_equal(fix_put_record(&f,
				     fix_canary("r", seq, "lat", "isolated",
					 1e-6)),
		    -EIO);
		assert_int_equal(fix_put_run(&f,
				     fix_run("r", "c", states[i], now_ns)),
		    -EIO);
		store_health(f.st, &h);
		assert_true(!h.writable && h.alarm[0] != '\0');
		assert_null(strstr(h.alarm, "full"));
		atomic_store(&refusal, 0);
		while (!h.writable && clk_ns() < end_ns) {
			clk_sleep_ns(20 * CLK_NS_PER_MS);
			store_health(f.st, &h);
		}
		assert_true(h.writable && h.alarm[0] == '\0');
		got = fix_ask(&f, STORE_RUN, json_pack("{s:s}", "run", "r"), 0);
		assert_string_equal(json_string_value(
					json_object_get(got, "state")),
		    states[i]);
		json_decref(got);
		assert_int_equal(fix_put_record(&f,
				     fix_canary("r", seq++, "lat", "isolated",
					 1e-6)),
		    0);
	}
	store_close(f.st);
	f.st = NULL;
	disks_forget();
	fix_close(&f);
}

/* A read that fails, whichever: the start may end with the reason, and the
 * store stays where it is. */
static void
test_failed_read(void **state)
{
	char aside[128];
	struct fix f = { 0 };
	int failed = 0, n = 1;
	json_t *list;

	(void)state;
	fix_folder(&f);
	fix_open(&f);
	for (int seq = 1; seq <= 200; seq++) {
		json_t *record = fix_canary("r", seq, "lat", "isolated", 1e-6);

		store_put_record(f.st, record, 0, NULL, NULL);
		json_decref(record);
	}
	store_close(f.st);
	snprintf(aside, sizeof(aside), "ls %s/*.corrupt-* 2>/dev/null", f.dir);
	do { /* until there are not that many */
		int rc;

		atomic_store(&reads_until, n++);
		rc = store_open(&f.options, f.base, &f.st);
		if (rc == 0)
			store_close(f.st);
		failed += rc < 0;
		assert_int_not_equal(system(aside), 0);
	} while (atomic_load(&reads_until) == 0);
	atomic_store(&reads_until, 0);
	assert_true(n > 10 && failed > 0);
	fix_open(&f);
	list = fix_ask(&f, STORE_RECORDS, json_pack("{s:s}", "run", "r"), 0);
	assert_int_equal(json_array_size(list), 200);
	json_decref(list);
	store_close(f.st);
	f.st = NULL;
	disks_forget();
	fix_close(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_power),
		cmocka_unit_test(test_failed_read),
		cmocka_unit_test(test_refusal) };

	vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
