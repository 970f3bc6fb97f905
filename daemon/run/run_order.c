/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_order.c - orders: a run is made from a campaign and what was ordered
 * beside it, recorded as missed, or ended by hand.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/err.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"
#include "schema/options.h"

#define SEED_MAX 9007199254740991ULL /* exact as a JSON number */

/* 20261120-191446-3f2a: when in UTC, and chance. */
static void
id_make(const struct runs *rs, char ret[64])
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

int
run_conf_read(struct run *r, struct err *err)
{
	static const char *const classes[] = { "background", "exclusive" };
	struct conf *c = r->conf;
	char seed[32];
	int rc;

	r->exclusive = conf_choice(c, "campaign", "class") == 1;
	r->class = classes[r->exclusive];
	r->mpi = conf_string(c, "campaign", "mpi");
	r->launcher = launcher_find(conf_string(c, "campaign", "launcher"));
	if (r->launcher == NULL)
		return err_set(err, -EINVAL, "%s: unknown launcher",
		    conf_where(c, "campaign", "launcher"));
	r->deadline_ns = conf_span_ns(c, "campaign", "deadline");
	r->start_limit_ns = conf_span_ns(c, "campaign", "start_limit");
	r->priority = conf_int(c, "campaign", "priority");
	r->preempts = conf_bool(c, "campaign", "preempt");
	r->seed = (uint64_t)conf_int(c, "campaign", "seed");
	if (r->seed != 0)
		return 0;
	while (r->seed == 0)
		r->seed = rng_entropy() & SEED_MAX;
	snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
	rc = conf_set(c, "campaign", "seed", seed, "drawn", err);
	/* The text in conf may have moved. */
	r->mpi = conf_string(c, "campaign", "mpi");
	return rc;
}

/* A copy of conf that the overrides have changed. */
static int
conf_copy(const struct run_order *o, struct conf **ret, struct err *err)
{
	struct conf *c = conf_dup(o->conf);
	const char *key;
	json_t *v;
	int rc = 0;

	json_object_foreach ((json_t *)(uintptr_t)o->overrides, key, v) {
		char *text = xasprintf("%s=%s", key,
		    json_is_string(v) ? json_string_value(v) : "");

		rc = conf_override(c, text, "override", err);
		free(text);
		if (rc < 0)
			break;
	}
	if (rc == 0)
		rc = options_campaign_check(c, err);
	if (rc == 0)
		*ret = c;
	else
		conf_free(c);
	return rc;
}

int
runs_submit(struct runs *rs, const struct run_order *o, char ret_run[64],
    struct err *err)
{
	struct conf *c;
	struct run *r;
	int rc;

	rc = conf_copy(o, &c, err);
	if (rc < 0)
		return rc;
	r = run_new(rs, o->campaign, o->by, c);
	rc = run_conf_read(r, err);
	if (rc < 0) {
		TAILQ_REMOVE(&rs->live, r, link);
		run_free(r);
		return rc;
	}
	id_make(rs, r->id);
	r->margin_ns = o->margin_ns != 0 && o->margin_ns < RUN_GIVE_UP_NS
	    ? o->margin_ns
	    : RUN_GIVE_UP_NS;
	run_state_set(r, RUN_PENDING, CAUSE_NONE, "");
	memcpy(ret_run, r->id, sizeof(r->id));
	admit_tick(r);
	return 0;
}

void
runs_miss(struct runs *rs, const char *campaign, const struct conf *conf,
    enum cause cause, const char *text, const char *by)
{
	struct run_order o = { .campaign = campaign, .conf = conf, .by = by };
	struct err err;
	struct conf *c;
	struct run *r;

	if (conf_copy(&o, &c, &err) < 0)
		return; /* it was checked when it was read */
	r = run_new(rs, campaign, by, c);
	(void)run_conf_read(r, &err);
	id_make(rs, r->id);
	run_state_set(r, RUN_MISSED, cause, text);
	run_step_set(r, STEP_DONE);
}

int
runs_cancel(struct runs *rs, const char *run, const char *by, struct err *err)
{
	struct run *r = run_find(rs, run);
	char text[RUN_WHY_MAX];

	if (r == NULL)
		return err_set(err, -ENOENT, "no live run %.64s", run);
	if (run_is_final(r))
		return err_set(err, -EALREADY, "run %s is %s already", r->id,
		    names_run_states[r->state].name);
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
