/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_join.c - join a job with the verdicts of its nodes and leaves. The time
 * in which any part of the job was slow counts fully, because the whole job
 * waits for its slowest node.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/jobs/job_join.h"
#include "schema/names_verdict.h"

#define ROWS_MAX 200 /* of verdicts or events of one answer */

struct span {
	int64_t from_ns, to_ns;
};

/* A node or leaf that was slow for a while. */
struct trouble {
	struct span span; /* to_ns INT64_MAX: it still is */
	const json_t *verdict;
};

struct troubles {
	struct trouble *list;
	size_t count;
};

static struct span
job_join_span_of(const json_t *job, int64_t now_unix_ns)
{
	const json_t *end = json_object_get(job, "end_unix_ns");
	int64_t from_ns = member_int(job, "start_unix_ns");
	int64_t to_ns = end != NULL ? json_integer_value(end) : now_unix_ns;

	return (struct span){ from_ns, to_ns > from_ns ? to_ns : from_ns };
}

int64_t
job_around_ns(const json_t *job, int64_t now_unix_ns)
{
	struct span s = job_join_span_of(job, now_unix_ns);
	int64_t lasts_ns = s.to_ns - s.from_ns;

	return lasts_ns < (int64_t)JOB_AROUND_MIN_NS
	    ? (int64_t)JOB_AROUND_MIN_NS
	    : lasts_ns > (int64_t)JOB_AROUND_MAX_NS ? (int64_t)JOB_AROUND_MAX_NS
						    : lasts_ns;
}

/* Verdicts are sorted, newest first: each ends at the start of the next one. */
static struct troubles
job_join_troubles_of(const json_t *verdicts)
{
	struct troubles t = { xcalloc(json_array_size(verdicts) + 1,
				  sizeof(struct trouble)),
		0 };
	json_t *next = json_object(), *row;
	char key[400];
	size_t i;

	json_array_foreach (verdicts, i, row) {
		int64_t at_ns = member_int(row, "at_unix_ns");
		int verdict = STR_FIND(names_verdicts,
		    member_text(row, "verdict"));
		const json_t *later;

		utf8_format(key, sizeof(key), "%.60s %.300s",
		    member_text(row, "kind"), member_text(row, "subject"));
		later = json_object_get(next, key);
		if (verdict == VERDICT_WARN || verdict == VERDICT_BAD)
			t.list[t.count++] = (struct trouble){
				{ at_ns,
				    later == NULL ? INT64_MAX
						  : json_integer_value(later) },
				row
			};
		json_object_set_new(next, key, json_integer(at_ns));
	}
	json_decref(next);
	return t;
}

/* Return the names of a list as a set. */
static json_t *
job_join_nodes_of(const json_t *o, const char *key)
{
	struct hostlist hl = { 0 };
	json_t *set = json_object();

	if (hostlist_parse(member_text(o, key), &hl, NULL) == 0)
		for (size_t i = 0; i < hl.count; i++)
			json_object_set_new(set, hl.names[i], json_true());
	hostlist_clear(&hl);
	return set;
}

static int
job_join_is_part(const json_t *job, const json_t *nodes, const json_t *row)
{
	const char *subject = member_text(row, "subject");
	const char *kind = member_text_or(row, "kind", "node");

	if (strcmp(kind, "leaf") == 0)
		return json_object_get(json_object_get(job, "leaves"),
			   subject) != NULL;
	return json_object_get(nodes, subject) != NULL;
}

static const char *
job_join_when_of(struct span job, struct span what)
{
	return what.to_ns <= job.from_ns ? "before"
	    : what.from_ns >= job.to_ns  ? "after"
					 : "during";
}

static int
job_join_span_compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Return the time that spans cover; sorts them. */
static int64_t
job_join_covered_ns(struct span *list, size_t count)
{
	int64_t sum_ns = 0, to_ns = INT64_MIN;

	qsort(list, count, sizeof(list[0]), job_join_span_compare);
	for (size_t i = 0; i < count; i++) {
		struct span s = list[i];

		if (s.from_ns < to_ns)
			s.from_ns = to_ns;
		if (s.to_ns > s.from_ns)
			sum_ns += s.to_ns - s.from_ns;
		to_ns = s.to_ns > to_ns ? s.to_ns : to_ns;
	}
	return sum_ns;
}

