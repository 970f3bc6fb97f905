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
#include "daemon/jobs/job_cause.h"
#include "daemon/slurm/slurm.h"

struct conf;
struct event_base;
struct mesh_path;
struct node;
struct roster;
struct round;
struct store;

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
	/* Open cases, as diagnosis_json, and the verdict of a node; NULL where
	 * no agent reads NCCL's RAS. */
	json_t *(*cases)(void *arg);
	enum verdict (*verdict)(void *arg, const struct node *n);
	void *arg;
};
/* Read section jobs. Texts live as long as c. */
void jobs_options_read(const struct conf *c, struct jobs_options *ret);

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
    const struct round *round);
/* What nodes and leaves give now, as diagnosis_shares: kept if it is new. */
void jobs_shares(struct jobs *js, const json_t *shares, int64_t now_unix_ns);
/* What an agent says of jobs' own measurements: kept of jobs that are known. */
void jobs_in_band(struct jobs *js, const char *node, const json_t *list);
/* Take an agent's reports on communicators; only of running jobs. */
void jobs_ras(struct jobs *js, const struct node *n, const json_t *list);
/* job_ras_json of a body of the store, and job_ras_list and job_ras_counts of
 * all; NULL and zeros where js is NULL. */
json_t *jobs_ras_json(const struct jobs *js, const json_t *job);
json_t *jobs_ras_list(const struct jobs *js);
void jobs_ras_counts(const struct jobs *js, size_t ret[JOB_FINDING_MAX]);
/* How a user is called here. */
void jobs_owner(const struct jobs *js, const char *user,
    char ret[JOBS_OWNER_BYTES]);
void jobs_health(const struct jobs *js, struct jobs_health *ret);

#endif
