/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.c - how a run has ended: by its end record, or else by the signs of
 * failure that have arrived within RUN_SETTLE_NS.
 */
#include "daemon/run/outcome.h"
#include "daemon/run/run_int.h"
#include "daemon/run/networks.h"
#include "daemon/run/run_state.h"
#include "daemon/run/symptom.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "schema/names_probe.h"

#define BEHIND_MAX     4 /* number of nodes to list */
#define UNANSWERED_MAX 2 /* number of connections to list */
/* Other nodes that try the ports of a node, and the number of these ports. */
#define TRY_NODES 16
#define TRY_PORTS 4
/* The start of srun's message; a reason follows. */
#define NO_ALLOCATION "Unable to allocate resources"

/* A rank reports another one as lost. Only reports from nodes of the run count,
 * since every holder of a certificate can send them. */
static int
outcome_take_stuck(struct run *r, struct node *n, const json_t *msg)
{
	const json_t *with = json_object_get(msg, "stuck");
	struct node *other = roster_find(r->all->roster,
	    member_text(with, "node"));
	const char *what = names_stuck(member_text(with, "what"));
	struct stuck_rank *s;
	uint64_t waited_ns;

	if (member_int(with, "rank") < 0)
		other = NULL;
	else if (other == NULL || other == n || run_node_index(r, other) < 0)
		return 0;
	if (what == NULL || r->stuck_count == STUCK_RANKS_MAX ||
	    run_is_final(r) || r->end_seen)
		return 0;
	r->stuck = xmore(r->stuck, r->stuck_count, sizeof(r->stuck[0]));
	s = &r->stuck[r->stuck_count];
	*s = (struct stuck_rank){ .rank = member_int(msg, "rank"),
		.with = member_int(with, "rank"),
		.node = n,
		.with_node = other,
		.what = what,
		.waited_s = fmin(fmax(member_number(with, "waited_s"), 0),
		    86400),
		.at = member_unsigned(with, "at") };
	r->stuck_count++;
	waited_ns = (uint64_t)(s->waited_s * (double)CLK_NS_PER_S);
	run_sign(r, SYMPTOM_STUCK, RUN_FAILED, CAUSE_STUCK,
	    clk_ns() - waited_ns, "%s was stuck for %.0f s (%s)", n->name,
	    s->waited_s, s->what);
	return 0;
}

/* All ranks of a role count the same exchanges, and a rank that has begun an
 * exchange has sent its part. So a rank is stuck if its partner is in the same
 * exchange or does not report. A partner that is behind waits for another rank.
 */
static int
outcome_is_in_vain(const struct run *r, const struct stuck_rank *one)
{
	for (size_t i = 0; i < r->stuck_count; i++)
		if (r->stuck[i].rank == one->with)
			return r->stuck[i].at >= one->at;
	return 1;
}

/* Collect stuck ranks, each pair of nodes once, in their order; return their
 * count. */
static size_t
outcome_stuck_pairs(const struct run *r, struct stuck_rank ret[STUCK_RANKS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < r->stuck_count; i++) {
		const struct stuck_rank *s = &r->stuck[i];
		size_t k = 0;

		if (s->with_node == NULL || !outcome_is_in_vain(r, s))
			continue;
		while (k < count &&
		    (ret[k].node != s->node ||
			ret[k].with_node != s->with_node) &&
		    (ret[k].node != s->with_node ||
			ret[k].with_node != s->node))
			k++;
		if (k == count)
			ret[count++] = *s;
	}
	return count;
}

/* Ranks waited in an MPI collective, which does not report the peer. If exactly
 * one node did not report, it is the cause. ret: it and at most two others;
 * return their number. */
static size_t
outcome_stuck_silent(const struct run *r, struct stuck_rank ret[2])
{
	struct node *silent = NULL;
	size_t count = 0;

	/* A rank that named a peer which is behind is not in a collective. */
	for (size_t i = 0; i < r->stuck_count; i++)
		if (r->stuck[i].with_node != NULL)
			return 0;
	for (size_t i = 0; i < r->node_count; i++) {
		size_t k = 0;

		while (
		    k < r->stuck_count && r->stuck[k].node != r->nodes[i].node)
			k++;
		if (k < r->stuck_count)
			continue;
		if (silent != NULL)
			return 0;
		silent = r->nodes[i].node;
	}
	for (size_t i = 0; silent != NULL && i < r->stuck_count && count < 2;
	     i++) {
		ret[count] = r->stuck[i];
		ret[count].with_node = silent;
		count += count == 0 || ret[0].node != ret[1].node;
	}
	return count;
}

