/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the collector's database, used by one writer thread and several
 * reader threads; store_sql.h has the kinds of databases.
 *
 * Every call returns at once. Results arrive as callbacks on the event loop
 * that was given to store_open. Writes are committed in batches (1000 rows or
 * 200 ms); an acknowledgement waits for the callback after the commit. While
 * the disk is full or broken, writes fail with -ENOSPC or -EIO, store_health
 * has an alarm, and the data stays on the agents. -EAGAIN: the queue is full;
 * request the data from the agent again later. Every callback is called exactly
 * once, never from inside the call that it was given to, and at the latest
 * inside store_close.
 */
#ifndef DAEMON_STORE_STORE_H
#define DAEMON_STORE_STORE_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"

struct event_base;
struct store;

/* The options. */
struct store_options {
	/* State directory; must be on a local file system. */
	const char *dir;
	/* URL of a database server; NULL or "": a file in dir. */
	const char *url;
	/* Schema in that database; each cluster has its own. */
	const char *schema;
	/* Name of the cluster; NULL or "": not published to others. */
	const char *cluster;
	const char *who;         /* name of this collector, for others */
	const char *authorities; /* digests of tls.ca: identify the cluster */
	/* Lease. If the active collector cannot reach the database for this
	 * long, a standby may take over. 0: no standby. */
	uint64_t lease_ns;
	/* How long rows are kept: all, raw records, and jobs. */
	uint64_t retention_ns;
	uint64_t raw_retention_ns;
	uint64_t jobs_retention_ns;
	/* Writes fail below this much free space on the disk. */
	uint64_t free_min_bytes;
};

/* The state of the store, for metrics and health checks. */
struct store_health {
	int writable;        /* 0: disk full or broken; alarm has the reason */
	char alarm[256];     /* "" without an alarm */
	uint64_t queue_rows; /* waiting for the writer */
	uint64_t dropped_rows;
	uint64_t db_bytes;
	uint64_t wal_bytes;
	uint64_t free_bytes;
	uint64_t rows_total; /* committed since start */
	uint64_t errors_total;
	double write_s_max; /* longest commit of the last one to two minutes */
	int leads;          /* result of store_leads */
};

/* Return 0; -EINVAL for a network file system; -EBUSY for a second collector,
 * which with lease_ns becomes a standby instead; -ENOTSUP for a newer schema.
 * Errors have been logged. */
int store_open(const struct store_options *o, struct event_base *base,
    struct store **ret);
/* Restore a copy made by STORE_BACKUP as the store in dir; the old store stays
 * there under another name. err has the result or the error: -EBUSY while a
 * collector uses dir, -EEXIST for a file of another program, -ENOTSUP for a
 * newer version, -EBADMSG for a damaged copy. A root process switches to the
 * user who owns dir, permanently. */
int store_restore(const char *dir, const char *name, struct err *err);
/* Copy all rows of one store into another; the collectors of both must be
 * stopped. An interrupted copy is continued. Then both are read and compared;
 * -EEXIST: they differ. A store is a folder, or the URL of a database server
 * together with schema. Progress is logged; err has the error. */
int store_copy(const char *from, const char *to, const char *schema,
    struct err *err);
/* Commit all queued rows, then close. */
void store_close(struct store *st); /* NULL is allowed */
void store_health(struct store *st, struct store_health *ret);
/* Return 1 if another collector is active: writes are refused with -ECANCELED,
 * reads work. */
int store_is_standby(const struct store *st);
/* Return 1 as long as no other collector can be active. Orders and reactions,
 * which affect other programs, are executed only then. Threads: any. */
int store_leads(const struct store *st);
/* Return, or set, the name of the active collector if another collector is
 * active; as far as known. */
const char *store_leader(const struct store *st);
void store_set_leader(struct store *st, const char *who);
/* Number that increases with each failover; 1 for a database with only one
 * collector. */
uint64_t store_term(const struct store *st);

/* Called with the result of a write or a request. status: 0 after the commit,
 * or -errno. result: the answer to a request (see store_ask), which the
 * callback owns; NULL for writes. */
