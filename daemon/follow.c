/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c - a collector that waits for another one's end. Of a file it keeps a
 * copy, by HTTPS: the file, then what is added to its log, piece by piece; a
 * copy is whole before it replaces the one before, and what was asked for next
 * is on our disk. Of a database it watches who leads.
 */
#include "daemon/follow.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/file.h"
#include "common/log.h"
#include "common/member.h"
#include "common/notify.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/pki.h"

#define ASK_LIMIT_S  20L /* of one piece */
#define ANSWER_MAX   (4 * 1024 * 1024)
#define LOOK_NS      (100 * CLK_NS_PER_MS) /* when there was nothing new */
#define RETRY_MIN_NS (500 * CLK_NS_PER_MS)
#define RETRY_MAX_NS (10 * CLK_NS_PER_S)

struct follower {
	const char *dir; /* collector.state_dir */
	const char *of;  /* collector.copy_of */
	CURL *curl;
	struct curl_slist *head;
	char *got; /* the answer: a line of JSON, then bytes */
	size_t got_bytes;
	json_t *piece; /* that line, until the next is asked for */
	const char *bytes;
	size_t len_bytes;
	char name[16], path[PATH_MAX]; /* of the folder, and of its store */
	int log_fd;
	uint64_t hold, generation, from, term;
	int is_whole;
};

static volatile sig_atomic_t is_ending;

static void
follow_signal_cb(int sig)
{
	(void)sig;
	is_ending = 1;
}

/* ---- what a folder holds ---- */

static json_t *
follow_mark_read(const char *dir)
{
	char *path = xasprintf("%s/copy", dir);
	json_t *mark = json_load_file(path, 0, NULL);

	free(path);
	return mark;
}

uint64_t
follow_term(const char *dir)
{
	char *path = xasprintf("%s/term", dir);
	uint64_t term = (uint64_t)file_number(path, 1, 1);

	free(path);
	return term;
}

int
follow_check(const struct settings *s, struct err *err)
{
	const char *of = conf_string(s->conf, "collector", "copy_of");
	char *path = xasprintf("%s/coalmine.db", s->store.dir);
	json_t *mark = follow_mark_read(s->store.dir);
	int has_store = access(path, F_OK) == 0, rc = 0;

	if (of[0] != '\0' && (mark != NULL || !has_store))
		rc = 1;
	else if (of[0] != '\0')
		log_warnx("collector.copy_of is not followed: %s is this "
			  "machine's own; to copy again, move it away",
		    path);
	else if (mark != NULL)
		rc = err_set(err, -EINVAL,
		    "%.300s holds a copy of %.200s: coalmined --takeover makes "
		    "it this machine's store",
		    s->store.dir, member_text(mark, "of"));
	json_decref(mark);
	free(path);
	return rc;
}

/* ---- asking ---- */

static size_t
follow_got_cb(char *data, size_t size, size_t count, void *arg)
{
	struct follower *f = arg;
	size_t bytes = size * count;

	if (f->got_bytes + bytes > ANSWER_MAX)
		return 0;
	memcpy(f->got + f->got_bytes, data, bytes);
	f->got_bytes += bytes;
	f->got[f->got_bytes] = '\0';
	return bytes;
}

static int
follow_progress_cb(void *arg, curl_off_t a, curl_off_t b, curl_off_t c,
    curl_off_t d)
{
	(void)arg;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return is_ending;
}

