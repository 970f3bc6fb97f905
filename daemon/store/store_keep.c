/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_keep.c - deletes rows by id in slices, so that no transaction is long
 * and records of new runs never wait for the deletion of old ones.
 */

#include <stdio.h>
#include <string.h>

#include "daemon/store/store_keep.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_roll.h"

#define SLICE_ROWS 500

/* Each row deletes from one table; rows older than ?1 are deleted. Only the
 * oldest final run is searched for parts, so a slice costs a few index steps;
 * the run's own row is deleted when nothing refers to it. */
#define OLD_RUN                                                                \
	"(SELECT id FROM run WHERE final = 1 AND created_unix_ns < ?1"         \
	" ORDER BY created_unix_ns LIMIT 1)"

enum keep_by { KEEP_RETENTION, KEEP_RAW, KEEP_JOBS };

struct keep_row {
	enum keep_by by;
	const char *sql;
};

static const struct keep_row keep_rows[] = {
	{ KEEP_RAW,
	    "DELETE FROM record WHERE id IN (SELECT id FROM record"
	    " WHERE raw = 1 AND at_unix_ns < ?1 LIMIT ?2)" },
	{ KEEP_RAW,
	    "DELETE FROM counters WHERE (run_id, border, node) IN"
	    " (SELECT run_id, border, node FROM counters"
	    " WHERE at_unix_ns < ?1 LIMIT ?2)" },
	{ KEEP_RETENTION,
	    "DELETE FROM record WHERE id IN (SELECT id FROM record"
	    " WHERE run_id = " OLD_RUN " LIMIT ?2)" },
	{ KEEP_RETENTION,
	    "DELETE FROM counters WHERE (run_id, border, node) IN"
	    " (SELECT run_id, border, node FROM counters"
	    " WHERE run_id = " OLD_RUN " LIMIT ?2)" },
	{ KEEP_RETENTION,
	    "DELETE FROM run WHERE id = " OLD_RUN
	    " AND NOT EXISTS (SELECT 1 FROM record WHERE run_id = run.id)"
	    " AND NOT EXISTS (SELECT 1 FROM counters WHERE run_id = run.id)"
	    " AND ?2 > 0" },
	{ KEEP_RETENTION,
	    "DELETE FROM event WHERE id IN (SELECT id FROM event"
	    " WHERE at_unix_ns < ?1 ORDER BY id LIMIT ?2)" },
	/* Except the current verdict of a subject. */
	{ KEEP_RETENTION,
	    "DELETE FROM verdict WHERE id IN (SELECT v.id FROM verdict AS v"
	    " WHERE v.at_unix_ns < ?1 AND (v.verdict = 'ok' OR EXISTS"
	    " (SELECT 1 FROM verdict AS w WHERE w.kind = v.kind"
	    " AND w.subject = v.subject AND w.id > v.id)) LIMIT ?2)" },
	/* Except the topology that was valid at ?1. */
	{ KEEP_RETENTION,
	    "DELETE FROM topology WHERE id IN (SELECT id FROM topology"
	    " WHERE id < (SELECT max(id) FROM topology"
	    " WHERE from_unix_ns < ?1) LIMIT ?2)" },
	{ KEEP_RETENTION,
	    "DELETE FROM node WHERE node IN (SELECT node FROM node"
	    " WHERE last_seen_unix_ns < ?1 LIMIT ?2)" },
	{ KEEP_RETENTION,
	    "DELETE FROM node_inventory WHERE node IN (SELECT node"
	    " FROM node_inventory WHERE node NOT IN (SELECT node FROM node"
	    " WHERE last_seen_unix_ns >= ?1) LIMIT ?2)" },
	{ KEEP_JOBS,
	    "DELETE FROM job WHERE (job, start_unix_ns) IN"
	    " (SELECT job, start_unix_ns FROM job"
	    " WHERE until_unix_ns < ?1 LIMIT ?2)" },
	{ KEEP_JOBS,
	    "DELETE FROM in_band WHERE (whole, job, start_unix_ns, node) IN"
	    " (SELECT whole, job, start_unix_ns, node FROM in_band"
	    " WHERE at_unix_ns < ?1 LIMIT ?2)" },
	{ KEEP_JOBS,
	    "DELETE FROM occasion WHERE (job, at_unix_ns, test) IN"
	    " (SELECT job, at_unix_ns, test FROM occasion"
	    " WHERE at_unix_ns < ?1 LIMIT ?2)" },
	{ KEEP_RETENTION,
	    "DELETE FROM share WHERE at_unix_ns IN"
	    " (SELECT at_unix_ns FROM share WHERE at_unix_ns < ?1 LIMIT ?2)" },
};

