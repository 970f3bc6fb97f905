/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_ras.c - a finding needs two reports: a rank that does not answer in both,
 * or counts that are equal in both. Each node of a job may report the whole
 * job, so reports that arrive soon after the last one are dropped.
 */
#include "daemon/jobs/job_ras.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/member.h"
#include "common/queue.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/evidence/job_reports.h"
#include "daemon/store/store.h"

#define APART_NS    (20 * (int64_t)CLK_NS_PER_S)  /* two looks */
#define UNREAD_NS   (90 * (int64_t)CLK_NS_PER_S)  /* then an error is shown */
#define OLD_NS      (600 * (int64_t)CLK_NS_PER_S) /* not counted any more */
#define WATCHES_MAX 4096
#define RANKS_MAX   64 /* of a list */
#define COMMS_MAX   8
#define ADDRS_MAX   4096
#define EVENTS_MAX  20 /* of one start of a job */

struct watch {
	TAILQ_ENTRY(watch) next;
	char *key;
	json_t *job;
	json_t *addrs;  /* by address in another namespace: names of nodes */
	json_t *silent; /* "HASH RANK": start time, of the last report */
	json_t *behind; /* a set of hashes, of the last report: all ranks that
			   are behind are on nodes with a case */
	int64_t at_unix_ns;       /* of the last report; 0: none yet */
	int64_t error_unix_ns;    /* of the last report without one */
	int64_t launched;         /* 0: not in the last report */
	int64_t launched_unix_ns; /* start of the unchanged state */
	char version[32];
	int64_t comms;
	enum job_finding_kind kind, told; /* told: in an event */
	enum job_cause cause, told_cause;
	int64_t since_unix_ns;
	char text[JOB_TEXT_BYTES];
	unsigned events;
};

struct job_ras {
	struct job_ras_options o;
	TAILQ_HEAD(watches, watch) watches;
	size_t count;
};

/* A report, and the data to compare it with. */
struct look {
	struct watch *w;
	const struct node *from;
	const struct node **nodes; /* of the job */
	struct job_facts facts;
	int64_t now_unix_ns;
	struct job_rank ranks[RANKS_MAX]; /* of the finding */
};

struct job_ras *
job_ras_new(const struct job_ras_options *o)
{
	struct job_ras *jr = xcalloc(1, sizeof(*jr));

	jr->o = *o;
	TAILQ_INIT(&jr->watches);
	return jr;
}

static void
job_ras_watch_free(struct job_ras *jr, struct watch *w)
{
	TAILQ_REMOVE(&jr->watches, w, next);
	jr->count--;
	json_decref(w->job);
	json_decref(w->addrs);
	json_decref(w->silent);
	json_decref(w->behind);
	free(w->key);
	free(w);
}

void
job_ras_free(struct job_ras *jr)
{
	if (jr == NULL)
		return;
	while (!TAILQ_EMPTY(&jr->watches))
		job_ras_watch_free(jr, TAILQ_FIRST(&jr->watches));
	free(jr);
}

static struct watch *
job_ras_find(const struct job_ras *jr, const char *key)
{
	struct watch *w;

	TAILQ_FOREACH (w, &jr->watches, next)
		if (strcmp(w->key, key) == 0)
			return w;
	return NULL;
}

static struct watch *
job_ras_watch(struct job_ras *jr, const char *key, const json_t *job)
{
	struct watch *w = job_ras_find(jr, key);

	if (w != NULL || jr->count == WATCHES_MAX)
		return w;
	w = xcalloc(1, sizeof(*w));
	w->key = xstrdup(key);
	w->job = json_incref((json_t *)(uintptr_t)job);
	w->addrs = json_object();
	w->silent = json_object();
	w->behind = json_object();
	TAILQ_INSERT_TAIL(&jr->watches, w, next);
	jr->count++;
	return w;
}

/* ---- nodes ---- */

