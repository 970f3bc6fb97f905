/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroll.c - tokens and certificates as lines of one file, and the rules that
 * decide whether a request is signed.
 */
#include "daemon/agents/enroll.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "pki/pki_file.h"
#include "schema/strict.h"

/* Maximum length of a common name (X.520). */
#define NAME_MAX_BYTES 64
/* Tokens cannot be guessed; this limit keeps attempts out of the log and off
 * the loop. */
#define WRONG_MAX   5
#define WRONG_S     60
#define WRONG_SLOTS 64
/* A node that cannot store its certificate requests it again, by the same
 * key. */
#define SAME_KEY_MAX 8 /* in SAME_KEY_S */
#define SAME_KEY_S   3600
/* The file is rewritten without expired lines once they are this many, and half
 * of it. */
#define ENDED_MIN 1000
#define PRUNE_S   3600
/* Keep expired tokens for this long, so that their use is answered with
 * "expired". */
#define TOKEN_KEPT_S PKI_DAY_S

struct token {
	char digest[PKI_DIGEST_TEXT];
	struct hostlist names; /* empty: any */
	int uses, used;
	int64_t end_unix_s;
};

struct issued {
	char *name;
	char key[PKI_DIGEST_TEXT];
	struct token *token; /* NULL: renewed, or expired */
	int is_use;          /* counts as a use; 0: a repeated request */
	int64_t end_unix_s;
	int64_t signed_unix_s; /* 0: before the start */
};

/* A caller that waits until the file is synced. */
struct wait {
	TAILQ_ENTRY(wait) link;
	enroll_cb *cb;
	void *arg;
};
TAILQ_HEAD(waits, wait);

/* A thread that syncs the file, and rewrites it. */
struct syncer {
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	int asked, stopping, rc;
	size_t ended; /* expired lines of the file */
	int rewrite;
	int done; /* eventfd: readable when a sync is done */
};

struct enroll {
	char *path;
	pthread_mutex_t file; /* held to write, and while fd is replaced */
	int fd;
	struct pki_authority ca;
	X509 *root;
	int64_t life_s;
	struct token **tokens;
	size_t token_count;
	struct issued *issued;
	size_t issued_count;
	size_t kept_count;    /* those on disk */
	size_t asked_count;   /* on disk after the current sync */
	struct waits waiting; /* for the next sync */
	struct waits syncing; /* for the current sync */
	struct syncer *syncer;
	struct event *synced, *prune;
	int64_t second; /* of the count */
	int count;
	struct {
		uint64_t hash;
		int64_t since_unix_s;
		int count;
	} wrong[WRONG_SLOTS];
};

/* No constant-time comparison: the digest does not reveal the token. */
static struct token *
enroll_token_find(const struct enroll *e, const char *digest)
{
	for (size_t i = 0; i < e->token_count; i++)
		if (strcmp(e->tokens[i]->digest, digest) == 0)
			return e->tokens[i];
	return NULL;
}

static struct token *
enroll_token_add(struct enroll *e, const char *digest, struct hostlist names,
    int uses, int64_t end_unix_s)
{
	struct token *t = xcalloc(1, sizeof(*t));

	snprintf(t->digest, sizeof(t->digest), "%s", digest);
	t->names = names; /* handed over */
	t->uses = uses;
	t->end_unix_s = end_unix_s;
	e->tokens = xreallocarray(e->tokens, e->token_count + 1,
	    sizeof(struct token *));
	e->tokens[e->token_count++] = t;
	return t;
}

/* A key of a name counts once, even if it repeats its request. */
static void
enroll_issued_add(struct enroll *e, const char *name, const char *key,
    struct token *t, int64_t end_unix_s)
{
	struct issued *n;
	int again = 0;

