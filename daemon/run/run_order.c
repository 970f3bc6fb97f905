/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_order.c - create a run: from a campaign, as missed, resumed from an
 * earlier collector, or as a replacement of a stuck one; and end it by an
 * order.
 *
 * After a restart a launched run waits for its head, which sends the rest of
 * its records; a run that waited for nodes keeps waiting; one in between is
 * treated as launched. No run is forgotten.
 */
#include "daemon/run/run_order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"
#include "daemon/run/run_show.h"
#include "daemon/run/run_state.h"
#include "daemon/run/admit.h"
#include "daemon/run/hold.h"
#include "daemon/run/launch.h"
#include "daemon/run/intake.h"
#include "schema/options.h"
#include "schema/record.h"

#define SEED_MAX 9007199254740991ULL /* exact as a JSON number */

/* 20261120-191446-3f2a: UTC time, and a random part. */
static void
run_order_id_make(const struct runs *rs, char ret[64])
{
	char id[64];
	time_t now = (time_t)(clk_unix_ns() / CLK_NS_PER_S);
	struct tm tm;
	char when[32];

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	do
		snprintf(id, sizeof(id), "%s-%04x", when,
		    (unsigned)(rng_entropy() & 0xffff));
	while (run_find(rs, id) != NULL);
	memcpy(ret, id, sizeof(id));
}

/* Read campaign.* of r->conf; -EINVAL with why. */
static int
run_order_conf_read(struct run *r, struct err *err)
{
	struct conf *c = r->conf;
	char seed[32];

	r->exclusive = conf_is(c, "campaign", "class", "exclusive");
	r->class = conf_string(c, "campaign", "class");
	r->mpi = conf_string(c, "campaign", "mpi");
	r->launcher = launcher_find(conf_string(c, "campaign", "launcher"));
	if (r->launcher == NULL)
		return err_set(err, -EINVAL, "%s: unknown launcher",
		    conf_where(c, "campaign", "launcher"));
	r->deadline_ns = conf_span_ns(c, "campaign", "deadline");
	r->start_limit_ns = conf_span_ns(c, "campaign", "start_limit");
	r->priority = conf_int(c, "campaign", "priority");
	r->preempts = conf_bool(c, "campaign", "preempt");
	r->alone = conf_bool(c, "campaign", "alone");
	r->seed = (uint64_t)conf_int(c, "campaign", "seed");
	if (r->seed != 0)
		return 0;
	while (r->seed == 0)
		r->seed = rng_entropy() & SEED_MAX;
	snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
	return conf_set(c, "campaign", "seed", seed, "drawn", err);
}

/* A member of the order's overrides: "section.key" and its value. */
static int
run_order_override(struct conf *c, const char *name, const json_t *value,
    struct err *err)
{
	const char *dot = strchr(name, '.');
	char *section;
	int rc;

	if (dot == NULL || !json_is_string(value))
		return err_set(err, -EINVAL,
		    "override %.60s: expected section.key and a text", name);
	section = xstrndup(name, (size_t)(dot - name));
	rc = conf_set(c, section, dot + 1, json_string_value(value), "override",
	    err);
	free(section);
	return rc;
}

int
runs_submit(struct runs *rs, const struct run_order *o, char ret_run[64],
    struct err *err)
{
	struct conf *c = conf_dup(o->conf);
	const char *key;
	struct run *r;
	json_t *v;
	int rc = 0;

	json_object_foreach ((json_t *)(uintptr_t)o->overrides, key, v) {
		rc = run_order_override(c, key, v, err);
		if (rc < 0)
			break;
	}
	if (rc == 0)
		rc = options_campaign_check(c, err);
	if (rc < 0) {
		conf_free(c);
		return rc;
	}
	r = run_new(rs, o->campaign, o->by, c);
	r->origin = o->origin;
	r->attempt = o->attempt;
	r->overrides = json_copy((json_t *)(uintptr_t)o->overrides);
	rc = run_order_conf_read(r, err);
	if (rc < 0) {
		TAILQ_REMOVE(&rs->live, r, link);
		run_free(r);
		return rc;
	}
	run_order_id_make(rs, r->id);
	r->margin_ns = o->margin_ns != 0 && o->margin_ns < RUN_GIVE_UP_NS
	    ? o->margin_ns
	    : RUN_GIVE_UP_NS;
	run_state_set(r, RUN_PENDING, CAUSE_NONE, "");
	memcpy(ret_run, r->id, sizeof(r->id));
	admit_tick(r);
	return 0;
}