/* Set exposed_node_s, and verdicts within around_ns of the job. */
static void
job_join_exposure_add(json_t *job, const struct troubles *t,
    int64_t now_unix_ns, int64_t around_ns)
{
	struct span mine = job_join_span_of(job, now_unix_ns);
	struct span *during = xcalloc(t->count + 1, sizeof(*during));
	json_t *nodes = NULL, *list = json_array(), *row;
	size_t count = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct span s = t->list[i].span;

		if (s.from_ns >= mine.to_ns + around_ns ||
		    s.to_ns <= mine.from_ns - around_ns)
			continue;
		if (nodes == NULL)
			nodes = job_join_nodes_of(job, "nodes");
		if (!job_join_is_part(job, nodes, t->list[i].verdict))
			continue;
		if (s.from_ns < mine.to_ns && s.to_ns > mine.from_ns)
			during[count++] = (struct span){ s.from_ns >
					mine.from_ns
				    ? s.from_ns
				    : mine.from_ns,
				s.to_ns < mine.to_ns ? s.to_ns : mine.to_ns };
		if (json_array_size(list) == ROWS_MAX)
			continue;
		row = json_copy((json_t *)(uintptr_t)t->list[i].verdict);
		json_object_set_new(row, "when",
		    json_string(job_join_when_of(mine, s)));
		if (s.to_ns != INT64_MAX)
			json_object_set_new(row, "until_unix_ns",
			    json_integer(s.to_ns));
		json_array_append_new(list, row);
	}
	json_object_set_new(job, "exposed_node_s",
	    json_real((double)job_join_covered_ns(during, count) / 1e9 *
		(double)member_int(job, "node_count")));
	json_object_set_new(job, "verdicts", list);
	json_decref(nodes);
	free(during);
}

/* The event is of one of its nodes, or of the job. */
static int
job_join_is_event_of(const json_t *job, const json_t *nodes,
    const json_t *event)
{
	const char *subject = member_text(event, "subject");

	return strcmp(member_text(event, "kind"), "job") == 0
	    ? strcmp(subject, member_text(job, "job")) == 0
	    : json_object_get(nodes, subject) != NULL;
}

static void
job_join_events_add(json_t *job, const json_t *events, int64_t now_unix_ns)
{
	struct span mine = job_join_span_of(job, now_unix_ns);
	json_t *nodes = job_join_nodes_of(job, "nodes"), *list = json_array(),
	       *event, *row;
	size_t i;

	json_array_foreach (events, i, event) {
		int64_t at_ns = member_int(event, "at_unix_ns");

		/* Verdicts have their own rows. */
		if (strcmp(member_text(event, "kind"), "verdict") == 0 ||
		    !job_join_is_event_of(job, nodes, event) ||
		    json_array_size(list) == ROWS_MAX)
			continue;
		row = json_copy(event);
		json_object_set_new(row, "when",
		    json_string(job_join_when_of(mine,
			(struct span){ at_ns, at_ns + 1 })));
		json_array_append_new(list, row);
	}
	json_object_set_new(job, "events", list);
	json_decref(nodes);
}

/* Impacts are ratios: their mean is the geometric one. */
static void
job_join_impacts_add(json_t *job, const json_t *impacts, int64_t now_unix_ns)
{
	struct span mine = job_join_span_of(job, now_unix_ns);
	json_t *list = json_array(), *sums = json_object(), *impact, *row,
	       *pair;
	const char *key;
	char name[160];
	size_t i;

	json_array_foreach (impacts, i, impact) {
		int64_t at_ns = member_int(impact, "at_unix_ns");
		const char *when = job_join_when_of(mine,
		    (struct span){ at_ns, at_ns + 1 });
		double value = member_number(impact, "value");

		if (!(value > 0))
			continue;
		utf8_format(name, sizeof(name), "%.60s %.60s",
		    member_text(impact, "test"), member_text(impact, "of"));
		row = json_object_get(sums, name);
		if (row == NULL) {
			row = json_pack("{s:O, s:O}", "test",
			    json_object_get(impact, "test"), "of",
			    json_object_get(impact, "of"));
			if (row == NULL)
				continue;
			json_object_set_new(sums, name, row);
		}
		pair = json_object_get(row, when);
		json_object_set_new(row, when,
		    json_pack("[f, i]",
			log(value) + json_real_value(json_array_get(pair, 0)),
			(int)json_integer_value(json_array_get(pair, 1)) + 1));
	}
	json_object_foreach (sums, key, row) {
		static const char *const whens[] = { "before", "during",
			"after" };

		for (i = 0; i < ARRAY_LEN(whens); i++) {
			pair = json_object_get(row, whens[i]);
			if (pair != NULL)
				json_object_set_new(row, whens[i],
				    json_real(exp(json_real_value(
						      json_array_get(pair, 0)) /
					(double)json_integer_value(
					    json_array_get(pair, 1)))));
		}
		json_array_append(list, row);
	}
	json_object_set_new(job, "impacts", list);
	json_decref(sums);
}

