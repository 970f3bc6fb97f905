/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.c - records: checked, stored as they arrived, acknowledged after the
 * commit.
 *
 * An agent sends its spool in order, and the store commits in order, so the
 * last record of a message that is committed acknowledges all before it.
 * After a failed commit nothing more is acknowledged until the agent has
 * reconnected and repeated its records. Repeated records are idempotent:
 * (run, seq) is unique.
 */
#include "daemon/run/intake.h"
#include "daemon/run/fabric.h"
#include "daemon/run/run_int.h"
#include "daemon/run/run_state.h"
#include "daemon/run/hold.h"
#include "daemon/run/outcome.h"
#include "daemon/run/symptom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "schema/record.h"

#define ADOPTED_MAX 1000 /* limit of unknown runs for each node */

/* One `records` message on its way through the store. */
struct intake {
	struct runs *rs;
	struct node *node;
	uint64_t serial; /* of the session that sent it */
	json_t *records;
	struct record_line *lines; /* of the records, as they arrived */
	size_t left;
	int status;
	char run[64];
};

static void
intake_free(struct intake *it)
{
	for (size_t i = 0; i < json_array_size(it->records); i++)
		free((char *)(uintptr_t)it->lines[i].text);
	free(it->lines);
	json_decref(it->records);
	free(it);
}

static void
intake_ack(const struct intake *it)
{
	size_t count = json_array_size(it->records);
	struct runs *rs = it->rs;

	if (it->node->serial != it->serial)
		return; /* a new session: its welcome has acknowledged */
	(void)rs->ops->send(rs->ctx, it->node, WIRE_ACK,
	    json_pack("{s:s, s:I}", "run", it->run, "seq",
		member_int(json_array_get(it->records, count - 1), "seq")));
}

/* Return 1 for a known node that does not belong to the run, whose nodes are
 * known by now. */
static int
intake_is_foreign(struct run *r, const char *name, size_t row)
{
	const struct node *n;

	/* Rows are mostly in the order of the run. */
	if (name[0] == '\0' ||
	    (row < r->node_count &&
		strcmp(r->nodes[row].node->name, name) == 0))
		return 0;
	n = roster_find(r->all->roster, name);
	return n != NULL && run_node_index(r, n) < 0;
}

/* A record must be about the nodes of its run. A record that names others is
 * stored, like all, but not used for verdicts: its head may be any holder of a
 * certificate. */
static int
intake_is_of_run(struct run *r, const json_t *record)
{
	static const struct {
		const char *rows, *key;
	} places[] = { { "nodes", "node" }, { "nodes", "partner" },
		{ "pairs", "a" }, { "pairs", "b" } };
	const char *hosts = member_text_or(json_object_get(record, "scores"),
	    "hosts", NULL);
	const char *other = NULL;
	struct hostlist list = { 0 };
	char text[RUN_WHY_MAX];
	const json_t *row;
	size_t k;

	if (intake_is_foreign(r, member_text(record, "node"), 0))
		other = member_text(record, "node");
	for (size_t i = 0; i < ARRAY_LEN(places) && other == NULL; i++)
		member_foreach (record, places[i].rows, k, row)
			if (other == NULL &&
			    intake_is_foreign(r,
				member_text(row, places[i].key), k))
				other = member_text(row, places[i].key);
	/* The same for nodes that have no row. */
	if (hosts != NULL && hostlist_parse(hosts, &list, NULL) == 0)
		for (size_t i = 0; i < list.count && other == NULL; i++)
			if (intake_is_foreign(r, list.names[i], i))
				other = list.names[i];
	if (other != NULL && !r->named_others) {
		r->named_others = 1;
		snprintf(text, sizeof(text),
		    "a record names node %.80s, which is not part of the run; "
		    "the record is stored, but not used for verdicts",
		    other);
		log_warnx("run %s: %s", r->id, text);
		store_put_event(r->all->store, "alarm", r->id, text);
	}
	hostlist_clear(&list);
	return other == NULL;
}