static void
job_ras_nodes_find(const struct job_ras *jr, const json_t *job, struct look *l)
{
	struct hostlist hl = { 0 };

	if (hostlist_parse(member_text(job, "nodes"), &hl, NULL) < 0)
		hl = (struct hostlist){ 0 };
	l->nodes = xcalloc(hl.count + 1, sizeof(*l->nodes));
	l->facts.nodes = l->nodes;
	for (size_t i = 0; i < hl.count; i++) {
		const struct node *n = roster_find_host(jr->o.roster,
		    hl.names[i]);

		if (n != NULL)
			l->nodes[l->facts.node_count++] = n;
	}
	hostlist_clear(&hl);
}

static int
job_ras_node_has(const struct node *n, const char *addr)
{
	json_t *nic, *text;
	size_t i, k;

	member_foreach (n->inventory, "nics", i, nic)
		member_foreach (nic, "addrs", k, text)
			if (strcmp(json_is_string(text)
				    ? json_string_value(text)
				    : "",
				addr) == 0)
				return 1;
	return 0;
}

/* An agent may report any job; only reports of jobs on its node count. */
static int
job_ras_is_on(const struct look *l)
{
	for (size_t i = 0; i < l->facts.node_count; i++)
		if (l->nodes[i] == l->from)
			return 1;
	return 0;
}

/* Return the node of an address, from its agent's report in the job's
 * namespace, or from its inventory. A loopback address is the reporter's. */
static const struct node *
job_ras_node_find(const struct job_ras *jr, const struct look *l,
    const char *addr)
{
	const char *name = member_text(l->w->addrs, addr);

	if (strcmp(addr, "127.0.0.1") == 0 || strcmp(addr, "::1") == 0)
		return l->from;
	if (name[0] != '\0')
		return roster_find(jr->o.roster, name);
	for (size_t i = 0; i < l->facts.node_count && addr[0] != '\0'; i++)
		if (job_ras_node_has(l->nodes[i], addr))
			return l->nodes[i];
	return NULL;
}

static void
job_ras_addrs_take(struct look *l, const struct ras_report *report)
{
	for (size_t i = 0; i < report->addr_count; i++)
		if (json_object_size(l->w->addrs) < ADDRS_MAX)
			json_object_set_new(l->w->addrs, report->addrs[i],
			    json_string(l->from->name));
}

/* ---- findings ---- */

static struct job_rank
job_ras_rank(const struct job_ras *jr, const struct look *l,
    const struct ras_rank *row)
{
	return (struct job_rank){ .rank = row->rank,
		.gpu = row->gpu,
		.addr = row->addr,
		.node = job_ras_node_find(jr, l, row->addr) };
}

/* Return ranks that did not answer in the last report, too; silent: those of
 * this report. */
static int
job_ras_silent(const struct job_ras *jr, struct look *l,
    const struct ras_comm *comm, json_t *silent, struct job_finding *ret)
{
	struct job_finding f = { .kind = JOB_SILENT,
		.hash = comm->hash,
		.size = comm->size,
		.list = l->ranks,
		.since_unix_ns = INT64_MAX };
	size_t listed = 0;

	for (size_t i = 0; i < comm->missing_listed && i < RANKS_MAX; i++) {
		const struct ras_rank *row = &comm->missing[i];
		const json_t *since;
		char key[64];

		if (row->is_absent)
			continue;
		listed++;
		utf8_format(key, sizeof(key), "%.24s %" PRId64, comm->hash,
		    row->rank);
		since = json_object_get(l->w->silent, key);
		json_object_set_new(silent, key,
		    since != NULL ? json_incref((json_t *)(uintptr_t)since)
				  : json_integer(l->now_unix_ns));
		if (since == NULL)
			continue;
		if (json_integer_value(since) < f.since_unix_ns)
			f.since_unix_ns = json_integer_value(since);
		l->ranks[f.count++] = job_ras_rank(jr, l, row);
	}
	f.total = (int64_t)f.count;
	if (f.count == listed && comm->missing_count > f.total)
		f.total = comm->missing_count;
	if (f.count == 0)
		return 0;
	*ret = f;
	return 1;
}

/* Return the ranks with the fewest launches, if they are at most half of all.
 */