/* Return the share of the job, below 1 if a part of it is slow, since the whole
 * job waits. A job on one leaf does not use uplinks. out: the slow parts, or
 * NULL. */
static double
job_join_share_of(const json_t *job, const json_t *nodes, const json_t *shares,
    json_t *out)
{
	int crosses = json_object_size(json_object_get(job, "leaves")) > 1;
	double least = 1, share;
	json_t *row;
	size_t i;

	member_foreach (shares, "slow", i, row) {
		share = member_number(row, "share");
		if (!job_join_is_part(job, nodes, row) || !(share < 1) ||
		    (!crosses && strcmp(member_text(row, "kind"), "leaf") == 0))
			continue;
		least = share < least ? share : least;
		if (out != NULL && json_array_size(out) < ROWS_MAX)
			json_array_append(out, row);
	}
	return least;
}

/* Skip times without a measurement. */
static void
job_join_expectation_set(json_t *o, const char *when, const json_t *job,
    const json_t *nodes, const json_t *shares)
{
	json_t *slow = json_array(), *unknown = json_array(), *known, *value;
	const char *name;

	known = job_join_nodes_of(shares, "known");
	json_object_foreach ((json_t *)(uintptr_t)nodes, name, value)
		if (json_object_get(known, name) == NULL)
			json_array_append_new(unknown, json_string(name));
	if (shares != NULL &&
	    json_array_size(unknown) < json_object_size(nodes))
		json_object_set_new(o, when,
		    json_pack("{s:O, s:f, s:O, s:O}", "at_unix_ns",
			json_object_get(shares, "at_unix_ns"), "share",
			job_join_share_of(job, nodes, shares, slow), "slow",
			slow, "unknown", unknown));
	json_decref(known);
	json_decref(slow);
	json_decref(unknown);
}

/* A row of shares is valid until the next one. before: the row at the start of
 * the job; during: the worst row of its time; after: the newest row after it.
 */
static void
job_join_expectation_add(json_t *job, const json_t *shares, int64_t now_unix_ns,
    int64_t around_ns)
{
	struct span mine = job_join_span_of(job, now_unix_ns);
	const json_t *before = NULL, *during = NULL, *after = NULL;
	json_t *nodes = job_join_nodes_of(job, "nodes"), *o = json_object(),
	       *row;
	double worst = INFINITY;
	size_t i;

	json_array_foreach (shares, i, row) {
		int64_t at_ns = member_int(row, "at_unix_ns");
		double share;

		if (at_ns >= mine.to_ns) {
			if (after == NULL && at_ns < mine.to_ns + around_ns)
				after = row;
			continue;
		}
		share = job_join_share_of(job, nodes, row, NULL);
		if (share < worst) {
			worst = share;
			during = row;
		}
		if (at_ns <= mine.from_ns) {
			before = row;
			break;
		}
	}
	job_join_expectation_set(o, "before", job, nodes, before);
	job_join_expectation_set(o, "during", job, nodes, during);
	job_join_expectation_set(o, "after", job, nodes, after);
	json_object_set_new(job, "expectation", o);
	json_decref(nodes);
}

static int
job_join_longer_compare(const void *a, const void *b)
{
	double x = member_number(*(json_t *const *)a, "seconds");
	double y = member_number(*(json_t *const *)b, "seconds");

	return (x < y) - (x > y);
}

/* Calls whose sizes are within a factor of two are grouped. In a call a rank
 * waits for ranks that arrive later. So the smallest wait over all nodes is the
 * best estimate of the time that the network needs. */