static void
intake_done(struct intake *it)
{
	struct runs *rs = it->rs;
	struct run *r;
	json_t *record;
	size_t i;

	if (it->status < 0) {
		/* No later record may be acknowledged: the session is ended
		 * when the store works again. */
		rs->intake_failed = 1;
		if (it->node->serial == it->serial)
			it->node->resend = 1;
		return;
	}
	r = run_find_live(rs, it->run);
	if (r == NULL || run_is_final(r))
		return;
	json_array_foreach (it->records, i, record) {
		if (member_unsigned(record, "seq") > r->fed_seq) {
			r->fed_seq = member_unsigned(record, "seq");
			if (intake_is_of_run(r, record))
				rs->ops->committed(rs->ctx, r, record,
				    &it->lines[i]);
		}
		if (strcmp(member_text(record, "probe"), "end") == 0)
			outcome_end(r, record);
	}
}

static void
intake_stored_cb(int status, json_t *result, void *arg)
{
	struct intake *it = arg;

	json_decref(result);
	if (status < 0 && it->status == 0)
		it->status = status;
	if (--it->left > 0)
		return;
	intake_done(it);
	if (it->status == 0 && !it->node->resend)
		intake_ack(it);
	intake_free(it);
}

static void
intake_store(struct intake *it)
{
	struct store *st = it->rs->store;
	json_t *records = json_incref(it->records), *record;
	size_t i;

	it->left = json_array_size(records);
	json_array_foreach (records, i, record)
		store_put_record(st, record, &it->lines[i], intake_stored_cb,
		    it);
	json_decref(records); /* it may be gone already */
}

/* Process records on arrival, as far as it must not wait for the disk. */
static void
intake_arrived(struct run *r, const json_t *records)
{
	char text[RUN_WHY_MAX] = "";
	json_t *record;
	size_t i;

	json_array_foreach (records, i, record) {
		const char *probe = member_text(record, "probe");
		uint64_t seq = member_unsigned(record, "seq");

		if (strcmp(probe, "end") == 0) {
			r->end_seen = 1;
			r->end_seen_ns = clk_ns();
		}
		if (seq <= r->last_seq)
			continue; /* sent again */
		r->last_seq = seq;
		r->records++;
		if (strcmp(probe, "begin") == 0) {
			fabric_unused_note(r,
			    json_object_get(record, "carried"), text,
			    sizeof(text));
			if (text[0] != '\0')
				log_warnx("run %s: %s", r->id, text);
			json_decref(r->carried);
			r->carried = json_incref(
			    json_object_get(json_object_get(record, "carried"),
				"devices"));
		}
		if (strcmp(probe, "phase") != 0)
			continue;
		xstrset(&r->phase, member_text_or(record, "phase", NULL));
		xstrset(&r->test, member_text_or(record, "test", NULL));
		/* Request the counters of all nodes at the border of a phase.
		 */
		r->borders++;
		for (size_t k = 0; k < r->node_count; k++)
			(void)run_send(r, r->nodes[k].node, WIRE_SAMPLE,
			    json_pack("{s:s, s:I}", "run", r->id, "border",
				(json_int_t)seq));
	}
	if (r->state == RUN_STARTING) {
		run_step_set(r, STEP_RUN);
		run_state_set(r, RUN_RUNNING, CAUSE_NONE, text);
	}
}

/* Accept records of a run that is not in the store: the store was lost or
 * restored from an older copy while the agent held them. They are stored under
 * a run with this cause. With an intact store this cannot happen, so only
 * ADOPTED_MAX such runs are accepted from a node, which keeps the rest. */
static void
intake_adopt(struct intake *it)
{
	struct node *n = it->node;
	char text[RUN_WHY_MAX];
	json_t *run;

	if (n->adopted_run != NULL && strcmp(n->adopted_run, it->run) == 0) {
		intake_store(it); /* requested before the first was stored */
		return;
	}
	if (n->adopted == ADOPTED_MAX) {
		log_warnx("node %s: limit of %d unknown runs reached; records "
			  "stay on the node: %s",
		    n->name, ADOPTED_MAX, it->run);
		intake_free(it);
		return;
	}
	n->adopted++;
	xstrset(&n->adopted_run, it->run);
	snprintf(text, sizeof(text),
	    "this run is known only from the records that %.80s sent: the "
	    "store was created or restored after the run began",
	    n->name);
	log_warnx("run %s: %s", it->run, text);
	store_put_event(it->rs->store, "alarm", it->run, text);
	run = json_pack("{s:s, s:s, s:s, s:s, s:o, s:[s], s:s, s:I, s:s}",
	    "run", it->run, "campaign", "", "state",
	    names_run_states[RUN_FAILED].name, "cause",
	    names_causes[CAUSE_INTERNAL].name, "text", text_json(text), "nodes",
	    n->name, "head", n->name, "created_unix_ns",
	    (json_int_t)clk_unix_ns(), "campaign_text", "");
	store_put_run(it->rs->store, run, NULL, NULL, NULL);
	json_decref(run);
	intake_store(it);
}