/* ---- after a run that was stuck ---- */

#define SEARCH_BY  "search %d of 3 after stuck run %.63s"
#define SEARCH_MAX 3
#define AGAIN_BY   "again after stuck run %.63s"
/* Rounds in which nearly all pairs of nodes have met: one in 150 has not. */
#define SEARCH_ROUNDS 5

/* The run's nodes in a new random order, so that MPI's collectives and its
 * start-up pair other nodes. */
static char *
run_order_nodes_shuffled(const struct run *r)
{
	int *order = xcalloc(r->node_count + 1, sizeof(*order));
	struct strbuf sb = { 0 };
	struct rng rng;

	for (size_t i = 0; i < r->node_count; i++)
		order[i] = (int)i;
	rng_seed(&rng, rng_entropy());
	rng_shuffle(&rng, order, r->node_count);
	for (size_t i = 0; i < r->node_count; i++)
		strbuf_addf(&sb, "%s%s", i == 0 ? "" : ",",
		    r->nodes[order[i]].node->name);
	free(order);
	return sb.text;
}

void
run_order_on(struct run *r)
{
	char by[120], rounds[24], least[24], run[64], *nodes;
	struct run_order o = { .campaign = r->campaign,
		.conf = r->conf,
		.by = by,
		.margin_ns = r->margin_ns };
	json_t *overrides = NULL;
	struct err err;

	if (strcmp(r->campaign, NAMES_PASS_CAMPAIGN) == 0 || r->node_count < 3)
		return; /* the next attempt may succeed */
	if (r->cause == CAUSE_STUCK && r->stuck_named > 0) {
		/* One node of each pair is excluded now. A user sees the result
		 * of a manual run, and a search has found its pair. */
		if (r->origin != RUN_BY_SCHEDULE)
			return;
		o.origin = RUN_BY_AGAIN;
		snprintf(by, sizeof(by), AGAIN_BY, r->id);
	} else if (options_runs_plans(r->conf)) {
		return; /* a search measures with canaries only */
	} else if (r->cause == CAUSE_STUCK ||
	    (r->origin == RUN_BY_SEARCH &&
		(r->state == RUN_NONSTART || r->state == RUN_TIMED_OUT))) {
		if (r->attempt == SEARCH_MAX)
			return;
		o.origin = RUN_BY_SEARCH;
		o.attempt = r->attempt + 1;
		snprintf(by, sizeof(by), SEARCH_BY, o.attempt, r->id);
		snprintf(rounds, sizeof(rounds), "%zu",
		    SEARCH_ROUNDS * r->node_count);
		snprintf(least, sizeof(least), "%zu", r->node_count);
		nodes = run_order_nodes_shuffled(r);
		overrides = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, "
				      "s:s, s:s, s:s, s:s, s:s, s:s}",
		    "campaign.nodes", nodes, "campaign.nodes_min", least,
		    "canary.tests", "lat", "canary.partners", "match",
		    "canary.exact", "no", "canary.bytes", "0", "canary.share",
		    "1", "canary.rounds_min", rounds, "canary.iterations", "1",
		    "canary.time", "100ms", "canary.precision", "1",
		    "congestor.mix", "none", "phases.visits", "1");
		free(nodes);
	} else {
		return;
	}
	o.overrides = overrides;
	if (runs_submit(r->all, &o, run, &err) < 0)
		log_warnx("run %s: %s: %s", r->id, by, err.text);
	else
		log_info("run %s: run %s, %s", r->id, run, by);
	json_decref(overrides);
}

void
runs_miss(struct runs *rs, const char *campaign, const struct conf *conf,
    enum cause cause, const char *text, const char *by)
{
	struct run *r = run_new(rs, campaign, by, conf_dup(conf));
	struct err err;

	r->origin = RUN_BY_SCHEDULE;
	(void)run_order_conf_read(r,
	    &err); /* it was checked when it was read */
	run_order_id_make(rs, r->id);
	run_state_set(r, RUN_MISSED, cause, text);
	run_step_set(r, STEP_DONE);
}

size_t
runs_known_nodes(const struct runs *rs, const struct conf *campaign)
{
	const char *text = conf_string(campaign, "campaign", "nodes");
	struct hostlist hl = { 0 };
	size_t count = 0;

	if (strcmp(text, "all") == 0)
		return roster_count(rs->roster);
	if (hostlist_parse(text, &hl, NULL) < 0)
		return 0; /* it was checked when the campaign was read */
	for (size_t i = 0; i < hl.count; i++)
		count += roster_find(rs->roster, hl.names[i]) != NULL;
	hostlist_clear(&hl);
	return count;
}

