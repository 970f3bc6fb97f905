/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - a run has one life: it opens with its directory, starts children in
 * it, and closes when the last child and all processes with its mark are gone.
 */
#include "agents/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/process/privileges.h"
#include "agents/run/idle.h"
#include "agents/run/privileged.h"
#include "agents/run/rank_watch.h"
#include "agents/run/record_pipe.h"
#include "agents/run/cleanup.h"
#include "common/member.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "schema/names_run.h"
#include "schema/options.h"

/* A run says a few dozen things while the collector is away, or one per rank
 * that is lost. */
#define OUTBOX_MAX 10000
#define GRACE_MS   2000
/* An exclusive run is in the way of a job for no longer than this. */
#define JOBS_LOOK_NS CLK_NS_PER_S
/* The collector counts from the launch and acts first: this is for when it
 * cannot. */
#define DEADLINE_SLACK_NS (15 * CLK_NS_PER_S)

struct run_child {
	TAILQ_ENTRY(run_child) next;
	struct run *run;
	struct child *child;
	int64_t id; /* 0: the launcher, else one of ranks.h */
};

struct run *
run_find(struct agent *ag, const char *id)
{
	struct run *run;

	TAILQ_FOREACH (run, &ag->runs, next)
		if (strcmp(run->id, id) == 0)
			return run;
	return NULL;
}

struct run *
run_exclusive(struct agent *ag, const struct run *except)
{
	struct run *run;

	TAILQ_FOREACH (run, &ag->runs, next)
		if (run->exclusive && run != except)
			return run;
	return NULL;
}

static int
run_send_now(struct run *run, enum wire_type type, json_t *msg)
{
	return run->ag->run_ops->send(type, msg, run->ag);
}

void
run_send(struct run *run, enum wire_type type, json_t *msg, int again)
{
	int rc = run_send_now(run, type, json_incref(msg));

	if ((rc == -ENOTCONN || again) &&
	    json_array_size(run->outbox) < OUTBOX_MAX)
		json_array_append_new(run->outbox,
		    json_pack("[i, b, O]", (int)type, again, msg));
	json_decref(msg);
}

void
run_resend(struct run *run)
{
	json_t *row, *keep = json_array();
	size_t i;

	json_array_foreach (run->outbox, i, row) {
		run_send_now(run,
		    (enum wire_type)json_integer_value(json_array_get(row, 0)),
		    json_incref(json_array_get(row, 2)));
		if (json_is_true(json_array_get(row, 1)))
			json_array_append(keep, row);
	}
	json_decref(run->outbox);
	run->outbox = keep;
}

static void
run_lost_cb(int64_t rank, int64_t pid, int exited, void *arg)
{
	struct run *run = arg;

	if (run->ending ||
	    (run->ranks != NULL && ranks_left(run->ranks, rank, 0, exited)))
		return;
	log_warnx("run %s: rank %lld, pid %lld: %s", run->id, (long long)rank,
	    (long long)pid, exited ? "exited" : "lost");
	run_send(run, WIRE_RANK_LOST,
	    json_pack("{s:s, s:I, s:I, s:b}", "run", run->id, "rank",
		(json_int_t)rank, "pid", (json_int_t)pid, "exited", exited),
	    1);
}

/* The rank will end itself. An older collector, which ignores "stuck", sees a
 * rank that exited. */
static void
run_stuck_cb(int64_t rank, int64_t pid, json_t *with, void *arg)
{
	struct run *run = arg;

	log_warnx("run %s: rank %lld is stuck in an exchange with rank %lld "
		  "on node %s",
	    run->id, (long long)rank, (long long)member_int(with, "rank"),
	    member_text_or(with, "node", NULL));
	run_send(run, WIRE_RANK_LOST,
	    json_pack("{s:s, s:I, s:I, s:b, s:o}", "run", run->id, "rank",
		(json_int_t)rank, "pid", (json_int_t)pid, "exited", 1, "stuck",
		with),
	    1);
}

static void
run_bye_cb(int64_t rank, void *arg)
{
	struct run *run = arg;

	if (run->ranks != NULL)
		(void)ranks_left(run->ranks, rank, 1, 0);
}

