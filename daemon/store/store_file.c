/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_file.c - the SQLite file as a whole: the file system it may be on, its
 * owner, integrity and version; backup and restore.
 */
#include "daemon/store/store_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/embed.h"
#include "daemon/store/store.h"
#include "daemon/store/store_int.h"

/* At start-up. After that the file is accepted: reads find remaining damage. */
#define CHECK_LIMIT_NS  (20 * CLK_NS_PER_S)
#define BACKUP_PAGES    200 /* per step; the writer continues in between */
#define BACKUP_PAUSE_NS (5 * CLK_NS_PER_MS)
#define READ_BYTES      ((size_t)1 << 20)
#define COPY_KEPT_S     (7 * 24 * 3600) /* of an older version, once migrated */

struct fs_row {
	uint32_t type; /* f_type of statfs(2) */
	const char *name;
	int refused;
};

/* WAL keeps its index in shared memory, which other hosts cannot see, and
 * byte-range locks there are missing or unreliable. */
static const struct fs_row fs_rows[] = {
	{ 0x6969, "NFS", 1 }, { 0x517B, "SMB", 1 }, { 0xFF534D42, "CIFS", 1 },
	{ 0xFE534D42, "SMB2", 1 }, { 0x0BD00BD0, "Lustre", 1 },
	{ 0x47504653, "GPFS", 1 }, { 0x19830326, "BeeGFS", 1 },
	{ 0x00C36400, "Ceph", 1 }, { 0x5346414F, "AFS", 1 },
	{ 0x6B414653, "kAFS", 1 }, { 0x73757245, "Coda", 1 },
	{ 0x01021997, "9p", 1 }, { 0x20030528, "OrangeFS", 1 },
	{ 0xAAD7AAEA, "PanFS", 1 }, { 0x013661D3, "GFS2", 1 },
	{ 0x7461636F, "OCFS2", 1 },
	{ 0x65735546, "FUSE", 0 }, /* may be local: a warning */
};

/* Separate from the system call, for tests. */
static int
store_file_fs_judge(const char *dir, uint32_t type)
{
	for (size_t i = 0; i < ARRAY_LEN(fs_rows); i++) {
		const struct fs_row *fs = &fs_rows[i];

		if (fs->type != type)
			continue;
		if (fs->refused) {
			log_warnx("store: %s is on %s, a network file system, "
				  "where the store would be damaged: set "
				  "collector.state_dir to a local disk",
			    dir, fs->name);
			return -EINVAL;
		}
		log_warnx("store: %s is on %s; the store needs a file system "
			  "that only this host writes",
		    dir, fs->name);
	}
	return 0;
}

int
store_become_owner(const char *dir)
{
	struct stat st;
	int rc = 0;

	if (geteuid() != 0)
		return 0;
	if (stat(dir, &st) < 0 ||
	    (st.st_uid != 0 &&
		(setgroups(0, NULL) < 0 ||
		    setresgid(st.st_gid, st.st_gid, st.st_gid) < 0 ||
		    setresuid(st.st_uid, st.st_uid, st.st_uid) < 0)))
		rc = -errno;
	if (rc < 0)
		log_warnx("store: cannot become the owner of %s: %s", dir,
		    strerror(-rc));
	return rc;
}

static int
store_file_lock_dir(const char *dir, int *ret_fd)
{
	char *path = xasprintf("%s/lock", dir);
	int rc = 0, fd;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		rc = -errno;
		log_warn("store: cannot open %s", path);
	} else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
		if (rc == -EBUSY)
			log_warnx("store: another collector uses %s", dir);
		else
			log_warn("store: cannot lock %s", path);
		close(fd);
	} else {
		*ret_fd = fd;
	}
	free(path);
	return rc;
}

int
store_lock(const struct store_options *o, int *ret_fd)
{
	struct statfs fs;
	int rc = 0;

	if ((mkdir(o->dir, 0750) < 0 && errno != EEXIST) ||
	    statfs(o->dir, &fs) < 0) {
		rc = -errno;
		log_warn("store: cannot create or read the folder %s", o->dir);
		return rc;
	}
	if (o->url == NULL || o->url[0] == '\0')
		rc = store_file_fs_judge(o->dir, (uint32_t)fs.f_type);
	if (rc == 0)
		rc = store_become_owner(o->dir);
	return rc < 0 ? rc : store_file_lock_dir(o->dir, ret_fd);
}

/* Run one step and set its number and the application id in one transaction: a
 * start that is interrupted after the first step must not leave a file that the
 * next start rejects. */