static int
follow_follower_open(struct follower *f, const struct settings *s)
{
	const struct conf *c = s->conf;
	char *url;

	f->dir = s->store.dir;
	f->of = conf_string(c, "collector", "copy_of");
	f->log_fd = -1;
	f->got = xcalloc(1, ANSWER_MAX + 1);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	f->curl = curl_easy_init();
	f->head = curl_slist_append(NULL, "Content-Type: application/json");
	if (f->curl == NULL || f->head == NULL)
		return -ENOMEM;
	url = xasprintf("%.*s/api/v1/db/ship",
	    (int)(strlen(f->of) - (f->of[strlen(f->of) - 1] == '/')), f->of);
	curl_easy_setopt(f->curl, CURLOPT_URL, url);
	free(url);
	curl_easy_setopt(f->curl, CURLOPT_PROTOCOLS_STR, "https");
	curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, f->head);
	curl_easy_setopt(f->curl, CURLOPT_USERAGENT,
	    "coalmined/" COALMINE_VERSION);
	curl_easy_setopt(f->curl, CURLOPT_TIMEOUT, ASK_LIMIT_S);
	curl_easy_setopt(f->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(f->curl, CURLOPT_WRITEFUNCTION, follow_got_cb);
	curl_easy_setopt(f->curl, CURLOPT_WRITEDATA, f);
	curl_easy_setopt(f->curl, CURLOPT_XFERINFOFUNCTION, follow_progress_cb);
	curl_easy_setopt(f->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(f->curl, CURLOPT_CAINFO, conf_string(c, "tls", "ca"));
	curl_easy_setopt(f->curl, CURLOPT_SSLCERT,
	    conf_string(c, "tls", "cert"));
	curl_easy_setopt(f->curl, CURLOPT_SSLKEY, conf_string(c, "tls", "key"));
	return 0;
}

/* The next piece. -ESTALE: begin anew; -EIO: later. */
static int
follow_ask(struct follower *f, int of_log, struct err *err)
{
	json_t *want = json_pack("{s:I, s:b, s:I, s:I}", "hold",
	    (json_int_t)f->hold, "log", of_log, "generation",
	    (json_int_t)f->generation, "from", (json_int_t)f->from);
	char *text = json_dumps(want, JSON_COMPACT), *end;
	long status = 0;
	CURLcode rc;

	f->got_bytes = 0;
	f->got[0] = '\0';
	curl_easy_setopt(f->curl, CURLOPT_POSTFIELDS, text);
	rc = curl_easy_perform(f->curl);
	curl_easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
	json_decref(want);
	free(text);
	if (rc != CURLE_OK)
		return err_set(err, -EIO, "%.200s: %s", f->of,
		    curl_easy_strerror(rc));
	end = memchr(f->got, '\n', f->got_bytes);
	if (status == 409)
		return err_set(err, -ESTALE, "%.200s: %.300s", f->of, f->got);
	if (status != 200 || end == NULL)
		return err_set(err, -EIO, "%.200s: status %ld: %.300s", f->of,
		    status, f->got);
	json_decref(f->piece);
	f->piece = json_loadb(f->got, (size_t)(end - f->got), 0, NULL);
	f->bytes = end + 1;
	f->len_bytes = f->got_bytes - (size_t)(f->bytes - f->got);
	if (member_unsigned(f->piece, "hold") == 0)
		return err_set(err, -EIO, "%.200s: not a collector's answer",
		    f->of);
	return 0;
}

/* ---- copying ---- */

static int
follow_put(int fd, const char *bytes, size_t len_bytes, uint64_t at)
{
	while (len_bytes > 0) {
		ssize_t n = pwrite(fd, bytes, len_bytes, (off_t)at);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			len_bytes -= (size_t)n;
			at += (uint64_t)n;
		}
	}
	return 0;
}

static void
follow_folder_empty(const char *dir, const char *name)
{
	static const char *const ends[] = { "/coalmine.db", "/coalmine.db-wal",
		"/coalmine.db-shm", "" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		char *path = xasprintf("%s/%s%s", dir, name, ends[i]);

		(void)remove(path);
		free(path);
	}
}

/* In the folder of two that is not in use. */
static int
follow_folder_new(struct follower *f)
{
	json_t *mark = follow_mark_read(f->dir);
	int fd;

	snprintf(f->name, sizeof(f->name), "%s",
	    strcmp(member_text(mark, "folder"), "copy-a") == 0 ? "copy-b"
							       : "copy-a");
	json_decref(mark);
	follow_folder_empty(f->dir, f->name);
	str_format(f->path, sizeof(f->path), "%s/%s", f->dir, f->name);
	if (mkdir(f->path, 0700) < 0)
		return -errno;
	str_format(f->path, sizeof(f->path), "%s/%s/coalmine.db", f->dir,
	    f->name);
	fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int
follow_copy_file(struct follower *f, struct err *err)
{
	uint64_t end = 1;
	int fd = follow_folder_new(f), rc = fd < 0 ? fd : 0;

	f->hold = f->generation = f->from = 0;
	f->is_whole = 0;
	while (rc == 0 && f->from < end && !is_ending) {
		rc = follow_ask(f, 0, err);
		if (rc < 0)
			break;
		f->hold = member_unsigned(f->piece, "hold");
		end = member_unsigned(f->piece, "end");
		rc = follow_put(fd, f->bytes, f->len_bytes, f->from);
		f->from += f->len_bytes;
		if (rc == 0 && f->len_bytes == 0 && f->from < end)
			rc = -EIO;
		notify_status("copying %s: %" PRIu64 " of %" PRIu64 " bytes",
		    f->of, f->from, end);
		notify_watchdog();
	}
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	f->from = 0;
	return rc;
}

/* A new log begins: the copied one is written into the file. */
static int
follow_log_begin(struct follower *f, uint64_t generation, struct err *err)
{
	char *path = xasprintf("%s-wal", f->path);
	int rc = 0;

	if (f->log_fd >= 0)
		close(f->log_fd);
	f->log_fd = -1;
	if (f->generation != 0)
		rc = store_copy_apply(f->path, err);
	if (rc == 0)
		f->log_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0600);
	if (rc == 0 && f->log_fd < 0)
		rc = -errno;
	if (rc == 0) {
		f->generation = generation;
		f->from = 0;
	}
	free(path);
	return rc;
}