/* The quota of a head for a run, and of a node per hour for ended runs. */
static int
intake_fits(const struct runs_quota *q, uint64_t records, uint64_t bytes)
{
	return (q->records == 0 || records <= q->records) &&
	    (q->bytes == 0 || bytes <= q->bytes);
}

/* More records than a campaign can make: the head is not trusted any more. Its
 * further records are dropped but acknowledged, or it would repeat them
 * forever. */
static int
intake_is_cut(struct run *r, const struct node *n, size_t count)
{
	char text[SYMPTOM_TEXT_MAX];

	r->bytes += n->message_bytes;
	if (r->cut || intake_fits(&r->all->quota, r->records + count, r->bytes))
		return r->cut;
	r->cut = 1;
	snprintf(text, sizeof(text),
	    "%.80s exceeds the quota of a run (quota.run_records, "
	    "quota.run_bytes): %llu records kept, all others dropped",
	    n->name, (unsigned long long)r->records);
	log_warnx("run %s: %s", r->id, text);
	store_put_event(r->all->store, "alarm", r->id, text);
	run_finish(r, RUN_FAILED, CAUSE_INTERNAL, text);
	return 1;
}

/* The rest of a node's records of ended runs stays with its agent. */
static int
intake_is_late_flood(struct runs *rs, struct node *n, size_t count)
{
	uint64_t now_ns = clk_ns();

	if (n->late_begin_ns == 0 ||
	    now_ns - n->late_begin_ns >= 3600 * CLK_NS_PER_S) {
		n->late_begin_ns = now_ns;
		n->late_records = n->late_bytes = 0;
	}
	n->late_records += count;
	n->late_bytes += n->message_bytes;
	if (intake_fits(&rs->quota, n->late_records, n->late_bytes))
		return 0;
	(void)roster_event(rs->store, n, "alarm",
	    "the node's records of ended runs exceed quota.run_records or "
	    "quota.run_bytes in this hour: further records are not accepted");
	return 1;
}

/* Handle records of a run that is not in memory. Late records from the run's
 * head are stored. Records from another node are dropped but acknowledged, or
 * its agent would repeat them forever. */
static void
intake_late_cb(int status, json_t *result, void *arg)
{
	struct intake *it = arg;
	const char *head = member_text_or(result, "head", NULL);

	if (status == 0 && head != NULL && strcmp(head, it->node->name) == 0) {
		intake_store(it);
	} else if (status == -ENOENT) {
		intake_adopt(it);
	} else if (status == 0) {
		log_warnx("node %s: records of run %s dropped: this node was "
			  "not the head node of the run",
		    it->node->name, it->run);
		intake_ack(it);
		intake_free(it);
	} else {
		it->status = status;
		intake_done(it);
		intake_free(it);
	}
	json_decref(result);
}

