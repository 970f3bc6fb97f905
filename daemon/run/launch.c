/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - from a choice of nodes to running ranks: prepare, launch, and the
 * relay through which the head's launcher starts its daemons.
 *
 * An MPI launcher waits for its daemons without limit, so every step here has
 * one, and what fails names its node.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/frame.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"
#include "daemon/slurm/slurm.h"

static const char *
launch_slurm_waits(const struct run *r)
{
	if (r->all->slurm == NULL)
		return "";
	slurm_job_ask(r->all->slurm, r->id);
	return slurm_job_text(r->all->slurm, r->id);
}

static void
launch_slurm_end(const struct run *r)
{
	if (r->all->slurm != NULL)
		slurm_job_end(r->all->slurm, r->id);
}

/* FAILED is not here: such a job has failed because the run has. */
static const struct launcher_end slurm_ends[] = {
	{ "CANCELLED", RUN_CANCELLED, CAUSE_CANCELLED },
	{ "PREEMPTED", RUN_PREEMPTED, CAUSE_BUSY },
	{ "TIMEOUT", RUN_TIMED_OUT, CAUSE_TIMEOUT },
	{ "DEADLINE", RUN_TIMED_OUT, CAUSE_TIMEOUT },
	{ "NODE_FAIL", RUN_FAILED, CAUSE_AGENT_LOST },
};

static int
launch_slurm_ended(const struct run *r, uint64_t since_ns,
    const struct launcher_end **ret_end)
{
	const char *state;
	int i;

	*ret_end = NULL;
	if (r->all->slurm == NULL)
		return 1;
	slurm_job_ask(r->all->slurm, r->id);
	state = slurm_job_state(r->all->slurm, r->id, since_ns);
	/* On its way out it is COMPLETING. */
	if (state == NULL || strcmp(state, "RUNNING") == 0 ||
	    strcmp(state, "COMPLETING") == 0)
		return 0;
	i = STR_FIND(slurm_ends, state);
	if (i >= 0)
		*ret_end = &slurm_ends[i];
	return 1;
}

static const struct launcher launchers[] = {
	/* The limit is what fits into one launch message. */
	{ .name = "agents", .nodes_max = 12000, .relays = 1 },
	{ .name = "local", .nodes_max = 1 },
	{ .name = "slurm",
	    .nodes_max = 12000,
	    .idle = 1,
	    .waits = launch_slurm_waits,
	    .ended = launch_slurm_ended,
	    .end = launch_slurm_end },
	/* its script may ask for daemons */
	{ .name = "command", .nodes_max = 12000, .relays = 1 },
};

const struct launcher *
launcher_find(const char *name)
{
	int i = STR_FIND(launchers, name);

	return i < 0 ? NULL : &launchers[i];
}

#define ARGV_MAX       256
#define ARGV_BYTES_MAX (64 * 1024)
#define SPAWNS_MAX     16384
#define STDERR_MAX     8192 /* of a launcher's last words */

static int64_t
launch_deadline_ms(const struct run *r)
{
	return (int64_t)(r->deadline_ns / CLK_NS_PER_MS);
}

static void
launch_refused(struct run_node *rn, const char *cause, const char *text)
{
	char line[RUN_WHY_MAX];

	rn->ready = READY_NO;
	utf8_format(line, sizeof(line), "%.60s: %.20s%s%.140s", rn->node->name,
	    cause, text[0] == '\0' ? "" : ": ", text);
	xstrset(&rn->text, line);
}

void
launch_prepare(struct run *r)
{
	const struct node *head = run_head(r);
	json_t *addrs = json_array(), *nic, *v;
	const char *program = conf_string(r->conf, "command", "run");
	struct in6_addr ip;
	size_t k, j;

	if (head->addr != NULL)
		json_array_append_new(addrs, json_string(head->addr));
	/* Its inventory says what the head's interfaces are called. Addresses
	 * go to every node, so nothing else of it does. */
	member_foreach (head->inventory, "nics", k, nic)
		member_foreach (nic, "addrs", j, v)
			if (json_is_string(v) && json_array_size(addrs) < 64 &&
			    (inet_pton(AF_INET, json_string_value(v), &ip) ||
				inet_pton(AF_INET6, json_string_value(v), &ip)))
				json_array_append(addrs, v);
	run_step_set(r, STEP_PREPARE);
	if (r->state != RUN_STARTING)
		run_state_set(r, RUN_STARTING, CAUSE_NONE, "");
	for (size_t i = 0; i < r->node_count; i++) {
		struct run_node *rn = &r->nodes[i];
		json_t *msg = json_pack("{s:s, s:s, s:s, s:s, s:O, s:I}", "run",
		    r->id, "class", r->class, "mpi", r->mpi, "head", head->name,
		    "head_addrs", addrs, "deadline_ms",
		    (json_int_t)launch_deadline_ms(r));

		/* Any of them may have to start it. */
		if (program[0] != '\0')
			json_object_set_new(msg, "program",
			    json_stringn(program, strcspn(program, " \t")));
		rn->ready = READY_ASKED;
		if (run_send(r, rn->node, WIRE_PREPARE, msg) < 0)
			launch_refused(rn, "agent-lost", "not connected");
	}
	json_decref(addrs);
}

