/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_jobs.c - jobs, by permission: operators see all of them, and a user
 * named by the site's proxy his own. Each reply combines several results of the
 * store, one after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/http/http_int.h"
#include "daemon/http/http_parse.h"
#include "daemon/jobs/job_join.h"
#include "daemon/jobs/ledger/job_costs.h"
#include "daemon/jobs/jobs.h"

#define VERDICT_NS  (7 * 86400 * (int64_t)CLK_NS_PER_S) /* looked back */
#define ROWS_MAX    10000
#define EVENTS_MAX  1000
#define PARTS_MAX   100 /* tasks of an array, and restarts of a requeued job */
#define WORST_NS    (7 * 86400 * (int64_t)CLK_NS_PER_S)
#define WORST_OF    10000
#define WORST_SHOWN 20
#define COSTS_PAGE  2000 /* rows that the loop processes at a time */
#define COSTS_NS    (10 * CLK_NS_PER_S / 1000)

/* The queries in their order; jobs are first and determine the time span of the
 * others. */
enum {
	ASK_JOBS,
	ASK_VERDICTS,
	ASK_EVENTS,
	ASK_IMPACTS,
	ASK_SHARES,
	ASK_IN_BAND,
	ASK_MAX
};

struct jobs_question {
	struct http *h;
	struct http_request *req;
	int asked; /* number of them */
	int is_worst;
	int64_t limit, now_unix_ns, from_unix_ns; /* from: of the last */
	json_t *answers[ASK_MAX];
};

/* The proxy acts for the user even if its own certificate permits more. */
enum http_jobs
http_jobs_seen(const struct http *h, const struct http_request *req)
{
	int is_proxy = h->jobs_proxy[0] != '\0' && req->door == HTTP_DOOR_TLS &&
	    strcmp(req->who, h->jobs_proxy) == 0;
	const char *user = req->head.user;

	if (!api_has_jobs(h->api))
		return HTTP_JOBS_NONE;
	if (is_proxy)
		return user != NULL && user[0] != '\0' ? HTTP_JOBS_OWN
						       : HTTP_JOBS_NONE;
	return req->right >= HTTP_MAY_ORDER ? HTTP_JOBS_ALL : HTTP_JOBS_NONE;
}

/* Return 1 if the client may see the jobs in args; 0 after a rejection. */
static int
http_jobs_may_see(struct http *h, struct http_request *req, json_t *args)
{
	enum http_jobs seen = http_jobs_seen(h, req);
	char owner[API_OWNER_BYTES];

	if (!api_has_jobs(h->api)) {
		http_fail(req, 404, "not-found",
		    "the job list is disabled: jobs.source is off");
		return 0;
	}
	if (seen == HTTP_JOBS_OWN) {
		api_job_owner(h->api, req->head.user, owner);
		json_object_set_new(args, "owner", text_json(owner));
	}
	if (seen != HTTP_JOBS_NONE)
		return 1;
	http_fail(req, 403, "forbidden",
	    "only operators may read all jobs; other users may read their own "
	    "jobs through jobs.proxy");
	return 0;
}

static void
http_jobs_question_free(struct jobs_question *q)
{
	for (int i = 0; i < ASK_MAX; i++)
		json_decref(q->answers[i]);
	free(q);
}

static void
http_jobs_finish(struct jobs_question *q)
{
	json_t *jobs = q->answers[ASK_JOBS], *job, *worst;
	struct job_around around = { q->answers[ASK_VERDICTS],
		q->answers[ASK_EVENTS], q->answers[ASK_IMPACTS],
		q->answers[ASK_SHARES], q->answers[ASK_IN_BAND],
		q->now_unix_ns };
	size_t i;

	if (q->is_worst) {
		worst = job_worst(jobs, &around);
		while ((int64_t)json_array_size(worst) > q->limit)
			json_array_remove(worst, json_array_size(worst) - 1);
		http_reply_json(q->req, 200, worst);
	} else {
		json_array_foreach (jobs, i, job) {
			job_join(job, &around);
			json_object_set_new(job, "nccl",
			    api_job_ras(q->h->api, job));
		}
		http_reply_json(q->req, 200, json_incref(jobs));
	}
	http_jobs_question_free(q);
}

static void http_jobs_answered_cb(int status, json_t *result, void *arg);