	for (size_t i = 0; t != NULL && i < e->issued_count; i++)
		again |= e->issued[i].token == t &&
		    strcmp(e->issued[i].name, name) == 0;
	if (t != NULL && !again)
		t->used++;
	e->issued = xreallocarray(e->issued, e->issued_count + 1,
	    sizeof(struct issued));
	n = &e->issued[e->issued_count++];
	*n = (struct issued){ .name = xstrdup(name),
		.token = t,
		.is_use = t != NULL && !again,
		.end_unix_s = end_unix_s };
	snprintf(n->key, sizeof(n->key), "%s", key);
}

static int
enroll_is_digest(const char *text)
{
	return strlen(text) == PKI_DIGEST_TEXT - 1;
}

static int
enroll_token_is_over(const struct token *t, int64_t now_unix_s)
{
	return t->end_unix_s + TOKEN_KEPT_S < now_unix_s;
}

/* Add the line to e. Return 1 if it stays in the file; 0 if it has expired;
 * -EINVAL if it is malformed. */
static int
enroll_object_take(struct enroll *e, const json_t *o, int64_t now_unix_s)
{
	const char *digest = member_text(o, "token");
	const char *names = member_text_or(o, "names", NULL);
	const char *name = member_text(o, "name"), *key = member_text(o, "key");
	int64_t end_unix_s = member_int(o, "end_unix_s");
	struct hostlist list = { NULL, 0 };
	json_int_t uses = member_int(o, "uses");
	struct token *t;

	if (names != NULL) {
		if (!enroll_is_digest(digest) || uses < 1 ||
		    uses > HOSTLIST_MAX)
			return -EINVAL;
		if (enroll_token_is_over(&(struct token){ .end_unix_s =
							      end_unix_s },
			now_unix_s))
			return 0;
		if (strcmp(names, "*") != 0 &&
		    hostlist_parse(names, &list, NULL) < 0)
			return -EINVAL;
		enroll_token_add(e, digest, list, (int)uses, end_unix_s);
		return 1;
	}
	if (name[0] == '\0' || !enroll_is_digest(key))
		return -EINVAL;
	t = enroll_is_digest(digest) ? enroll_token_find(e, digest) : NULL;
	if (end_unix_s < now_unix_s && t == NULL)
		return 0;
	enroll_issued_add(e, name, key, t, end_unix_s);
	return 1;
}

static int
enroll_line_take(struct enroll *e, const char *line, int64_t now_unix_s)
{
	json_t *o;
	int rc;

	if (strict_object(line, strlen(line), 2, &o, NULL) < 0)
		return -EINVAL;
	rc = enroll_object_take(e, o, now_unix_s);
	json_decref(o);
	return rc;
}

static void
enroll_lists_free(struct enroll *e)
{
	for (size_t i = 0; i < e->token_count; i++) {
		hostlist_clear(&e->tokens[i]->names);
		free(e->tokens[i]);
	}
	for (size_t i = 0; i < e->issued_count; i++)
		free(e->issued[i].name);
	free(e->tokens);
	free(e->issued);
}

/* ---- Rewrite the file without expired lines. ---- */

struct rewrite {
	struct enroll known; /* by the lines so far */
	int64_t now_unix_s;
	FILE *to;
};

static int
enroll_rewrite_line_cb(char *line, int ended, void *arg)
{
	struct rewrite *w = arg;

	(void)ended;
	if (enroll_line_take(&w->known, line, w->now_unix_s) <= 0)
		return 0;
	return fprintf(w->to, "%s\n", line) < 0 ? -EIO : 0;
}

/* Copy the lines of the next most_bytes of from that are still valid. */
static int
enroll_rewrite_part(struct rewrite *w, FILE *from, int64_t most_bytes)
{
	int rc = file_lines(from, most_bytes, enroll_rewrite_line_cb, w);

	if (rc == 0 && (fflush(w->to) != 0 || fsync(fileno(w->to)) < 0))
		rc = -errno;
	return rc;
}

/* Copy the lines that were added meanwhile and replace the file, while writers
 * wait. The new file is synced before it replaces the old one. */
