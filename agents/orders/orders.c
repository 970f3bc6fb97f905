/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.c - one handler for each message of the collector. A message that
 * cannot have come from a sane collector ends the session; an order that
 * cannot be followed is answered with the reason.
 */
#include "agents/orders/orders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/mesh/mesh.h"
#include "agents/orders/hello.h"
#include "agents/orders/records.h"
#include "agents/orders/verdict_file.h"
#include "agents/run/cleanup.h"
#include "agents/run/idle.h"
#include "agents/run/run.h"
#include "agents/sensor/connects.h"
#include "agents/sensor/nics.h"
#include "agents/spool/spool.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/notify.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "schema/names_run.h"

#define GRACE_MS        2000
#define DEADLINE_MAX_MS (7 * 86400 * 1000LL)
#define PREPARES_MAX    16 /* that wait */

/* To prepare: yes, or why not. */
static void
orders_say_prepared(struct agent *ag, const char *run, enum cause cause,
    const char *text)
{
	json_t *msg = json_pack("{s:s, s:b}", "run", run, "ok",
	    cause == CAUSE_NONE);

	if (cause != CAUSE_NONE) {
		log_info("run %s: cannot prepare: %s", run, text);
		json_object_set_new(msg, "cause",
		    json_string(names_causes[cause].name));
		json_object_set_new(msg, "text", text_json(text));
	}
	session_send(ag->session, WIRE_PREPARED, msg);
}

static void
orders_idle_known(enum cause cause, const char *text, void *arg)
{
	struct run *run = arg;

	run->idle = NULL;
	orders_say_prepared(run->ag, run->id, cause, text);
	if (cause != CAUSE_NONE)
		run_end(run, 0,
		    "the node is busy, or its agent cannot detect whether the "
		    "node is idle");
	else
		run_watch_jobs(run);
}

/* Reserve the node: 0, or the cause with why. */
static enum cause
orders_prepare(struct agent *ag, const json_t *msg, struct run **ret,
    struct err *err)
{
	int exclusive = strcmp(member_text(msg, "class"), "exclusive") == 0;
	struct run *other = run_exclusive(ag, NULL);
	const char *program = member_text_or(msg, "program", NULL);
	const char *name = member_text(msg, "mpi");
	const struct mpi_impl_mpi *mpi = mpi_impl_find(name);
	char engine[AGENT_PATH_MAX];
	struct stat st;

	if (ag->stopping) {
		err_say(err, "the agent is stopping");
		return CAUSE_BUSY;
	}
	if (exclusive && other != NULL) {
		err_say(err, "the node is reserved for run %s", other->id);
		return CAUSE_BUSY;
	}
	if (geteuid() == 0 && ag->child_uid < 0 &&
	    !conf_bool(ag->conf, "children", "allow_root")) {
		err_say(err,
		    "children.user is root, but children.allow_root = no");
		return CAUSE_CONFIG;
	}
	if (stat("/run/coalmine/coalmined.sock", &st) == 0 &&
	    (int64_t)st.st_uid == ag->child_uid) {
		err_say(err,
		    "children.user %s is also the collector's user on this "
		    "host; probes could send orders to the collector",
		    ag->child_user);
		return CAUSE_CONFIG;
	}
	if (mpi == NULL) {
		err_say(err,
		    "unknown MPI %.60s: run coalmine-build-probe for it on "
		    "this node",
		    name);
		return CAUSE_UNSUPPORTED;
	}
	if (mpi_impl_path(mpi, ag->conf, engine, sizeof(engine), err) < 0 ||
	    (program != NULL && run_program_check(ag, program, err) < 0))
		return CAUSE_UNSUPPORTED;
	if (strcmp(mpi->wireup, "pmix") == 0 && access(ag->pmix, X_OK) < 0) {
		err_say(err,
		    "%.200s is missing or not executable, but ranks of %s "
		    "need it to start",
		    ag->pmix, mpi->name);
		return CAUSE_UNSUPPORTED;
	}
	if (run_open(ag, member_text(msg, "run"),
		(uint64_t)member_int(msg, "deadline_ms"), ret, err) < 0)
		return CAUSE_INTERNAL;
	(*ret)->mpi = mpi;
	(*ret)->exclusive = exclusive;
	(*ret)->yields = member_bool(msg, "jobs");
	return CAUSE_NONE;
}

/* Return 1 if the order must wait for a run that ends here: a previous start of
 * the same run, or the exclusive run on the node. */