static void
job_join_in_band_add(json_t *job, const json_t *in_band)
{
	json_t *nodes = job_join_nodes_of(job, "nodes"), *all = json_object();
	json_t *list = json_array(), *said, *row, *have, **rows;
	const char *key;
	char name[200];
	size_t i, k, count = 0;

	json_array_foreach (in_band, i, said)
		member_foreach (said, "rows", k, row) {
			double calls = member_number(row, "calls");
			double seconds = member_number(row, "seconds");
			double bytes = member_number(row, "bytes");
			double least_s = member_number(row, "least_s");

			if (!(calls > 0 && seconds > 0 && bytes >= 0 &&
				least_s > 0) ||
			    json_object_get(nodes, member_text(said, "node")) ==
				NULL ||
			    !json_equal(json_object_get(said, "job"),
				json_object_get(job, "job")) ||
			    !json_equal(json_object_get(said, "start_unix_ns"),
				json_object_get(job, "start_unix_ns")))
				continue;
			utf8_format(name, sizeof(name),
			    "%.20s %.20s %" PRId64 " %" PRId64 " %d",
			    member_text(row, "source"), member_text(row, "op"),
			    (int64_t)member_int(row, "ranks"),
			    (int64_t)member_int(row, "nodes"),
			    bytes >= 1 ? ilogb(bytes) : 0);
			have = json_object_get(all, name);
			if (have == NULL && json_object_size(all) == ROWS_MAX)
				continue;
			if (have != NULL) {
				calls += member_number(have, "calls");
				seconds += member_number(have, "seconds");
			} else {
				have = json_copy(row);
				json_object_set_new(have, "least_s",
				    json_real(DBL_MAX));
				json_object_set_new(all, name, have);
			}
			json_object_set_new(have, "calls", json_real(calls));
			json_object_set_new(have, "seconds",
			    json_real(seconds));
			json_object_set_new(have, "mean_s",
			    json_real(seconds / calls));
			if (least_s < member_number(have, "least_s")) {
				json_object_set_new(have, "least_s",
				    json_real(least_s));
				json_object_set(have, "node",
				    json_object_get(said, "node"));
			}
		}
	rows = xcalloc(json_object_size(all) + 1, sizeof(json_t *));
	json_object_foreach (all, key, row)
		rows[count++] = row;
	qsort(rows, count, sizeof(json_t *), job_join_longer_compare);
	for (i = 0; i < count; i++)
		json_array_append(list, rows[i]);
	json_object_set_new(job, "in_band", list);
	json_decref(all);
	json_decref(nodes);
	free(rows);
}

void
job_join(json_t *job, const struct job_around *around)
{
	struct troubles t = job_join_troubles_of(around->verdicts);

	job_join_exposure_add(job, &t, around->now_unix_ns,
	    job_around_ns(job, around->now_unix_ns));
	job_join_events_add(job, around->events, around->now_unix_ns);
	job_join_impacts_add(job, around->impacts, around->now_unix_ns);
	job_join_expectation_add(job, around->shares, around->now_unix_ns,
	    job_around_ns(job, around->now_unix_ns));
	job_join_in_band_add(job, around->in_band);
	free(t.list);
}

static int
job_join_worse_compare(const void *a, const void *b)
{
	double x = member_number(*(json_t *const *)a, "exposed_node_s");
	double y = member_number(*(json_t *const *)b, "exposed_node_s");

	return (x < y) - (x > y);
}

json_t *
job_worst(const json_t *jobs, const struct job_around *around)
{
	struct troubles t = job_join_troubles_of(around->verdicts);
	json_t **rows = xcalloc(json_array_size(jobs) + 1, sizeof(json_t *));
	json_t *list = json_array(), *job, *row;
	size_t i, count = 0;

	json_array_foreach (jobs, i, job) {
		row = json_copy(job);
		job_join_exposure_add(row, &t, around->now_unix_ns, 0);
		if (member_number(row, "exposed_node_s") > 0)
			rows[count++] = row;
		else
			json_decref(row);
	}
	qsort(rows, count, sizeof(json_t *), job_join_worse_compare);
	for (i = 0; i < count; i++)
		json_array_append_new(list, rows[i]);
	free(rows);
	free(t.list);
	return list;
}