static int
enroll_rewrite_swap(struct enroll *e, struct rewrite *w, FILE *from,
    const char *fresh, struct err *err)
{
	struct stat named, made;
	int rc;

	pthread_mutex_lock(&e->file);
	rc = enroll_rewrite_part(w, from, INT64_MAX);
	if (rc < 0)
		(void)err_set(err, rc, "%s: %s", fresh, strerror(-rc));
	else
		rc = file_rename_synced(fresh, e->path, err);
	/* If only the sync of the folder failed, the new file has the name, and
	 * lines in the old one would be lost. */
	if (e->fd >= 0 && stat(e->path, &named) == 0 &&
	    fstat(fileno(w->to), &made) == 0 && named.st_ino == made.st_ino &&
	    dup3(fileno(w->to), e->fd, O_CLOEXEC) < 0)
		rc = err_set(err, -errno, "%s: %s", e->path, strerror(errno));
	pthread_mutex_unlock(&e->file);
	return rc;
}

static int
enroll_rewrite(struct enroll *e, int64_t now_unix_s, struct err *err)
{
	char *fresh = xasprintf("%s.new", e->path);
	struct rewrite w = { .now_unix_s = now_unix_s };
	struct stat st;
	FILE *from;
	int fd, rc = file_open(e->path, &from, err);

	if (rc < 0) {
		free(fresh);
		return rc;
	}
	unlink(fresh); /* of an interrupted attempt */
	fd = open(fresh,
	    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
	    0640);
	w.to = fd < 0 ? NULL : fdopen(fd, "a");
	/* At this point no line is incomplete. */
	pthread_mutex_lock(&e->file);
	if (w.to == NULL || fstat(fileno(from), &st) < 0)
		rc = -errno;
	pthread_mutex_unlock(&e->file);
	if (rc == 0)
		rc = enroll_rewrite_part(&w, from, st.st_size);
	if (rc < 0)
		(void)err_set(err, rc, "%s: %s", fresh, strerror(-rc));
	else
		rc = enroll_rewrite_swap(e, &w, from, fresh, err);
	if (rc < 0)
		unlink(fresh);
	if (w.to != NULL)
		fclose(w.to);
	else if (fd >= 0)
		close(fd);
	fclose(from);
	enroll_lists_free(&w.known);
	free(fresh);
	return rc;
}

/* ---- At the start. ---- */

struct reading {
	struct enroll *e;
	int64_t now_unix_s;
	int changed; /* some lines are expired or malformed */
};

static int
enroll_read_line_cb(char *line, int ended, void *arg)
{
	struct reading *r = arg;
	int rc = enroll_line_take(r->e, line, r->now_unix_s);

	if (rc < 0)
		log_warnx("%s: invalid line skipped: %.40s", r->e->path, line);
	r->changed |= rc <= 0 || !ended;
	return 0;
}

/* Remove expired lines from the file. The last line may be incomplete; its
 * certificate was not sent to any node. */
static int
enroll_read(struct enroll *e, struct err *err)
{
	struct reading r = { .e = e, .now_unix_s = time(NULL) };
	FILE *from;
	int rc = file_open(e->path, &from, err);

	if (rc < 0)
		return rc;
	rc = file_lines(from, INT64_MAX, enroll_read_line_cb, &r);
	fclose(from);
	if (rc < 0)
		return err_set(err, rc, "%s: %s", e->path, strerror(-rc));
	return r.changed ? enroll_rewrite(e, r.now_unix_s, err) : 0;
}

int
enroll_open(const char *state_dir, struct enroll **ret, struct err *err)
{
	struct enroll *e = xcalloc(1, sizeof(*e));
	int rc = 0;

	e->path = xasprintf("%s/enrolled", state_dir);
	e->fd = -1;
	pthread_mutex_init(&e->file, NULL);
	TAILQ_INIT(&e->waiting);
	TAILQ_INIT(&e->syncing);
	if (access(e->path, F_OK) == 0)
		rc = enroll_read(e, err);
	if (rc == 0) {
		e->fd = open(e->path,
		    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		    0640);
		if (e->fd < 0)
			rc = err_set(err, -errno, "%s: %s", e->path,
			    strerror(errno));
	}
	if (rc < 0) {
		enroll_close(e);
		return rc;
	}
	e->kept_count = e->issued_count;
	*ret = e;
	return 0;
}