static const struct rank_watch_ops rank_watch_ops = { run_lost_cb, run_stuck_cb,
	run_bye_cb };

static void
run_deadline_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	run_end(arg, GRACE_MS, "deadline");
}

/* The collector ends the run on all its nodes as preempted. */
static void
run_jobs_look_cb(evutil_socket_t fd, short what, void *arg)
{
	struct run *run = arg;
	char text[160];
	struct err err;

	(void)fd;
	(void)what;
	if (run->ending || !idle_job_began(run->jobs, &err))
		return;
	snprintf(text, sizeof(text), "%.120s has started", err.text);
	run_send(run, WIRE_PREPARED,
	    json_pack("{s:s, s:b, s:s, s:o}", "run", run->id, "ok", 0, "cause",
		names_causes[CAUSE_BUSY].name, "text", text_json(text)),
	    0);
	run_end(run, GRACE_MS, text);
}

void
run_watch_jobs(struct run *run)
{
	struct timeval tv = clk_timeval(JOBS_LOOK_NS);

	run->jobs = run->yields ? idle_jobs(run->ag) : NULL;
	if (run->jobs == NULL)
		return;
	run->jobs_look = event_new(run->ag->base, -1, EV_PERSIST,
	    run_jobs_look_cb, run);
	event_add(run->jobs_look, &tv);
}

/* Children may search dir but write only to dir/tmp, which belongs to their
 * group: at no time can they place a file in dir. */
static int
run_dir_make(struct run *run)
{
	struct agent *ag = run->ag;
	char path[AGENT_PATH_MAX + 32];
	int rc = 0, fd;

	cleanup_run_dir(ag, run->id, run->dir);
	privileges_take(-1, ag->child_gid);
	snprintf(path, sizeof(path), "%s/tmp", run->dir);
	if (mkdir(run->dir, 0700) < 0 || mkdir(path, 0700) < 0)
		rc = -errno;
	privileges_back();
	if (rc < 0)
		return rc;
	if (ag->child_gid >= 0 &&
	    (chmod(path, 01770) < 0 || chmod(run->dir, 0710) < 0))
		return -errno;
	/* Mark the directory as one of a run, which may be removed. */
	snprintf(path, sizeof(path), "%s/%s", run->dir, CLEANUP_MARK);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
	    0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void
run_free(struct run *run)
{
	idle_cancel(run->idle);
	rank_watch_close(run->watch);
	gate_close(run->gate);
	record_pipe_close(run->records);
	ranks_close(run->ranks);
	if (run->deadline != NULL)
		event_free(run->deadline);
	if (run->jobs_look != NULL)
		event_free(run->jobs_look);
	json_decref(run->jobs);
	json_decref(run->outbox);
	cleanup_run_dir(run->ag, run->id, run->dir);
	TAILQ_REMOVE(&run->ag->runs, run, next);
	free(run);
}

int
run_open(struct agent *ag, const char *id, uint64_t deadline_ms,
    struct run **ret, struct err *err)
{
	struct run *run = xcalloc(1, sizeof(*run));
	char path[AGENT_PATH_MAX + 16];
	uint64_t max_ns = conf_span_ns(ag->conf, "children", "deadline_max");
	uint64_t left_ns = deadline_ms * CLK_NS_PER_MS + DEADLINE_SLACK_NS;
	struct timeval tv;
	int rc;

	run->ag = ag;
	snprintf(run->id, sizeof(run->id), "%s", id);
	TAILQ_INIT(&run->children);
	TAILQ_INSERT_TAIL(&ag->runs, run, next);
	run->outbox = json_array();
	rc = cleanup_run_path(ag, id, run->dir, sizeof(run->dir));
	if (rc >= 0)
		rc = run_dir_make(run);
	if (rc < 0) {
		err_say(err, "%s: %s", run->dir, strerror(-rc));
		run_free(run);
		return rc;
	}
	snprintf(path, sizeof(path), "%s/ranks.sock", run->dir);
	run->watch = rank_watch_open(ag->base, path, ag->child_gid,
	    &rank_watch_ops, run);
	if (run->watch == NULL) {
		err_say(err, "cannot listen on the socket %s", path);
		run_free(run);
		return -EIO;
	}
	if (left_ns > max_ns)
		left_ns = max_ns;
	run->deadline_ns = clk_ns() + left_ns;
	run->deadline = evtimer_new(ag->base, run_deadline_cb, run);
	tv = clk_timeval(left_ns);
	event_add(run->deadline, &tv);
	*ret = run;
	return 0;
}

/* Nothing of it is left. */
static void
run_close(struct run *run)
{
	struct agent *ag = run->ag;
	char id[sizeof(run->id)];

	/* The last rank may have ended a moment before the run. */
	if (run->ranks != NULL)
		ranks_settle(run->ranks);
	log_info("run %s: closed", run->id);
	cleanup_child(ag, run->id, -1); /* leaves of keepers that were killed */
	snprintf(id, sizeof(id), "%s", run->id);
	run_free(run);
	ag->run_ops->closed(id, ag);
}

void
run_end(struct run *run, uint64_t grace_ms, const char *text)
{
	struct run_child *rc;

	if (!run->ending)
		log_info("run %s: ending: %s", run->id, text);
	run->ending = 1;
	if (run->ranks != NULL)
		ranks_end(run->ranks);
	event_del(run->deadline);
	TAILQ_FOREACH (rc, &run->children, next)
		child_end(rc->child, grace_ms);
	if (TAILQ_EMPTY(&run->children))
		run_close(run);
}

void
run_end_all(struct agent *ag, uint64_t grace_ms, const char *text)
{
	struct run *run, *tmp;

	TAILQ_FOREACH_SAFE (run, &ag->runs, next, tmp)
		run_end(run, grace_ms, text);
}

/* Free it; run may close with its last child. */
static void
run_child_gone(struct run_child *rc)
{
	struct run *run = rc->run;

	TAILQ_REMOVE(&run->children, rc, next);
	child_free(rc->child);
	free(rc);
	if (run->ending && TAILQ_EMPTY(&run->children))
		run_close(run);
}

static void
run_started_cb(struct child *c, pid_t pid, void *arg)
{
	struct run_child *rc = arg;
	struct run *run = rc->run;

	(void)c;
	if (rc->id != 0) {
		ranks_started(run->ranks, (int)rc->id, pid);
		return;
	}
	log_info("run %s: launcher started, pid %d", run->id, (int)pid);
	run_send(run, WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:I}", "run", run->id, "ok", 1, "pid",
		(json_int_t)pid),
	    0);
}