int
runs_cancel(struct runs *rs, const char *run, const char *by, struct err *err)
{
	struct run *r = run_find(rs, run);
	char text[RUN_WHY_MAX];

	if (r == NULL)
		return err_set(err, -ENOENT, "no active run %.64s", run);
	if (run_is_final(r))
		return err_set(err, -EALREADY, "run %s has already ended: %s",
		    r->id, names_run_states[r->state].name);
	snprintf(text, sizeof(text), "cancelled by %s", by);
	run_finish(r, RUN_CANCELLED, CAUSE_CANCELLED, text);
	return 0;
}

size_t
runs_stop_all(struct runs *rs, const char *by)
{
	char text[RUN_WHY_MAX];
	size_t count = 0;
	struct run *r;

	snprintf(text, sizeof(text), "stopped by %s", by);
	TAILQ_FOREACH (r, &rs->live, link) {
		if (run_is_final(r))
			continue;
		run_finish(r, RUN_CANCELLED, CAUSE_CANCELLED, text);
		count++;
	}
	return count;
}

/* Convert a wall clock time to monotonic, for spans over a restart. */
static uint64_t
run_order_monotonic_of(uint64_t unix_ns)
{
	uint64_t now_unix_ns = clk_unix_ns(), now_ns = clk_ns();
	uint64_t age_ns = unix_ns < now_unix_ns ? now_unix_ns - unix_ns : 0;

	/* Not 0, which means never. */
	return age_ns >= now_ns ? 1 : now_ns - age_ns;
}

static void
run_order_resume_one(struct runs *rs, const json_t *o)
{
	int state = STR_FIND(names_run_states, member_text(o, "state"));
	int origin = STR_FIND(run_origins, member_text(o, "origin"));
	struct err err = { 0 };
	struct conf *c = NULL;
	struct run *r;

	if (state < 0 || names_run_states[state].final ||
	    record_run_check(member_text(o, "run")) < 0)
		return;
	if (conf_parse(options_campaign, member_text(o, "campaign"),
		member_text(o, "campaign_text"), &c, &err) < 0) {
		/* We wrote the text, so only a change of version can cause this
		 * error. */
		log_warnx("run %s: cannot resume: the stored campaign is "
			  "invalid for this version: %s",
		    member_text(o, "run"), err.text);
		if (conf_parse(options_campaign, "default", "", &c, &err) < 0)
			return;
	}
	r = run_new(rs, member_text(o, "campaign"), member_text(o, "by"), c);
	r->origin = origin < 0 ? RUN_BY_USER : (enum run_origin)origin;
	r->attempt = (int)member_int(o, "attempt");
	r->overrides = json_copy(json_object_get(o, "overrides"));
	snprintf(r->id, sizeof(r->id), "%s", member_text(o, "run"));
	(void)run_order_conf_read(r, &err);
	r->margin_ns = RUN_GIVE_UP_NS;
	r->created_unix_ns = member_unsigned(o, "created_unix_ns");
	r->started_unix_ns = member_unsigned(o, "started_unix_ns");
	r->created_ns = run_order_monotonic_of(r->created_unix_ns);
	/* Agents repeat stored records unless the old collector acknowledged
	 * them. */
	r->records = r->last_seq = member_unsigned(o, "records");
	r->state = (enum run_state)state;
	r->step = STEP_WAIT;
	if (state != RUN_PENDING && state != RUN_OVERDUE) {
		r->step = state == RUN_RUNNING ? STEP_RUN : STEP_FIRST;
		r->resume_ns = clk_ns() + RUN_RESUME_NS +
		    roster_count(rs->roster) * RUN_RESUME_NODE_NS;
		if (r->started_unix_ns != 0)
			r->start_ns = run_order_monotonic_of(
			    r->started_unix_ns);
		r->launcher_runs = 1;
		/* the head first */
		hold_restore(r, json_object_get(o, "nodes"));
		intake_resume(r);
	}
	log_info("run %s: campaign %s resumed; its last state was %s", r->id,
	    r->campaign, names_run_states[state].name);
	if (r->step != STEP_WAIT && r->node_count == 0)
		run_finish(r, RUN_FAILED, CAUSE_COLLECTOR_LOST,
		    "the collector stopped before the launch");
}

void
runs_resume(struct runs *rs, const json_t *live)
{
	json_t *o;
	size_t i;

	json_array_foreach (live, i, o)
		run_order_resume_one(rs, o);
}
