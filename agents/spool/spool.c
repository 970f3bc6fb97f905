/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.c - a file is only rewritten, to a temporary file that is renamed, to
 * make room, when a power cut has left holes in it, and when a part of it
 * cannot be read: then the old file is kept under another name.
 */
#include "agents/spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/record.h"

#define SUFFIX ".spool"
/* Added, with a number, to the name of a file that cannot be read. */
#define ASIDE     ".unreadable"
#define ASIDE_MAX 9 /* of one run */
/* While the disk is full: a few hundred canary records. */
#define MEMORY_MAX (1024 * 1024)
/* Room is made in steps of this share of the limit, not for each record. */
#define STEP_SHARE 8

/* A record that waits in memory. */
struct held {
	TAILQ_ENTRY(held) next;
	struct spool_entry entry;
};

struct file {
	TAILQ_ENTRY(file) next;
	char *run;
	char *path;
	int fd;
	uint64_t bytes;    /* of the file */
	uint64_t last_seq; /* seen, lost ones included; 0: none */
	uint64_t tail_seq; /* of the last that is written or held */
	uint64_t acked_seq;
	uint64_t sent_seq;
	uint64_t sent_at; /* offset of the first entry that is not sent */
	int finished;
	int dirty;  /* written since it was synced */
	int failed; /* 0, or -errno of reading: retried after spool_rewind */
	uint64_t lost_records, lost_bytes;
	TAILQ_HEAD(, held) held; /* later than all that is written */
};

/* A file of an earlier process that could not be opened. */
struct unopened {
	TAILQ_ENTRY(unopened) next;
	char *run;
};

struct spool {
	char *dir;
	uint64_t max_bytes;
	uint64_t bytes; /* of all files */
	size_t held_bytes;
	int dir_fd;
	int dir_dirty;            /* a name in it is new */
	int write_failed;         /* 0 or -errno of the last write */
	int sync_failed;          /* and of the last spool_sync */
	int unreadable;           /* a file could not be read completely */
	TAILQ_HEAD(, file) files; /* oldest first */
	TAILQ_HEAD(, unopened) unopened;
};

static struct file *
spool_file_find(struct spool *sp, const char *run)
{
	struct file *f;

	TAILQ_FOREACH (f, &sp->files, next)
		if (strcmp(f->run, run) == 0)
			return f;
	return NULL;
}

static struct file *
spool_file_new(struct spool *sp, const char *run)
{
	struct file *f = xcalloc(1, sizeof(*f));

	f->run = xstrdup(run);
	f->path = xasprintf("%s/%s" SUFFIX, sp->dir, run);
	f->fd = -1;
	TAILQ_INIT(&f->held);
	TAILQ_INSERT_TAIL(&sp->files, f, next);
	return f;
}

static void
spool_held_drop(struct spool *sp, struct file *f, struct held *h)
{
	TAILQ_REMOVE(&f->held, h, next);
	sp->held_bytes -= h->entry.len_bytes;
	free(h->entry.line);
	free(h);
}

static void
spool_file_free(struct spool *sp, struct file *f)
{
	while (!TAILQ_EMPTY(&f->held))
		spool_held_drop(sp, f, TAILQ_FIRST(&f->held));
	if (f->fd >= 0)
		close(f->fd);
	TAILQ_REMOVE(&sp->files, f, next);
	free(f->run);
	free(f->path);
	free(f);
}

static int
spool_file_open(struct spool *sp, struct file *f)
{
	if (f->fd >= 0)
		return 0;
	f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (f->fd < 0)
		return -errno;
	sp->dir_dirty = 1;
	return 0;
}

/* Is there anything that the collector has not got? */
static int
spool_file_waits(const struct file *f)
{
	return f->acked_seq < f->tail_seq &&
	    (f->bytes > 0 || !TAILQ_EMPTY(&f->held));
}

static void
spool_lose(struct file *f, const struct spool_entry *e)
{
	f->lost_records++;
	f->lost_bytes += e->len_bytes;
}

/* Entries that a rewrite drops. */
enum leave { LEAVE_BAD, LEAVE_ACKED, LEAVE_RAW, LEAVE_ANY };

/* The bytes from w->at on cannot be read: keep the file of f under another
 * name, and count the loss of at least one record. */