int
store_keep_slice(struct sql *db, uint64_t now_unix_ns,
    const struct store_options *o)
{
	const uint64_t ages_ns[] = { [KEEP_RETENTION] = o->retention_ns,
		[KEEP_RAW] = o->raw_retention_ns,
		[KEEP_JOBS] = o->jobs_retention_ns };

	if (db->engine->drop_old != NULL && o->retention_ns != 0 &&
	    o->retention_ns < now_unix_ns) {
		int rc = db->engine->drop_old(db,
		    now_unix_ns - o->retention_ns);

		if (rc != 0)
			return rc;
	}
	for (size_t i = 0; i < ARRAY_LEN(keep_rows); i++) {
		uint64_t age_ns = ages_ns[keep_rows[i].by];
		struct sql_stmt *q = NULL;
		int64_t rows;
		int rc;

		if (age_ns == 0 || age_ns >= now_unix_ns)
			continue;
		rc = sql_prepare(db, keep_rows[i].sql, &q);
		if (rc < 0)
			return rc;
		sql_bind_int(q, 1, (int64_t)(now_unix_ns - age_ns));
		sql_bind_int(q, 2, SLICE_ROWS);
		rows = sql_run_now(q);
		sql_finalize(q);
		if (rows != 0)
			return rows < 0 ? (int)rows : 1;
	}
	if (o->raw_retention_ns == 0 || o->raw_retention_ns >= now_unix_ns)
		return 0;
	return store_roll_one(db, now_unix_ns - o->raw_retention_ns);
}

#define AHEAD_MAX_NS  (24 * 3600 * CLK_NS_PER_S)
#define BELIEVE_NS    (7 * AHEAD_MAX_NS)
#define CLOCK_SAVE_NS (3600 * CLK_NS_PER_S)

int
store_clock_read(struct sql *db, struct store_clock *ret)
{
	int64_t saved = 0, ahead = 0;
	int rc;

	rc = sql_int(db,
	    "SELECT CAST(value AS BIGINT) FROM setting"
	    " WHERE key = 'store.clock'",
	    &saved);
	if (rc == 0 && saved <= 0)
		rc = sql_int(db,
		    "SELECT max(at) FROM (SELECT max(created_unix_ns) AS at"
		    " FROM run UNION ALL SELECT max(at_unix_ns) FROM event)"
		    " AS newest",
		    &saved);
	if (rc == 0)
		rc = sql_int(db,
		    "SELECT CAST(value AS BIGINT) FROM setting"
		    " WHERE key = 'store.clock_ahead'",
		    &ahead);
	if (rc < 0) {
		log_warnx("store: cannot read the newest stored time: %s: %s",
		    sql_error(db), strerror(-rc));
		return rc;
	}
	*ret = (struct store_clock){ .unix_ns = saved > 0 ? (uint64_t)saved
							  : clk_unix_ns(),
		.ahead_ns = (uint64_t)ahead,
		.at_ns = clk_ns() };
	return 0;
}

uint64_t
store_clock_now(struct sql *db, struct store_clock *c)
{
	uint64_t now_ns = clk_ns(), wall_ns = clk_unix_ns();
	uint64_t step_ns = now_ns - c->at_ns,
		 expected_ns = c->unix_ns + step_ns;
	char sql[240];

	if (wall_ns <= expected_ns + AHEAD_MAX_NS) {
		c->is_ahead = 0;
	} else if (!c->is_ahead) {
		c->is_ahead = 1;
		log_warnx("store: the clock is over a day ahead of the newest "
			  "stored time; no old rows are deleted");
	} else {
		c->ahead_ns += step_ns;
	}
	if (!c->is_ahead || c->ahead_ns >= BELIEVE_NS) {
		/* The time never goes back: an accepted time has been
		 * reached. */
		if (wall_ns > expected_ns)
			expected_ns = wall_ns;
		c->is_ahead = 0;
		c->ahead_ns = 0;
	}
	c->unix_ns = expected_ns;
	c->at_ns = now_ns;
	if (expected_ns - c->saved_unix_ns >= CLOCK_SAVE_NS) {
		snprintf(sql, sizeof(sql),
		    "INSERT INTO setting (key, value) VALUES"
		    " ('store.clock', '%llu'), ('store.clock_ahead', '%llu')"
		    " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
		    (unsigned long long)expected_ns,
		    (unsigned long long)c->ahead_ns);
		if (sql_exec(db, sql) == 0)
			c->saved_unix_ns = expected_ns;
	}
	return wall_ns < expected_ns ? wall_ns : expected_ns;
}