static int
enroll_syncer_sync(struct enroll *e)
{
	struct syncer *y = e->syncer;
	uint64_t one = 1;
	int rc = fdatasync(e->fd) < 0 ? -errno : 0;

	pthread_mutex_lock(&y->lock);
	y->rc = rc;
	pthread_mutex_unlock(&y->lock);
	return write(y->done, &one, sizeof(one)) < 0 ? -errno : 0;
}

static void
enroll_syncer_rewrite(struct enroll *e)
{
	struct err err;
	int rc = enroll_rewrite(e, time(NULL), &err);

	if (rc < 0) {
		log_warnx("%s; expired certificates stay in %s", err.text,
		    e->path);
		return;
	}
	pthread_mutex_lock(&e->syncer->lock);
	e->syncer->ended = 0;
	pthread_mutex_unlock(&e->syncer->lock);
}

static void *
enroll_syncer_main(void *arg)
{
	struct enroll *e = arg;
	struct syncer *y = e->syncer;
	int sync, rewrite, stop = 0;

	while (!stop) {
		pthread_mutex_lock(&y->lock);
		while (!y->asked && !y->rewrite && !y->stopping)
			pthread_cond_wait(&y->wake, &y->lock);
		stop = y->stopping;
		sync = y->asked;
		rewrite = y->rewrite && !sync;
		y->asked = 0;
		y->rewrite = y->rewrite && sync;
		pthread_mutex_unlock(&y->lock);
		if (!stop && sync && enroll_syncer_sync(e) < 0)
			log_warn("enroll: eventfd");
		if (!stop && rewrite)
			enroll_syncer_rewrite(e);
	}
	return NULL;
}

static void
enroll_waits_end(struct waits *waits, int status)
{
	struct wait *w;

	while ((w = TAILQ_FIRST(waits)) != NULL) {
		TAILQ_REMOVE(waits, w, link);
		w->cb(status, w->arg);
		free(w);
	}
}

static void
enroll_sync_next(struct enroll *e)
{
	struct syncer *y = e->syncer;

	if (TAILQ_EMPTY(&e->waiting) || !TAILQ_EMPTY(&e->syncing))
		return;
	TAILQ_CONCAT(&e->syncing, &e->waiting, link);
	e->asked_count = e->issued_count;
	pthread_mutex_lock(&y->lock);
	y->asked = 1;
	pthread_cond_signal(&y->wake);
	pthread_mutex_unlock(&y->lock);
}

static void
enroll_synced(struct enroll *e, int rc)
{
	struct waits told = TAILQ_HEAD_INITIALIZER(told);

	TAILQ_CONCAT(&told, &e->syncing, link);
	if (rc < 0) {
		log_warnx("%s: %s", e->path, strerror(-rc));
		/* Certificates that may not be on disk were sent to no agent,
		 * and can be requested again. Their lines stay in the file,
		 * since later lines may follow them: after a restart the same
		 * key is accepted too. */
		while (e->issued_count > e->kept_count) {
			struct issued *n = &e->issued[--e->issued_count];

			if (n->is_use)
				n->token->used--;
			free(n->name);
		}
		TAILQ_CONCAT(&told, &e->waiting, link);
	} else {
		e->kept_count = e->asked_count;
		enroll_sync_next(e);
	}
	enroll_waits_end(&told, rc);
}

static void
enroll_synced_cb(evutil_socket_t fd, short what, void *arg)
{
	struct enroll *e = arg;
	uint64_t count;
	int rc;

	(void)what;
	if (read(fd, &count, sizeof(count)) < 0)
		return;
	pthread_mutex_lock(&e->syncer->lock);
	rc = e->syncer->rc;
	pthread_mutex_unlock(&e->syncer->lock);
	enroll_synced(e, rc);
}