static int
orders_prepare_waits(struct agent *ag, const json_t *msg, const struct run *run)
{
	const struct run *other = run_exclusive(ag, NULL);

	return !ag->stopping &&
	    ((run != NULL && run->ending) ||
		(run == NULL && other != NULL && other->ending &&
		    strcmp(member_text(msg, "class"), "exclusive") == 0));
}

/* The orders to prepare this run that wait are dropped. */
static void
orders_prepare_forget(struct agent *ag, const char *id)
{
	for (size_t i = json_array_size(ag->prepares); i-- > 0;)
		if (strcmp(member_text(json_array_get(ag->prepares, i), "run"),
			id) == 0)
			json_array_remove(ag->prepares, i);
}

static int
orders_do_prepare(struct agent *ag, const json_t *msg)
{
	const char *id = member_text(msg, "run");
	int64_t deadline_ms = member_int(msg, "deadline_ms");
	struct run *run = run_find(ag, id);
	struct idle_wait *wait;
	struct err err;
	enum cause cause;

	if (deadline_ms < 1 || deadline_ms > DEADLINE_MAX_MS)
		return -EPROTO;
	orders_prepare_forget(ag, id);
	if (orders_prepare_waits(ag, msg, run) &&
	    json_array_size(ag->prepares) < PREPARES_MAX) {
		if (ag->prepares == NULL)
			ag->prepares = json_array();
		json_array_append_new(ag->prepares, json_deep_copy(msg));
		return 0;
	}
	if (run != NULL && run->ending) {
		orders_say_prepared(ag, id, CAUSE_BUSY,
		    "a previous start of this run is still ending");
		return 0;
	}
	if (run != NULL) {
		if (run->idle == NULL)
			orders_say_prepared(ag, id, CAUSE_NONE, NULL);
		return 0;
	}
	cause = orders_prepare(ag, msg, &run, &err);
	if (cause != CAUSE_NONE) {
		orders_say_prepared(ag, id, cause, err.text);
		return 0;
	}
	log_info("run %s: prepared, class %s, head %s", id,
	    member_text(msg, "class"), member_text(msg, "head"));
	if (!run->exclusive) {
		orders_say_prepared(ag, id, CAUSE_NONE, NULL);
		return 0;
	}
	wait = idle_check(ag, member_text(msg, "idle"), orders_idle_known, run);
	if (wait != NULL) /* else it is answered, and run may be gone */
		run->idle = wait;
	return 0;
}

/* Rows of "nodes"; the first is this node and has the name that its own
 * launcher knows. NULL for a malformed row. The caller frees. */
static struct mpi_impl_node *
orders_nodes_read(struct agent *ag, const json_t *array)
{
	size_t i, count = json_array_size(array);
	struct mpi_impl_node *nodes;
	json_t *row;

	if (count < 1 || count > HOSTLIST_MAX)
		return NULL;
	nodes = xcalloc(count, sizeof(*nodes));
	json_array_foreach (array, i, row) {
		nodes[i].node = member_text(row, "node");
		nodes[i].addr = member_text(row, "addr");
		if (nodes[i].addr[0] == '\0' ||
		    hostlist_name_check(nodes[i].node) < 0) {
			free(nodes);
			return NULL;
		}
	}
	nodes[0].node = ag->host;
	return nodes;
}

static void
orders_say_not_launched(struct agent *ag, const char *run, const char *text)
{
	log_warnx("run %s: not launched: %s", run, text);
	session_send(ag->session, WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:o}", "run", run, "ok", 0, "text",
		text_json(text)));
}

static int
orders_do_launch(struct agent *ag, const json_t *msg)
{
	const char *id = member_text(msg, "run");
	struct run *run = run_find(ag, id);
	int64_t ranks = member_int(msg, "ranks_per_node");
	json_t *array = json_object_get(msg, "nodes");
	struct mpi_impl_node *nodes = orders_nodes_read(ag, array);
	const struct launcher *launcher = launcher_find(
	    member_text(msg, "launcher"));

	if (nodes == NULL || ranks < 1 || ranks > 1024) {
		free(nodes);
		return -EPROTO;
	}
	if (run == NULL || run->ending || run->idle != NULL)
		orders_say_not_launched(ag, id,
		    "the run is not prepared on this node");
	else if (run->records != NULL)
		orders_say_not_launched(ag, id, "the run is already launched");
	else if (strcmp(run->mpi->name, member_text(msg, "mpi")) != 0)
		orders_say_not_launched(ag, id,
		    "the run was prepared for another MPI");
	else if (launcher == NULL)
		orders_say_not_launched(ag, id,
		    "this agent does not have this launcher");
	else
		run_launch(run, launcher, nodes, json_array_size(array),
		    (int)ranks, member_text(msg, "campaign"),
		    member_text(msg, "net"));
	free(nodes);
	return 0;
}