static int
store_file_migrate_step(sqlite3 *db, const struct embed *step, int number)
{
	char set[96];
	int rc;

	snprintf(set, sizeof(set),
	    "PRAGMA user_version=%d; PRAGMA application_id=%d", number,
	    STORE_APPLICATION_ID);
	rc = sqlite_exec(db, "BEGIN IMMEDIATE");
	if (rc == 0)
		rc = sqlite_exec(db, (const char *)step->bytes);
	if (rc == 0)
		rc = sqlite_exec(db, set);
	if (rc == 0)
		rc = sqlite_exec(db, "COMMIT");
	if (rc < 0) {
		log_warnx("store: migration %s failed", step->name);
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	}
	return rc;
}

static int
store_file_newest_version(const struct embed *steps)
{
	int newest = 0;

	while (steps[newest].name != NULL)
		newest++;
	return newest;
}

/* Remove the copies of older versions after a week of work with the new
 * file. */
static void
store_file_drop_copies(const char *path, int newest)
{
	struct stat st;

	for (int v = 1; v < newest; v++) {
		char *copy = xasprintf("%s.v%d", path, v);

		if (stat(copy, &st) == 0 &&
		    clk_unix_ns() / CLK_NS_PER_S >
			(uint64_t)st.st_mtime + COPY_KEPT_S &&
		    unlink(copy) == 0)
			log_info("store: removed %s, the copy of an older "
				 "schema version, since it is over a week old",
			    copy);
		free(copy);
	}
}

/* Read the number that sql selects. -errno with SQLite's error text. */
static int
store_file_int(sqlite3 *db, const char *sql, int64_t *ret, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(q, 0);
	else
		err_say(err, "%s", sqlite3_errmsg(db));
	sqlite3_finalize(q);
	return rc == SQLITE_DONE ? -EIO : sqlite_errno(rc);
}

static int
store_file_migrate(sqlite3 *db, const char *path, const struct embed *steps,
    struct err *err)
{
	int newest = store_file_newest_version(steps), rc, version;
	int64_t said = 0;

	rc = store_file_int(db, "PRAGMA user_version", &said, err);
	if (rc < 0)
		return rc;
	if (said < 0)
		return err_set(err, -ENOTSUP, "its schema version is negative");
	version = (int)said; /* SQLite has 32 bits */
	store_file_drop_copies(path, newest);
	if (version > newest) {
		log_warnx("store: %s has schema version %d, but this program "
			  "supports versions up to %d: install the newer "
			  "program",
		    path, version, newest);
		return -ENOTSUP;
	}
	if (version > 0 && version < newest) {
		/* Old data is copied before it is changed, so that an
		 * administrator can undo a wrong step. */
		char *copy = xasprintf("%s.v%d", path, version);
		char *sql = sqlite3_mprintf("VACUUM INTO '%q'", copy);

		unlink(copy); /* of an interrupted attempt */
		rc = sqlite_exec(db, sql);
		if (rc == 0)
			log_info("store: copied the store of schema version %d "
				 "to %s before its migration",
			    version, copy);
		sqlite3_free(sql);
		free(copy);
	}
	for (int i = version; rc == 0 && i < newest; i++)
		rc = store_file_migrate_step(db, &steps[i], i + 1);
	return rc;
}

/* Read the whole file. 0 or -errno. */
static int
store_file_read_all(const char *path)
{
	char *block = xcalloc(1, READ_BYTES);
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -errno : 0;
	ssize_t n = 1;

	while (rc == 0 && n > 0) {
		n = read(fd, block, READ_BYTES);
		rc = n < 0 ? -errno : 0;
	}
	if (fd >= 0)
		close(fd);
	free(block);
	return rc;
}

/* Return the meaning of a line of PRAGMA quick_check. A line with an error code
 * is that error. SQLite writes "Failed to read" for a bad page and for a disk
 * that fails: it is damage if the whole file can be read. Any other line is
 * damage. */
static int
store_file_check_errno(sqlite3 *db, const char *text)
{
	const char *code = strstr(text, "error code");
	long said;

	if (code == NULL && strstr(text, "Failed to read") != NULL &&
	    store_file_read_all(sqlite3_db_filename(db, "main")) < 0)
		return -EIO;
	if (code == NULL)
		return -EBADMSG;
	said = strtol(code + strlen("error code") + 1, NULL, 10);
	return said <= 0 ? -EBADMSG : sqlite_errno((int)said);
}

/* 0: intact, or the time limit ended the check; -EBADMSG: damaged; another
 * -errno: it cannot be read. */