static int
spool_file_keep(struct spool *sp, struct file *f, const struct spool_scan *w)
{
	unsigned long long lost = w->end - w->at;
	char *aside = NULL;
	int rc = -EEXIST;

	for (int i = 1; i <= ASIDE_MAX && rc == -EEXIST; i++) {
		free(aside);
		aside = xasprintf("%s" ASIDE "%d", f->path, i);
		rc = link(f->path, aside) < 0 ? -errno : 0;
	}
	if (rc == 0) {
		f->lost_records++;
		f->lost_bytes += lost;
		log_warnx("spool %s: cannot read the last %llu bytes: %s; the "
			  "file is kept as %s",
		    f->run, lost, strerror(-w->error), aside);
	}
	sp->unreadable = 1;
	free(aside);
	return rc;
}

/* Copy to fd what stays; leave out until want bytes are free. */
static int
spool_rewrite_to(struct spool *sp, struct file *f, int fd, enum leave what,
    uint64_t want, uint64_t *ret_bytes)
{
	struct spool_scan w = { .fd = f->fd,
		.end = f->bytes,
		.check = what == LEAVE_BAD };
	struct spool_entry e;
	uint64_t to = 0, freed = 0;
	int rc = 0;

	while (rc == 0 && spool_entry_next(&w, &e)) {
		uint64_t size = spool_entry_bytes(&e);
		int acked = e.seq <= f->acked_seq;

		if (acked ||
		    (freed < want &&
			(what == LEAVE_ANY || (what == LEAVE_RAW && e.raw)))) {
			freed += size;
			if (!acked)
				spool_lose(f, &e);
		} else {
			rc = spool_entry_write(fd, to, &e);
			to += size;
		}
		free(e.line);
	}
	if (rc == 0 && w.error < 0)
		rc = spool_file_keep(sp, f, &w);
	if (rc == 0 && f->tail_seq < w.seq) /* the first scan failed earlier */
		f->last_seq = f->tail_seq = w.seq;
	*ret_bytes = to;
	return rc;
}

/* Find the place where sending continues after offsets have changed. */
static void
spool_sent_find(struct file *f)
{
	struct spool_entry e;

	f->sent_at = 0;
	while (spool_entry_read(f->fd, f->sent_at, &e) > 0) {
		free(e.line);
		if (e.seq > f->sent_seq)
			return;
		f->sent_at += spool_entry_bytes(&e);
	}
}

/* 0 when the file shrank or stayed. On failure it is as it was. */
static int
spool_rewrite(struct spool *sp, struct file *f, enum leave what, uint64_t want)
{
	uint64_t lost_records = f->lost_records, lost_bytes = f->lost_bytes;
	char *tmp = xasprintf("%s.tmp", f->path);
	uint64_t bytes = 0;
	int fd, rc;

	fd = open(tmp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	rc = fd < 0 ? -errno : spool_rewrite_to(sp, f, fd, what, want, &bytes);
	if (rc == 0 && fdatasync(fd) < 0)
		rc = -errno;
	if (rc == 0 && rename(tmp, f->path) < 0)
		rc = -errno;
	if (rc < 0) {
		f->lost_records = lost_records;
		f->lost_bytes = lost_bytes;
		if (fd >= 0)
			close(fd);
		unlink(tmp);
	} else {
		close(f->fd);
		f->fd = fd;
		f->dirty = 0;
		/* Without this the old file, unsynced as it was, could be back
		 * after a power cut. */
		if (fsync(sp->dir_fd) < 0)
			sp->dir_dirty = 1;
		sp->bytes -= f->bytes - bytes;
		f->bytes = bytes;
		spool_sent_find(f);
	}
	free(tmp);
	return rc;
}

/* After a restart or a power cut. Only the entries in a hole are lost; they are
 * counted, and the file is rewritten without the hole. */
static int
spool_file_recover(struct spool *sp, struct file *f)
{
	struct spool_scan w = { .check = 1 };
	uint64_t good = 0, holes = 0, before;
	struct spool_entry e;
	struct stat st;

	if (fstat(f->fd, &st) < 0)
		return -errno;
	f->finished = 1; /* its run did not survive us */
	w.fd = f->fd;
	w.end = (uint64_t)st.st_size;
	for (before = 0; spool_entry_next(&w, &e); before = e.seq) {
		free(e.line);
		if (w.skipped > 0) {
			holes++;
			f->lost_bytes += w.skipped;
			f->lost_records += before > 0 && e.seq - before > 1
			    ? e.seq - before - 1
			    : 1;
		} else if (holes == 0) {
			good = w.at;
		}
	}
	f->last_seq = f->tail_seq = w.seq;
	f->bytes = w.end;
	sp->bytes += f->bytes;
	if (w.skipped > 0) { /* at the end: how many is not known */
		f->lost_bytes += w.skipped;
		f->lost_records++;
	}
	if (w.error < 0)
		return spool_rewrite(sp, f, LEAVE_BAD, 0);
	if (f->lost_bytes == 0)
		return 0;
	log_warnx("spool %s: skipped %llu damaged bytes", f->run,
	    (unsigned long long)f->lost_bytes);
	if (holes > 0)
		return spool_rewrite(sp, f, LEAVE_BAD, 0);
	sp->bytes -= f->bytes - good;
	f->bytes = good;
	return ftruncate(f->fd, (off_t)good) < 0 ? -errno : 0;
}

/* Name and age of a file found at start. */
struct found {
	char run[RECORD_RUN_MAX + 1];
	struct timespec at;
};

static int
spool_found_compare(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->at.tv_sec != y->at.tv_sec)
		return x->at.tv_sec < y->at.tv_sec ? -1 : 1;
	return x->at.tv_nsec < y->at.tv_nsec ? -1
					     : x->at.tv_nsec > y->at.tv_nsec;
}