static void
run_send_not_started(struct run *run, const char *why)
{
	log_warnx("run %s: cannot start the launcher or a rank: %s", run->id,
	    why);
	run_send(run, WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:o}", "run", run->id, "ok", 0, "text",
		text_json(why)),
	    0);
}

static void
run_failed_cb(struct child *c, const char *why, void *arg)
{
	struct run_child *rc = arg;

	(void)c;
	run_send_not_started(rc->run, why);
	run_child_gone(rc);
}

static void
run_exited_cb(struct child *c, int status, const char *tail, void *arg)
{
	struct run_child *rc = arg;
	struct run *run = rc->run;

	(void)c;
	if (status < 0) { /* its keeper is gone: do its work */
		cleanup_child(run->ag, run->id, rc->id);
		status = 128 + SIGKILL;
	}
	if (rc->id != 0) {
		ranks_exited(run->ranks, (int)rc->id, status, tail);
		run_child_gone(rc);
		return;
	}
	log_info("run %s: launcher exited with status %d", run->id, status);
	if (run->records != NULL)
		record_pipe_drain(run->records);
	run->ag->run_ops->flush(run->ag);
	run_send(run, WIRE_EXITED,
	    json_pack("{s:s, s:i, s:i, s:o}", "run", run->id, "id", 0, "status",
		status, "stderr", text_json(tail)),
	    1);
	run_child_gone(rc);
}

static const struct child_ops child_ops = { run_started_cb, run_failed_cb,
	run_exited_cb };