static int
store_file_quick_check(sqlite3 *db, struct err *err)
{
	uint64_t deadline_ns = clk_ns() + CHECK_LIMIT_NS;
	const char *text = NULL;
	sqlite3_stmt *q = NULL;
	int rc;

	sqlite_set_deadline(db, &deadline_ns);
	rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &q, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(q, 0);
	if ((rc & 0xff) == SQLITE_INTERRUPT ||
	    (rc == SQLITE_ROW && text != NULL && strcmp(text, "ok") == 0))
		rc = 0;
	else if (rc == SQLITE_ROW)
		rc = text == NULL ? -ENOMEM : store_file_check_errno(db, text);
	else
		rc = rc == SQLITE_DONE ? -EIO : sqlite_errno(rc);
	if (rc < 0 && rc != -EBADMSG && text != NULL) /* only has a number */
		err_say(err, "%s: %s", text, strerror(-rc));
	else if (rc < 0)
		err_say(err, "%s", text != NULL ? text : sqlite3_errmsg(db));
	sqlite3_finalize(q);
	sqlite_set_deadline(db, NULL);
	return rc;
}

/* Open, check and migrate the file. -EBADMSG: damaged; -EEXIST: a file of
 * another program, which is never changed. */
static int
store_file_prepare_once(const char *path, const struct embed *steps,
    struct err *err)
{
	struct sqlite *s = NULL;
	int64_t id = 0, tables = 0;
	int rc;

	rc = sqlite_open(path, SQL_WRITER, &s, err);
	if (rc == 0)
		rc = store_file_int(s->db, "PRAGMA application_id", &id, err);
	if (rc == 0)
		rc = store_file_int(s->db, "SELECT count(*) FROM sqlite_master",
		    &tables, err);
	if (rc == 0 && id != STORE_APPLICATION_ID && tables != 0) {
		log_warnx("store: %s is the database of another program", path);
		rc = -EEXIST;
	}
	if (rc == 0)
		rc = store_file_quick_check(s->db, err);
	if (rc == 0)
		rc = store_file_migrate(s->db, path, steps, err);
	if (rc == -EBADMSG && err->text[0] == '\0')
		err_say(err, "not a database");
	sqlite_shut(s);
	return rc;
}

int
store_file_new(const char *path, struct sql **ret, int *ret_is_made,
    struct err *err)
{
	struct sqlite *s = NULL;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return err_set(err, -errno, "%.300s: %s", path,
		    strerror(errno));
	close(fd);
	*ret_is_made = 1;
	rc = store_file_prepare_once(path, embed_steps, err);
	if (rc == 0)
		rc = sqlite_open(path, SQL_WRITER, &s, err);
	if (rc == 0)
		*ret = &s->sql;
	return rc;
}

/* Rename the file, its log and its index to PATH.WORD-AT, if they exist:
 * otherwise the log would be used with the next file. */
static int
store_file_move_aside(const char *path, const char *word, unsigned long long at)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(ends); i++) {
		char *from = xasprintf("%s%s", path, ends[i]);
		char *to = xasprintf("%s.%s-%llu%s", path, word, at, ends[i]);

		rc = rename(from, to) < 0 && errno != ENOENT ? -errno : 0;
		if (rc < 0)
			log_warnx("store: cannot rename %s: %s", from,
			    strerror(-rc));
		free(from);
		free(to);
	}
	return rc;
}