/* 1 when de is a spool file; a half-made rewrite is removed. */
static int
spool_found_take(struct spool *sp, const struct dirent *de, struct found *ret)
{
	size_t len = strlen(de->d_name), tail = strlen(SUFFIX);
	char path[4400];
	struct stat st;

	if (str_format(path, sizeof(path), "%s/%s", sp->dir, de->d_name) < 0)
		return 0;
	if (len > 4 && strcmp(de->d_name + len - 4, ".tmp") == 0) {
		unlink(path);
		return 0;
	}
	if (len <= tail || len - tail > RECORD_RUN_MAX ||
	    strcmp(de->d_name + len - tail, SUFFIX) != 0)
		return 0;
	memcpy(ret->run, de->d_name, len - tail);
	ret->run[len - tail] = '\0';
	if (record_run_check(ret->run) < 0 || lstat(path, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	ret->at = st.st_mtim;
	return 1;
}

/* Read the file of a run of an earlier process. Return 0, or -errno if it
 * cannot be opened. A file that cannot be read stays until the next start: each
 * attempt reads all of it. */
static int
spool_run_recover(struct spool *sp, const char *run)
{
	struct file *f = spool_file_new(sp, run);
	int rc = spool_file_open(sp, f), open_rc = rc;

	if (rc == 0)
		rc = spool_file_recover(sp, f);
	if (rc < 0) {
		log_warnx("spool: cannot %s %s: %s; %s",
		    open_rc < 0 ? "open" : "read", f->path, strerror(-rc),
		    open_rc < 0 ? "retrying"
				: "the file stays there until the next start");
		sp->unreadable |= open_rc == 0;
		sp->bytes -= f->bytes;
		spool_file_free(sp, f);
	} else if (f->last_seq == 0 && f->lost_bytes == 0) {
		if (unlink(f->path) < 0 && errno != ENOENT)
			log_warn("spool: cannot remove %s", f->path);
		spool_file_free(sp, f);
	}
	return open_rc;
}

static void
spool_unopened_free(struct spool *sp, struct unopened *u)
{
	TAILQ_REMOVE(&sp->unopened, u, next);
	free(u->run);
	free(u);
}

static int
spool_recover(struct spool *sp, DIR *dir)
{
	struct found *list = NULL, one;
	struct dirent *de;
	size_t count = 0;

	while ((de = readdir(dir)) != NULL) {
		if (!spool_found_take(sp, de, &one))
			continue;
		list = xreallocarray(list, count + 1, sizeof(*list));
		list[count++] = one;
	}
	if (count > 0)
		qsort(list, count, sizeof(*list), spool_found_compare);
	for (size_t i = 0; i < count; i++)
		if (spool_run_recover(sp, list[i].run) < 0) {
			struct unopened *u = xcalloc(1, sizeof(*u));

			u->run = xstrdup(list[i].run);
			TAILQ_INSERT_TAIL(&sp->unopened, u, next);
		}
	free(list);
	return 0;
}

int
spool_open(const char *path, uint64_t max_bytes, struct spool **ret)
{
	struct spool *sp;
	DIR *dir;
	int rc;

	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		rc = -errno;
		log_warn("spool: cannot create the directory %s", path);
		return rc;
	}
	dir = opendir(path);
	if (dir == NULL) {
		rc = -errno;
		log_warn("spool: cannot open the directory %s", path);
		return rc;
	}
	sp = xcalloc(1, sizeof(*sp));
	sp->dir = xstrdup(path);
	sp->max_bytes = max_bytes;
	sp->dir_fd = fcntl(dirfd(dir), F_DUPFD_CLOEXEC, 0);
	TAILQ_INIT(&sp->files);
	TAILQ_INIT(&sp->unopened);
	spool_recover(sp, dir);
	closedir(dir);
	*ret = sp;
	return 0;
}

void
spool_free(struct spool *sp)
{
	if (sp == NULL)
		return;
	spool_sync(sp);
	while (!TAILQ_EMPTY(&sp->files))
		spool_file_free(sp, TAILQ_FIRST(&sp->files));
	while (!TAILQ_EMPTY(&sp->unopened))
		spool_unopened_free(sp, TAILQ_FIRST(&sp->unopened));
	close(sp->dir_fd);
	free(sp->dir);
	free(sp);
}

/* Bring the sum below the limit with need more bytes: oldest first, what
 * matters least first. */
static void
spool_make_room(struct spool *sp, uint64_t need)
{
	uint64_t step = sp->max_bytes / STEP_SHARE;
	struct file *f;

	for (int what = LEAVE_ACKED; what <= LEAVE_ANY; what++) {
		TAILQ_FOREACH (f, &sp->files, next) {
			uint64_t over = sp->bytes + need;

			if (over <= sp->max_bytes)
				return;
			over -= sp->max_bytes;
			if (what == LEAVE_ACKED && f->acked_seq == 0)
				continue; /* nothing of it can go */
			if (f->fd >= 0 && f->bytes > 0)
				spool_rewrite(sp, f, (enum leave)what,
				    over > step ? over : step);
		}
	}
}

/* Behind all that is in the file. */
static int
spool_add(struct spool *sp, struct file *f, const struct spool_entry *e)
{
	int rc = spool_file_open(sp, f);

	if (rc == 0 && sp->bytes + spool_entry_bytes(e) > sp->max_bytes)
		spool_make_room(sp, spool_entry_bytes(e));
	if (rc == 0)
		rc = spool_entry_write(f->fd, f->bytes, e);
	if (rc < 0)
		return rc;
	f->dirty = 1;
	f->bytes += spool_entry_bytes(e);
	sp->bytes += spool_entry_bytes(e);
	return 0;
}

/* Records held in memory are older than new ones, and go first. */
static int
spool_add_held(struct spool *sp, struct file *f)
{
	struct held *h;
	int rc;

	while ((h = TAILQ_FIRST(&f->held)) != NULL) {
		rc = spool_add(sp, f, &h->entry);
		if (rc < 0)
			return rc;
		if (h->entry.seq <= f->sent_seq)
			f->sent_at = f->bytes;
		spool_held_drop(sp, f, h);
	}
	return 0;
}

/* The disk is full: keep a little in memory, the oldest raw goes first. */
static void
spool_hold(struct spool *sp, struct file *f, const struct spool_entry *e)
{
	struct held *h, *old, *tmp;

	TAILQ_FOREACH_SAFE (old, &f->held, next, tmp) {
		if (sp->held_bytes + e->len_bytes <= MEMORY_MAX)
			break;
		if (!old->entry.raw)
			continue;
		spool_lose(f, &old->entry);
		spool_held_drop(sp, f, old);
	}
	if (sp->held_bytes + e->len_bytes > MEMORY_MAX) {
		spool_lose(f, e);
		return;
	}
	h = xcalloc(1, sizeof(*h));
	h->entry = *e;
	h->entry.line = xstrndup(e->line, e->len_bytes);
	sp->held_bytes += e->len_bytes;
	f->tail_seq = e->seq;
	TAILQ_INSERT_TAIL(&f->held, h, next);
}

static void
spool_result_set(const struct spool *sp, int *result, int rc,
    const char *meaning)
{
	if (rc < 0 && *result == 0)
		log_warnx("spool %s: cannot write: %s; %s", sp->dir,
		    strerror(-rc), meaning);
	if (rc == 0 && *result < 0)
		log_info("spool %s: writing again", sp->dir);
	*result = rc;
}

void
spool_append(struct spool *sp, const char *run, uint64_t seq, int raw,
    const char *line, size_t len_bytes)
{
	struct spool_entry e = { seq, raw, (char *)line, len_bytes };
	struct file *f = spool_file_find(sp, run);
	int rc;

	if (f == NULL)
		f = spool_file_new(sp, run);
	f->last_seq = seq;
	if (len_bytes == 0 || len_bytes > RECORD_LINE_MAX ||
	    spool_entry_bytes(&e) > sp->max_bytes / 2) {
		spool_lose(f, &e);
		return;
	}
	rc = spool_add_held(sp, f);
	if (rc == 0)
		rc = spool_add(sp, f, &e);
	spool_result_set(sp, &sp->write_failed, rc,
	    "keeping records in memory");
	if (rc < 0)
		spool_hold(sp, f, &e);
	else
		f->tail_seq = seq;
}

void
spool_sync(struct spool *sp)
{
	struct file *f;
	int rc = 0;

	TAILQ_FOREACH (f, &sp->files, next) {
		if (!f->dirty)
			continue;
		f->dirty = fdatasync(f->fd) < 0;
		if (f->dirty)
			rc = -errno;
	}
	if (sp->dir_dirty) {
		sp->dir_dirty = fsync(sp->dir_fd) < 0;
		if (sp->dir_dirty)
			rc = -errno;
	}
	spool_result_set(sp, &sp->sync_failed, rc,
	    "a power failure would lose records; retrying with the next sync");
}

int
spool_retry(struct spool *sp)
{
	struct unopened *u, *tmp;
	struct file *f;
	int rc = 0, held = 0;

	TAILQ_FOREACH_SAFE (u, &sp->unopened, next, tmp) {
		if (spool_run_recover(sp, u->run) < 0)
			continue;
		log_info("spool: opened the file of run %s", u->run);
		spool_unopened_free(sp, u);
	}
	TAILQ_FOREACH (f, &sp->files, next) {
		held |= !TAILQ_EMPTY(&f->held);
		if (rc == 0)
			rc = spool_add_held(sp, f);
	}
	if (held)
		spool_result_set(sp, &sp->write_failed, rc,
		    "keeping records in memory");
	spool_sync(sp);
	if (rc == 0)
		rc = sp->sync_failed;
	return TAILQ_EMPTY(&sp->unopened) ? rc : -EAGAIN;
}

/* Nothing of the file waits any more. */
static void
spool_file_done(struct spool *sp, struct file *f)
{
	sp->bytes -= f->bytes;
	f->bytes = 0;
	f->sent_at = 0;
	/* If the file cannot be removed, nothing of it is sent again. A file
	 * that could not be replaced is also the one that was kept aside. */
	if (f->fd >= 0 && f->failed == 0 && ftruncate(f->fd, 0) < 0)
		log_warn("spool: cannot truncate %s", f->path);
	if (f->finished && f->lost_records == 0) {
		if (unlink(f->path) < 0 && errno != ENOENT)
			log_warn("spool: cannot remove %s", f->path);
		spool_file_free(sp, f);
	}
}

void
spool_ack(struct spool *sp, const char *run, uint64_t seq)
{
	struct file *f = spool_file_find(sp, run);
	struct held *h;

	if (f == NULL || seq <= f->acked_seq)
		return;
	f->acked_seq = seq < f->last_seq ? seq : f->last_seq;
	if (f->sent_seq < f->acked_seq) {
		f->sent_seq = f->acked_seq;
		if (f->fd >= 0)
			spool_sent_find(f);
	}
	while ((h = TAILQ_FIRST(&f->held)) != NULL && h->entry.seq <= seq)
		spool_held_drop(sp, f, h);
	if (!spool_file_waits(f))
		spool_file_done(sp, f);
}

void
spool_finish(struct spool *sp, const char *run)
{
	struct file *f = spool_file_find(sp, run);

	if (f == NULL)
		return;
	f->finished = 1;
	if (!spool_file_waits(f))
		spool_file_done(sp, f);
}

void
spool_rewind(struct spool *sp)
{
	struct file *f;

	TAILQ_FOREACH (f, &sp->files, next) {
		f->failed = 0;
		f->sent_seq = f->acked_seq;
		if (f->fd >= 0)
			spool_sent_find(f);
	}
}

/* As spool_next, for records on disk. Entries that were damaged there meanwhile
 * are lost, and their number is unknown. Return -errno if the file could not be
 * read; the next call continues with the records that could. */
static int
spool_next_on_disk(struct spool *sp, struct file *f, size_t max_bytes,
    struct spool_entry *ret)
{
	struct spool_scan w = { .fd = f->fd,
		.at = f->sent_at,
		.end = f->bytes,
		.seq = f->sent_seq };
	int rc;

	if (f->failed < 0)
		return f->failed;
	rc = w.at < w.end ? spool_entry_next(&w, ret) : 0;
	if (rc > 0 && ret->len_bytes > max_bytes) {
		free(ret->line);
		return 0;
	}
	if (w.skipped > 0) {
		log_warnx("spool %s: skipped %llu damaged bytes", f->run,
		    (unsigned long long)w.skipped);
		f->lost_bytes += w.skipped;
		f->lost_records++;
	}
	f->sent_at = w.at;
	f->sent_seq = w.seq;
	if (w.error < 0) {
		f->failed = spool_rewrite(sp, f, LEAVE_BAD, 0);
		if (f->failed < 0)
			log_warnx("spool: cannot replace %s, which cannot be "
				  "read: %s; retrying with the next session",
			    f->path, strerror(-f->failed));
		return w.error;
	}
	if (f->sent_at == f->bytes && TAILQ_EMPTY(&f->held))
		f->tail_seq = f->sent_seq; /* nothing else will be acked */
	return rc;
}

int
spool_next(struct spool *sp, const char *run, size_t max_bytes,
    struct spool_entry *ret)
{
	struct file *f = spool_file_find(sp, run);
	struct held *h;
	int rc;

	if (f == NULL)
		return 0;
	rc = spool_next_on_disk(sp, f, max_bytes, ret);
	if (rc != 0)
		return rc > 0;
	TAILQ_FOREACH (h, &f->held, next)
		if (h->entry.seq > f->sent_seq)
			break;
	if (h == NULL || h->entry.len_bytes > max_bytes)
		return 0;
	*ret = h->entry;
	ret->line = xstrndup(h->entry.line, h->entry.len_bytes);
	f->sent_seq = ret->seq;
	return 1;
}

void
spool_walk(struct spool *sp,
    void (*each)(const struct spool_run *sr, void *arg), void *arg)
{
	struct file *f, *tmp;

	TAILQ_FOREACH_SAFE (f, &sp->files, next, tmp) {
		struct spool_run sr = { f->run, f->last_seq };

		each(&sr, arg);
	}
}

int
spool_lost(struct spool *sp, const char *run, uint64_t *ret_records,
    uint64_t *ret_bytes)
{
	struct file *f = spool_file_find(sp, run);

	if (f == NULL || f->lost_records == 0)
		return 0;
	*ret_records = f->lost_records;
	*ret_bytes = f->lost_bytes;
	f->lost_records = f->lost_bytes = 0;
	if (f->finished && !spool_file_waits(f))
		spool_file_done(sp, f);
	return 1;
}

uint64_t
spool_bytes(const struct spool *sp)
{
	return sp->bytes + sp->held_bytes;
}

int
spool_can_retry(const struct spool *sp)
{
	return sp->write_failed < 0 || sp->sync_failed < 0 ||
	    !TAILQ_EMPTY(&sp->unopened);
}

const char *
spool_alarm(const struct spool *sp)
{
	int rc = sp->write_failed < 0 ? sp->write_failed : sp->sync_failed;

	if (rc == 0)
		return sp->unreadable || !TAILQ_EMPTY(&sp->unopened)
		    ? "spool: a file cannot be read; see the agent's log"
		    : NULL;
	return rc == -ENOSPC || rc == -EDQUOT
	    ? "spool: the disk is full"
	    : "spool: cannot write; see the agent's log";
}
