/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - from a choice of nodes to running ranks: prepare, then an order to
 * every agent to start its ranks, or to the head's to start a launcher. Every
 * step has a time limit, and every failure names its node.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/run/launch.h"
#include "common/err.h"
#include "common/frame.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"
#include "daemon/run/run_state.h"
#include "daemon/run/hold.h"
#include "daemon/run/networks.h"
#include "daemon/run/wireup.h"
#include "daemon/run/outcome.h"
#include "daemon/run/symptom.h"
#include "daemon/slurm/slurm.h"

/* The user of srun on the first node; -1: an older agent does not report it. */
static int64_t
launch_slurm_uid(const struct run *r)
{
	const struct node *head = run_head(r);
	const json_t *uid = head == NULL
	    ? NULL
	    : json_object_get(head->inventory, "children_uid");

	return json_is_integer(uid) ? json_integer_value(uid) : -1;
}

static const char *
launch_slurm_waits(const struct run *r)
{
	if (r->all->slurm == NULL)
		return "";
	slurm_job_ask(r->all->slurm, r->id, launch_slurm_uid(r));
	return slurm_job_text(r->all->slurm, r->id);
}

static void
launch_slurm_end(const struct run *r)
{
	if (r->all->slurm != NULL)
		slurm_job_end(r->all->slurm, r->id);
}

/* FAILED is missing: such a job has failed because the run has. */
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
	slurm_job_ask(r->all->slurm, r->id, launch_slurm_uid(r));
	state = slurm_job_state(r->all->slurm, r->id, since_ns);
	/* A job that is ending is COMPLETING. */
	if (state == NULL || strcmp(state, "RUNNING") == 0 ||
	    strcmp(state, "COMPLETING") == 0)
		return 0;
	i = STR_FIND(slurm_ends, state);
	if (i >= 0)
		*ret_end = &slurm_ends[i];
	return 1;
}

static const struct launcher launchers[] = {
	{ .name = "agents", .nodes_max = 100000, .starts = 1 },
	{ .name = "local", .nodes_max = 1, .starts = 1 },
	{ .name = "slurm",
	    .nodes_max = 12000,
	    .idle = 1,
	    .waits = launch_slurm_waits,
	    .ended = launch_slurm_ended,
	    .end = launch_slurm_end },
	/* its script may be a job in which agents start the ranks */
	{ .name = "command", .nodes_max = 12000 },
};

const struct launcher *
launcher_find(const char *name)
{
	int i = STR_FIND(launchers, name);

	return i < 0 ? NULL : &launchers[i];
}

#define STDERR_MAX 8192 /* of a launcher's last output */

static int64_t
launch_deadline_ms(const struct run *r)
{
	return (int64_t)(r->deadline_ns / CLK_NS_PER_MS);
}

static void
launch_refused(struct run_node *rn, const char *cause, const char *text)
{
	char line[RUN_WHY_MAX];
	int known = STR_FIND(names_causes, cause);

	rn->ready = READY_NO;
	rn->cause = known < 0 ? CAUSE_BUSY : (enum cause)known;
	utf8_format(line, sizeof(line), "%.60s: %.20s%s%.140s", rn->node->name,
	    cause, text[0] == '\0' ? "" : ": ", text);
	xstrset(&rn->text, line);
}

void
launch_prepare(struct run *r)
{
	const struct node *head = run_head(r);
	const char *program = conf_string(r->conf, "command", "run");
	const char *idle = hold_asks_slurm(r)                 ? "scheduler"
	    : conf_is(r->conf, "campaign", "idle", "assumed") ? "assumed"
							      : NULL;

	run_step_set(r, STEP_PREPARE);
	r->asked = 0;
	if (r->state != RUN_STARTING)
		run_state_set(r, RUN_STARTING, CAUSE_NONE, "");
	for (size_t i = 0; i < r->node_count; i++) {
		struct run_node *rn = &r->nodes[i];
		json_t *msg = json_pack("{s:s, s:s, s:s, s:s, s:I}", "run",
		    r->id, "class", r->class, "mpi", r->mpi, "head", head->name,
		    "deadline_ms", (json_int_t)launch_deadline_ms(r));

		/* Each of them may become the head, which starts the program.
		 */
		if (program[0] != '\0')
			json_object_set_new(msg, "program",
			    json_stringn(program, strcspn(program, " \t")));
		if (idle != NULL)
			json_object_set_new(msg, "idle", json_string(idle));
		/* A job that starts does not belong to this run. */
		if (r->exclusive && r->launcher->starts)
			json_object_set_new(msg, "jobs", json_true());
		rn->ready = READY_ASKED;
		if (run_send(r, rn->node, WIRE_PREPARE, msg) < 0)
			launch_refused(rn, "agent-lost", "not connected");
		else
			r->asked++;
	}
}

