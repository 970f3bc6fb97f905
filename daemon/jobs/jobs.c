/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.c - query the scheduler and write its answers as rows of the store. The
 * end of a job that disappears from the list is the time when it was last seen,
 * until accounting reports the real time.
 */
#include "daemon/jobs/jobs.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/evidence/job_reports.h"
#include "daemon/evidence/round.h"
#include "daemon/jobs/job_lines.h"
#include "daemon/jobs/job_names.h"
#include "daemon/jobs/job_ras.h"
#include "daemon/jobs/ledger/job_ledger.h"
#include "daemon/process/spawn.h"
#include "daemon/store/store.h"

#define KEY_BYTES 32
/* Digits of a pseudonym: with 10,000 users, two of them collide at one site in
 * 20,000. */
#define DIGITS        10
#define KEY_OF_BYTES  160
#define ERROR_BYTES   200
#define ACCOUNT_EVERY 5 /* polls */
#define SEEN_SETTING  "jobs/seen"
#define KEY_SETTING   "jobs/key" /* its pseudonym identifies the key */
/* A job becomes loud when its nodes use LOUD_SHARE of their links, and quiet
 * below QUIET_SHARE; these changes are its steps. The check uses at most a
 * hundredth of the time and runs at least every LOUD_LOOK_MAX_NS. */
#define LOUD_SHARE       0.10
#define QUIET_SHARE      0.03
#define LOUD_LOOK_OF     100
#define LOUD_LOOK_MIN_NS CLK_NS_PER_S
#define LOUD_LOOK_MAX_NS (10 * CLK_NS_PER_S)
/* Limit for the own measurements of a job in one message. */
#define IN_BAND_BYTES_MAX 16384
/* The user chooses a job's name, and Slurm prints line ends in it unchanged.
 * squeue cuts or pads a name to NAME_BYTES, so its end is known. sacct cannot
 * combine this with complete lists of nodes, so it is not queried for names.
 * squeue drops a job five minutes after its end by default. */
#define NAME_BYTES          128
#define FORMAT_SQUEUE       "%i:%A|%u:%U|%T|%S|%e|%N"
#define FORMAT_SQUEUE_NAMES FORMAT_SQUEUE "|%128j" /* NAME_BYTES */
#define FORMAT_SACCT        "JobID,User,State,Start,End,NodeList"
/* A job may list twice as many nodes as the cluster has, plus LISTED_MORE
 * without an agent. All jobs of an answer together may list LISTED_TIMES as
 * many, since jobs may share nodes. A longer list counts as one of the largest
 * size. */
#define LISTED_MORE  4096
#define LISTED_TIMES 64
#define UNKNOWN_MAX  1000
/* Maximum time of the loop for work on jobs at once. */
#define SLICE_NS (10 * CLK_NS_PER_S / 1000)

/* An answer that is being read. */
struct answer {
	char *text, *rest; /* NULL: none */
	int64_t now_unix_ns;
	size_t nodes_left; /* may be listed by its other lines */
	json_t *said, *unread;
};

struct jobs {
	struct jobs_options o;
	uint8_t key[KEY_BYTES];
	uint64_t asked_ns, accounted_ns; /* 0: not yet */
	uint64_t polls;
	struct spawned *child, *accounting;
	char error[ERROR_BYTES], accounting_error[ERROR_BYTES];
	struct jobs_health health;
	int64_t seen_unix_ns; /* time of the last complete answer; 0: never */
	/* Bodies as in the store, by "JOB START": jobs that run, and ended jobs
	 * that may still be reported. */
	json_t *running, *ended;
	json_t *unknown; /* nodes of the last answer without an agent, a set */
	json_t *newest;  /* the latest start by job, of both */
	json_t *uids;    /* of their owners, by job, if known */
	struct job_names *names;
	json_t *loud; /* keys of those whose traffic has begun */
	/* Malformed lines of the last answer, as keys, of the scheduler and of
	 * accounting: the next answer repeats them. */
	json_t *unread[2];
	struct answer answers[2]; /* the same two */
	struct event *slice;      /* continues reading; NULL without a base */
	uint64_t loud_ns;         /* time of the next check */
	uint64_t loud_took_ns;    /* of this look, so far */
	char *loud_at;            /* the next job of the check; NULL: none */
	struct job_ledger *ledger;
	struct job_ras *ras;
};