/* Write the exchanges of the ranks, if they differ. */
static void
outcome_add_behind(const struct run *r, char text[SYMPTOM_TEXT_MAX])
{
	uint64_t most = 0;
	size_t told = 0;

	for (size_t i = 0; i < r->stuck_count; i++)
		if (r->stuck[i].at > most)
			most = r->stuck[i].at;
	for (size_t i = 0; i < r->stuck_count && told < BEHIND_MAX; i++)
		if (r->stuck[i].at < most)
			utf8_format(text + strlen(text),
			    SYMPTOM_TEXT_MAX - strlen(text), "%s%.64s",
			    told++ == 0
				? "; nodes at an earlier step than the others: "
				: ", ",
			    r->stuck[i].node->name);
}

/* End the run because of these ranks, and report them to the diagnosis. */
static void
outcome_finish_stuck(struct run *r, const struct symptom *sign)
{
	struct stuck_rank pairs[STUCK_RANKS_MAX];
	struct run_stuck tell[STUCK_RANKS_MAX];
	size_t count = outcome_stuck_pairs(r, pairs);
	const struct runs_ops *ops = r->all->ops;
	char text[SYMPTOM_TEXT_MAX];

	if (count > 0) {
		utf8_format(text, sizeof(text),
		    "rank %" PRId64 " on %s was stuck with rank %" PRId64
		    " on %s for %.0f s (%s)",
		    pairs[0].rank, pairs[0].node->name, pairs[0].with,
		    pairs[0].with_node->name, pairs[0].waited_s, pairs[0].what);
	} else {
		count = outcome_stuck_silent(r, pairs);
		utf8_format(text, sizeof(text),
		    "ranks of %s%s were stuck for %.0f s (%s) in an MPI "
		    "collective; MPI does not report the peer",
		    count > 0 ? "all nodes but " : r->stuck[0].node->name,
		    count > 0                ? pairs[0].with_node->name
			: r->stuck_count > 1 ? " and others"
					     : "",
		    r->stuck[0].waited_s, r->stuck[0].what);
	}
	if (count == 0)
		outcome_add_behind(r, text);
	for (size_t i = 1; i < count && pairs[i].with >= 0 &&
	     strlen(text) < SYMPTOM_TEXT_MAX / 2;
	     i++)
		utf8_format(text + strlen(text), sizeof(text) - strlen(text),
		    "; %.64s with %.64s", pairs[i].node->name,
		    pairs[i].with_node->name);
	for (size_t i = 0; i < count; i++)
		tell[i] = (struct run_stuck){ pairs[i].node, pairs[i].with_node,
			pairs[i].what, pairs[i].waited_s };
	if (ops->stuck != NULL && count > 0)
		ops->stuck(r->all->ctx, r, tell, count);
	r->stuck_named = count;
	run_finish(r, sign->state, sign->cause, text);
}

/* How a rank ended. For a rank that the agent has started it has more details.
 */
static void
outcome_end_text(const json_t *msg, int exited, char *ret, size_t cap_bytes)
{
	const char *reason = member_text(msg, "abort");
	json_int_t status = member_int(msg, "status");
	char words[SYMPTOM_TEXT_MAX / 3];

	symptom_stderr(member_text(msg, "stderr"), words, sizeof(words));
	if (json_object_get(msg, "status") == NULL)
		snprintf(ret, cap_bytes, "%s", exited ? "exited" : "died");
	else if (status > 128 && status <= 128 + SIGRTMAX && reason[0] == '\0')
		/* MPICH's ranks of a node share memory in files there. */
		snprintf(ret, cap_bytes, "was killed by signal %d (%s)%s",
		    (int)status - 128, strsignal((int)status - 128),
		    status - 128 == SIGBUS ? ": /dev/shm may be full" : "");
	else if (reason[0] != '\0')
		snprintf(ret, cap_bytes, "exited: %.100s%s%s", reason,
		    words[0] == '\0' ? "" : ": ", words);
	else
		snprintf(ret, cap_bytes, "ended with status %d%s%s",
		    (int)status, words[0] == '\0' ? "" : ": ", words);
}