static int
orders_do_start(struct agent *ag, const json_t *msg)
{
	const char *id = member_text(msg, "run");
	struct run *run = run_find(ag, id);
	int64_t first = member_int(msg, "rank"),
		local = member_int(msg, "ranks"),
		size = member_int(msg, "size");

	if (local < 1 || local > 1024 || first < 0 || first % local != 0 ||
	    size > INT32_MAX || size < first + local || size % local != 0)
		return -EPROTO;
	if (run == NULL || run->ending || run->idle != NULL)
		orders_say_not_launched(ag, id,
		    "the run is not prepared on this node");
	else if (run->starts_ranks)
		orders_say_not_launched(ag, id, "the run is already launched");
	else if (strcmp(run->mpi->name, member_text(msg, "mpi")) != 0)
		orders_say_not_launched(ag, id,
		    "the run was prepared for another MPI");
	else
		run_start(run,
		    &(struct run_start){ .first = (int)first,
			.local = (int)local,
			.size = (int)size,
			.campaign = member_text(msg, "campaign"),
			.net = member_text(msg, "net"),
			.networks = json_object_get(msg, "networks") });
	return 0;
}

static int
orders_do_fence(struct agent *ag, const json_t *msg)
{
	struct run *run = run_find(ag, member_text(msg, "run"));

	return run == NULL || run->ranks == NULL ? 0
						 : ranks_fence(run->ranks, msg);
}

static int
orders_do_modex(struct agent *ag, const json_t *msg)
{
	struct run *run = run_find(ag, member_text(msg, "run"));

	return run == NULL || run->ranks == NULL ? 0
						 : ranks_modex(run->ranks, msg);
}

static int
orders_do_end(struct agent *ag, const json_t *msg)
{
	struct run *run = run_find(ag, member_text(msg, "run"));
	int64_t grace_ms = member_int(msg, "grace_ms");

	if (grace_ms < 0 || grace_ms > 600000)
		return -EPROTO;
	orders_prepare_forget(ag, member_text(msg, "run"));
	if (run != NULL)
		run_end(run, (uint64_t)grace_ms,
		    member_text_or(msg, "text", NULL));
	return 0;
}

/* Report a node whose firewall blocks the ports of ranks. */
static void
orders_refused(const char *run, const char *addr, int port, void *arg)
{
	struct agent *ag = arg;

	session_send(ag->session, WIRE_COUNTERS,
	    json_pack("{s:s, s:i, s:I, s:[], s:[{s:s, s:i}]}", "run", run,
		"border", -1, "at_unix_ns", (json_int_t)clk_unix_ns(), "nics",
		"refused", "addr", addr, "port", port));
}

static int
orders_do_try(struct agent *ag, const json_t *msg)
{
	json_t *row;
	size_t i;

	ag->tries.base = ag->base;
	ag->tries.cb = orders_refused;
	ag->tries.arg = ag;
	member_foreach (msg, "try", i, row)
		tries_add(&ag->tries, member_text(msg, "run"),
		    member_text(row, "addr"), (int)member_int(row, "port"));
	return 0;
}

static int
orders_do_sample(struct agent *ag, const json_t *msg)
{
	int connects = member_bool(msg, "connects");
	uint32_t uid = ag->child_uid < 0 ? geteuid() : (uint32_t)ag->child_uid;
	json_t *reply;

	if (json_object_get(msg, "try") != NULL)
		return orders_do_try(ag, msg);
	reply = json_pack("{s:s, s:I, s:I, s:o}", "run",
	    member_text(msg, "run"), "border", member_int(msg, "border"),
	    "at_unix_ns", (json_int_t)clk_unix_ns(), "nics",
	    connects ? json_array() : nics_read(""));

	if (connects) {
		json_object_set_new(reply, "unanswered",
		    connects_unanswered("", uid));
		json_object_set_new(reply, "listening",
		    connects_listening("", uid));
	}
	session_send(ag->session, WIRE_COUNTERS, reply);
	return 0;
}

static int
orders_do_mesh(struct agent *ag, const json_t *msg)
{
	return ag->stopping ? 0 : mesh_order(ag->mesh, msg);
}

static int
orders_do_ack(struct agent *ag, const json_t *msg)
{
	int64_t seq = member_int(msg, "seq");

	if (seq < 0)
		return -EPROTO;
	spool_ack(ag->spool, member_text(msg, "run"), (uint64_t)seq);
	return 0;
}