static void
launch_head(struct run *r)
{
	json_t *nodes = json_array();
	char *campaign = conf_render_given(r->conf);
	char text[RUN_WHY_MAX];
	json_t *msg;

	for (size_t i = 0; i < r->node_count; i++) {
		const struct node *n = r->nodes[i].node;

		json_array_append_new(nodes,
		    json_pack("{s:s, s:s}", "node", n->name, "addr",
			n->addr == NULL ? "" : n->addr));
	}
	msg = json_pack("{s:s, s:s, s:s, s:o, s:I, s:o, s:I}", "run", r->id,
	    "mpi", r->mpi, "launcher", r->launcher->name, "nodes", nodes,
	    "ranks_per_node",
	    (json_int_t)conf_int(r->conf, "campaign", "ranks_per_node"),
	    "campaign", text_json(campaign), "deadline_ms",
	    (json_int_t)launch_deadline_ms(r));
	free(campaign);
	if (json_dumpb(msg, NULL, 0, JSON_COMPACT) + 64 > FRAME_BODY_MAX) {
		json_decref(msg);
		run_finish(r, RUN_FAILED, CAUSE_CONFIG,
		    "campaign and nodes do not fit into one launch message");
		return;
	}
	run_step_set(r, STEP_LAUNCH);
	r->start_ns = clk_ns();
	r->started_unix_ns = clk_unix_ns();
	if (run_send(r, run_head(r), WIRE_LAUNCH, msg) < 0) {
		snprintf(text, sizeof(text), "head %s is not connected",
		    run_head(r)->name);
		run_finish(r, RUN_FAILED, CAUSE_AGENT_LOST, text);
		return;
	}
	/* With the nodes, the head and the start: what a later collector
	 * needs. */
	run_state_set(r, RUN_STARTING, CAUSE_NONE, "launching");
}

/* All have answered, or time is up. */
static void
launch_prepare_done(struct run *r)
{
	size_t min = (size_t)conf_int(r->conf, "campaign", "nodes_min");
	const struct node *head = run_head(r);
	char text[SYMPTOM_TEXT_MAX];
	struct err err = { 0 }; /* why the first said no */
	size_t asked = r->node_count, kept = 0;

	for (size_t i = 0; i < asked; i++) {
		struct run_node *rn = &r->nodes[i];

		if (rn->ready == READY_YES) {
			r->nodes[kept++] = *rn;
			continue;
		}
		if (rn->ready == READY_ASKED)
			launch_refused(rn, "timeout", "no answer");
		log_info("run %s: without %s", r->id, rn->text);
		if (err.text[0] == '\0')
			err_say(&err, "%s", rn->text);
		run_end_send(r, rn->node, "left out");
		admit_let_go(r, rn->node);
		free(rn->text);
	}
	r->node_count = kept;
	if (r->node_count == 0 || (r->node_count < min && asked >= min)) {
		utf8_format(text, sizeof(text),
		    "%zu of %zu nodes ready, %zu needed; %.300s", r->node_count,
		    asked, min, err.text);
		run_finish(r, RUN_MISSED, CAUSE_BUSY, text);
	} else if (run_head(r) != head) {
		/* The other nodes were prepared for a head that is out: release
		 * them and ask again. */
		for (size_t i = 0; i < r->node_count; i++)
			run_end_send(r, r->nodes[i].node, "new head");
		launch_prepare(r);
	} else {
		launch_head(r);
	}
}

int
launch_prepared(struct run *r, struct node *n, const json_t *msg)
{
	struct run_node *rn = &r->nodes[run_node_index(r, n)];

	if (r->step != STEP_PREPARE || rn->ready != READY_ASKED)
		return 0;
	if (member_bool(msg, "ok"))
		rn->ready = READY_YES;
	else
		launch_refused(rn, member_text(msg, "cause"),
		    member_text(msg, "text"));
	for (size_t i = 0; i < r->node_count; i++)
		if (r->nodes[i].ready == READY_ASKED)
			return 0;
	launch_prepare_done(r);
	return 0;
}