int
outcome_rank_lost(struct run *r, struct node *n, const json_t *msg)
{
	json_int_t rank = member_int(msg, "rank");
	int exited = member_bool(msg, "exited");
	size_t before = r->sign_count;
	char text[SYMPTOM_TEXT_MAX / 2];
	struct symptom *s;

	if (json_object_get(msg, "stuck") != NULL)
		return outcome_take_stuck(r, n, msg);
	outcome_end_text(msg, exited, text, sizeof(text));
	if (r->stderr_tail == NULL && member_text(msg, "stderr")[0] != '\0')
		xstrset(&r->stderr_tail, member_text(msg, "stderr"));
	run_sign(r, exited ? SYMPTOM_EXITED : SYMPTOM_RANK, RUN_FAILED,
	    CAUSE_RANK_LOST, clk_ns(), "rank %" JSON_INTEGER_FORMAT " on %s %s",
	    rank, n->name, text);
	if (r->sign_count > before) {
		s = &r->signs[before];
		s->rank = rank;
		s->pid = member_int(msg, "pid");
		snprintf(s->node, sizeof(s->node), "%s", n->name);
	}
	return 0;
}

/* Let other nodes connect to the ports on which ranks of this node listen: MPIs
 * do not report connections that a firewall rejects. With other launchers a
 * port may be the launcher's: srun cancels its job after such a connection. */
static void
outcome_try(struct run *r, const struct node *n, const json_t *msg)
{
	json_t *list, *row;
	long at = run_node_index(r, n);
	size_t i;

	if (!r->launcher->starts)
		return;
	list = json_array();
	member_foreach (msg, "listening", i, row) {
		const char *own = member_text(row, "addr");
		char addr[64];

		/* 0.0.0.0 and :: are all addresses of the node. */
		if (networks_node(r, own) == n)
			snprintf(addr, sizeof(addr), "%s", own);
		else
			networks_addr(r, n, strchr(own, ':') != NULL, addr);
		if (addr[0] != '\0' && json_array_size(list) < TRY_PORTS)
			json_array_append_new(list,
			    json_pack("{s:s, s:I}", "addr", addr, "port",
				member_int(row, "port")));
	}
	for (i = 1; at >= 0 && json_array_size(list) > 0 && i < r->node_count &&
	     i <= TRY_NODES;
	     i++)
		(void)run_send(r,
		    r->nodes[((size_t)at + i) % r->node_count].node,
		    WIRE_SAMPLE,
		    json_pack("{s:s, s:i, s:O}", "run", r->id, "border", -1,
			"try", list));
	json_decref(list);
}

/* Note a node's connections that failed, and why. */
static void
outcome_note(struct run *r, const struct node *n, const json_t *list,
    const char *why)
{
	json_t *row;
	size_t i;

	json_array_foreach (list, i, row) {
		const char *addr = member_text(row, "addr");
		const struct node *to = networks_node(r, addr);
		int64_t port = member_int(row, "port");

		if (to == NULL || to == n || port < 1 || port > 65535 ||
		    r->unanswered_count++ >= UNANSWERED_MAX)
			continue;
		strbuf_addf(&r->unanswered,
		    "%s%.64s cannot connect to %.64s (%.45s), TCP port %d: %s",
		    r->unanswered.len_bytes == 0 ? "" : "; ", n->name, to->name,
		    addr, (int)port, why);
	}
}

int
outcome_unanswered(struct run *r, struct node *n, const json_t *msg)
{
	if (run_is_final(r) ||
	    (r->step != STEP_LAUNCH && r->step != STEP_FIRST))
		return 0;
	outcome_note(r, n, json_object_get(msg, "unanswered"), "no answer");
	outcome_note(r, n, json_object_get(msg, "refused"),
	    "refused by a firewall");
	outcome_try(r, n, msg);
	return 0;
}

/* Finish the run with the observed connections in place of general advice. */
static void
outcome_finish_unanswered(struct run *r, const struct symptom *s)
{
	char text[SYMPTOM_TEXT_MAX], span[24], more[40] = "";

	clk_span_format(r->start_limit_ns, span, sizeof(span));
	if (r->unanswered_count > UNANSWERED_MAX)
		snprintf(more, sizeof(more), "; %zu more",
		    r->unanswered_count - UNANSWERED_MAX);
	utf8_format(text, sizeof(text),
	    "no record within %s; %s%s. Allow the ports of mpi.ports (any "
	    "port without it) in this direction",
	    span, r->unanswered.text, more);
	run_finish(r, s->state, s->cause, text);
}