int
intake_records(struct runs *rs, struct node *n, const json_t *msg,
    const struct strict_lines *lines, struct err *err)
{
	const char *id = member_text(msg, "run");
	json_t *records = json_object_get(msg, "records");
	struct run *r = run_find(rs, id);
	struct record_head head;
	struct record_line line;
	struct intake *it;
	json_t *args, *record;
	uint64_t seq = 0;
	size_t i;

	if (record_run_check(id) < 0)
		return -EPROTO;
	/* Repeat the agent's check, since an agent is not trusted either. */
	json_array_foreach (records, i, record) {
		line = record_line_at(lines, i);
		if (record_check(record, &line, &head, err) < 0) {
			err_say(err, "malformed record: %s", err->text);
			return -EPROTO;
		}
		if (strcmp(head.run, id) != 0 || head.seq <= seq)
			return err_set(err, -EPROTO,
			    "a record belongs to another run, or its sequence "
			    "number is out of order");
		seq = head.seq;
	}
	if (r != NULL && n != run_head(r))
		return err_set(err, -EPROTO,
		    "records of run %s from a node that is not the head node "
		    "of the run",
		    id);
	if (json_array_size(records) == 0)
		return 0;
	if (r == NULL && intake_is_late_flood(rs, n, json_array_size(records)))
		return 0;
	rs->records += json_array_size(records);
	it = xcalloc(1, sizeof(*it));
	it->rs = rs;
	it->node = n;
	it->serial = n->serial;
	it->records = json_incref(records);
	it->lines = xcalloc(json_array_size(records), sizeof(*it->lines));
	for (i = 0; i < json_array_size(records); i++) {
		line = record_line_at(lines, i);
		it->lines[i] = record_line_copy(&line);
	}
	snprintf(it->run, sizeof(it->run), "%s", id);
	if (r == NULL) {
		args = json_pack("{s:s}", "run", id);
		store_ask(rs->store, STORE_RUN, args, intake_late_cb, it);
		json_decref(args);
		return 0;
	}
	if (intake_is_cut(r, n, json_array_size(records))) {
		intake_ack(it);
		intake_free(it);
		return 0;
	}
	if (!run_is_final(r))
		intake_arrived(r, records);
	intake_store(it);
	return 0;
}

uint64_t
runs_records(const struct runs *rs)
{
	return rs->records;
}

int
intake_progress(struct run *r, const json_t *msg)
{
	const json_t *record = json_object_get(msg, "record");
	static const char *const keys[] = { "share", "phase", "test",
		"remaining_s" };

	if (run_is_final(r))
		return 0;
	json_decref(r->progress);
	r->progress = json_object();
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		json_t *v = json_object_get(record, keys[i]);

		if (json_is_number(v) || json_is_string(v))
			json_object_set(r->progress, keys[i], v);
	}
	if (member_text_or(r->progress, "phase", NULL) != NULL)
		xstrset(&r->phase, member_text(r->progress, "phase"));
	if (member_text_or(r->progress, "test", NULL) != NULL)
		xstrset(&r->test, member_text(r->progress, "test"));
	return 0;
}

int
intake_counters(struct run *r, struct node *n, const json_t *msg)
{
	const json_t *nics = json_object_get(msg, "nics");
	long index = run_node_index(r, n);

	/* No more counters were requested. */
	if (index < 0 || r->nodes[index].borders >= r->borders)
		return 0;
	r->nodes[index].borders++;
	hold_counters(r, (size_t)index, nics);
	store_put_counters(r->all->store, r->id, n->name,
	    member_int(msg, "border"), member_int(msg, "at_unix_ns"), nics);
	if (r->all->ops->counters != NULL)
		r->all->ops->counters(r->all->ctx, r, n, nics);
	return 0;
}

/* The store works again: agents with unacknowledged records have to reconnect.
 */
void
intake_tick(struct runs *rs)
{
	struct store_health health;

	if (!rs->intake_failed)
		return;
	store_health(rs->store, &health);
	if (!health.writable)
		return;
	rs->intake_failed = 0;
	for (size_t i = 0; i < roster_count(rs->roster); i++) {
		struct node *n = roster_at(rs->roster, i);

		if (!n->resend)
			continue;
		n->resend = 0;
		rs->ops->hang_up(rs->ctx, n,
		    "the store is writable again: reconnect and send the "
		    "unacknowledged records again");
	}
}

struct resumed {
	struct runs *rs;
	char run[64];
};

/* The end record may have been committed just before the old collector died,
 * and is then not sent again. */
static void
intake_end_cb(int status, json_t *result, void *arg)
{
	struct resumed *re = arg;
	struct run *r = run_find_live(re->rs, re->run);
	const json_t *end = json_array_get(result, 0);

	if (status == 0 && r != NULL && !run_is_final(r) && end != NULL)
		outcome_end(r, end);
	json_decref(result);
	free(re);
}

void
intake_resume(struct run *r)
{
	struct resumed *re = xcalloc(1, sizeof(*re));
	json_t *args = json_pack("{s:s, s:s}", "run", r->id, "probe", "end");

	re->rs = r->all;
	snprintf(re->run, sizeof(re->run), "%s", r->id);
	store_ask(r->all->store, STORE_RECORDS, args, intake_end_cb, re);
	json_decref(args);
}