void
enroll_when_synced(struct enroll *e, enroll_cb *cb, void *arg)
{
	struct wait *w = xcalloc(1, sizeof(*w));

	w->cb = cb;
	w->arg = arg;
	TAILQ_INSERT_TAIL(&e->waiting, w, link);
	if (e->syncer != NULL) {
		enroll_sync_next(e);
		return;
	}
	TAILQ_CONCAT(&e->syncing, &e->waiting, link);
	e->asked_count = e->issued_count;
	enroll_synced(e, fdatasync(e->fd) < 0 ? -errno : 0);
}

/* Drop expired entries; return how many lines of the file they have. */
static size_t
enroll_forget(struct enroll *e, int64_t now_unix_s)
{
	size_t was = e->issued_count + e->token_count, kept = 0;

	for (size_t i = 0; i < e->issued_count; i++) {
		struct issued *n = &e->issued[i];

		if (n->token != NULL &&
		    enroll_token_is_over(n->token, now_unix_s))
			n->token = NULL;
		if (n->token != NULL || n->end_unix_s >= now_unix_s)
			e->issued[kept++] = *n;
		else
			free(n->name);
	}
	e->issued_count = e->kept_count = kept;
	kept = 0;
	for (size_t i = 0; i < e->token_count; i++) {
		struct token *t = e->tokens[i];

		if (!enroll_token_is_over(t, now_unix_s)) {
			e->tokens[kept++] = t;
			continue;
		}
		hostlist_clear(&t->names);
		free(t);
	}
	e->token_count = kept;
	return was - e->issued_count - e->token_count;
}

static void
enroll_prune(struct enroll *e, int64_t now_unix_s)
{
	struct syncer *y = e->syncer;
	size_t ended;

	/* Retry in the next hour: certificates wait for the disk. */
	if (!TAILQ_EMPTY(&e->syncing) || e->kept_count != e->issued_count)
		return;
	ended = enroll_forget(e, now_unix_s);
	pthread_mutex_lock(&y->lock);
	y->ended += ended;
	if (y->ended >= ENDED_MIN &&
	    y->ended >= e->issued_count + e->token_count) {
		y->rewrite = 1;
		pthread_cond_signal(&y->wake);
	}
	pthread_mutex_unlock(&y->lock);
}

static void
enroll_prune_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	enroll_prune(arg, time(NULL));
}

int
enroll_start(struct enroll *e, struct event_base *base)
{
	struct syncer *y = xcalloc(1, sizeof(*y));
	int rc;

	pthread_mutex_init(&y->lock, NULL);
	pthread_cond_init(&y->wake, NULL);
	e->syncer = y;
	y->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = y->done < 0
	    ? -errno
	    : -pthread_create(&y->thread, NULL, enroll_syncer_main, e);
	if (rc < 0) {
		log_warnx("enroll: thread: %s", strerror(-rc));
		if (y->done >= 0)
			close(y->done);
		e->syncer = NULL;
		free(y);
		return rc;
	}
	e->prune = event_new(base, -1, EV_PERSIST, enroll_prune_cb, e);
	event_add(e->prune, &(struct timeval){ PRUNE_S, 0 });
	e->synced = event_new(base, y->done, EV_READ | EV_PERSIST,
	    enroll_synced_cb, e);
	event_add(e->synced, NULL);
	return 0;
}

void
enroll_close(struct enroll *e)
{
	struct syncer *y;

	if (e == NULL)
		return;
	y = e->syncer;
	if (y != NULL) {
		event_free(e->synced);
		event_free(e->prune);
		pthread_mutex_lock(&y->lock);
		y->stopping = 1;
		pthread_cond_signal(&y->wake);
		pthread_mutex_unlock(&y->lock);
		pthread_join(y->thread, NULL);
		pthread_cond_destroy(&y->wake);
		pthread_mutex_destroy(&y->lock);
		close(y->done);
		free(y);
	}
	enroll_waits_end(&e->syncing, -ECANCELED);
	enroll_waits_end(&e->waiting, -ECANCELED);
	enroll_lists_free(e);
	pthread_mutex_destroy(&e->file);
	pki_authority_close(&e->ca);
	X509_free(e->root);
	if (e->fd >= 0)
		close(e->fd);
	free(e->path);
	free(e);
}