static int
orders_message(enum wire_type type, const json_t *msg, void *arg)
{
	static int (*const handlers[WIRE_TYPE_MAX])(struct agent * ag,
	    const json_t *msg) = {
		[WIRE_ACK] = orders_do_ack,
		[WIRE_PREPARE] = orders_do_prepare,
		[WIRE_LAUNCH] = orders_do_launch,
		[WIRE_START] = orders_do_start,
		[WIRE_FENCE] = orders_do_fence,
		[WIRE_MODEX] = orders_do_modex,
		[WIRE_END] = orders_do_end,
		[WIRE_SAMPLE] = orders_do_sample,
		[WIRE_STANDING] = verdict_file_put,
		[WIRE_MESH] = orders_do_mesh,
	};

	if (handlers[type] == NULL)
		return -EPROTO;
	/* Answers repeat it, and folders are named by it. */
	if (json_object_get(msg, "run") != NULL &&
	    record_run_check(member_text(msg, "run")) < 0)
		return -EPROTO;
	return handlers[type](arg, msg);
}

static int
orders_is_kept(const json_t *keep, const char *id)
{
	json_t *text;
	size_t i;

	json_array_foreach (keep, i, text)
		if (json_is_string(text) &&
		    strcmp(json_string_value(text), id) == 0)
			return 1;
	return 0;
}

static void
orders_up(const json_t *welcome, void *arg)
{
	struct agent *ag = arg;
	const json_t *keep = json_object_get(welcome, "keep");
	struct run *run, *tmp;
	json_t *row;
	size_t i;

	event_del(ag->grace);
	ag->inband_again = 1;
	ag->link_look.every_ns = member_unsigned(welcome, "links_ms") *
	    CLK_NS_PER_MS;
	notify_status("connected to %s",
	    conf_string(ag->conf, "agent", "collector"));
	spool_rewind(ag->spool);
	member_foreach (welcome, "acks", i, row)
		if (member_text(row, "run")[0] != '\0' &&
		    member_int(row, "seq") > 0)
			spool_ack(ag->spool, member_text(row, "run"),
			    (uint64_t)member_int(row, "seq"));
	TAILQ_FOREACH_SAFE (run, &ag->runs, next, tmp) {
		if (orders_is_kept(keep, run->id))
			run_resend(run);
		else if (!run->ending)
			run_end(run, GRACE_MS,
			    "the collector no longer knows this run");
	}
	records_send(ag);
}

/* The grace counts from the last byte, since silence may be noticed late. */
static void
orders_down(uint64_t silent_ns, void *arg)
{
	struct agent *ag = arg;
	uint64_t grace_ns = conf_span_ns(ag->conf, "agent", "grace");
	uint64_t ns = grace_ns > silent_ns ? grace_ns - silent_ns : 0;
	struct timeval tv = clk_timeval(ns);

	notify_status("no connection to the collector at %s",
	    conf_string(ag->conf, "agent", "collector"));
	json_array_clear(ag->prepares); /* it asks again */
	event_add(ag->grace, &tv);
}

/* An agent that is stopping ends with its last run. */
static void
orders_stop_check(struct agent *ag)
{
	if (ag->stopping && TAILQ_EMPTY(&ag->runs))
		event_base_loopbreak(ag->base);
}

static void
orders_run_closed(const char *run, void *arg)
{
	struct agent *ag = arg;
	json_t *prepares = ag->prepares, *msg;
	size_t i;

	spool_finish(ag->spool, run);
	if (TAILQ_EMPTY(&ag->runs))
		cleanup_shm(ag);
	orders_stop_check(ag);
	ag->prepares = NULL; /* those that still have to wait come again */
	json_array_foreach (prepares, i, msg)
		(void)orders_do_prepare(ag, msg);
	json_decref(prepares);
}

void
orders_stop(struct agent *ag, const char *why)
{
	if (ag->stopping)
		return;
	ag->stopping = 1;
	log_info("stopping: %s", why);
	run_end_all(ag, GRACE_MS, why);
	orders_stop_check(ag);
}

int
orders_send(enum wire_type type, json_t *msg, void *arg)
{
	struct agent *ag = arg;

	return session_send(ag->session, type, msg);
}

const struct run_ops orders_run_ops = { orders_send, records_put, records_send,
	orders_run_closed };

const struct session_ops orders_session_ops = { hello_put, hello_put_heartbeat,
	orders_up, orders_message, records_send, orders_down };