static void
launch_head(struct run *r)
{
	json_t *nodes = json_array();
	char *campaign = conf_render_given(r->conf), *nics;
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
	networks_choose(r);
	nics = networks_nics_same(r);
	json_object_set_new(msg, "net", text_json(nics));
	free(nics);
	if (json_dumpb(msg, NULL, 0, JSON_COMPACT) + 64 > FRAME_BODY_MAX) {
		json_decref(msg);
		run_finish(r, RUN_FAILED, CAUSE_CONFIG,
		    "the campaign and the node names are too large for one "
		    "launch message: use fewer nodes");
		return;
	}
	run_step_set(r, STEP_LAUNCH);
	r->start_ns = clk_ns();
	r->started_unix_ns = clk_unix_ns();
	if (run_send(r, run_head(r), WIRE_LAUNCH, msg) < 0) {
		snprintf(text, sizeof(text),
		    "the agent of head node %s is not connected",
		    run_head(r)->name);
		run_finish(r, RUN_FAILED, CAUSE_AGENT_LOST, text);
		return;
	}
	/* Store the nodes, the head and the start for a later collector. */
	run_state_set(r, RUN_STARTING, CAUSE_NONE, "launching");
}

static void
launch_ranks(struct run *r)
{
	char text[SYMPTOM_TEXT_MAX];

	run_step_set(r, STEP_LAUNCH);
	r->start_ns = clk_ns();
	r->started_unix_ns = clk_unix_ns();
	networks_choose(r);
	wireup_start(r);
	if (networks_undecided(r, text, sizeof(text)))
		log_info("run %s: %s", r->id, text);
	else
		text[0] = '\0';
	run_state_set(r, RUN_STARTING, CAUSE_NONE,
	    text[0] == '\0' ? "launching" : text);
}

/* All nodes have answered, or the time limit has passed. */
static void
launch_prepare_done(struct run *r)
{
	size_t min = (size_t)conf_int(r->conf, "campaign", "nodes_min");
	const struct node *head = run_head(r);
	char text[SYMPTOM_TEXT_MAX];
	struct err err = { 0 }; /* why the first said no */
	size_t asked = r->node_count, kept = 0;
	enum cause cause = CAUSE_BUSY;

	for (size_t i = 0; i < asked; i++) {
		struct run_node *rn = &r->nodes[i];

		if (rn->ready == READY_YES) {
			r->nodes[kept++] = *rn;
			continue;
		}
		if (rn->ready == READY_ASKED)
			launch_refused(rn, "timeout",
			    "the agent did not answer the launch request");
		log_info("run %s: starts without %s", r->id, rn->text);
		/* A node that is unreachable or busy may be used next time. */
		if (err.text[0] == '\0' &&
		    (rn->cause == CAUSE_UNSUPPORTED ||
			rn->cause == CAUSE_IDLE_UNKNOWN ||
			rn->cause == CAUSE_CONFIG))
			cause = rn->cause;
		if (err.text[0] == '\0')
			err_say(&err, "%s", rn->text);
		run_end_send(r, rn->node, "dropped from the run");
		hold_let_go(r, rn->node);
		free(rn->text);
	}
	r->node_count = kept;
	run_nodes_changed(r);
	if (r->node_count == 0 || (r->node_count < min && asked >= min)) {
		utf8_format(text, sizeof(text),
		    "%zu of %zu nodes ready, %zu needed; %.300s", r->node_count,
		    asked, min, err.text);
		run_finish(r, RUN_MISSED, cause, text);
	} else if (run_head(r) != head) {
		/* The other nodes were prepared for a head that is now
		 * excluded: release them and prepare again. */
		for (size_t i = 0; i < r->node_count; i++)
			run_end_send(r, r->nodes[i].node, "new head");
		launch_prepare(r);
	} else if (r->launcher->starts) {
		launch_ranks(r);
	} else {
		launch_head(r);
	}
}