/* What every child of the run finds in its environment. */
static void
run_env_base(struct run *run, const char *mark, struct strvec *env)
{
	struct agent *ag = run->ag;

	mpi_impl_env(run->mpi, ag->conf, env);
	strvec_env(env, "HOME", "%s/tmp", run->dir);
	strvec_env(env, "TMPDIR", "%s/tmp", run->dir);
	strvec_env(env, "USER", "%s", ag->child_user);
	strvec_env(env, "LOGNAME", "%s", ag->child_user);
	strvec_env(env, "SHELL", "/bin/sh");
	strvec_env(env, "LC_ALL", "C.UTF-8");
	strvec_env(env, "COALMINE_NODE", "%s", ag->name);
	strvec_env(env, "COALMINE_RUN", "%s", run->id);
	strvec_env(env, "COALMINE_RANK_WATCH", "%s/ranks.sock", run->dir);
	strvec_env(env, "COALMINE_STATE", "%s",
	    conf_string(ag->conf, "agent", "state_dir"));
	if (mark != NULL)
		strvec_add(env, "%s", mark);
}

/* Start a child of the run: 0 or -errno. */
static int
run_child_start(struct run *run, const struct ranks_child *what)
{
	int64_t id = what->id;
	struct agent *ag = run->ag;
	struct run_child *rc = xcalloc(1, sizeof(*rc));
	char leaf[AGENT_PATH_MAX + 200], out[AGENT_PATH_MAX + 32];
	uint64_t now = clk_ns();
	struct child_spec spec = { .path = what->path,
		.argv = what->argv,
		.env = what->env->list,
		.pass = what->pass,
		.cpus = what->cpus,
		.broker = ag->broker,
		.run = run->id,
		.id = id };
	int err;

	rc->run = run;
	rc->id = id;
	if (run->deadline_ns > now)
		spec.deadline_ms = (run->deadline_ns - now) / CLK_NS_PER_MS;
	if (id <= 1) { /* the launcher, or the first rank */
		snprintf(out, sizeof(out), "%s/stdout", run->dir);
		spec.output = out;
	}
	privileged_spec(ag, &spec, leaf, sizeof(leaf));
	err = child_start(ag->base, &spec, &child_ops, rc, &rc->child);
	if (err < 0)
		free(rc);
	else
		TAILQ_INSERT_TAIL(&run->children, rc, next);
	return err;
}

static void
run_record_cb(const struct record_head *head, const char *line,
    size_t len_bytes, void *arg)
{
	struct run *run = arg;

	run->ag->run_ops->record(run->id, head, line, len_bytes, run->ag);
}

/* An engine that talks nonsense is ended; exited then says why. */
static void
run_bad_cb(const char *why, void *arg)
{
	struct run *run = arg;
	struct run_child *rc;
	char text[300];

	log_warnx("run %s: record rejected: %s", run->id, why);
	snprintf(text, sizeof(text), "record rejected: %.250s", why);
	run_send(run, WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:o}", "run", run->id, "ok", 0, "text",
		text_json(text)),
	    1);
	TAILQ_FOREACH (rc, &run->children, next)
		child_end(rc->child, GRACE_MS);
}

static const struct record_pipe_ops record_pipe_ops = { run_record_cb,
	run_bad_cb };