/* The status is 128 and a signal. A launcher that reports the death of a rank
 * does so seconds later and in words. A launcher that was killed prints
 * nothing, and its ranks die at the same moment, though their signs may arrive
 * first. */
static int
outcome_was_killed(const struct run *r, int64_t status, const char *text)
{
	uint64_t now_ns = clk_ns();
	uint64_t apart_ns = text[0] == '\0' ? RUN_AT_ONCE_NS : 0;

	if (status <= 128 || status > 128 + SIGRTMAX)
		return 0;
	for (size_t i = 0; i < r->sign_count; i++)
		if ((r->signs[i].weight == SYMPTOM_RANK ||
			r->signs[i].weight == SYMPTOM_EXITED) &&
		    now_ns - r->signs[i].onset_ns >= apart_ns)
			return 0;
	return 1;
}

/* The launcher has exited, which does not decide about success. */
void
outcome_launcher_exited(struct run *r, int64_t status, const char *tail)
{
	const char *head = run_head(r)->name;
	const char *died = strstr(tail, "srun: error: ");
	char text[300];

	symptom_stderr(tail, text, sizeof(text));
	if (status != 0 && strstr(text, NO_ALLOCATION) != NULL) {
		run_sign(r, SYMPTOM_LAUNCHER, RUN_NONSTART, CAUSE_LAUNCH,
		    clk_ns(), "%s", text);
		return;
	}
	if (status == 0) {
		run_sign(r, SYMPTOM_NO_END, RUN_FAILED, CAUSE_NO_END, clk_ns(),
		    "the launcher on %s exited without sending an end "
		    "record%s%s",
		    head, text[0] == '\0' ? "" : ": ", text);
		return;
	}
	/* The launcher reports a rank that died before its agent noticed. The
	 * status of srun is then the signal that it ended the others with. */
	if (status > 128 && died != NULL && strstr(died, ": task ") != NULL) {
		symptom_stderr(died, text, sizeof(text));
		run_sign(r, SYMPTOM_LAUNCHER, RUN_FAILED, CAUSE_RANK_LOST,
		    clk_ns(), "a rank died: %s", text);
	} else if (outcome_was_killed(r, status, text))
		run_sign(r, SYMPTOM_KILLED, RUN_FAILED, CAUSE_LAUNCH, clk_ns(),
		    "the launcher on %s was killed by signal %d%s%s", head,
		    (int)(status - 128), text[0] == '\0' ? "" : ": ", text);
	else
		run_sign(r, SYMPTOM_LAUNCHER, RUN_FAILED, CAUSE_LAUNCH,
		    clk_ns(),
		    "the launcher on %s ended with status %" PRId64 "%s%s",
		    head, status, text[0] == '\0' ? "" : ": ", text);
}

/* Agents without recent messages or a session, but not lost yet. */
static void
outcome_look_for_silence(struct run *r)
{
	uint64_t now_ns = clk_ns();

	for (size_t i = 0; i < r->node_count; i++) {
		struct node *n = r->nodes[i].node;

		if (n->session != NULL &&
		    (n->last_ns > now_ns ||
			now_ns - n->last_ns <
			    roster_late_ns(r->all->roster, n)))
			continue;
		run_sign(r, SYMPTOM_AGENT, RUN_FAILED, CAUSE_AGENT_LOST,
		    n->last_ns == 0 ? now_ns : n->last_ns, "the agent of %s %s",
		    n->name,
		    n->session == NULL ? "lost its connection"
				       : "stopped sending messages");
	}
}

/* A faulty GPU ends its rank, which ends all others: the first rank that ended
 * itself used this GPU. */