void
jobs_options_read(const struct conf *c, struct jobs_options *ret)
{
	static const char *const sources[] = { [JOBS_OFF] = "off",
		[JOBS_SLURM] = "slurm",
		[JOBS_COMMAND] = "command" };

	*ret = (struct jobs_options){
		.source = (enum jobs_source)CONF_CHOICE_OF(c, "jobs", "source",
		    sources),
		.command = conf_string(c, "jobs", "command"),
		.interval_ns = conf_span_ns(c, "jobs", "interval"),
		.accounting = conf_bool(c, "jobs", "accounting"),
		.owner_names = conf_is(c, "jobs", "owners", "name"),
		.job_names = conf_bool(c, "jobs", "names")
	};
}

/* Create the key at the first start. In a copy of the store without the key
 * pseudonyms cannot be resolved. */
static int
jobs_key_open(const char *dir, uint8_t ret[KEY_BYTES], struct err *err)
{
	char *path = xasprintf("%s/jobs.key", dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), rc = 0;

	if (fd >= 0) {
		if (read(fd, ret, KEY_BYTES) != KEY_BYTES)
			rc = err_set(err, -EBADMSG,
			    "%s is not a valid key: move the file away to "
			    "create a new key; owners then get new pseudonyms",
			    path);
	} else if (RAND_bytes(ret, KEY_BYTES) != 1) {
		rc = err_set(err, -EIO, "cannot create random bytes for %s",
		    path);
	} else {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		errno = fd < 0 ? errno : ENOSPC; /* of a short write */
		if (fd < 0 || write(fd, ret, KEY_BYTES) != KEY_BYTES ||
		    fsync(fd) < 0) {
			rc = err_set(err, -errno, "%s: %s", path,
			    strerror(errno));
			/* an incomplete key would prevent all later starts */
			if (fd >= 0)
				unlink(path);
		}
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

static void jobs_slice_cb(evutil_socket_t fd, short what, void *arg);

int
jobs_open(const struct jobs_options *o, struct jobs **ret, struct err *err)
{
	struct jobs *js;
	int rc;

	*ret = NULL;
	if (o->source == JOBS_OFF)
		return 0;
	js = xcalloc(1, sizeof(*js));
	rc = jobs_key_open(o->dir, js->key, err);
	if (rc < 0) {
		free(js);
		return rc;
	}
	js->o = *o;
	js->running = json_object();
	js->unknown = json_object();
	js->ended = json_object();
	js->newest = json_object();
	js->uids = json_object();
	js->names = job_names_new();
	js->loud = json_object();
	js->unread[0] = json_object();
	js->unread[1] = json_object();
	if (o->base != NULL)
		js->slice = evtimer_new(o->base, jobs_slice_cb, js);
	js->ledger = job_ledger_new(o->store, o->roster, (int64_t)o->sample_ns,
	    (int64_t)(o->interval_ns + LOUD_LOOK_MAX_NS));
	js->ras = job_ras_new(&(struct job_ras_options){ .store = o->store,
	    .roster = o->roster,
	    .cases = o->cases,
	    .verdict = o->verdict,
	    .arg = o->arg });
	*ret = js;
	return 0;
}

static void
jobs_answer_clear(struct answer *a)
{
	free(a->text);
	json_decref(a->said);
	json_decref(a->unread);
	*a = (struct answer){ 0 };
}

void
jobs_free(struct jobs *js)
{
	if (js == NULL)
		return;
	spawn_cancel(js->child);
	spawn_cancel(js->accounting);
	for (size_t i = 0; i < ARRAY_LEN(js->answers); i++)
		jobs_answer_clear(&js->answers[i]);
	if (js->slice != NULL)
		event_free(js->slice);
	free(js->loud_at);
	json_decref(js->running);
	json_decref(js->unknown);
	json_decref(js->ended);
	json_decref(js->newest);
	json_decref(js->uids);
	job_names_free(js->names);
	json_decref(js->loud);
	json_decref(js->unread[0]);
	json_decref(js->unread[1]);
	job_ledger_free(js->ledger);
	job_ras_free(js->ras);
	free(js);
}

void
jobs_owner(const struct jobs *js, const char *user, char ret[JOBS_OWNER_BYTES])
{
	uint8_t mac[EVP_MAX_MD_SIZE] = { 0 };
	unsigned len;

	if (js->o.owner_names) {
		snprintf(ret, JOBS_OWNER_BYTES, "%.250s", user);
		return;
	}
	HMAC(EVP_sha256(), js->key, KEY_BYTES, (const uint8_t *)user,
	    strlen(user), mac, &len);
	snprintf(ret, JOBS_OWNER_BYTES, "user-");
	for (size_t i = 0; i < DIGITS / 2; i++)
		snprintf(ret + strlen("user-") + 2 * i, 3, "%02x", mac[i]);
}

/* A requeued job has another start, and another row. */
static void
jobs_key_of(const char *job, int64_t start_unix_ns, char ret[KEY_OF_BYTES])
{
	utf8_format(ret, KEY_OF_BYTES, "%.120s %" PRId64, job, start_unix_ns);
}

static void
jobs_body_put(struct jobs *js, json_t *set, const char *key, json_t *body)
{
	const char *job = member_text(body, "job");
	const json_t *last = json_object_get(js->newest, job);

	json_object_set(set, key, body);
	if (last == NULL ||
	    member_int(last, "start_unix_ns") <=
		member_int(body, "start_unix_ns"))
		json_object_set(js->newest, job, body);
}

void
jobs_load(struct jobs *js, const json_t *list)
{
	char key[KEY_OF_BYTES];
	json_t *job;
	size_t i;

	if (js == NULL)
		return;
	json_array_foreach (list, i, job) {
		jobs_key_of(member_text(job, "job"),
		    member_int(job, "start_unix_ns"), key);
		jobs_body_put(js,
		    json_object_get(job, "end_unix_ns") == NULL ? js->running
								: js->ended,
		    key, job);
	}
}

void
jobs_load_settings(struct jobs *js, const json_t *settings)
{
	const char *had = member_text(settings, KEY_SETTING);
	char own[JOBS_OWNER_BYTES];

	if (js == NULL)
		return;
	(void)str_to_int(member_text(settings, SEEN_SETTING), 0, INT64_MAX,
	    &js->seen_unix_ns);
	if (js->o.owner_names)
		return;
	jobs_owner(js, KEY_SETTING, own);
	if (strcmp(had, own) == 0)
		return;
	if (had[0] != '\0')
		log_warnx("%s/jobs.key differs from the key that made the "
			  "pseudonyms of job owners in the store: copy "
			  "jobs.key from the collector that wrote them, or "
			  "owners have new pseudonyms from now on",
		    js->o.dir);
	store_put_setting(js->o.store, KEY_SETTING, own, NULL, NULL);
}

/* The mean share of their links that the job's nodes use: *ret_lately from
 * recent maxima; *ret_own from reports that cover only the time of this job,
 * since an earlier job on the nodes may have been loud. NAN: not reported. */
static void
jobs_shares_of(const struct jobs *js, const json_t *job, int64_t now_unix_ns,
    double *ret_lately, double *ret_own)
{
	int64_t runs_ns = now_unix_ns - member_int(job, "start_unix_ns");
	struct hostlist hl = { 0 };
	double lately = 0, own = 0;
	size_t told = 0;

	if (hostlist_parse(member_text(job, "nodes"), &hl, NULL) < 0)
		hl = (struct hostlist){ 0 };
	for (size_t i = 0; i < hl.count; i++) {
		const struct node *n = roster_find_host(js->o.roster,
		    hl.names[i]);

		if (n == NULL || n->host_ns == 0)
			continue;
		lately += n->host.net;
		/* A heartbeat covers the time since the previous one. */
		if ((int64_t)(clk_ns() - n->host_ns + n->heartbeat_ns) <=
		    runs_ns)
			own += n->host.net_told;
		told++;
	}
	hostlist_clear(&hl);
	*ret_lately = told > 0 ? lately / (double)told : NAN;
	*ret_own = told > 0 ? own / (double)told : NAN;
}

/* Record that the job's traffic has started or ended; no effect if unchanged.
 */
static void
jobs_loud_set(struct jobs *js, const char *key, const json_t *job, int is_loud,
    int64_t at_unix_ns)
{
	int was_loud = json_object_get(js->loud, key) != NULL;

	if (is_loud == was_loud)
		return;
	if (is_loud)
		json_object_set_new(js->loud, key, json_true());
	else
		json_object_del(js->loud, key);
	job_ledger_step(js->ledger, job, is_loud ? 1 : -1, at_unix_ns,
	    js->running, js->ended);
}

/* If no node of a job reports its traffic, the job is loud while it runs. A job
 * that is found loud for the first time has been loud since its start, or since
 * the query before the last one. */
static void
jobs_loud_look(struct jobs *js, int64_t now_unix_ns)
{
	uint64_t began_ns = clk_ns();
	void *at = js->loud_at == NULL
	    ? NULL
	    : json_object_iter_at(js->running, js->loud_at);

	if (at == NULL)
		at = json_object_iter(js->running);
	free(js->loud_at);
	js->loud_at = NULL;
	for (; at != NULL; at = json_object_iter_next(js->running, at)) {
		const char *key = json_object_iter_key(at);
		const json_t *job = json_object_iter_value(at);
		int64_t start_ns = member_int(job, "start_unix_ns");
		int is_new = now_unix_ns - start_ns <
		    2 * (int64_t)js->o.interval_ns;
		double lately, own;

		if (clk_ns() - began_ns > SLICE_NS) {
			js->loud_at = xstrdup(key);
			break;
		}
		jobs_shares_of(js, job, now_unix_ns, &lately, &own);
		if (!(own < LOUD_SHARE))
			jobs_loud_set(js, key, job, 1,
			    is_new ? start_ns : now_unix_ns);
		else if (lately < QUIET_SHARE)
			jobs_loud_set(js, key, job, 0, now_unix_ns);
	}
	js->loud_took_ns += clk_ns() - began_ns;
}

void
jobs_paths(struct jobs *js, const struct mesh_path *paths, size_t count,
    int64_t until_unix_ns)
{
	if (js != NULL)
		job_ledger_paths(js->ledger, paths, count, until_unix_ns);
}

void
jobs_canary(struct jobs *js, const uint32_t *nodes, size_t count,
    const struct round *round)
{
	if (js == NULL)
		return;
	job_ledger_canary(js->ledger, nodes, count, round,
	    (int64_t)clk_unix_ns());
}

/* Any user can write files for any job; only files of root are the site's. */
static int
jobs_may_tell(const struct jobs *js, const char *job,
    const struct job_claim *claim)
{
	const json_t *owner = json_object_get(js->uids, job);

	return owner == NULL || !claim->has_uid || claim->uid == 0 ||
	    json_integer_value(owner) == claim->uid;
}

/* The newest start of the job that a report of a node is of, or NULL: unknown,
 * or another user's. */
static const json_t *
jobs_said(const struct jobs *js, const char *node,
    const struct job_claim *claim)
{
	const char *name = job_names_find(js->names, js->newest, node,
	    claim->job);
	const json_t *job = name != NULL ? json_object_get(js->newest, name)
					 : NULL;

	return job != NULL && jobs_may_tell(js, member_text(job, "job"), claim)
	    ? job
	    : NULL;
}

void
jobs_in_band(struct jobs *js, const char *node,
    const struct in_band_report *report)
{
	const json_t *job;
	json_t *row;

	if (js == NULL)
		return;
	job = jobs_said(js, node, &report->of);
	if (job == NULL || report->rows == NULL ||
	    json_dumpb(report->rows, NULL, 0, JSON_COMPACT) > IN_BAND_BYTES_MAX)
		return;
	row = json_pack("{s:O, s:O, s:O, s:s, s:O}", "job",
	    json_object_get(job, "job"), "whole", json_object_get(job, "whole"),
	    "start_unix_ns", json_object_get(job, "start_unix_ns"), "node",
	    node, "rows", report->rows);
	store_put_in_band(js->o.store, row);
	json_decref(row);
}

void
jobs_ras(struct jobs *js, const struct node *n, const struct ras_report *report)
{
	char key[KEY_OF_BYTES];
	const json_t *job;

	if (js == NULL || js->o.cases == NULL)
		return;
	job = jobs_said(js, n->name, &report->of);
	if (job == NULL)
		return;
	jobs_key_of(member_text(job, "job"), member_int(job, "start_unix_ns"),
	    key);
	if (json_object_get(js->running, key) != NULL)
		job_ras_take(js->ras, key, job, n, report,
		    (int64_t)clk_unix_ns());
}

json_t *
jobs_ras_json(const struct jobs *js, const json_t *job)
{
	char key[KEY_OF_BYTES];

	if (js == NULL)
		return NULL;
	jobs_key_of(member_text(job, "job"), member_int(job, "start_unix_ns"),
	    key);
	return job_ras_json(js->ras, key);
}

json_t *
jobs_ras_list(const struct jobs *js)
{
	return js != NULL ? job_ras_list(js->ras) : NULL;
}

void
jobs_ras_counts(const struct jobs *js, size_t ret[JOB_FINDING_MAX])
{
	memset(ret, 0, JOB_FINDING_MAX * sizeof(*ret));
	if (js != NULL)
		job_ras_counts(js->ras, ret);
}

static size_t
jobs_listed_max(const struct jobs *js)
{
	return LISTED_MORE + 2 * roster_count(js->o.roster);
}

/* Add the number of a job's nodes, their present leaves, and the nodes without
 * an agent. A list that is malformed, or longer than *left, is kept as text and
 * counts as no nodes. *left decreases by the length of the list. */
static void
jobs_places_add(struct jobs *js, json_t *body, const struct job_line *l,
    size_t *left)
{
	size_t max = jobs_listed_max(js);
	struct hostlist hl = { 0 };
	json_t *leaves = json_object(); /* as a set */
	int rc = hostlist_parse_max(l->nodes, max < *left ? max : *left, &hl,
	    NULL);

	if (rc < 0)
		hl = (struct hostlist){ 0 };
	if (rc == -E2BIG) /* later checks do not expand it either */
		json_object_set_new(body, "nodes", json_string(""));
	*left -= rc != -E2BIG ? hl.count : max < *left ? max : *left;
	for (size_t i = 0; i < hl.count; i++) {
		const struct node *n = roster_find_host(js->o.roster,
		    hl.names[i]);

		if (n == NULL && json_object_size(js->unknown) < UNKNOWN_MAX)
			json_object_set_new(js->unknown, hl.names[i],
			    json_true());
		if (n != NULL && n->leaf[0] != '\0')
			json_object_set_new(leaves, n->leaf, json_true());
		if (n != NULL && l->runs)
			job_names_place(js->names, n->name, l->job);
	}
	json_object_set_new(body, "node_count",
	    json_integer((json_int_t)hl.count));
	json_object_set_new(body, "leaves", leaves);
	hostlist_clear(&hl);
}

/* From the line, or as known before. */
static const char *
jobs_name_of(const struct jobs *js, const struct job_line *l)
{
	if (!js->o.job_names)
		return "-";
	return l->name != NULL
	    ? l->name
	    : member_text_or(json_object_get(js->newest, l->job), "name", "-");
}

static json_t *
jobs_body_of(struct jobs *js, const struct job_line *l, size_t *left)
{
	char owner[JOBS_OWNER_BYTES];
	char *whole = xstrndup(l->job, strcspn(l->job, "_+"));
	json_t *body;

	jobs_owner(js, l->owner, owner);
	body = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "job",
	    text_json(l->job), "whole", text_json(whole), "owner",
	    text_json(owner), "name", text_json(jobs_name_of(js, l)), "state",
	    text_json(l->state), "nodes", text_json(l->nodes), "start_unix_ns",
	    (json_int_t)l->start_unix_s * (json_int_t)CLK_NS_PER_S);
	jobs_places_add(js, body, l, left);
	free(whole);
	return body;
}

/* The end is the reported one, or when it was last seen; not before the start.
 */
static void
jobs_end_set(struct jobs *js, json_t *body, int64_t end_unix_ns, int is_known)
{
	int64_t start_unix_ns = member_int(body, "start_unix_ns");

	if (is_known && end_unix_ns < start_unix_ns) {
		js->health.backwards++;
		json_object_set_new(body, "backwards", json_true());
	}
	if (end_unix_ns < start_unix_ns)
		end_unix_ns = start_unix_ns;
	json_object_set_new(body, "end_unix_ns", json_integer(end_unix_ns));
	if (!is_known)
		json_object_set_new(body, "end_is_guess", json_true());
}

/* Return -EINVAL if its nodes are not a valid hostlist. */
static int
jobs_job_take(struct jobs *js, const struct job_line *l, int64_t now_unix_ns,
    size_t *left)
{
	int64_t after_s = l->start_unix_s - now_unix_ns / (int64_t)CLK_NS_PER_S;
	char key[KEY_OF_BYTES];
	const json_t *old;
	json_t *body;
	int rc;

	jobs_key_of(l->job, l->start_unix_s * (int64_t)CLK_NS_PER_S, key);
	old = json_object_get(js->ended, key);
	/* The end was not updated. */
	if (old != NULL &&
	    (!member_bool(old, "end_is_guess") ||
		(!l->runs && l->end_unix_s == 0)))
		return 0;
	if (after_s > js->health.ahead_s)
		js->health.ahead_s = after_s;
	body = jobs_body_of(js, l, left);
	if (l->uid >= 0)
		json_object_set_new(js->uids, l->job, json_integer(l->uid));
	if (l->raw != NULL)
		job_names_set_raw(js->names, l->job, l->raw);
	if (!l->runs)
		jobs_end_set(js, body,
		    l->end_unix_s > 0 ? l->end_unix_s * (int64_t)CLK_NS_PER_S
				      : js->seen_unix_ns,
		    l->end_unix_s > 0);
	if (old == NULL)
		old = json_object_get(js->running, key);
	if (!json_equal(old, body))
		store_put_batch_job(js->o.store, body);
	if (!l->runs)
		jobs_loud_set(js, key, body, 0,
		    member_int(body, "end_unix_ns"));
	json_object_del(l->runs ? js->ended : js->running, key);
	jobs_body_put(js, l->runs ? js->running : js->ended, key, body);
	rc = member_int(body, "node_count") == 0 ? -EINVAL : 0;
	json_decref(body);
	return rc;
}

/* End the jobs that are missing from the answer, at an unknown time. 0: not all
 * were checked before deadline_ns. */
static int
jobs_vanish(struct jobs *js, const json_t *said, uint64_t deadline_ns)
{
	const char *key;
	json_t *body;
	void *next;

	json_object_foreach_safe(js->running, next, key, body)
	{
		if (json_object_get(said, key) != NULL)
			continue;
		if (clk_ns() > deadline_ns)
			return 0;
		js->health.vanished++;
		jobs_end_set(js, body, js->seen_unix_ns, 0);
		store_put_batch_job(js->o.store, body);
		jobs_loud_set(js, key, body, 0,
		    member_int(body, "end_unix_ns"));
		json_object_set(js->ended, key, body);
		json_object_del(js->running, key);
	}
	return 1;
}

/* Handle the end of an answer: jobs that are missing from it have ended. */
static void
jobs_answer_end(struct jobs *js, const struct answer *a, int is_accounting)
{
	const char *key;
	json_t *body;
	char seen[32];
	void *next;

	if (!is_accounting) {
		js->seen_unix_ns = a->now_unix_ns;
		job_names_turn(js->names);
		snprintf(seen, sizeof(seen), "%" PRId64, a->now_unix_ns);
		store_put_setting(js->o.store, SEEN_SETTING, seen, NULL, NULL);
	}
	json_object_foreach_safe(js->ended, next, key, body)
	{
		const char *job = member_text(body, "job");

		if (member_int(body, "end_unix_ns") >=
		    a->now_unix_ns - (int64_t)JOBS_LOAD_NS)
			continue;
		if (json_object_get(js->newest, job) == body) {
			json_object_del(js->newest, job);
			json_object_del(js->uids, job);
			job_names_forget(js->names, job);
		}
		json_object_del(js->ended, key);
	}
}

static void
jobs_line_take(struct jobs *js, struct answer *a, char *line, int is_accounting)
{
	json_t *last = js->unread[is_accounting != 0];
	char name[KEY_OF_BYTES], *whole = xstrdup(line); /* it is cut */
	struct job_line l;
	int rc = line[0] == '\0' ? 0 : job_line_parse(line, &l);

	/* In accounting some jobs never end. */
	if (rc > 0 && !(is_accounting && l.runs)) {
		jobs_key_of(l.job, l.start_unix_s * (int64_t)CLK_NS_PER_S,
		    name);
		json_object_set_new(a->said, name, json_true());
		rc = jobs_job_take(js, &l, a->now_unix_ns, &a->nodes_left);
	}
	if (rc < 0) {
		js->health.unreadable += json_object_get(last, whole) == NULL &&
		    json_object_get(a->unread, whole) == NULL;
		json_object_set_new_nocheck(a->unread, whole, json_true());
	}
	free(whole);
}

/* Return 1 if it was read completely. */
static int
jobs_answer_read(struct jobs *js, int is_accounting, uint64_t deadline_ns)
{
	struct answer *a = &js->answers[is_accounting != 0];
	size_t name_bytes = js->o.source == JOBS_SLURM && js->o.job_names &&
		!is_accounting
	    ? NAME_BYTES
	    : 0;
	char *line;

	while ((line = job_line_next(&a->rest, name_bytes)) != NULL) {
		jobs_line_take(js, a, line, is_accounting);
		if (clk_ns() > deadline_ns)
			return 0;
	}
	if (a->rest[0] != '\0') {
		js->health.unreadable++;
		snprintf(js->error, sizeof(js->error),
		    "squeue: a line does not end with a name of %d bytes",
		    NAME_BYTES);
	} else if (!is_accounting && !jobs_vanish(js, a->said, deadline_ns)) {
		return 0;
	} else {
		jobs_answer_end(js, a, is_accounting);
	}
	json_decref(js->unread[is_accounting != 0]);
	js->unread[is_accounting != 0] = json_incref(a->unread);
	jobs_answer_clear(a);
	return 1;
}

static void
jobs_answer_begin(struct jobs *js, const char *text, int is_accounting,
    int64_t now_unix_ns)
{
	struct answer *a = &js->answers[is_accounting != 0];

	jobs_answer_clear(a);
	*a = (struct answer){ .text = xstrdup(text),
		.now_unix_ns = now_unix_ns,
		.nodes_left = LISTED_TIMES * jobs_listed_max(js),
		.said = json_object(),
		.unread = json_object() };
	a->rest = a->text;
	if (!is_accounting) {
		js->health.ahead_s = 0;
		json_object_clear(js->unknown);
	}
}

static void
jobs_slice_arm(struct jobs *js)
{
	struct timeval soon = { .tv_usec = 1000 };

	event_add(js->slice, &soon);
}

static void
jobs_slice_cb(evutil_socket_t fd, short what, void *arg)
{
	struct jobs *js = arg;

	(void)fd;
	(void)what;
	for (int i = 0; i < 2; i++)
		if (js->answers[i].text != NULL &&
		    !jobs_answer_read(js, i, clk_ns() + SLICE_NS)) {
			jobs_slice_arm(js);
			return;
		}
}

void
jobs_take(struct jobs *js, const char *text, int is_accounting,
    int64_t now_unix_ns)
{
	jobs_answer_begin(js, text, is_accounting, now_unix_ns);
	(void)jobs_answer_read(js, is_accounting, UINT64_MAX);
}

/* Log each new failure once. */
static void
jobs_answer_take(struct jobs *js, int status, const char *out,
    int is_accounting)
{
	char *error = is_accounting ? js->accounting_error : js->error;
	const char *who = is_accounting  ? "sacct"
	    : js->o.source == JOBS_SLURM ? "squeue"
					 : "jobs.command";
	char text[ERROR_BYTES];

	if (status == 0 && strlen(out) < SPAWN_OUT_MAX) {
		error[0] = '\0';
		jobs_answer_begin(js, out, is_accounting,
		    (int64_t)clk_unix_ns());
		jobs_slice_arm(js);
		if (is_accounting)
			js->accounted_ns = clk_ns();
		return;
	}
	/* An answer that was cut off could end within a node's name. */
	if (status == 0)
		snprintf(text, sizeof(text), "%s: more than %d MiB", who,
		    SPAWN_OUT_MAX >> 20);
	else
		snprintf(text, sizeof(text), "%s: exit %d: %.*s", who, status,
		    (int)strcspn(out, "\n"), out);
	if (strcmp(text, error) != 0)
		log_warnx("jobs: %s", text);
	memcpy(error, text, ERROR_BYTES);
}

static void
jobs_accounting_cb(int status, const char *out, void *arg)
{
	struct jobs *js = arg;

	js->accounting = NULL;
	jobs_answer_take(js, status, out, 1);
}

static void
jobs_queue_cb(int status, const char *out, void *arg)
{
	struct jobs *js = arg;
	/* Query the time since the last answer with a margin; a day at the
	 * start. */
	uint64_t past_s = js->accounted_ns == 0
	    ? 86400
	    : (clk_ns() - js->accounted_ns) / CLK_NS_PER_S + 600;
	char since[40], a[] = "-anPX", d[] = "--duplicates", s[] = "-S",
			o[] = "-o", format[] = FORMAT_SACCT;
	char *words[] = { a, d, s, since, o, format, NULL };

	js->child = NULL;
	jobs_answer_take(js, status, out, 0);
	if (js->o.source != JOBS_SLURM || !js->o.accounting ||
	    js->accounting != NULL || js->polls++ % ACCOUNT_EVERY != 0)
		return;
	snprintf(since, sizeof(since), "now-%" PRIu64 "seconds", past_s);
	js->accounting = slurm_call(js->o.base, &js->o.slurm, "sacct", words,
	    jobs_accounting_cb, js);
	if (js->accounting == NULL)
		jobs_answer_take(js, 127, strerror(errno), 1);
}

void
jobs_tick(struct jobs *js)
{
	char h[] = "-h", t[] = "-tall", a[] = "-a", o[] = "-o",
	     format[] = FORMAT_SQUEUE, names[] = FORMAT_SQUEUE_NAMES,
	     shell[] = "/bin/sh", c[] = "-c";
	char *words[] = { h, t, a, o,
		js != NULL && js->o.job_names ? names : format, NULL };
	uint64_t now_ns = clk_ns(), took_ns;

	if (js == NULL)
		return;
	job_ledger_tick(js->ledger, (int64_t)clk_unix_ns());
	job_ras_keep(js->ras, js->running);
	if (now_ns >= js->loud_ns)
		jobs_loud_look(js, (int64_t)clk_unix_ns());
	if (now_ns >= js->loud_ns && js->loud_at == NULL) {
		took_ns = LOUD_LOOK_OF * js->loud_took_ns;
		js->loud_took_ns = 0;
		js->loud_ns = now_ns +
		    (took_ns < LOUD_LOOK_MIN_NS          ? LOUD_LOOK_MIN_NS
			    : took_ns > LOUD_LOOK_MAX_NS ? LOUD_LOOK_MAX_NS
							 : took_ns);
	}
	if (js->o.base == NULL || js->child != NULL ||
	    js->answers[0].text != NULL ||
	    (js->asked_ns != 0 && now_ns - js->asked_ns < js->o.interval_ns))
		return;
	js->asked_ns = now_ns;
	if (js->o.source == JOBS_SLURM) {
		js->child = slurm_call(js->o.base, &js->o.slurm, "squeue",
		    words, jobs_queue_cb, js);
	} else {
		char *command = xstrdup(js->o.command);
		char *argv[] = { shell, c, command, NULL };

		js->child = spawn_start(js->o.base, argv, environ,
		    jobs_queue_cb, js);
		free(command);
	}
	if (js->child == NULL)
		jobs_answer_take(js, 127, strerror(errno), 0);
}

void
jobs_health(const struct jobs *js, struct jobs_health *ret)
{
	*ret = (struct jobs_health){ .source = JOBS_OFF };
	if (js == NULL)
		return;
	*ret = js->health;
	ret->source = js->o.source;
	ret->error = js->error;
	ret->unknown = json_object_size(js->unknown);
	ret->unknown_as = json_object_iter_key(json_object_iter(js->unknown));
	ret->accounting_error = js->accounting_error;
}