typedef void store_cb(int status, json_t *result, void *arg);

/* The following calls do not take ownership of their arguments; cb can be
 * NULL. */
/* Write a complete numbered record. A record that is already stored is not an
 * error, so agents may send it again. It is shared with the writer: do not
 * change it after this call. line: the text as it arrived, which is stored and
 * must stay valid until the callback. If line is NULL or has no text, the text
 * is made from the record. */
struct record_line;
void store_put_record(struct store *st, const json_t *record,
    const struct record_line *line, store_cb *cb, void *arg);
/* An event that reports a change; kind: a name in names_events. An event that
 * is passed together with a row is written in the same transaction as the row.
 */
struct store_event {
	const char *kind, *subject, *text;
	const json_t *body; /* an object, for programs, or NULL */
};
/* Write a run: {run campaign class mpi state cause text nodes head ranks seed
 * created_unix_ns started_unix_ns ended_unix_ns campaign_text by}; replaces
 * the row. event: NULL for none. */
void store_put_run(struct store *st, const json_t *run,
    const struct store_event *event, store_cb *cb, void *arg);
/* Write the counters of a node's NICs at a border of a phase of a run. */
void store_put_counters(struct store *st, const char *run, const char *node,
    int64_t border, int64_t at_unix_ns, const json_t *nics);
/* Write a node: {node state software first_seen.. last_seen_unix_ns ...}; state
 * is required. Replaces the row. */
void store_put_node(struct store *st, const json_t *node);
/* Write a node's inventory. STORE_NODES returns it as member "inventory" of the
 * node. */
void store_put_inventory(struct store *st, const char *node,
    const json_t *inventory);
/* Delete the node and its inventory. */
void store_drop_node(struct store *st, const char *node);
/* Write an event. */
void store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text);
void store_tell(struct store *st, const struct store_event *event, store_cb *cb,
    void *arg);
/* Write a verdict: {kind subject verdict ...}; each call adds a row, the newest
 * row of a (kind, subject) is the current verdict. */
void store_put_verdict(struct store *st, const json_t *verdict,
    const struct store_event *event);
/* Write or replace a baseline; body NULL deletes it. */
void store_put_baseline(struct store *st, const char *name, const json_t *body);
/* Write a job of the batch system: {job whole start_unix_ns name end_unix_ns?
 * ...}; replaces the row of that job and start. */
void store_put_batch_job(struct store *st, const json_t *job);
/* Write measurements that a job made itself: {job whole start_unix_ns node
 * rows}; replaces the row of this job, start and node. */
void store_put_in_band(struct store *st, const json_t *row);
/* Write a comparison of a job's step (job_ledger.h): {job at_unix_ns test name
 * ...}. */
void store_put_occasion(struct store *st, const json_t *occasion);
/* Write the throughput of nodes and leaves, {at_unix_ns known slow}, which is
 * valid from that time on. */
void store_put_shares(struct store *st, const json_t *shares);
/* Write the text of the topology file, "" without a file. A row is added if it
 * differs from the newest row. */
void store_put_topology(struct store *st, const char *text);
/* Write a small setting that survives a restart, such as schedule/NAME = off.
 * value NULL deletes it. */
void store_put_setting(struct store *st, const char *key, const char *value,
    store_cb *cb, void *arg);

/* Publish information for collectors of other clusters in the same database. */
#define STORE_TOLD "store.cluster" /* the setting with this information */
void store_tell_others(struct store *st, const json_t *told);

/* Call cb when all earlier writes are on disk. -EIO: they wait in memory until
 * the database accepts writes. */
void store_when_stored(struct store *st, store_cb *cb, void *arg);

/* Send a request to the reader threads. args is borrowed; the result, a new
 * object or array, is passed to cb. */
/* The contents of a list of runs: complete runs; the nodes as a hostlist; or
 * only the number of nodes. */
enum store_listed {
	STORE_LISTED_WHOLE,
	STORE_LISTED_SHORT,
	STORE_LISTED_BRIEF
};