int
launch_launched(struct run *r, struct node *n, const json_t *msg)
{
	if (n != run_head(r) || r->step != STEP_LAUNCH)
		return 0;
	if (member_bool(msg, "ok")) {
		r->launcher_runs = 1;
		run_step_set(r, STEP_FIRST);
		return 0;
	}
	outcome_sign(r, SYMPTOM_LAUNCHER, RUN_FAILED, CAUSE_LAUNCH, clk_ns(),
	    "launch on %s: %.300s", n->name, member_text(msg, "text"));
	return 0;
}

static struct spawn *
launch_spawn_find(const struct run *r, int64_t id)
{
	struct spawn *s;

	TAILQ_FOREACH (s, &r->spawns, link)
		if (s->id == id)
			return s;
	return NULL;
}

static void
launch_spawn_free(struct run *r, struct spawn *s)
{
	TAILQ_REMOVE(&r->spawns, s, link);
	free(s);
}

void
launch_spawns_clear(struct run *r)
{
	while (!TAILQ_EMPTY(&r->spawns))
		launch_spawn_free(r, TAILQ_FIRST(&r->spawns));
}

/* status below 0: none. */
static void
launch_spawn_state(struct run *r, int64_t id, const char *state, int64_t status,
    const char *text)
{
	char line[SYMPTOM_TEXT_MAX];
	json_t *msg;

	/* A text of an agent may fill a frame that is shorter than this one. */
	utf8_format(line, sizeof(line), "%s", text);
	msg = json_pack("{s:s, s:I, s:s, s:o}", "run", r->id, "id",
	    (json_int_t)id, "state", state, "text", text_json(line));

	if (status >= 0)
		json_object_set_new(msg, "status", json_integer(status));
	(void)run_send(r, run_head(r), WIRE_SPAWN_STATE, msg);
}

/* The node's agent judges these words; here only their number, length and that
 * they are ASCII are checked. */
static int
launch_argv_check(const json_t *argv)
{
	size_t bytes = 0, i;
	json_t *v;

	if (json_array_size(argv) == 0 || json_array_size(argv) > ARGV_MAX)
		return -EPROTO;
	json_array_foreach (argv, i, v) {
		if (!json_is_string(v))
			return -EPROTO;
		bytes += json_string_length(v) + 1;
		for (const char *c = json_string_value(v); *c != '\0'; c++)
			if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
				return -EILSEQ;
	}
	return bytes > ARGV_BYTES_MAX ? -EPROTO : 0;
}

/* Tell the head, and count it as a failure of the run. */
static void
launch_spawn_failed(struct run *r, const struct node *n, int64_t id,
    const char *what)
{
	launch_spawn_state(r, id, "failed", -1, what);
	outcome_sign(r, SYMPTOM_DAEMON, RUN_FAILED, CAUSE_LAUNCH, clk_ns(),
	    "launcher's daemon on %s: %.300s", n->name, what);
}

/* The launcher of the run's own head, for a node of the run: nothing else is
 * passed on. What may be in argv is for the node's agent to judge. */
int
launch_spawn_ask(struct run *r, struct node *n, const json_t *msg,
    struct err *err)
{
	const char *name = member_text(msg, "node");
	int64_t id = member_int(msg, "id");
	json_t *argv = json_object_get(msg, "argv");
	struct node *to = roster_find(r->all->roster, name);
	struct spawn *s;
	int rc = launch_argv_check(argv);

	if (n != run_head(r))
		return err_set(err, -EPROTO,
		    "spawn-ask for run %s, whose head it is not", r->id);
	if (id < 1 || id > SPAWNS_MAX || launch_spawn_find(r, id) != NULL ||
	    rc == -EPROTO)
		return err_set(err, -EPROTO, "spawn-ask with a bad id or argv");
	if (run_is_final(r) || r->start_ns == 0 || !r->launcher->relays)
		launch_spawn_state(r, id, "failed", -1, "the run is not live");
	else if (rc < 0)
		launch_spawn_state(r, id, "failed", -1,
		    "a word is not plain ASCII");
	else if (to == NULL || to == n || run_node_index(r, to) < 0)
		launch_spawn_state(r, id, "failed", -1,
		    "not a node of the run");
	else if (run_send(r, to, WIRE_SPAWN,
		     json_pack("{s:s, s:I, s:O}", "run", r->id, "id",
			 (json_int_t)id, "argv", argv)) < 0)
		launch_spawn_failed(r, to, id, "its agent is not connected");
	else {
		s = xcalloc(1, sizeof(*s));
		s->id = id;
		s->node = to;
		s->asked_ns = clk_ns();
		TAILQ_INSERT_TAIL(&r->spawns, s, link);
	}
	return 0;
}

