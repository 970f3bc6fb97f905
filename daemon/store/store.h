/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the collector's memory: a database behind a writer and a reader
 * thread; which, store_sql.h says.
 *
 * Every call returns at once; results come back as callbacks on the event
 * loop that store_open was given. Writes are committed in batches (1000 rows
 * or 200 ms); a callback after commit is what an acknowledgement waits for.
 * While the disk is full or broken, writes fail with -ENOSPC or -EIO, the
 * alarm stands in store_health, and the caller's data stays with the agents.
 * -EAGAIN: too much is queued; ask the agent again later. Every callback is
 * called exactly once, never from inside the call that took it, and at the
 * latest inside store_close.
 */
#ifndef DAEMON_STORE_STORE_H
#define DAEMON_STORE_STORE_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"

struct event_base;
struct store;

struct store_options {
	const char *dir; /* state directory; must be a local file system */
	const char *url; /* of a database server; NULL or "": a file in dir */
	const char
	    *schema; /* of that database, where it is a collector's own */
	const char *cluster;     /* NULL or "": others are not told of it */
	const char *who;         /* we, for other collectors of that database */
	const char *authorities; /* digests of tls.ca: which cluster it is of */
	/* Whoever leads has to have heard of the database for so long, or else
	 * another one that waits may; 0: nobody waits. */
	uint64_t lease_ns;
	uint64_t retention_ns;
	uint64_t raw_retention_ns;
	uint64_t jobs_retention_ns;
	uint64_t free_min_bytes;
};

struct store_health {
	int writable;        /* 0: disk full or broken; alarm says why */
	char alarm[256];     /* "" when all is well */
	uint64_t queue_rows; /* waiting for the writer */
	uint64_t dropped_rows;
	uint64_t db_bytes;
	uint64_t wal_bytes;
	uint64_t free_bytes;
	uint64_t rows_total; /* committed since start */
	uint64_t errors_total;
	double write_s_max; /* longest commit of one to two minutes */
	int leads;          /* store_leads */
};

/* 0; -EINVAL for a network file system; -EBUSY for a second collector, which
 * with lease_ns is a standby instead; -ENOTSUP for a newer schema. What is
 * wrong has been logged. */
int store_open(const struct store_options *o, struct event_base *base,
    struct store **ret);
/* A copy that STORE_BACKUP made becomes the store in dir; what was there is
 * kept beside it. err says what was done, or why not: -EBUSY while a collector
 * uses dir, -EEXIST for another program's file, -ENOTSUP for a newer one,
 * -EBADMSG for a damaged one. Root becomes the owner of dir, for good. */
int store_restore(const char *dir, const char *name, struct err *err);
/* All rows of one store into another, whose collectors are stopped; where it
 * was cut off it goes on. Both are then read and compared: -EEXIST, they
 * differ. A store is a folder, or the URL of a server's database, of which
 * schema. Progress is logged; err: why not. */
int store_copy(const char *from, const char *to, const char *schema,
    struct err *err);
/* Commits what is queued, then closes. */
void store_close(struct store *st); /* NULL is allowed */
void store_health(struct store *st, struct store_health *ret);
/* 1 when another collector leads: what is put is refused with -ECANCELED, what
 * is asked is answered. */
int store_is_standby(const struct store *st);
/* 1 as long as nobody else can lead. Whatever is done to others, an order or a
 * reaction, is done only then. Threads: any. */
int store_leads(const struct store *st);
/* Who does instead, as far as that is known. */
const char *store_leader(const struct store *st);
void store_set_leader(struct store *st, const char *who);
/* How often the database got another leader; 1 where there is only one. */
uint64_t store_term(const struct store *st);

/* status: 0 after commit, or -errno. result: see store_ask, else NULL; it
 * belongs to the callee. */
typedef void store_cb(int status, json_t *result, void *arg);

/* The following take ownership of nothing; cb may be NULL. */
/* record: a whole numbered record; one that is already there is not an
 * error, which makes re-sending harmless. It is shared with the writer: do
 * not change it after this call. line: the text that
 * arrived, which is stored and must outlive the callback. NULL or without a
 * text: the text is made from the record. */
struct record_line;
void store_put_record(struct store *st, const json_t *record,
    const struct record_line *line, store_cb *cb, void *arg);
/* What tells of a change; kind: of names_events. Given with a row it is written
 * in the row's transaction, so neither is ever there without the other. */
struct store_event {
	const char *kind, *subject, *text;
	const json_t *body; /* an object, for programs, or NULL */
};
/* run: {run campaign class mpi state cause text nodes head ranks seed
 * created_unix_ns started_unix_ns ended_unix_ns campaign_text by}; replaces
 * the row. event: NULL for none. */
void store_put_run(struct store *st, const json_t *run,
    const struct store_event *event, store_cb *cb, void *arg);
void store_put_counters(struct store *st, const char *run, const char *node,
    int64_t border, int64_t at_unix_ns, const json_t *nics);
/* node: {node state software inventory first_seen.. last_seen_unix_ns} */
void store_put_node(struct store *st, const json_t *node);
/* STORE_NODES answers with it as member "inventory" of its node. */
void store_put_inventory(struct store *st, const char *node,
    const json_t *inventory);
/* Things worth telling later. */
void store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text);
void store_tell(struct store *st, const struct store_event *event, store_cb *cb,
    void *arg);
/* verdict: {kind subject verdict ...}; a new row each time, the newest of a
 * (kind, subject) is what holds. */
void store_put_verdict(struct store *st, const json_t *verdict,
    const struct store_event *event);