void
enroll_set(struct enroll *e, struct pki_authority ca, X509 *root,
    int64_t life_s)
{
	pki_authority_close(&e->ca);
	X509_free(e->root);
	e->ca = ca;
	e->root = root;
	e->life_s = life_s;
}

int
enroll_is_on(const struct enroll *e)
{
	return e != NULL && e->ca.key != NULL && e->root != NULL;
}

int
enroll_authority(const struct enroll *e, char ret[PKI_DIGEST_TEXT],
    struct err *err)
{
	if (!enroll_is_on(e))
		return err_set(err, -EPERM,
		    "enrolment is disabled on this collector");
	pki_cert_digest(e->root, ret);
	return 0;
}

/* A line that cannot be written completely is removed again. Without sync the
 * caller has to wait for the thread's sync before it reports the line. */
static int
enroll_line_write(struct enroll *e, json_t *o, int sync, struct err *err)
{
	char *text = json_dumps(o, JSON_COMPACT);
	char *line = xasprintf("%s\n", text != NULL ? text : "");
	off_t end;
	int rc = 0;

	pthread_mutex_lock(&e->file);
	end = lseek(e->fd, 0, SEEK_END);
	errno = ENOSPC; /* of a short write */
	if (text == NULL || end < 0 ||
	    write(e->fd, line, strlen(line)) != (ssize_t)strlen(line) ||
	    (sync && fdatasync(e->fd) < 0)) {
		rc = err_set(err, -errno, "%s: %s", e->path, strerror(errno));
		if (end >= 0 && ftruncate(e->fd, end) < 0)
			log_warn("%s", e->path);
	}
	pthread_mutex_unlock(&e->file);
	free(line);
	free(text);
	json_decref(o);
	return rc;
}

int
enroll_token_new(struct enroll *e, const struct enroll_order *o,
    int64_t now_unix_s, char ret[PKI_TOKEN_TEXT], struct err *err)
{
	int any = strcmp(o->names, "*") == 0, uses = o->uses, rc;
	int64_t end_unix_s = now_unix_s + o->life_s;
	struct hostlist names = { NULL, 0 };
	char text[PKI_TOKEN_TEXT];
	struct pki_token t;

	if (!enroll_is_on(e))
		return err_set(err, -EPERM,
		    "enrolment is disabled on this collector: enroll.ca is "
		    "empty");
	if (o->life_s < 1 || o->life_s > ENROLL_TOKEN_DAYS * PKI_DAY_S)
		return err_set(err, -EINVAL, "expected a validity of 1s to %dd",
		    ENROLL_TOKEN_DAYS);
	if (e->token_count >= ENROLL_TOKENS_MAX)
		return err_set(err, -EBUSY, "the limit of %d tokens is reached",
		    ENROLL_TOKENS_MAX);
	if (!any && (rc = hostlist_parse(o->names, &names, err)) < 0)
		return rc;
	if (uses == 0)
		uses = any ? 1 : (int)names.count;
	rc = pki_token_new(e->root, text, err);
	if (rc == 0)
		rc = pki_token_read(text, &t, err);
	if (rc == 0 && (uses < 1 || uses > HOSTLIST_MAX))
		rc = err_set(err, -EINVAL, "uses: expected 1 to %d",
		    HOSTLIST_MAX);
	if (rc == 0) {
		rc = enroll_line_write(e,
		    json_pack("{s:s, s:s, s:i, s:I}", "token", t.digest,
			"names", o->names, "uses", uses, "end_unix_s",
			(json_int_t)end_unix_s),
		    1, err);
		if (rc < 0)
			log_warnx("cannot create a token: %s", err->text);
	}
	if (rc < 0) {
		hostlist_clear(&names);
		return rc;
	}
	enroll_token_add(e, t.digest, names, uses, end_unix_s);
	memcpy(ret, text, sizeof(text));
	return 0;
}