/* Only the run's group may read it, and no user may write it. */
static int
run_campaign_write(struct run *run, const char *text)
{
	char path[AGENT_PATH_MAX + 32];
	size_t len = strlen(text);
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/campaign.conf", run->dir);
	privileges_take(-1, run->ag->child_gid);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		rc = -errno;
	privileges_back();
	if (fd < 0)
		return rc;
	errno = ENOSPC; /* of a short write */
	if (write(fd, text, len) != (ssize_t)len)
		rc = -errno;
	if (run->ag->child_gid >= 0 && fchmod(fd, 0640) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

int
run_program_check(const struct agent *ag, const char *line, struct err *err)
{
	const char *allowed = conf_string(ag->conf, "children", "programs");
	size_t count = 0, len = strcspn(line, " \t");
	char **list = str_list_parse(allowed, &count);
	int found = 0;

	for (size_t i = 0; i < count; i++)
		found |= strlen(list[i]) == len &&
		    memcmp(list[i], line, len) == 0;
	str_list_free(list);
	if (found)
		return 0;
	return err_set(err, -EACCES,
	    "command.run: %.*s is not in children.programs",
	    len < 150 ? (int)len : 150, line);
}

/* Options by which the engine writes a file: allowed only below the
 * administrator's folder, or a campaign could replace any file of the
 * children's user. */
static int
run_tables_check(const struct agent *ag, const struct conf *c, struct err *err)
{
	static const char *const sections[] = { "multipath", "collective" };
	const char *dir = conf_string(ag->conf, "children", "tables");
	size_t len = strlen(dir);

	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		const char *path = conf_string(c, sections[i], "table");

		if (path[0] == '\0' ||
		    (len > 0 && strncmp(path, dir, len) == 0 &&
			path[len] == '/' && strstr(path, "/..") == NULL))
			continue;
		return err_set(err, -EACCES,
		    "%s.table: %.150s is outside of children.tables",
		    sections[i], path);
	}
	return 0;
}

/* Prepare the campaign file, and on the head the files that rank 0 needs in
 * addition to the rank watch's socket. A program named by a campaign must be in
 * the administrator's list. */
static int
run_start_ready(struct run *run, const char *text, int is_head,
    struct conf **ret, struct err *err)
{
	struct agent *ag = run->ag;
	int rc = conf_parse(options_campaign, "campaign", text, ret, err);
	char path[AGENT_PATH_MAX + 32];
	const char *line;

	if (rc == 0)
		rc = mpi_impl_allowed(ag->conf, *ret, err);
	if (rc < 0)
		return rc;
	line = conf_string(*ret, "command", "run");
	if (line[0] != '\0' && run_program_check(ag, line, err) < 0)
		return -EACCES;
	if (run_tables_check(ag, *ret, err) < 0)
		return -EACCES;
	if (!is_head)
		return 0;
	rc = run_campaign_write(run, text);
	if (rc < 0)
		return err_set(err, rc, "%.200s: %s", run->dir, strerror(-rc));
	snprintf(path, sizeof(path), "%s/records", run->dir);
	run->records = record_pipe_open(ag->base, path, run->id, ag->child_gid,
	    &record_pipe_ops, run);
	if (run->records == NULL)
		return err_set(err, -EIO, "%.200s: %s", run->dir,
		    strerror(EIO));
	return 0;
}

/* What every rank is called with. */
struct run_words {
	char conf[AGENT_PATH_MAX + 32], pipe[AGENT_PATH_MAX + 32];
};

static void
run_ids(const struct run *run, struct run_words *w)
{
	snprintf(w->conf, sizeof(w->conf), "%s/campaign.conf", run->dir);
	snprintf(w->pipe, sizeof(w->pipe), "%s/records", run->dir);
}

/* The batch system has started the script on its nodes. */
static void
run_gate_cb(void *arg)
{
	struct run *run = arg;

	log_info("run %s: the batch job has started", run->id);
	run_send(run, WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:b}", "run", run->id, "ok", 1, "begun", 1),
	    1);
}

void
run_launch(struct run *run, const struct launcher *launcher,
    const struct mpi_impl_node *nodes, size_t node_count, int ranks_per_node,
    const char *campaign, const char *net)
{
	struct agent *ag = run->ag;
	char engine[AGENT_PATH_MAX], mark[AGENT_PATH_MAX], path[AGENT_PATH_MAX];
	struct run_words words;
	const char *command[] = { engine, "run", words.conf, "--json",
		words.pipe, "--run", run->id, NULL };
	struct strvec argv = { 0 }, env = { 0 };
	struct err err;
	struct mpi_impl_job job = { .conf = ag->conf,
		.mpi = run->mpi,
		.run = run->id,
		.dir = run->dir,
		.nodes = nodes,
		.node_count = node_count,
		.ranks_per_node = ranks_per_node,
		.cores = ag->cores,
		.net = net,
		.command = command };
	struct conf *c = NULL;
	int rc;

	run_ids(run, &words);
	rc = mpi_impl_path(run->mpi, ag->conf, engine, sizeof(engine), &err);
	if (rc == 0)
		rc = run_start_ready(run, campaign, 1, &c, &err);
	if (rc == 0 && launcher == &launcher_command &&
	    launcher_wants_script(ag->conf)) {
		run->gate = gate_open(ag->base, run->dir, ag->child_gid,
		    run_gate_cb, run);
		if (run->gate == NULL)
			rc = err_set(&err, -EIO, "%.200s/script: %s", run->dir,
			    strerror(EIO));
	}
	job.campaign = c;
	cleanup_mark(ag, run->id, 0, mark, sizeof(mark));
	run_env_base(run, mark, &env);
	if (rc == 0)
		rc = launcher->build(&job, path, sizeof(path), &argv, &env,
		    &err);
	if (rc == 0 &&
	    (rc = run_child_start(run,
		 &(struct ranks_child){ .path = path,
		     .argv = argv.list,
		     .env = &env })) < 0)
		err_say(&err, "%s", strerror(-rc));
	if (rc < 0)
		run_send_not_started(run, err.text);
	strvec_clear(&argv);
	strvec_clear(&env);
	conf_free(c);
}