/* The requests, with their arguments (? optional) and results. */
enum store_question {
	STORE_RUNS,      /* {campaign? state? node? limit? before? brief?
			  * listed?}; listed: enum store_listed, result {runs,
			  * next: before of the next part, 0: no more}; brief 1:
			  * as STORE_LISTED_BRIEF, read faster */
	STORE_RUN,       /* {run}; -ENOENT */
	STORE_RECORDS,   /* {run, after_seq?, probe?} */
	STORE_COUNTERS,  /* {run} */
	STORE_EVENTS,    /* {after_id? limit? kind? from_unix_ns? to_unix_ns?
			  * body?}: bodies with body = 1 */
	STORE_NODES,     /* {} */
	STORE_SETTINGS,  /* {} object of key: value */
	STORE_ACKS,      /* {runs: [...]}: [{run, seq}], seq = highest n such
			  * that 1..n are all stored */
	STORE_LIVE_RUNS, /* {}: runs whose state is not final */
	STORE_IMPACTS,   /* {campaign? test? from_unix_ns? to_unix_ns? limit?}:
			  * impact over time */
	STORE_CANARIES,  /* {test? phase? campaign? from_unix_ns? to_unix_ns?
			  * limit?}: canaries over time, newest first */
	STORE_SPEEDUPS,  /* {from_unix_ns? limit?}: plans compared with their
			  * baselines, with nodes, newest first */
	STORE_VERDICTS,  /* {subject? kind? limit? from_unix_ns? to_unix_ns?}:
			  * newest first; {open:true}: the newest verdict of
			  * each subject if it is not ok */
	STORE_BASELINES, /* {name?}: [{name at_unix_ns body}]; body with name
			  * only */
	STORE_TOPOLOGY,  /* {at_unix_ns? limit?}: [{id from_unix_ns text}],
			  * newest first; the first is the one valid at
			  * at_unix_ns */
	STORE_HEARD,     /* {since_unix_ns}: object of node: time of the last
			  * value of it from a canary or the mesh */
	STORE_JOBS,      /* {from_unix_ns? to_unix_ns? job? name? owner?
			  * limit?}: jobs that ran in this time, latest start
			  * first; job 1 also matches 1_2 of an array and 1+0 of
			  * parts */
	STORE_IN_BAND,   /* {whole}: the rows that the job's nodes have sent */
	STORE_OCCASIONS, /* {from_unix_ns? to_unix_ns? job? name? limit?
			  * after_job? after_test?}: oldest first; of the first
			  * moment only those after after_job and after_test */
	STORE_SHARES,    /* {from_unix_ns? to_unix_ns? limit?}: newest first */
	STORE_BACKUP,    /* {path}: online copy */
	STORE_CHECK,     /* {}: integrity, also of bodies; {ok, text} */
	STORE_LEADER,    /* {depose?}: {who, term, lease_ns, mark}; mark changes
			  * while the active collector is alive and is missing
			  * if no collector is active; depose: a mark, whose
			  * collector is disconnected first */
	STORE_CLUSTERS,  /* {} all named clusters of a server's database:
			  * [{cluster lease_ns silent_ns told}]; silent_ns: time
			  * since the last contact of the active collector, -1:
			  * no active collector; told: the text of the last
			  * store_tell_others */
	STORE_QUESTION_MAX
};
/* Send a request; see above. */
void store_ask(struct store *st, enum store_question what, const json_t *args,
    store_cb *cb, void *arg);
/* Return 1 if the write queue is half full. The caller should then keep further
 * rows elsewhere until the room callback is called. */
int store_is_behind(struct store *st);
/* Set the function that is called when the queue has room again. */
void store_set_room_cb(struct store *st, void (*room)(void *arg), void *arg);
/* Send a request as store_ask does, for a client. Requests with an owner have a
 * queue separate from the collector's own. If that queue is full they are
 * refused with -EAGAIN. An abandoned request ends with -ECANCELED, or with the
 * error of the interrupted read. */
void store_ask_for(struct store *st, enum store_question what,
    const json_t *args, const void *owner, store_cb *cb, void *arg);
/* Abandon all requests of an owner. */
void store_abandon(struct store *st, const void *owner);

#endif