/* Send the next query, over the time of all its jobs and a margin. */
static void
http_jobs_ask_next(struct jobs_question *q)
{
	static const struct {
		enum store_question what;
		int64_t before_ns, limit;
	} asks[ASK_MAX] = { [ASK_VERDICTS] = { STORE_VERDICTS, VERDICT_NS,
				ROWS_MAX },
		[ASK_EVENTS] = { STORE_EVENTS, 0, EVENTS_MAX },
		[ASK_IMPACTS] = { STORE_IMPACTS, 0, ROWS_MAX },
		[ASK_SHARES] = { STORE_SHARES, VERDICT_NS, ROWS_MAX },
		[ASK_IN_BAND] = { STORE_IN_BAND, 0, ROWS_MAX } };
	int64_t from_ns = INT64_MAX, to_ns = 0;
	int at = q->asked++;
	json_t *job, *args;
	size_t i;

	json_array_foreach (q->answers[ASK_JOBS], i, job) {
		const json_t *end = json_object_get(job, "end_unix_ns");
		int64_t start_ns = member_int(job, "start_unix_ns");
		int64_t end_ns = end == NULL ? q->now_unix_ns
					     : json_integer_value(end);
		int64_t around_ns = job_around_ns(job, q->now_unix_ns);

		if (start_ns - around_ns < from_ns)
			from_ns = start_ns - around_ns;
		if (end_ns + around_ns > to_ns)
			to_ns = end_ns + around_ns;
	}
	from_ns -= asks[at].before_ns;
	q->from_unix_ns = from_ns > 0 ? from_ns : 0;
	args = json_pack("{s:I, s:I, s:I}", "from_unix_ns",
	    (json_int_t)q->from_unix_ns, "to_unix_ns", (json_int_t)to_ns,
	    "limit", (json_int_t)asks[at].limit);
	if (at == ASK_IN_BAND) /* parts of a job have one owner */
		json_object_set(args, "whole",
		    json_object_get(json_array_get(q->answers[ASK_JOBS], 0),
			"whole"));
	store_ask_for(q->h->store, asks[at].what, args, q->req,
	    http_jobs_answered_cb, q);
	json_decref(args);
}

static void
http_jobs_answered_cb(int status, json_t *result, void *arg)
{
	struct jobs_question *q = arg;
	json_t *list, *row;
	size_t i;

	q->answers[q->asked - 1] = result;
	if (http_gone(q->req)) { /* the interface may be, too */
		http_drop(q->req);
		http_jobs_question_free(q);
		return;
	}
	if (status < 0) {
		http_fail_errno(q->req, status, NULL);
		http_jobs_question_free(q);
		return;
	}
	if (q->asked == ASK_VERDICTS + 1) {
		/* Verdicts that are older than the time queried; the oldest is
		 * last. */
		list = api_verdicts(q->h->api, 0);
		json_array_foreach (list, i, row) {
			if (member_int(row, "since_unix_ns") >= q->from_unix_ns)
				continue; /* it is among them */
			json_object_set(row, "at_unix_ns",
			    json_object_get(row, "since_unix_ns"));
			json_array_append(q->answers[ASK_VERDICTS], row);
		}
		json_decref(list);
	}
	if (json_array_size(q->answers[ASK_JOBS]) == 0 && !q->is_worst) {
		http_fail(q->req, 404, "not-found", "job not found");
		http_jobs_question_free(q);
	} else if (q->asked == (q->is_worst ? ASK_EVENTS : ASK_MAX)) {
		http_jobs_finish(q);
	} else {
		http_jobs_ask_next(q);
	}
}

/* Takes args. */
static void
http_jobs_question_start(struct http *h, struct http_request *req, int is_worst,
    json_t *args)
{
	struct jobs_question *q;

	if (!http_jobs_may_see(h, req, args)) {
		json_decref(args);
		return;
	}
	q = xcalloc(1, sizeof(*q));
	q->h = h;
	q->req = req;
	q->is_worst = is_worst;
	q->now_unix_ns = (int64_t)clk_unix_ns();
	q->limit = member_int(args, "limit");
	if (is_worst) {
		if (q->limit == 0)
			q->limit = WORST_SHOWN;
		json_object_set_new(args, "limit", json_integer(WORST_OF));
		if (json_object_get(args, "from_unix_ns") == NULL)
			json_object_set_new(args, "from_unix_ns",
			    json_integer(q->now_unix_ns - WORST_NS));
	}
	q->asked = ASK_JOBS + 1;
	store_ask_for(h->store, STORE_JOBS, args, req, http_jobs_answered_cb,
	    q);
	json_decref(args);
}

void
http_get_job(struct http *h, struct http_request *req, const char *part)
{
	http_jobs_question_start(h, req, 0,
	    json_pack("{s:o, s:i}", "job", text_json(part), "limit",
		PARTS_MAX));
}