static int
outcome_finish_device(struct run *r, const struct symptom *s)
{
	char words[SYMPTOM_TEXT_MAX / 2], text[SYMPTOM_TEXT_MAX];
	const struct symptom *first = NULL;

	if (s->weight < SYMPTOM_NO_END || s->weight == SYMPTOM_STUCK ||
	    s->weight == SYMPTOM_AGENT || r->stderr_tail == NULL ||
	    !symptom_device(r->stderr_tail, words, sizeof(words)))
		return 0;
	for (size_t i = 0; i < r->sign_count; i++)
		if (r->signs[i].weight == SYMPTOM_EXITED &&
		    (first == NULL || r->signs[i].onset_ns < first->onset_ns))
			first = &r->signs[i];
	if (first == NULL)
		first = s;
	/* Its agent may have reported this output, too. */
	snprintf(text, sizeof(text), "%.150s%s%s", first->text,
	    strstr(first->text, words) != NULL ? "" : ": ",
	    strstr(first->text, words) != NULL ? "" : words);
	run_finish(r, RUN_FAILED, CAUSE_DEVICE_FAULT, text);
	return 1;
}

static void
outcome_decide(struct run *r)
{
	const struct symptom *s;

	outcome_look_for_silence(r);
	s = symptom_choose(r->signs, r->sign_count);
	if (s->weight == SYMPTOM_STUCK) {
		outcome_finish_stuck(r, s);
		return;
	}
	if (outcome_finish_device(r, s))
		return;
	if (s->state == RUN_NONSTART && r->unanswered_count > 0) {
		outcome_finish_unanswered(r, s);
		return;
	}
	run_finish(r, s->state, s->cause, s->text);
}

/* If the batch system has ended the job, its reason counts more than the signs
 * of the processes. Return 1 when the query has finished or timed out. */
static int
outcome_batch_asked(struct run *r, uint64_t now_ns)
{
	const struct launcher_end *end;
	char text[SYMPTOM_TEXT_MAX];

	if (r->launcher->ended == NULL || now_ns - r->decide_ns >= RUN_BATCH_NS)
		return 1;
	if (!r->launcher->ended(r, r->decide_ns - RUN_SETTLE_NS, &end))
		return 0;
	if (end == NULL)
		return 1;
	snprintf(text, sizeof(text), "%s: %s", r->launcher->name,
	    r->launcher->waits(r));
	run_finish(r, end->state, end->cause, text);
	return 0;
}

void
outcome_tick(struct run *r)
{
	uint64_t now_ns = clk_ns();
	char span[24];

	if (run_is_final(r))
		return;
	if (r->end_seen) {
		if (now_ns - r->end_seen_ns >= RUN_COMMIT_NS)
			run_finish(r, RUN_FAILED, CAUSE_DISK_FULL,
			    "cannot store the end record of the run");
		return;
	}
	if (r->resume_ns != 0) {
		/* Signs wait for the head, which may have an end record. */
		if (now_ns < r->resume_ns)
			return;
		run_sign(r, SYMPTOM_AGENT, RUN_FAILED, CAUSE_COLLECTOR_LOST, 0,
		    "the agent of head node %s did not reconnect after the "
		    "restart of the collector",
		    run_head(r) == NULL ? "?" : run_head(r)->name);
		r->resume_ns = 0;
		outcome_decide(r);
		return;
	}
	if (r->decide_ns != 0 && now_ns >= r->decide_ns) {
		if (outcome_batch_asked(r, now_ns))
			outcome_decide(r);
	} else if (r->start_ns != 0 && now_ns - r->start_ns >= r->deadline_ns) {
		clk_span_format(r->deadline_ns, span, sizeof(span));
		outcome_look_for_silence(r);
		run_sign(r, SYMPTOM_DEADLINE, RUN_TIMED_OUT, CAUSE_TIMEOUT,
		    now_ns, "timeout after %s%s%s%s%s; the head node is %s",
		    span, r->phase == NULL ? "" : ", in phase ",
		    r->phase == NULL ? "" : r->phase,
		    r->test == NULL ? "" : ", test ",
		    r->test == NULL ? "" : r->test, run_head(r)->name);
		outcome_decide(r);
	}
}

void
outcome_end(struct run *r, const json_t *record)
{
	const char *text = member_text(record, "text");
	int cause = STR_FIND(names_causes, member_text(record, "cause"));

	if (strcmp(member_text(record, "status"), "ok") == 0)
		run_finish(r, RUN_FINISHED, CAUSE_NONE, text);
	else
		run_finish(r, RUN_FAILED,
		    cause > 0 ? (enum cause)cause : CAUSE_INTERNAL, text);
}
