/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.c - runs that an earlier collector left behind are taken up again.
 *
 * Those that had been launched wait for their head, which brings the rest of
 * their records; those that still waited for nodes go on waiting; those in
 * between are asked after like launched ones. None is forgotten.
 */
#include "daemon/run/run_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "common/member.h"
#include "schema/options.h"
#include "schema/record.h"

/* A wall clock time as monotonic, for spans that go on over the restart. */
static uint64_t
monotonic_of(uint64_t unix_ns)
{
	uint64_t now_unix_ns = clk_unix_ns(), now_ns = clk_ns();
	uint64_t age_ns = unix_ns < now_unix_ns ? now_unix_ns - unix_ns : 0;

	/* Not 0, which means never. */
	return age_ns >= now_ns ? 1 : now_ns - age_ns;
}

static void
step_restore(struct run *r, const json_t *o, enum run_state state)
{
	if (state == RUN_PENDING || state == RUN_OVERDUE) {
		r->step = STEP_WAIT;
		return;
	}
	r->step = state == RUN_RUNNING ? STEP_RUN : STEP_FIRST;
	r->resume_ns = clk_ns() + RUN_RESUME_NS;
	if (r->started_unix_ns != 0)
		r->start_ns = monotonic_of(r->started_unix_ns);
	r->launcher_runs = 1;
	admit_restore(r, json_object_get(o, "nodes")); /* the head first */
	intake_resume(r);
}

static void
resume_one(struct runs *rs, const json_t *o)
{
	int state = names_run_state_find(member_text(o, "state"));
	struct err err = { 0 };
	struct conf *c = NULL;
	struct run *r;

	if (state < 0 || names_run_states[state].final ||
	    record_run_check(member_text(o, "run")) < 0)
		return;
	if (conf_parse(options_campaign, member_text(o, "campaign"),
		member_text(o, "campaign_text"), &c, &err) < 0) {
		/* Written by us, so only a change of version gets here. */
		log_warnx("run %s: cannot be taken up: %s",
		    member_text(o, "run"), err.text);
		if (conf_parse(options_campaign, "default", "", &c, &err) < 0)
			return;
	}
	r = run_new(rs, member_text(o, "campaign"), member_text(o, "by"), c);
	snprintf(r->id, sizeof(r->id), "%s", member_text(o, "run"));
	(void)run_conf_read(r, &err);
	r->margin_ns = RUN_GIVE_UP_NS;
	r->created_unix_ns = member_unsigned(o, "created_unix_ns");
	r->started_unix_ns = member_unsigned(o, "started_unix_ns");
	r->created_ns = monotonic_of(r->created_unix_ns);
	/* What is stored is sent again unless the old collector said so. */
	r->records = r->last_seq = member_unsigned(o, "records");
	r->state = (enum run_state)state;
	step_restore(r, o, (enum run_state)state);
	log_info("run %s: campaign %s taken up again, was %s", r->id,
	    r->campaign, names_run_states[state].name);
	if (r->step != STEP_WAIT && r->node_count == 0)
		run_finish(r, RUN_FAILED, CAUSE_COLLECTOR_LOST,
		    "the collector went away before it was launched");
}

void
runs_resume(struct runs *rs, const json_t *live)
{
	json_t *o;
	size_t i;

	json_array_foreach (live, i, o)
		resume_one(rs, o);
}
