/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.c - the idle checks are rows: some look at files and answer at once, the
 * site's own command answers later through a callback.
 */
#include "agents/run/idle.h"

#include <assert.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/sensor/gpu.h"
#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"

struct idle_wait {
	struct child *child;
	idle_cb *cb;
	void *arg;
};

struct idle_row {
	const char *check; /* a value of the option */
	/* 1 and why, or 0; NULL: only ask can tell. */
	int (*look)(struct agent *ag, struct err *err);
	/* NULL where look is enough. */
	struct idle_wait *(*ask)(struct agent *ag, idle_cb *cb, void *arg);
	int gpus; /* sees cores only: before a run GPUs are asked too */
	int jobs; /* looks for jobs of Slurm, also while a run holds the node */
};

static int
idle_look_never(struct agent *ag, struct err *err)
{
	(void)ag;
	(void)err;
	return 0;
}

static int
idle_look_load(struct agent *ag, struct err *err)
{
	double limit = conf_real(ag->conf, "idle", "load") * ag->cores;
	double load;

	if (getloadavg(&load, 1) != 1 || load < limit)
		return 0;
	err_say(err,
	    "the load average of 1 minute is %.2f; the node is idle "
	    "below %.2f (idle.load)",
	    load, limit);
	return 1;
}

/* version 2, with one slurmd or several; then version 1. slurmd makes the first
 * folder when it starts, and the second one for a job. */
static const struct {
	const char *slurmd, *job;
} slurm_places[] = {
	{ "sys/fs/cgroup/system.slice/*slurmstepd.scope", "job_*" },
	{ "sys/fs/cgroup/*/slurm*", "uid_*/job_*" },
	{ "sys/fs/cgroup/slurm*", "uid_*/job_*" },
};

int
idle_slurm_sees(const char *root)
{
	char pattern[400];
	glob_t found;

	for (size_t i = 0; i < ARRAY_LEN(slurm_places); i++)
		if (str_format(pattern, sizeof(pattern), "%s/%s", root,
			slurm_places[i].slurmd) >= 0 &&
		    glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
			globfree(&found);
			return 1;
		}
	return 0;
}

