/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h - jobs of the batch system, as intervals of time with nodes.
 *
 * The scheduler is queried once in an interval. Each start of a job is a row of
 * the store. Malformed lines and impossible times are not errors: they are
 * counted, stored if possible, and reported by jobs_health. Owners are stored
 * as pseudonyms unless the site configures names.
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
struct in_band_report;
struct mesh_path;
struct node;
struct ras_report;
struct roster;
struct round;
struct store;

enum jobs_source { JOBS_OFF, JOBS_SLURM, JOBS_COMMAND };

/* The options. */
struct jobs_options {
	struct event_base *base; /* NULL: no queries */
	struct store *store;
	struct roster *roster;
	enum jobs_source source;
	struct slurm_site slurm;
	const char *command; /* a line for the shell */
	uint64_t interval_ns;
	int accounting;  /* query sacct, too */
	int owner_names; /* store real names of owners */
	int job_names;
	const char *dir;    /* has the key of pseudonyms */
	uint64_t sample_ns; /* duration of an epoch of the mesh */
	/* Open cases, as diagnosis_json, and the verdict of a node; NULL if no
	 * agent reads NCCL's RAS. */
	json_t *(*cases)(void *arg);
	enum verdict (*verdict)(void *arg, const struct node *n);
	void *arg;
};
/* Read section jobs. Texts live as long as c. */
void jobs_options_read(const struct conf *c, struct jobs_options *ret);

/* "user-0123456789": cannot be reversed, but with the key one can test names.
 */
#define JOBS_OWNER_BYTES 260

/* Errors, for diags and metrics. */
struct jobs_health {
	enum jobs_source source;
	const char *error, *accounting_error; /* "": none */
	/* Numbers since the start of the collector. */
	uint64_t unreadable; /* lines; a line that is repeated counts once */
	uint64_t backwards;  /* jobs that end before they start */
	uint64_t vanished;   /* jobs with an unknown end time */
	/* Values of the scheduler's last answer. */
	int64_t ahead_s;        /* time from now to the latest start */
	size_t unknown;         /* nodes of jobs that have no agent */
	const char *unknown_as; /* one of them, or NULL */
};

struct jobs;

/* Open the jobs of a batch system; with JOBS_OFF *ret is NULL. Return 0, or
 * -errno with err if the key of pseudonyms cannot be read or created. What o
 * points to must outlive *ret. */
int jobs_open(const struct jobs_options *o, struct jobs **ret, struct err *err);
void jobs_free(struct jobs *js); /* NULL is allowed, here and below */
/* Load jobs of the last hours, running and ended, from the answer of
 * STORE_JOBS. */
void jobs_load(struct jobs *js, const json_t *list);
#define JOBS_LOAD_NS (2 * 3600 * CLK_NS_PER_S)
/* Load the time of the last answer, and the check of the key of pseudonyms,
 * from the answer of STORE_SETTINGS. Log a warning if our key differs. */
void jobs_load_settings(struct jobs *js, const json_t *settings);
/* Query the scheduler if the interval has passed. */
void jobs_tick(struct jobs *js);
/* Process an answer: the complete list of jobs, or some jobs of accounting. */
void jobs_take(struct jobs *js, const char *text, int is_accounting,
    int64_t now_unix_ns);
/* Add results of canaries: the pairs of an epoch of the mesh that ended at
 * until_unix_ns (reports of many nodes arrive later), or a record of a run on
 * nodes, by id. */
void jobs_paths(struct jobs *js, const struct mesh_path *paths, size_t count,
    int64_t until_unix_ns);
void jobs_canary(struct jobs *js, const uint32_t *nodes, size_t count,
    const struct round *round);
/* Store an agent's report of measurements that a job made itself; an unknown
 * job is skipped. */
void jobs_in_band(struct jobs *js, const char *node,
    const struct in_band_report *report);
/* Process an agent's report on communicators; only running jobs count. */
void jobs_ras(struct jobs *js, const struct node *n,
    const struct ras_report *report);
/* Return job_ras_json for a job's body of the store, and job_ras_list and
 * job_ras_counts of all jobs; NULL and zeros if js is NULL. */
json_t *jobs_ras_json(const struct jobs *js, const json_t *job);
json_t *jobs_ras_list(const struct jobs *js);
void jobs_ras_counts(const struct jobs *js, size_t ret[JOB_FINDING_MAX]);
/* Write the owner that is stored for a user: the name or its pseudonym. */
void jobs_owner(const struct jobs *js, const char *user,
    char ret[JOBS_OWNER_BYTES]);
/* Read the errors. */
void jobs_health(const struct jobs *js, struct jobs_health *ret);

#endif