int
launch_spawned(struct run *r, struct node *n, const json_t *msg)
{
	int64_t id = member_int(msg, "id");
	struct spawn *s = launch_spawn_find(r, id);

	if (s == NULL || s->node != n || s->asked_ns == 0)
		return 0;
	if (member_bool(msg, "ok")) {
		s->asked_ns = 0;
		launch_spawn_state(r, id, "running", -1, "");
		return 0;
	}
	launch_spawn_free(r, s);
	launch_spawn_failed(r, n, id, member_text(msg, "text"));
	return 0;
}

int
launch_exited(struct run *r, struct node *n, const json_t *msg)
{
	int64_t id = member_int(msg, "id");
	int64_t status = member_int(msg, "status");
	const char *tail = member_text(msg, "stderr");
	size_t len = strlen(tail);
	struct spawn *s = launch_spawn_find(r, id);
	char text[200];

	if (id == 0 && n == run_head(r) && r->start_ns != 0) {
		r->launcher_runs = 0;
		xstrset(&r->stderr_tail,
		    len > STDERR_MAX ? tail + len - STDERR_MAX : tail);
		outcome_launcher_exited(r, status, tail);
	}
	if (id == 0 || s == NULL || s->node != n)
		return 0;
	/* A daemon of the launcher: the head's arsh ends likewise. */
	symptom_stderr(tail, text, sizeof(text));
	launch_spawn_state(r, id, "exited", status < 0 ? 255 : status, text);
	launch_spawn_free(r, s);
	if (status != 0)
		outcome_sign(r, SYMPTOM_DAEMON, RUN_FAILED, CAUSE_LAUNCH,
		    clk_ns(),
		    "launcher's daemon on %s ended with status %lld%s%s",
		    n->name, (long long)status, text[0] == '\0' ? "" : ": ",
		    text);
	return 0;
}

/* Launched but without a record yet: the batch system may know why. */
static void
launch_first_tick(struct run *r, uint64_t now_ns)
{
	const char *waits = r->launcher->waits == NULL ? ""
						       : r->launcher->waits(r);
	const char *owing = NULL; /* who has not answered */
	const struct spawn *s;
	char span[24];

	if (waits[0] != '\0' && strcmp(waits, r->text) != 0 &&
	    r->resume_ns == 0 && r->decide_ns == 0)
		run_state_set(r, RUN_STARTING, CAUSE_NONE, waits);
	if (now_ns - r->start_ns < r->start_limit_ns)
		return;
	TAILQ_FOREACH (s, &r->spawns, link)
		if (s->asked_ns != 0) {
			owing = s->node->name;
			break;
		}
	clk_span_format(r->start_limit_ns, span, sizeof(span));
	/* A node that has done all it was asked for is not to blame. */
	outcome_sign(r, SYMPTOM_DEADLINE, RUN_NONSTART, CAUSE_LAUNCH,
	    r->start_ns, "no record within %s; %s%s", span,
	    waits[0] != '\0'    ? "it waits: "
		: owing != NULL ? "no answer from "
				: "all nodes have started it, and its ranks "
				  "have not met",
	    waits[0] != '\0'    ? waits
		: owing != NULL ? owing
				: "");
}

void
launch_tick(struct run *r)
{
	uint64_t now_ns = clk_ns();
	struct spawn *s, *next;

	TAILQ_FOREACH_SAFE (s, &r->spawns, link, next) {
		struct node *n = s->node;
		int64_t id = s->id;

		if (s->asked_ns == 0 || now_ns - s->asked_ns < RUN_SPAWN_NS)
			continue;
		launch_spawn_free(r, s);
		launch_spawn_failed(r, n, id, "no answer from its agent");
	}
	if (r->step == STEP_PREPARE && now_ns - r->step_ns >= RUN_PREPARE_NS)
		launch_prepare_done(r);
	else if (r->step == STEP_LAUNCH && r->resume_ns == 0 &&
	    now_ns - r->step_ns >= RUN_LAUNCH_NS)
		outcome_sign(r, SYMPTOM_LAUNCHER, RUN_FAILED, CAUSE_LAUNCH,
		    r->step_ns, "head %s did not answer the launch",
		    run_head(r)->name);
	else if (r->step == STEP_FIRST)
		launch_first_tick(r, now_ns);
}