/* hold: 0, or that of a place in the log up to which all is on our disk. */
static int
follow_mark_write(const struct follower *f, uint64_t hold, struct err *err)
{
	json_t *mark = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "of", f->of,
	    "folder", f->name, "term", (json_int_t)f->term, "hold",
	    (json_int_t)hold, "generation", (json_int_t)f->generation, "from",
	    (json_int_t)f->from);
	char *path = xasprintf("%s/copy", f->dir);
	char *text = json_dumps(mark, 0);
	int rc = pki_file_replace(path, 0600, text, err);

	json_decref(mark);
	free(text);
	free(path);
	return rc;
}

/* From now on the folder is what a takeover takes. */
static int
follow_whole(struct follower *f, struct err *err)
{
	json_t *old = follow_mark_read(f->dir);
	const char *before = member_text(old, "folder");
	int rc;

	f->term = member_unsigned(f->piece, "term");
	rc = follow_mark_write(f, 0, err);
	if (rc == 0 && before[0] != '\0' && strcmp(before, f->name) != 0)
		follow_folder_empty(f->dir, before);
	if (rc == 0) {
		f->is_whole = 1;
		log_info("the copy of %s is whole, and goes on", f->of);
	}
	json_decref(old);
	return rc;
}

/* 1: it goes on where another life of ours ended well, once: after a crash
 * nobody knows what of the log is on the disk. */
static int
follow_resume(struct follower *f)
{
	json_t *mark = follow_mark_read(f->dir);
	char *log = xasprintf("%s/%s/coalmine.db-wal", f->dir,
	    member_text(mark, "folder"));
	struct stat st = { 0 };
	struct err err;
	int rc;

	f->hold = member_unsigned(mark, "hold");
	f->generation = member_unsigned(mark, "generation");
	f->from = member_unsigned(mark, "from");
	f->term = member_unsigned(mark, "term");
	snprintf(f->name, sizeof(f->name), "%s", member_text(mark, "folder"));
	str_format(f->path, sizeof(f->path), "%s/%s/coalmine.db", f->dir,
	    f->name);
	rc = f->hold != 0 && strcmp(member_text(mark, "of"), f->of) == 0;
	if (rc && f->generation != 0) {
		f->log_fd = open(log, O_RDWR | O_CLOEXEC);
		rc = f->log_fd >= 0 && fstat(f->log_fd, &st) == 0 &&
		    (uint64_t)st.st_size == f->from;
	}
	f->is_whole = rc && follow_mark_write(f, 0, &err) == 0;
	if (f->is_whole)
		log_info("the copy of %s is whole, and goes on where it ended",
		    f->of);
	json_decref(mark);
	free(log);
	return f->is_whole;
}

/* One piece. 1 when there was something new. */
static int
follow_copy_log(struct follower *f, struct err *err)
{
	uint64_t generation, end;
	int rc = follow_ask(f, 1, err);

	if (rc < 0)
		return rc;
	generation = member_unsigned(f->piece, "generation");
	end = member_unsigned(f->piece, "end");
	if (generation != f->generation)
		rc = follow_log_begin(f, generation, err);
	if (rc == 0 && f->len_bytes > 0)
		rc = follow_put(f->log_fd, f->bytes, f->len_bytes, f->from);
	if (rc == 0 && f->len_bytes > 0 && fdatasync(f->log_fd) < 0)
		rc = -errno;
	if (rc < 0)
		return rc; /* from here on it is asked for again */
	f->from += f->len_bytes;
	if (f->from == end && !f->is_whole)
		rc = follow_whole(f, err);
	notify_status("copy of %s, %" PRIu64 " bytes behind", f->of,
	    end - f->from);
	notify_watchdog();
	return rc < 0 ? rc : f->len_bytes > 0;
}

/* Pieces without end; an interruption is of the network or of our disk. */
static int
follow_copy(struct follower *f, struct err *err)
{
	int rc = follow_resume(f) ? 0 : follow_copy_file(f, err);

	while (rc >= 0 && !is_ending) {
		rc = follow_copy_log(f, err);
		if (rc == 0)
			clk_sleep_ns(LOOK_NS);
		/* After a short interruption the collector still has our
		 * position. */
		for (int again = 0; rc == -EIO && again < 5 && !is_ending;
		     again++) {
			clk_sleep_ns(RETRY_MIN_NS);
			notify_watchdog();
			rc = follow_copy_log(f, err);
		}
	}
	return rc;
}