json_t *
idle_slurm_jobs(const char *root)
{
	json_t *jobs = json_object();
	char pattern[400];
	glob_t found;

	for (size_t i = 0; i < ARRAY_LEN(slurm_places); i++) {
		if (str_format(pattern, sizeof(pattern), "%s/%s/%s", root,
			slurm_places[i].slurmd, slurm_places[i].job) < 0 ||
		    glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			json_object_set_new(jobs,
			    strrchr(found.gl_pathv[k], '/') + 1, json_true());
		globfree(&found);
	}
	return jobs;
}

int
idle_slurm_began(const char *root, const json_t *before, struct err *err)
{
	json_t *jobs = idle_slurm_jobs(root), *value;
	const char *job;
	int began = 0;

	json_object_foreach (jobs, job, value)
		if (!began && json_object_get(before, job) == NULL) {
			err_say(err, "slurm %.100s", job);
			began = 1;
		}
	json_decref(jobs);
	return began;
}

int
idle_slurm_look(const char *root, struct err *err)
{
	return idle_slurm_began(root, NULL, err);
}

static int
idle_look_slurm(struct agent *ag, struct err *err)
{
	(void)ag;
	return idle_slurm_look("", err);
}

static void
idle_command_failed(struct child *c, const char *why, void *arg)
{
	struct idle_wait *w = arg;

	(void)c;
	w->cb(CAUSE_BUSY, why, w->arg);
	child_free(w->child);
	free(w);
}

static void
idle_command_started(struct child *c, pid_t pid, void *arg)
{
	(void)c;
	(void)pid;
	(void)arg;
}

static void
idle_command_exited(struct child *c, int status, const char *tail, void *arg)
{
	struct idle_wait *w = arg;
	struct err err;

	(void)c;
	err_say(&err, "idle.command exited with status %d%s%.120s", status,
	    tail[0] != '\0' ? ": " : "", tail);
	err.text[strcspn(err.text, "\n")] = '\0';
	w->cb(status == 0 ? CAUSE_NONE : CAUSE_BUSY, err.text, w->arg);
	child_free(w->child);
	free(w);
}

static const struct child_ops command_ops = { idle_command_started,
	idle_command_failed, idle_command_exited };

/* The administrator's own line, so a shell may have it. */
void
idle_command_spec(const struct agent *ag, struct child_spec *spec,
    struct strvec *argv, struct strvec *env)
{
	strvec_add(argv, "sh");
	strvec_add(argv, "-c");
	strvec_add(argv, "%s", conf_string(ag->conf, "idle", "command"));
	strvec_env(env, "PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
	strvec_env(env, "LC_ALL", "C.UTF-8");
	strvec_env(env, "COALMINE_STATE", "%s",
	    conf_string(ag->conf, "agent", "state_dir"));
	*spec = (struct child_spec){ .keeper = ag->keeper,
		.path = "/bin/sh",
		.argv = argv->list,
		.env = env->list,
		.uid = -1,
		.gid = -1,
		.deadline_ms = IDLE_LIMIT_S * 1000,
		.broker = ag->broker };
}

static struct idle_wait *
idle_ask_command(struct agent *ag, idle_cb *cb, void *arg)
{
	struct idle_wait *w = xcalloc(1, sizeof(*w));
	struct strvec argv = { 0 }, env = { 0 };
	struct child_spec spec;
	int rc;

	w->cb = cb;
	w->arg = arg;
	idle_command_spec(ag, &spec, &argv, &env);
	rc = child_start(ag->base, &spec, &command_ops, w, &w->child);
	strvec_clear(&argv);
	strvec_clear(&env);
	if (rc == 0)
		return w;
	cb(CAUSE_BUSY, strerror(-rc), arg);
	free(w);
	return NULL;
}

static const struct idle_row rows[] = {
	{ "auto", idle_look_slurm, NULL, 0, 1 },
	{ "always", idle_look_never, NULL, 0, 0 },
	{ "command", NULL, idle_ask_command, 0, 0 },
	{ "slurm-cgroup", idle_look_slurm, NULL, 0, 1 },
	{ "load", idle_look_load, NULL, 1, 0 },
	{ NULL },
};

static const struct idle_row *
idle_row(struct agent *ag)
{
	const char *check = conf_string(ag->conf, "idle", "check");
	const struct idle_row *row = rows;

	while (row->check != NULL && strcmp(row->check, check) != 0)
		row++;
	assert(row->check != NULL);
	return row;
}

/* Decide without a look, with idle.check = auto: return a cause, or -EAGAIN if
 * a look is needed. */
static int
idle_auto(struct agent *ag, const char *known, struct err *err)
{
	if (strcmp(conf_string(ag->conf, "idle", "check"), "auto") != 0)
		return -EAGAIN;
	if (strcmp(known, "scheduler") == 0)
		return CAUSE_NONE;
	if (idle_slurm_sees(""))
		return -EAGAIN;
	if (strcmp(known, "assumed") == 0)
		return CAUSE_NONE;
	err_say(err,
	    "cannot tell whether the node is idle: no Slurm on this "
	    "node; set idle.check in coalmine-agent.conf, or "
	    "slurm.idle = yes in coalmined.conf, or order the run with "
	    "-o campaign.idle=assumed");
	return CAUSE_IDLE_UNKNOWN;
}

struct idle_wait *
idle_check(struct agent *ag, const char *known, idle_cb *cb, void *arg)
{
	struct err err = { 0 };
	int cause;

	if (idle_row(ag)->ask != NULL)
		return idle_row(ag)->ask(ag, cb, arg);
	cause = idle_auto(ag, known, &err);
	if (cause < 0)
		cause = idle_row(ag)->look(ag, &err) ||
			(idle_row(ag)->gpus && gpu_busy("", &err))
		    ? CAUSE_BUSY
		    : CAUSE_NONE;
	cb((enum cause)cause, err.text, arg);
	return NULL;
}

json_t *
idle_jobs(struct agent *ag)
{
	return idle_row(ag)->jobs ? idle_slurm_jobs("") : NULL;
}

int
idle_job_began(const json_t *before, struct err *err)
{
	return before != NULL && idle_slurm_began("", before, err);
}

void
idle_cancel(struct idle_wait *w)
{
	if (w == NULL)
		return;
	child_free(w->child); /* its keeper ends it */
	free(w);
}

int
idle_look(struct agent *ag, struct err *err)
{
	return idle_row(ag)->look != NULL && idle_row(ag)->look(ag, err);
}
