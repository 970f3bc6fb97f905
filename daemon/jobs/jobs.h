/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h - jobs of the batch system, as intervals of time with nodes.
 *
 * The scheduler is asked once in an interval; what it says goes to the store,
 * a row for every time that a job began. Nothing that it says is an error:
 * what cannot be read or cannot be is counted, kept where it can be, and told
 * by jobs_health. Owners are kept as pseudonyms unless the site wants names.
 */
#ifndef DAEMON_JOBS_JOBS_H
#define DAEMON_JOBS_JOBS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/slurm/slurm.h"

struct event_base;
struct mesh_path;
struct roster;
struct store;

/* ---- job_lines.c: what the scheduler prints. Pure. ----
 *
 * A line: JOB|OWNER|STATE|START|END|NODES|NAME. Times are seconds since 1970 or
 * YYYY-MM-DDTHH:MM:SS in UTC; what is not one is not known. NODES is a
 * hostlist. NAME may hold any character. STATE: a waiting one, a running one,
 * or, any other word, how it ended; END counts for these only. */
struct job_line {
	const char *job, *owner, *state, *name, *nodes; /* into the text */
	int64_t start_unix_s, end_unix_s;               /* 0: not known */
	int runs;                                       /* else it has ended */
};

/* 1: a job that has begun, with nodes; 0: none of it to keep; -EINVAL: no
 * such line. Cuts the line. */
int job_line_parse(char *line, struct job_line *ret);

/* ---- job_join.c: jobs beside what was found of their nodes. Pure. ---- */

/* What the store has said of the time around a job: arrays, newest first. */
struct job_around {
	const json_t *verdicts, *events, *impacts, *shares, *in_band;
	int64_t now_unix_ns;
};
/* As long as the job before and after it, within these. */
#define JOB_AROUND_MIN_NS (600 * CLK_NS_PER_S)
#define JOB_AROUND_MAX_NS (6 * 3600 * CLK_NS_PER_S)
int64_t job_around_ns(const json_t *job, int64_t now_unix_ns);
/* Adds to a job: exposed_node_s, the time in which a part of it was slow times
 * its nodes; verdicts, events of its nodes and leaves, each with when (before,
 * during, after); impacts [{test of before during after}]; expectation {before
 * during after}, each {at_unix_ns share slow unknown}, at the worst;
 * in_band [{source op ranks nodes bytes calls seconds least_s node}], over its
 * nodes, node being that of the rank that waited least. */
void job_join(json_t *job, const struct job_around *around);
/* The jobs with any exposed_node_s, the worst first; takes nothing. */
json_t *job_worst(const json_t *jobs, const struct job_around *around);

/* ---- job_ledger.c: what jobs cost those beside them (daemon/ledger) ---- */

/* Statements out of rows of STORE_OCCASIONS, one for each test and each name,
 * or job of it, or week of it: [{name test jobs steps cost lo hi blamed ...}],
 * first who is blamed. Rows come in any number of calls, the oldest first;
 * then each call of job_costs_next makes a statement, while it is 1: a few
 * milliseconds at most. */
enum job_costs_by { JOB_COSTS_BY_NAME, JOB_COSTS_BY_JOB, JOB_COSTS_BY_WEEK };
#define JOB_COSTS_MAX 1000 /* statements that are told */
struct job_costs;
struct job_costs *job_costs_new(enum job_costs_by by);
void job_costs_free(struct job_costs *c); /* NULL is allowed */
void job_costs_add(struct job_costs *c, const json_t *rows);
int job_costs_next(struct job_costs *c);
json_t *job_costs_told(struct job_costs *c);

/* ---- jobs.c ---- */

enum jobs_source { JOBS_OFF, JOBS_SLURM, JOBS_COMMAND };

struct jobs_options {
	struct event_base *base; /* NULL: nobody is asked */
	struct store *store;
	struct roster *roster;
	enum jobs_source source;
	struct slurm_site slurm;
	const char *command; /* a line for the shell */
	uint64_t interval_ns;
	int accounting;  /* sacct is asked as well */
	int owner_names; /* owners are kept as they are called */
	int job_names;
	const char *dir;    /* keeps the key of pseudonyms */
	uint64_t sample_ns; /* an epoch of the mesh */
	/* What nodes and leaves give, as diagnosis_shares; NULL: nobody says.
	 */
	json_t *(*shares)(void *arg);
	void *arg;
};

/* "user-0123456789": nobody has a key to go back, but who holds the key can
 * try names. */
#define JOBS_OWNER_BYTES 260

/* What goes wrong, for people. */
struct jobs_health {
	enum jobs_source source;
	const char *error, *accounting_error; /* "": it answers */
	/* Since the start. */
	uint64_t unreadable; /* lines, each once while it is told */
	uint64_t backwards;  /* jobs that end before they begin */
	uint64_t vanished;   /* ended, nobody knows when */
	/* Of the last answer. */
	int64_t ahead_s;        /* the latest start is so much after now */
	size_t unknown;         /* nodes of jobs that have no agent */
	const char *unknown_as; /* one of them, or NULL */
};

struct jobs;

/* With JOBS_OFF *ret is NULL. -errno: there is no key. What o points to
 * outlives it. */
int jobs_open(const struct jobs_options *o, struct jobs **ret, struct err *err);
void jobs_free(struct jobs *js); /* NULL is allowed, here and below */
/* What STORE_JOBS answered of the last hours: who still runs, or has ended. */
void jobs_load(struct jobs *js, const json_t *list);
#define JOBS_LOAD_NS (2 * 3600 * CLK_NS_PER_S)
/* What STORE_SETTINGS answered: when an answer last came, and by which key
 * owners are kept; a warning when that is not ours. */
void jobs_load_settings(struct jobs *js, const json_t *settings);
/* Ask, when it is time. */
void jobs_tick(struct jobs *js);
/* An answer: of all jobs there are, or of accounting, which has some. */
void jobs_take(struct jobs *js, const char *text, int is_accounting,
    int64_t now_unix_ns);
/* What canaries have found: the pairs of an epoch of the mesh, which is over
 * since then, for reports of many nodes come late; and a record of a run on
 * nodes, by id. */
void jobs_paths(struct jobs *js, const struct mesh_path *paths, size_t count,
    int64_t until_unix_ns);
void jobs_canary(struct jobs *js, const uint32_t *nodes, size_t count,
    const json_t *record);
/* What nodes and leaves give now, as diagnosis_shares: kept if it is new. */
void jobs_shares(struct jobs *js, const json_t *shares, int64_t now_unix_ns);
/* What an agent says of jobs' own measurements: kept of jobs that are known. */
void jobs_in_band(struct jobs *js, const char *node, const json_t *list);
/* How a user is called here. */
void jobs_owner(const struct jobs *js, const char *user,
    char ret[JOBS_OWNER_BYTES]);
void jobs_health(const struct jobs *js, struct jobs_health *ret);

#endif