/* ---- ranks that this agent starts itself ---- */

static int
run_ranks_start_cb(const struct ranks_child *c, void *arg)
{
	struct run *run = arg;
	char mark[AGENT_PATH_MAX];

	cleanup_mark(run->ag, run->id, c->id, mark, sizeof(mark));
	strvec_add(c->env, "%s", mark);
	return run_child_start(run, c);
}

static void
run_ranks_send_cb(enum wire_type type, json_t *msg, int again, void *arg)
{
	struct run *run = arg;

	json_object_set_new(msg, "run", json_string(run->id));
	run_send(run, type, msg, again);
}

static void
run_ranks_failed_cb(const char *text, void *arg)
{
	run_send_not_started(arg, text);
}

static void
run_ranks_gone_cb(int status, const char *tail, void *arg)
{
	struct run *run = arg;

	log_info("run %s: all local ranks ended, status %d", run->id, status);
	if (run->records != NULL)
		record_pipe_drain(run->records);
	run->ag->run_ops->flush(run->ag);
	gate_close(run->gate); /* and the job ends */
	run->gate = NULL;
	run_send(run, WIRE_EXITED,
	    json_pack("{s:s, s:i, s:i, s:o}", "run", run->id, "id", 1, "status",
		status, "stderr", text_json(tail)),
	    1);
}

static const struct ranks_ops ranks_ops = { run_ranks_start_cb,
	run_ranks_send_cb, run_ranks_failed_cb, run_ranks_gone_cb };

void
run_start(struct run *run, const struct run_start *s)
{
	struct agent *ag = run->ag;
	char engine[AGENT_PATH_MAX];
	struct run_words words;
	const char *argv[] = { engine, "run", words.conf, "--json", words.pipe,
		"--run", run->id, NULL };
	struct strvec env = { 0 };
	struct ranks_job job = { .run = run->id,
		.dir = run->dir,
		.host = ag->host,
		.engine = engine,
		.argv = argv,
		.env = &env,
		.first = s->first,
		.local = s->local,
		.size = s->size };
	struct mpi_impl_job mpi = { .conf = ag->conf,
		.mpi = run->mpi,
		.ranks_per_node = s->local,
		.node_count = (size_t)(s->size / s->local),
		.cores = ag->cores,
		.net = s->net };
	struct strbuf networks = { 0 };
	struct conf *c = NULL;
	json_t *text;
	size_t i;
	struct err err;

	run_ids(run, &words);
	run->starts_ranks = 1;
	if (mpi_impl_path(run->mpi, ag->conf, engine, sizeof(engine), &err) <
		0 ||
	    run_start_ready(run, s->campaign,
		s->first == 0 && run->records == NULL, &c, &err) < 0) {
		run_send_not_started(run, err.text);
		conf_free(c);
		return;
	}
	mpi.campaign = c;
	run_env_base(run, NULL, &env);
	json_array_foreach (s->networks, i, text)
		if (json_is_string(text))
			strbuf_addf(&networks, "%s%s", i == 0 ? "" : ",",
			    json_string_value(text));
	if (networks.text != NULL)
		strvec_env(&env, "COALMINE_NETWORKS", "%s", networks.text);
	strbuf_clear(&networks);
	mpi_impl_rank_env(&mpi, &env);
	job.bind = mpi_impl_bind(&mpi);
	if (strcmp(run->mpi->wireup, "pmix") == 0)
		job.pmix = ag->pmix;
	run->ranks = ranks_open(ag->base, &job, &ranks_ops, run);
	strvec_clear(&env);
	conf_free(c);
}