/* Count a wrong token from this address. Return 1 if there were too many
 * before. */
static int
enroll_wrong(struct enroll *e, const char *addr, int64_t now_unix_s)
{
	uint64_t hash = 1469598103934665603U;
	size_t i;

	for (const char *p = addr; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211U;
	i = hash % WRONG_SLOTS;
	if (e->wrong[i].hash != hash ||
	    now_unix_s - e->wrong[i].since_unix_s >= WRONG_S ||
	    now_unix_s < e->wrong[i].since_unix_s) {
		e->wrong[i].hash = hash;
		e->wrong[i].since_unix_s = now_unix_s;
		e->wrong[i].count = 0;
	}
	if (e->wrong[i].count >= WRONG_MAX)
		return 1;
	e->wrong[i].count++;
	return 0;
}

/* Return 0 if this token permits a certificate for that name and key. */
static int
enroll_token_check(struct enroll *e, const struct enroll_ask *ask,
    const char *key, int64_t now_unix_s, struct token **ret, struct err *err)
{
	struct pki_token text;
	struct token *t;

	/* Check this first: wrong tokens must not block a valid token from the
	 * same address. */
	t = pki_token_read(ask->token, &text, NULL) < 0
	    ? NULL
	    : enroll_token_find(e, text.digest);
	if (t == NULL && enroll_wrong(e, ask->addr, now_unix_s))
		return err_set(err, -EBUSY,
		    "too many wrong tokens from %s; try again in a minute",
		    ask->addr);
	if (t == NULL)
		return err_set(err, -EACCES,
		    "unknown token: this collector did not create it; create "
		    "one here with coalctl pki token");
	if (now_unix_s > t->end_unix_s)
		return err_set(err, -EACCES,
		    "the token has expired: create one with coalctl pki token");
	if (t->names.count > 0 && !hostlist_has(&t->names, ask->node))
		return err_set(err, -EACCES,
		    "the token does not permit this node name");
	if (t->names.count == 0 && ask->connected)
		return err_set(err, -EACCES,
		    "a node with this name is connected: to replace its "
		    "certificate, create a token with coalctl pki token "
		    "--node NAME");
	*ret = t;
	for (size_t i = 0; i < e->issued_count; i++) {
		if (e->issued[i].token != t ||
		    strcmp(e->issued[i].name, ask->node) != 0)
			continue;
		if (strcmp(e->issued[i].key, key) == 0)
			return 0; /* a repeated request: the answer was lost */
		return err_set(err, -EACCES,
		    "the token was already used for %s: create another with "
		    "coalctl pki token",
		    ask->node);
	}
	if (t->used >= t->uses)
		return err_set(err, -EACCES,
		    "the token was already used %d of %d times: create "
		    "another with coalctl pki token",
		    t->used, t->uses);
	return 0;
}

static int
enroll_has_key(const char *const keys[], int count, const char *key)
{
	for (int i = 0; i < count; i++)
		if (strcmp(keys[i], key) == 0)
			return 1;
	return 0;
}

/* Certificates of one key count once: revocation finds them together. */
static int
enroll_quota_check(struct enroll *e, const char *node, const char *key,
    int64_t now_unix_s, struct err *err)
{
	const char *keys[ENROLL_ALIVE_MAX];
	int alive = 0, recent = 0;

	if (e->second != now_unix_s)
		e->count = 0;
	e->second = now_unix_s;
	if (++e->count > ENROLL_PER_S)
		return err_set(err, -EBUSY,
		    "limit of %d certificates per second reached; retry",
		    ENROLL_PER_S);
	for (size_t i = 0; i < e->issued_count; i++) {
		const struct issued *n = &e->issued[i];

		if (n->end_unix_s < now_unix_s || strcmp(n->name, node) != 0)
			continue;
		recent += strcmp(n->key, key) == 0 &&
		    now_unix_s - n->signed_unix_s < SAME_KEY_S;
		if (alive < ENROLL_ALIVE_MAX &&
		    !enroll_has_key(keys, alive, n->key))
			keys[alive++] = n->key;
	}
	if (recent >= SAME_KEY_MAX)
		return err_set(err, -EBUSY,
		    "%s requested this certificate %d times within an hour; "
		    "see the log of its agent, and retry after an hour",
		    node, recent);
	if (alive >= ENROLL_ALIVE_MAX && !enroll_has_key(keys, alive, key))
		return err_set(err, -EACCES,
		    "%s already has valid certificates for %d keys: see "
		    "coalctl pki revoke",
		    node, alive);
	return 0;
}

static int
enroll_sign_request(struct enroll *e, const struct enroll_ask *ask,
    EVP_PKEY *key, struct token *t, int64_t now_unix_s, char **ret,
    struct err *err)
{
	struct pki_order o = { .name = ask->node,
		.role = ROLE_AGENT,
		.life_s = (long)e->life_s };
	X509 *cert = pki_cert_new(&e->ca, &o, key, err);
	X509 *both[] = { cert, e->ca.cert };
	char digest[PKI_DIGEST_TEXT];
	int64_t end_unix_s;
	char *text;
	json_t *line;
	int rc;

	if (cert == NULL)
		return -EIO;
	pki_key_digest(key, digest);
	end_unix_s = pki_unix_s(X509_get0_notAfter(cert));
	text = pki_certs_text(both, 1);
	line = json_pack("{s:s, s:s, s:I, s:o}", "name", ask->node, "key",
	    digest, "end_unix_s", (json_int_t)end_unix_s, "cert",
	    text_json(text));
	free(text);
	if (t != NULL)
		json_object_set_new(line, "token", json_string(t->digest));
	rc = enroll_line_write(e, line, 0, err);
	if (rc == 0) {
		enroll_issued_add(e, ask->node, digest, t, end_unix_s);
		e->issued[e->issued_count - 1].signed_unix_s = now_unix_s;
		*ret = pki_certs_text(both,
		    X509_cmp(e->ca.cert, e->root) == 0 ? 1 : 2);
	}
	X509_free(cert);
	return rc;
}

int
enroll_sign(struct enroll *e, const struct enroll_ask *ask, int64_t now_unix_s,
    char **ret, struct err *err)
{
	struct token *t = NULL;
	EVP_PKEY *key = NULL;
	char digest[PKI_DIGEST_TEXT];
	int rc;

	rc = enroll_authority(e, digest, err);
	if (rc < 0)
		return rc;
	/* To scontrol the name ALL is a list of all nodes. */
	if (hostlist_name_check(ask->node) < 0 ||
	    strlen(ask->node) > NAME_MAX_BYTES ||
	    strcasecmp(ask->node, "all") == 0)
		return err_set(err, -EINVAL,
		    "invalid node name %.100s: expected at most %d characters, "
		    "and not all",
		    ask->node, NAME_MAX_BYTES);
	rc = pki_request_read(ask->request, ask->node, &key, err);
	if (rc < 0)
		return rc;
	pki_key_digest(key, digest);
	if (ask->token != NULL) {
		rc = enroll_token_check(e, ask, digest, now_unix_s, &t, err);
	} else if (ask->munge != NULL) {
		if (ask->connected)
			rc = err_set(err, -EACCES,
			    "a node of that name is connected");
	} else {
		int64_t from = pki_unix_s(X509_get0_notBefore(ask->old));
		int64_t to = pki_unix_s(X509_get0_notAfter(ask->old));

		/* Repeated requests, perhaps with a stolen certificate, gain
		 * nothing. */
		if (now_unix_s - from < (to - from) / 2)
			rc = err_set(err, -EACCES,
			    "the certificate of this node can be renewed only "
			    "in the second half of its validity");
	}
	if (rc == 0)
		rc = enroll_quota_check(e, ask->node, digest, now_unix_s, err);
	if (rc == 0)
		rc = enroll_sign_request(e, ask, key, t, now_unix_s, ret, err);
	EVP_PKEY_free(key);
	return rc;
}