int
follow_run(const struct settings *s)
{
	struct follower f = { 0 };
	struct sigaction act = { .sa_handler = follow_signal_cb };
	uint64_t pause_ns = RETRY_MIN_NS;
	char last[ERR_TEXT_BYTES] = "";
	int lock_fd, rc = store_lock(&s->store, &lock_fd);

	if (rc < 0)
		return rc;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	rc = follow_follower_open(&f, s);
	notify_ready();
	while (rc == 0 && !is_ending) {
		struct err err = { 0 };
		int got = follow_copy(&f, &err);

		if (is_ending)
			break;
		if (err.text[0] == '\0')
			err_say(&err, "%s", strerror(-got));
		if (strcmp(err.text, last) != 0)
			log_warnx("the copy begins anew: %s", err.text);
		snprintf(last, sizeof(last), "%s", err.text);
		if (f.is_whole)
			pause_ns = RETRY_MIN_NS;
		clk_sleep_ns(pause_ns / 2 + rng_entropy() % (pause_ns / 2));
		pause_ns = pause_ns * 2 > RETRY_MAX_NS ? RETRY_MAX_NS
						       : pause_ns * 2;
		notify_watchdog();
	}
	notify_stopping();
	if (f.is_whole)
		(void)follow_mark_write(&f, f.hold, &(struct err){ 0 });
	if (f.log_fd >= 0)
		close(f.log_fd);
	curl_slist_free_all(f.head);
	curl_easy_cleanup(f.curl);
	json_decref(f.piece);
	free(f.got);
	close(lock_fd);
	return rc;
}

int
follow_takeover(const struct settings *s, struct err *err)
{
	json_t *mark = follow_mark_read(s->store.dir);
	const char *folder = member_text(mark, "folder");
	char *path = xasprintf("%s/%s/coalmine.db", s->store.dir, folder);
	char *term_path = xasprintf("%s/term", s->store.dir);
	char *mark_path = xasprintf("%s/copy", s->store.dir);
	uint64_t term = member_unsigned(mark, "term") + 1;
	char text[32];
	int rc;

	if (term <= follow_term(s->store.dir))
		term = follow_term(s->store.dir) + 1;
	snprintf(text, sizeof(text), "%" PRIu64 "\n", term);
	if (folder[0] == '\0')
		rc = err_set(err, -ENOENT,
		    "%.300s has no whole copy of a collector's store",
		    s->store.dir);
	else
		rc = store_restore(s->store.dir, path, err);
	if (rc == 0)
		rc = pki_file_replace(term_path, 0644, text, err);
	if (rc == 0 && unlink(mark_path) < 0)
		rc = err_set(err, -errno, "%.300s: %s", mark_path,
		    strerror(errno));
	if (rc == 0) {
		err_say(err,
		    "the copy of %.200s is this machine's store, of term "
		    "%" PRIu64 ": start coalmined",
		    member_text(mark, "of"), term);
		follow_folder_empty(s->store.dir, folder);
	}
	json_decref(mark);
	free(mark_path);
	free(term_path);
	free(path);
	return rc;
}

/* ---- where the database is a server's ---- */

/* By our clock: the server's may jump. */
static void
follow_leader_cb(int status, json_t *result, void *arg)
{
	struct follow_leader *f = arg;
	const char *mark = member_text(result, "mark");

	f->asked = 0;
	f->is_over = 0;
	if (status == 0) {
		store_set_leader(f->store, member_text(result, "who"));
		f->is_free = mark[0] == '\0';
		if (strcmp(mark, f->mark) != 0)
			f->mark_ns = clk_ns();
		else
			f->is_over = clk_ns() - f->mark_ns >
			    member_unsigned(result, "lease_ns");
		snprintf(f->mark, sizeof(f->mark), "%s", mark);
	}
	json_decref(result);
}

int
follow_leader_look(struct follow_leader *f, struct store *store)
{
	json_t *args = json_object();

	if (!f->asked && f->is_over) {
		log_info("collector %s has not been heard of for a lease: its "
			 "session with the database is ended",
		    store_leader(store));
		json_object_set_new(args, "depose", json_string(f->mark));
	}
	if (!f->asked) {
		f->store = store;
		f->asked = 1;
		store_ask(store, STORE_LEADER, args, follow_leader_cb, f);
	}
	json_decref(args);
	return f->is_free;
}