/* Write a copy to `to`, synced. */
static int
store_file_copy_out(sqlite3 *from, const char *to)
{
	char *sql = sqlite3_mprintf("VACUUM INTO '%q'", to);
	int fd, rc;

	unlink(to); /* of an interrupted attempt */
	rc = sqlite_exec(from, sql);
	sqlite3_free(sql);
	if (rc < 0)
		return rc;
	fd = open(to, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fsync(fd) < 0) {
		rc = -errno;
		log_warn("store: cannot flush %s", to);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Check that it is a complete store that this program can read. */
static int
store_file_backup_check(sqlite3 *db, const char *name, struct err *err)
{
	int version = (int)sqlite_int(db, "PRAGMA user_version", -1);
	int rc;

	if (sqlite_int(db, "PRAGMA application_id", -1) != STORE_APPLICATION_ID)
		return err_set(err, -EEXIST,
		    "%.300s is not a store of a collector", name);
	if (version > store_file_newest_version(embed_steps))
		return err_set(err, -ENOTSUP,
		    "%.300s has schema version %d, but this program supports "
		    "versions up to %d",
		    name, version, store_file_newest_version(embed_steps));
	rc = store_file_quick_check(db, err);
	if (rc < 0)
		err_say(err, "%.300s is damaged", name);
	return rc;
}

int
store_restore(const char *dir, const char *name, struct err *err)
{
	unsigned long long at = clk_unix_ns() / CLK_NS_PER_S;
	char *path = xasprintf("%s/coalmine.db", dir);
	char *fresh = xasprintf("%s.restore", path);
	sqlite3 *from = NULL;
	int lock_fd = -1, dir_fd = -1, rc;

	err->text[0] = '\0';
	/* Root can read a backup that the owner of the folder cannot. */
	rc = sqlite_errno(
	    sqlite3_open_v2(name, &from, SQLITE_OPEN_READONLY, NULL));
	if (rc < 0)
		err_say(err, "cannot open the backup %.300s", name);
	else
		rc = store_become_owner(dir);
	if (rc == 0)
		rc = store_file_lock_dir(dir, &lock_fd);
	if (rc == -EBUSY)
		err_say(err, "a collector uses %.300s: stop it first", dir);
	if (rc == 0)
		rc = store_file_backup_check(from, name, err);
	if (rc == 0)
		rc = store_file_copy_out(from, fresh);
	if (rc == 0)
		rc = store_file_move_aside(path, "before", at);
	if (rc == 0 && rename(fresh, path) < 0)
		rc = -errno;
	if (rc == 0)
		dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rc == 0 && (dir_fd < 0 || fsync(dir_fd) < 0))
		rc = -errno;
	if (rc < 0 && err->text[0] == '\0')
		err_say(err, "%.300s: %s", path, strerror(-rc));
	if (rc == 0)
		err_say(err,
		    "%.200s is restored; the previous store is "
		    "%.200s.before-%llu",
		    path, path, at);
	sqlite3_close(from);
	if (dir_fd >= 0)
		close(dir_fd);
	if (lock_fd >= 0)
		close(lock_fd);
	free(fresh);
	free(path);
	return rc;
}

int
sqlite_prepare(const struct store_options *o, const struct embed *steps,
    struct err *err)
{
	unsigned long long at = clk_unix_ns() / CLK_NS_PER_S;
	char *path = xasprintf("%s/coalmine.db", o->dir);
	struct err ignored = { 0 };
	int rc, read_rc, is_new = 0;

	err->text[0] = '\0';
	rc = store_file_prepare_once(path, steps, err);
	/* Agents and users lose the history of a store that is moved away, so
	 * the check is repeated first. */
	if (rc == -EBADMSG) {
		log_warnx("store: %s: %s; checking it again", path, err->text);
		err->text[0] = '\0';
		rc = store_file_prepare_once(path, steps, err);
	}
	/* To SQLite some failed reads are damage. */
	if (rc == -EBADMSG) {
		read_rc = store_file_read_all(path);
		if (read_rc < 0) {
			ignored = *err;
			err_say(err, "%.200s: %s", ignored.text,
			    strerror(-read_rc));
			rc = read_rc;
		}
	}
	if (rc < 0 && rc != -EBADMSG && err->text[0] != '\0') {
		ignored = *err;
		err_say(err, "cannot read %.200s: %.200s; it was not changed",
		    path, ignored.text);
	}
	if (rc == -EBADMSG) {
		rc = store_file_move_aside(path, "corrupt", at);
		is_new = rc == 0;
	}
	if (is_new) {
		err_say(err,
		    "the store was damaged (%.127s); it is kept as "
		    "%s.corrupt-%llu and a new one was created; to save its "
		    "rows: coalctl db recover",
		    err->text, path, at);
		log_warnx("store: %s", err->text);
		rc = store_file_prepare_once(path, steps, &ignored);
	}
	free(path);
	return rc;
}

/* Existing files are not overwritten, and the backup is never incomplete: a
 * temporary file is renamed when it is complete. */
static int
store_file_backup_to(sqlite3 *from, const char *path, const char *temporary,
    const _Atomic int *stopping)
{
	sqlite3_backup *b;
	sqlite3 *to = NULL;
	int rc, fd;

	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	rc = sqlite3_open_v2(temporary, &to,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main")
			    : NULL;
	if (b == NULL)
		rc = sqlite3_errcode(to);
	while (b != NULL &&
	    (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED)) {
		rc = sqlite3_backup_step(b, BACKUP_PAGES);
		if (*stopping)
			rc = SQLITE_INTERRUPT;
		else if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
			clk_sleep_ns(BACKUP_PAUSE_NS);
	}
	sqlite3_backup_finish(b);
	rc = sqlite_errno(rc);
	/* A copy without -wal and -shm. */
	if (rc == 0)
		rc = sqlite_exec(to, "PRAGMA journal_mode=DELETE");
	sqlite3_close(to);
	if (rc == 0 && link(temporary, path) < 0)
		rc = -errno;
	unlink(temporary);
	return rc;
}

int
sqlite_backup(struct sql *db, const char *path, const _Atomic int *stopping)
{
	char *temporary = xasprintf("%s.part-%d", path, (int)getpid());
	int rc = store_file_backup_to(((struct sqlite *)db)->db, path,
	    temporary, stopping);

	free(temporary);
	return rc;
}