static int
job_ras_behind(const struct job_ras *jr, struct look *l,
    const struct ras_comm *comm, struct job_finding *ret)
{
	int64_t total = comm->behind_count;
	struct job_finding f = { .kind = JOB_BEHIND,
		.hash = comm->hash,
		.size = comm->size,
		.gap = comm->most - comm->least,
		.total = total,
		.list = l->ranks };

	if (f.gap < 1 || total < 1 || 2 * total > comm->answered)
		return 0;
	for (size_t i = 0; i < comm->behind_listed && i < RANKS_MAX; i++)
		l->ranks[f.count++] = job_ras_rank(jr, l, &comm->behind[i]);
	if (f.count == 0)
		return 0;
	*ret = f;
	return 1;
}

/* In a job that progresses, ranks differ by chance: they count only if all are
 * on nodes or a leaf with an open case, in two reports. */
static int
job_ras_has_cases(const struct look *l, const struct job_finding *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct node *n = f->list[i].node;

		if (n == NULL ||
		    (job_cause_case(&l->facts, "node", n->name) == NULL &&
			job_cause_case(&l->facts, "leaf", n->leaf) == NULL))
			return 0;
	}
	return 1;
}

/* A communicator whose ranks leave it launches nothing. */
static int
job_ras_is_live(const struct ras_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->list[i].answered > report->list[i].ending)
			return 1;
	return 0;
}

static struct job_finding
job_ras_finding(const struct job_ras *jr, struct look *l,
    const struct ras_report *report)
{
	struct watch *w = l->w;
	int64_t launched = report->launched;
	int is_same = launched > 0 && launched == w->launched &&
	    job_ras_is_live(report);
	struct job_finding f = { .hash = "" }, more;
	json_t *silent = json_object(), *behind = json_object();

	w->launched = launched;
	if (!is_same)
		w->launched_unix_ns = l->now_unix_ns;
	for (size_t i = 0; i < report->count && i < COMMS_MAX; i++) {
		const struct ras_comm *comm = &report->list[i];

		if (f.kind == JOB_SILENT)
			break;
		if (job_ras_silent(jr, l, comm, silent, &more)) {
			f = more;
			continue;
		}
		if (f.kind != JOB_PROGRESSES ||
		    !job_ras_behind(jr, l, comm, &more))
			continue;
		more.since_unix_ns = w->launched_unix_ns;
		more.kind = is_same ? JOB_STALLED : JOB_BEHIND;
		if (!is_same && !job_ras_has_cases(l, &more))
			continue;
		json_object_set_new(behind, more.hash, json_true());
		if (is_same || json_object_get(w->behind, more.hash) != NULL)
			f = more;
	}
	if (is_same && f.kind == JOB_PROGRESSES)
		f = (struct job_finding){ .kind = JOB_STALLED,
			.hash = "",
			.since_unix_ns = w->launched_unix_ns };
	json_decref(w->silent);
	json_decref(w->behind);
	w->silent = silent;
	w->behind = behind;
	return f;
}

/* Write an event when a finding begins, when its cause is found, and when the
 * job progresses again. */
static void
job_ras_tell(const struct job_ras *jr, struct watch *w)
{
	int is_news = w->kind >= JOB_BEHIND &&
	    (w->told != w->kind || w->told_cause < w->cause);
	int is_over = w->kind == JOB_PROGRESSES && w->told >= JOB_BEHIND;

	if ((!is_news && !is_over) || w->events >= EVENTS_MAX)
		return;
	w->events++;
	w->told = w->kind;
	w->told_cause = w->cause;
	if (jr->o.store != NULL)
		store_put_event(jr->o.store, "job", member_text(w->job, "job"),
		    is_over ? "the job progresses again" : w->text);
}

static void
job_ras_error_take(struct watch *w, const char *error, int64_t now_unix_ns)
{
	if (w->error_unix_ns == 0)
		w->error_unix_ns = now_unix_ns;
	if (w->at_unix_ns != 0 && now_unix_ns - w->at_unix_ns < UNREAD_NS)
		return;
	w->kind = JOB_UNREAD;
	w->cause = JOB_CAUSE_NONE;
	w->since_unix_ns = w->error_unix_ns;
	utf8_format(w->text, sizeof(w->text), "%.400s", error);
}