int
launch_prepared(struct run *r, struct node *n, const json_t *msg)
{
	struct run_node *rn = &r->nodes[run_node_index(r, n)];
	char text[RUN_WHY_MAX];

	/* The run makes room for a job that has started on one of its nodes. */
	if (r->step != STEP_PREPARE && r->exclusive && !run_is_final(r) &&
	    !member_bool(msg, "ok")) {
		utf8_format(text, sizeof(text), "%.60s: %.200s", n->name,
		    member_text(msg, "text"));
		run_finish(r, RUN_PREEMPTED, CAUSE_BUSY, text);
		return 0;
	}
	if (r->step != STEP_PREPARE || rn->ready != READY_ASKED)
		return 0;
	if (member_bool(msg, "ok"))
		rn->ready = READY_YES;
	else
		launch_refused(rn, member_text(msg, "cause"),
		    member_text(msg, "text"));
	if (--r->asked == 0)
		launch_prepare_done(r);
	return 0;
}

int
launch_launched(struct run *r, struct node *n, const json_t *msg)
{
	if (r->wireup != NULL)
		return wireup_launched(r, n, msg);
	if (n == run_head(r) && member_bool(msg, "begun") &&
	    (r->step == STEP_LAUNCH || r->step == STEP_FIRST)) {
		networks_choose(r);
		wireup_start(r);
		return 0;
	}
	if (n != run_head(r) || r->step != STEP_LAUNCH)
		return 0;
	if (member_bool(msg, "ok")) {
		r->launcher_runs = 1;
		run_step_set(r, STEP_FIRST);
		return 0;
	}
	run_sign(r, SYMPTOM_LAUNCHER, RUN_FAILED, CAUSE_LAUNCH, clk_ns(),
	    "launch on %s: %.300s", n->name, member_text(msg, "text"));
	return 0;
}

int
launch_exited(struct run *r, struct node *n, const json_t *msg)
{
	const char *tail = member_text(msg, "stderr");
	size_t len = strlen(tail);

	if (member_int(msg, "id") != 0)
		return wireup_exited(r, n, msg);
	if (n != run_head(r) || r->start_ns == 0)
		return 0;
	r->launcher_runs = 0;
	xstrset(&r->stderr_tail,
	    len > STDERR_MAX ? tail + len - STDERR_MAX : tail);
	outcome_launcher_exited(r, member_int(msg, "status"), tail);
	return 0;
}

/* Nodes report the connections of their ranks that got no answer. The replies
 * arrive before the run is decided. */
static void
launch_ask_connects(struct run *r)
{
	for (size_t i = 0; i < r->node_count; i++)
		(void)run_send(r, r->nodes[i].node, WIRE_SAMPLE,
		    json_pack("{s:s, s:i, s:b}", "run", r->id, "border", -1,
			"connects", 1));
}

/* Launched but without a record yet: the batch system may know why. */
static void
launch_first_tick(struct run *r, uint64_t now_ns)
{
	const char *waits = r->launcher->waits == NULL ? ""
						       : r->launcher->waits(r);
	char span[24], text[SYMPTOM_TEXT_MAX - 60];

	if (waits[0] != '\0' && strcmp(waits, r->text) != 0 &&
	    r->resume_ns == 0 && r->decide_ns == 0)
		run_state_set(r, RUN_STARTING, CAUSE_NONE, waits);
	if (now_ns - r->start_ns < r->start_limit_ns)
		return;
	if (r->decide_ns == 0)
		launch_ask_connects(r);
	clk_span_format(r->start_limit_ns, span, sizeof(span));
	if (r->wireup != NULL) {
		wireup_text(r, text, sizeof(text));
		run_sign(r, SYMPTOM_DEADLINE, RUN_NONSTART, CAUSE_LAUNCH,
		    r->start_ns, "no record within %s; %s", span, text);
		return;
	}
	run_sign(r, SYMPTOM_DEADLINE, RUN_NONSTART, CAUSE_LAUNCH, r->start_ns,
	    "no record within %s; %s%s", span,
	    waits[0] != '\0' ? "waiting: " : "the launcher is running", waits);
}

void
launch_tick(struct run *r)
{
	uint64_t now_ns = clk_ns();

	if (r->step == STEP_PREPARE && now_ns - r->step_ns >= RUN_PREPARE_NS)
		launch_prepare_done(r);
	else if (r->step == STEP_LAUNCH && r->launcher->starts)
		launch_first_tick(r, now_ns);
	else if (r->step == STEP_LAUNCH && r->resume_ns == 0 &&
	    now_ns - r->step_ns >= RUN_LAUNCH_NS)
		run_sign(r, SYMPTOM_LAUNCHER, RUN_FAILED, CAUSE_LAUNCH,
		    r->step_ns,
		    "the agent of head node %s did not respond to the launch "
		    "request",
		    run_head(r)->name);
	else if (r->step == STEP_FIRST)
		launch_first_tick(r, now_ns);
}
