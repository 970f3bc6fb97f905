/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_agents.c - messages of nodes about runs, and the effects of a node's
 * session on a run.
 */
#include "daemon/run/run_agents.h"

#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/member.h"
#include "common/utf8.h"
#include "daemon/run/run_int.h"
#include "daemon/run/launch.h"
#include "daemon/run/wireup.h"
#include "daemon/run/intake.h"
#include "daemon/run/outcome.h"
#include "daemon/run/symptom.h"

int
runs_message(struct runs *rs, struct node *n, enum wire_type type,
    const json_t *msg, const struct strict_lines *lines, struct err *err)
{
	const char *id = member_text_or(msg, "run", NULL);
	char text[RUN_WHY_MAX];
	struct run *r;

	if (type == WIRE_SPOOL_LOST) {
		utf8_format(text, sizeof(text),
		    "spool full: %lld records of run %.64s dropped"
		    " (%lld bytes)",
		    (long long)member_int(msg, "records"), id,
		    (long long)member_int(msg, "bytes"));
		if (roster_event(rs->store, n, "alarm", text))
			log_warnx("node %s: %s", n->name, text);
	}
	if (type == WIRE_RECORDS)
		return intake_records(rs, n, msg, lines, err);
	r = run_find_live(rs, id);
	/* A run that has ended meanwhile: the message is late, not wrong. */
	if (r == NULL)
		return 0;
	if (run_node_index(r, n) < 0) {
		log_debug("node %s: message %s ignored: the node is no longer "
			  "part of run %s",
		    n->name, wire_messages[type].name, id);
		return 0;
	}
	switch (type) {
	case WIRE_PROGRESS:
		return intake_progress(r, msg);
	case WIRE_PREPARED:
		return launch_prepared(r, n, msg);
	case WIRE_LAUNCHED:
		return launch_launched(r, n, msg);
	case WIRE_FENCE:
		return wireup_fence(r, n, msg, err);
	case WIRE_MODEX:
		return wireup_modex(r, n, msg, err);
	case WIRE_EXITED:
		return launch_exited(r, n, msg);
	case WIRE_RANK_LOST:
		return outcome_rank_lost(r, n, msg);
	case WIRE_COUNTERS:
		return member_int(msg, "border") < 0
		    ? outcome_unanswered(r, n, msg)
		    : intake_counters(r, n, msg);
	case WIRE_SPOOL_LOST:
		return 0;
	default:
		return err_set(err, -EPROTO, "unexpected message %s",
		    wire_messages[type].name);
	}
}

static int
run_agents_has_run(const json_t *runs, const char *id)
{
	json_t *v;
	size_t i;

	json_array_foreach (runs, i, v)
		if (json_is_string(v) && strcmp(json_string_value(v), id) == 0)
			return 1;
	return 0;
}

json_t *
runs_keep(struct runs *rs, const struct node *n, const json_t *runs)
{
	json_t *keep = json_array();
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		if (!r->ended && r->step != STEP_WAIT &&
		    run_node_index(r, n) >= 0 &&
		    run_agents_has_run(runs, r->id))
			json_array_append_new(keep, json_string(r->id));
	return keep;
}

void
runs_hello(struct runs *rs, struct node *n, const json_t *runs)
{
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link) {
		int there, heads;

		if (run_is_final(r) || r->step == STEP_WAIT ||
		    run_node_index(r, n) < 0)
			continue;
		there = run_agents_has_run(runs, r->id);
		heads = n == run_head(r);
		if (there) {
			/* The run continues. */
		} else if (r->step == STEP_PREPARE) {
			/* Its answer to prepare was lost with the session:
			 * prepare again. */
			launch_prepare(r);
		} else if (r->resume_ns != 0 && heads) {
			/* The run may have ended while no collector was active:
			 * the rest of its records is in the spool and arrives
			 * now. */
			run_sign(r, SYMPTOM_NO_END, RUN_FAILED,
			    CAUSE_COLLECTOR_LOST, clk_ns(),
			    "the run ended on %s while the collector was down",
			    n->name);
		} else if (heads || r->wireup != NULL || r->launcher->starts) {
			run_sign(r, SYMPTOM_AGENT, RUN_FAILED, CAUSE_AGENT_LOST,
			    n->last_ns == 0 ? clk_ns() : n->last_ns,
			    "the agent of %s restarted, or no longer has the "
			    "run",
			    n->name);
		}
		if (there)
			wireup_hello(r, n);
		if (r->resume_ns != 0 && heads) {
			r->resume_ns = 0;
			log_info("run %s: the agent of head node %s has "
				 "reconnected; %s",
			    r->id, n->name,
			    there ? "the run continues"
				  : "it no longer has the run");
		}
	}
}

void
runs_lost(struct runs *rs, struct node *n)
{
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link) {
		if (run_is_final(r) || r->step == STEP_WAIT ||
		    run_node_index(r, n) < 0)
			continue;
		run_sign(r, SYMPTOM_AGENT, RUN_FAILED, CAUSE_AGENT_LOST,
		    n->last_ns, "the agent of %s stopped sending messages",
		    n->name);
	}
}