/* NULL body deletes. */
void store_put_baseline(struct store *st, const char *name, const json_t *body);
/* job: {job whole start_unix_ns name end_unix_ns? ...}; replaces the row of
 * that job and start. */
void store_put_batch_job(struct store *st, const json_t *job);
/* row: {job whole start_unix_ns node rows}; replaces that of the job, its start
 * and the node. */
void store_put_in_band(struct store *st, const json_t *row);
/* occasion: {job at_unix_ns test name ...}. */
void store_put_occasion(struct store *st, const json_t *occasion);
/* shares: {at_unix_ns known slow}: what holds from then on. */
void store_put_shares(struct store *st, const json_t *shares);
/* What the file of leaves says, "" without one; a new row when it is not what
 * the newest has. */
void store_put_topology(struct store *st, const char *text);
/* Small settings that survive: schedule/NAME = off, ... NULL value deletes. */
void store_put_setting(struct store *st, const char *key, const char *value,
    store_cb *cb, void *arg);

/* What collectors of other clusters in the database are to know. */
#define STORE_TOLD "store.cluster" /* the setting */
void store_tell_others(struct store *st, const json_t *told);

/* When all that was put before is on disk. -EIO: it waits in memory until the
 * database takes it. */
void store_when_stored(struct store *st, store_cb *cb, void *arg);

/* Questions for the reader thread; args is borrowed, result a new object or
 * array given to cb. */
/* Runs in a list: with all that is stored; with nodes as a hostlist; with the
 * number of nodes only. */
enum store_listed {
	STORE_LISTED_WHOLE,
	STORE_LISTED_SHORT,
	STORE_LISTED_BRIEF
};

enum store_question {
	STORE_RUNS,      /* {campaign? state? node? limit? before? brief?
			    listed?}; listed: enum store_listed, result
			    {runs, next: before of the next part, 0: none};
			    brief 1: as STORE_LISTED_BRIEF, read faster */
	STORE_RUN,       /* {run}; -ENOENT */
	STORE_RECORDS,   /* {run, after_seq?, probe?} */
	STORE_COUNTERS,  /* {run} */
	STORE_EVENTS,    /* {after_id? limit? kind? from_unix_ns? to_unix_ns?
			    body?}: bodies with body = 1 */
	STORE_NODES,     /* {} */
	STORE_SETTINGS,  /* {} object of key: value */
	STORE_ACKS,      /* {runs: [...]}: [{run, seq}], seq = highest n
			    such that 1..n are all stored */
	STORE_LIVE_RUNS, /* {}: runs whose state is not final */
	STORE_IMPACTS,   /* {campaign? test? from_unix_ns? to_unix_ns? limit?}:
			    impact over time */
	STORE_CANARIES,  /* {test? phase? campaign? from_unix_ns? to_unix_ns?
			    limit?}: canaries over time, newest first */
	STORE_SPEEDUPS,  /* {from_unix_ns? limit?}: plans beside their
			    baselines, with nodes, newest first */
	STORE_VERDICTS,  /* {subject? kind? limit? from_unix_ns? to_unix_ns?}:
			    newest first; {open:true}: the last of each that is
			    not ok */
	STORE_BASELINES, /* {name?}: [{name at_unix_ns body}]; without a name
			    the bodies are left out */
	STORE_TOPOLOGY,  /* {at_unix_ns? limit?}: [{id from_unix_ns text}], the
			    newest first, the first the one that held then */
	STORE_HEARD,     /* {since_unix_ns}: object of node: when a canary
			    or the mesh last had a number of it */
	STORE_JOBS,      /* {from_unix_ns? to_unix_ns? job? name? owner?
			    limit?}: jobs that ran within, the latest to begin
			    first; job 1 is 1_2 of an array and 1+0 of parts, too */
	STORE_IN_BAND,   /* {whole}: what its nodes have said of it */
	STORE_OCCASIONS, /* {from_unix_ns? to_unix_ns? job? name? limit?
			    after_job? after_test?}: the oldest first, of the
			    first moment those after that one */
	STORE_SHARES,    /* {from_unix_ns? to_unix_ns? limit?}: the newest
			    first */
	STORE_BACKUP,    /* {path}: online copy */
	STORE_CHECK,     /* {}: integrity, of bodies too; {ok, text} */
	STORE_LEADER,    /* {depose?}: {who, term, lease_ns, mark}, the mark
			    changes as long as he lives and is missing where
			    nobody leads; depose: a mark, whose collector is
			    cut off first */
	STORE_CLUSTERS,  /* {} all named clusters of a server's database:
			    [{cluster lease_ns silent_ns told}]; silent_ns of
			    who leads, -1: nobody does; told: the last of
			    store_tell_others, a text */
	STORE_QUESTION_MAX
};
void store_ask(struct store *st, enum store_question what, const json_t *args,
    store_cb *cb, void *arg);
/* 1 when half of what may wait to be written does: whoever puts more should
 * have it wait elsewhere, until the store has room again and says so. */
int store_is_behind(struct store *st);
void store_set_room_cb(struct store *st, void (*room)(void *arg), void *arg);
/* For somebody outside: questions with an owner wait apart from the
 * collector's own, are refused with -EAGAIN when too many wait, and end with
 * -ECANCELED, or an error of what was cut short, once they are abandoned. */
void store_ask_for(struct store *st, enum store_question what,
    const json_t *args, const void *owner, store_cb *cb, void *arg);
void store_abandon(struct store *st, const void *owner);

#endif