static const char *const list_args[] = { "#from_unix_ns", "#to_unix_ns", "name",
	"#limit", NULL };

void
http_get_jobs(struct http *h, struct http_request *req, const char *part)
{
	json_t *args = json_object();

	(void)part;
	if (http_args(req, args, list_args) < 0 ||
	    !http_jobs_may_see(h, req, args))
		json_decref(args);
	else
		http_ask(h, req, STORE_JOBS, args);
}

void
http_get_worst(struct http *h, struct http_request *req, const char *part)
{
	json_t *args = json_object();

	(void)part;
	if (http_args(req, args, list_args) < 0)
		json_decref(args);
	else
		http_jobs_question_start(h, req, 1, args);
}

void
http_get_nccl(struct http *h, struct http_request *req, const char *part)
{
	json_t *args = json_object(), *all, *list, *row;
	const char *owner;
	size_t i;

	(void)part;
	if (http_jobs_may_see(h, req, args)) {
		owner = member_text(args, "owner");
		all = api_jobs_ras(h->api);
		list = json_array();
		json_array_foreach (all, i, row)
			if (owner[0] == '\0' ||
			    strcmp(owner, member_text(row, "owner")) == 0)
				json_array_append(list, row);
		json_decref(all);
		http_reply_json(req, 200, list);
	}
	json_decref(args);
}

/* Rows are read page by page, then statements are made; the loop runs between
 * all of these steps. */
struct costs_question {
	struct http *h;
	struct http_request *req;
	json_t *args;
	struct job_costs *costs;
};

static void
http_jobs_costs_cb(int status, json_t *rows, void *arg)
{
	struct costs_question *q = arg;
	size_t count = json_array_size(rows);
	const json_t *last = json_array_get(rows, count - 1);
	uint64_t began_ns = clk_ns();
	int more = 1;

	if (http_gone(q->req)) {
		http_drop(q->req);
		more = 0;
	} else if (status < 0) {
		http_fail_errno(q->req, status, NULL);
		more = 0;
	} else if (count > 0) {
		job_costs_add(q->costs, rows);
		json_object_set(q->args, "from_unix_ns",
		    json_object_get(last, "at_unix_ns"));
		json_object_set(q->args, "after_job",
		    json_object_get(last, "job"));
		json_object_set(q->args, "after_test",
		    json_object_get(last, "test"));
	} else {
		/* All results have arrived; a repeated query has none yet, but
		 * the loop has run in between. */
		while (more && clk_ns() - began_ns < COSTS_NS)
			more = job_costs_next(q->costs);
		if (!more)
			http_reply_json(q->req, 200, job_costs_told(q->costs));
	}
	json_decref(rows);
	if (more) {
		store_ask_for(q->h->store, STORE_OCCASIONS, q->args, q->req,
		    http_jobs_costs_cb, q);
		return;
	}
	job_costs_free(q->costs);
	json_decref(q->args);
	free(q);
}

/* Costs of jobs are for operators only, since they reveal jobs of other users.
 */
void
http_get_costs(struct http *h, struct http_request *req, const char *part)
{
	static const char *const names[] = { "#from_unix_ns", "#to_unix_ns",
		"job", "name", NULL };
	static const char *const bys[] = { [JOB_COSTS_BY_NAME] = "name",
		[JOB_COSTS_BY_JOB] = "job",
		[JOB_COSTS_BY_WEEK] = "week" };
	const char *word = http_param(&req->head, "by");
	int by = word == NULL ? JOB_COSTS_BY_NAME : (int)STR_FIND(bys, word);
	json_t *args = json_object();
	struct costs_question *q;

	(void)part;
	if (http_args(req, args, names) < 0 ||
	    !http_jobs_may_see(h, req, args)) {
		json_decref(args);
		return;
	}
	if (by < 0 || json_object_get(args, "owner") != NULL) {
		http_fail(req, by < 0 ? 400 : 403,
		    by < 0 ? "config" : "forbidden",
		    by < 0 ? "by: expected name, job or week"
			   : "only operators may read the costs of jobs");
		json_decref(args);
		return;
	}
	json_object_set_new(args, "limit", json_integer(COSTS_PAGE));
	q = xcalloc(1, sizeof(*q));
	*q = (struct costs_question){ h, req, args,
		job_costs_new((enum job_costs_by)by) };
	store_ask_for(h->store, STORE_OCCASIONS, args, req, http_jobs_costs_cb,
	    q);
}