static void
job_ras_report_take(struct job_ras *jr, struct look *l,
    const struct ras_report *report)
{
	struct watch *w = l->w;
	struct job_finding f;
	json_t *cases;

	if (w->at_unix_ns != 0 && l->now_unix_ns - w->at_unix_ns < APART_NS)
		return;
	cases = jr->o.cases(jr->o.arg);
	l->facts.start_unix_ns = member_int(w->job, "start_unix_ns");
	l->facts.cases = cases;
	l->facts.verdict = jr->o.verdict;
	l->facts.arg = jr->o.arg;
	f = job_ras_finding(jr, l, report);
	w->at_unix_ns = l->now_unix_ns;
	w->error_unix_ns = 0;
	w->comms = report->comms;
	utf8_format(w->version, sizeof(w->version), "%.31s", report->version);
	w->kind = f.kind;
	w->cause = JOB_CAUSE_NONE;
	w->text[0] = '\0';
	w->since_unix_ns = f.since_unix_ns;
	if (f.kind != JOB_PROGRESSES)
		w->cause = job_cause_find(&f, &l->facts, w->text);
	job_ras_tell(jr, w);
	json_decref(cases);
}

void
job_ras_take(struct job_ras *jr, const char *key, const json_t *job,
    const struct node *from, const struct ras_report *report,
    int64_t now_unix_ns)
{
	struct look l = { .from = from, .now_unix_ns = now_unix_ns };

	job_ras_nodes_find(jr, job, &l);
	if (job_ras_is_on(&l))
		l.w = job_ras_watch(jr, key, job);
	if (l.w != NULL) {
		job_ras_addrs_take(&l, report);
		if (report->error[0] != '\0')
			job_ras_error_take(l.w, report->error, now_unix_ns);
		else
			job_ras_report_take(jr, &l, report);
	}
	free(l.nodes);
}

void
job_ras_keep(struct job_ras *jr, const json_t *running)
{
	struct watch *w, *tmp;

	TAILQ_FOREACH_SAFE (w, &jr->watches, next, tmp)
		if (json_object_get(running, w->key) == NULL)
			job_ras_watch_free(jr, w);
}

static json_t *
job_ras_watch_json(const struct watch *w)
{
	return json_pack("{s:O, s:O, s:s, s:s, s:o, s:I, s:I, s:o, s:I}", "job",
	    json_object_get(w->job, "job"), "owner",
	    json_object_get(w->job, "owner"), "state",
	    names_job_findings[w->kind], "cause", names_job_causes[w->cause],
	    "text", text_json(w->text), "since_unix_ns",
	    (json_int_t)w->since_unix_ns, "at_unix_ns",
	    (json_int_t)w->at_unix_ns, "version", text_json(w->version),
	    "comms", (json_int_t)w->comms);
}

json_t *
job_ras_json(const struct job_ras *jr, const char *key)
{
	const struct watch *w = job_ras_find(jr, key);

	return w != NULL ? job_ras_watch_json(w) : NULL;
}

json_t *
job_ras_list(const struct job_ras *jr)
{
	json_t *list = json_array();
	const struct watch *w;

	for (int kind = JOB_FINDING_MAX - 1; kind >= 0; kind--)
		TAILQ_FOREACH (w, &jr->watches, next)
			if ((int)w->kind == kind)
				json_array_append_new(list,
				    job_ras_watch_json(w));
	return list;
}

void
job_ras_counts(const struct job_ras *jr, size_t ret[JOB_FINDING_MAX])
{
	int64_t now_unix_ns = (int64_t)clk_unix_ns();
	const struct watch *w;

	memset(ret, 0, JOB_FINDING_MAX * sizeof(*ret));
	TAILQ_FOREACH (w, &jr->watches, next)
		if (w->kind == JOB_UNREAD ||
		    now_unix_ns - w->at_unix_ns < OLD_NS)
			ret[w->kind]++;
}
