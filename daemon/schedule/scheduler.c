/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.c - the next start is stored when it is planned, so that a start
 * that did not happen is detected as missed, once, after a restart too.
 */
#include "daemon/schedule/scheduler.h"
#include "daemon/run/run_order.h"
#include "daemon/run/run_show.h"
#include "daemon/schedule/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/xalloc.h"
#include "daemon/run/run.h"
#include "daemon/schedule/schedule.h"
#include "daemon/store/store.h"

#define SCAN_NS (3 * CLK_NS_PER_S)
/* A start that is later than this was missed: the collector was not active, the
 * machine slept, or its clock was set. */
#define LATE_NS (60 * CLK_NS_PER_S)

struct scheduler {
	struct campaigns *campaigns;
	struct runs *runs;
	struct store *store;
	json_t *settings;        /* a copy of ours: schedule/... and due/... */
	uint64_t ticked_unix_ns; /* later than now: the clock was set back */
	struct rng rng;          /* of the jitter */
	uint64_t scan_ns; /* of the last scan of the directory; 0: never */
};

struct scheduler *
scheduler_new(struct campaigns *campaigns, struct runs *runs,
    struct store *store)
{
	struct scheduler *a = xcalloc(1, sizeof(*a));

	a->campaigns = campaigns;
	a->runs = runs;
	a->store = store;
	a->settings = json_object();
	rng_seed(&a->rng, rng_entropy());
	return a;
}

void
scheduler_free(struct scheduler *a)
{
	if (a == NULL)
		return;
	json_decref(a->settings);
	free(a);
}

void
scheduler_load(struct scheduler *a, const json_t *settings)
{
	const char *key;
	json_t *v;

	json_object_clear(a->settings);
	json_object_foreach ((json_t *)(uintptr_t)settings, key, v)
		if (strncmp(key, "schedule/", 9) == 0 ||
		    strncmp(key, "due/", 4) == 0)
			json_object_set(a->settings, key, v);
}

static const char *
scheduler_setting_get(const struct scheduler *a, const char *kind,
    const char *name)
{
	char key[128];

	snprintf(key, sizeof(key), "%s/%s", kind, name);
	return member_text_or(a->settings, key, NULL);
}

static void
scheduler_setting_put(struct scheduler *a, const char *kind, const char *name,
    const char *value)
{
	char key[128];

	snprintf(key, sizeof(key), "%s/%s", kind, name);
	json_object_set_new(a->settings, key, json_string(value));
	store_put_setting(a->store, key, value, NULL, NULL);
}

int
scheduler_is_enabled(const struct scheduler *a, const struct campaign *c)
{
	const char *order = scheduler_setting_get(a, "schedule", c->name);

	if (c->conf == NULL || c->path == NULL || !schedule_has(&c->schedule))
		return 0;
	if (order != NULL)
		return strcmp(order, "on") == 0;
	return conf_bool(c->conf, "schedule", "enabled");
}

void
scheduler_enable(struct scheduler *a, const struct campaign *c, int enabled)
{
	struct campaign *mine = campaigns_find(a->campaigns, c->name);

	scheduler_setting_put(a, "schedule", c->name, enabled ? "on" : "off");
	mine->base_unix_ns = mine->next_unix_ns = 0;
	/* Starts due while it was off were not missed. */
	scheduler_setting_put(a, "due", c->name, "");
}

void
scheduler_reload(struct scheduler *a)
{
	a->scan_ns = clk_ns();
	campaigns_scan(a->campaigns);
}

/* Plan the next start after a base, and store it. */
static void
scheduler_plan(struct scheduler *a, struct campaign *c, uint64_t after_unix_ns)
{
	char due[64];

	c->base_unix_ns = c->next_unix_ns = 0;
	if (!schedule_next(&c->schedule, after_unix_ns, rng_unit(&a->rng),
		&c->base_unix_ns, &c->next_unix_ns))
		return;
	snprintf(due, sizeof(due), "%" PRIu64 " %" PRIu64, c->base_unix_ns,
	    c->next_unix_ns);
	scheduler_setting_put(a, "due", c->name, due);
}

/* Plan a campaign that is new since the start, or whose file has changed. A
 * start that was planned before a restart stays, unless the changed schedule
 * would not plan it now. */
static void
scheduler_plan_first(struct scheduler *a, struct campaign *c,
    uint64_t now_unix_ns)
{
	const char *due = scheduler_setting_get(a, "due", c->name);
	uint64_t base = 0, start = 0, now_base, now_start;

	if (due != NULL)
		(void)sscanf(due, "%" SCNu64 " %" SCNu64, &base, &start);
	if (base != 0 && start >= base &&
	    !schedule_is_far(&c->schedule, base, now_unix_ns) &&
	    schedule_next(&c->schedule, base - 1, 0, &now_base, &now_start) &&
	    now_base == base) {
		c->base_unix_ns = base;
		c->next_unix_ns = start;
		return;
	}
	scheduler_plan(a, c, now_unix_ns);
}

void
scheduler_mirror(struct scheduler *a)
{
	struct campaign *c;

	if (a->scan_ns == 0 || clk_ns() - a->scan_ns >= SCAN_NS)
		scheduler_reload(a);
	TAILQ_FOREACH (c, campaigns_list(a->campaigns), link) {
		const char *due = scheduler_setting_get(a, "due", c->name);

		c->base_unix_ns = c->next_unix_ns = 0;
		if (due != NULL && scheduler_is_enabled(a, c))
			(void)sscanf(due, "%" SCNu64 " %" SCNu64,
			    &c->base_unix_ns, &c->next_unix_ns);
	}
}

static void
scheduler_start(struct scheduler *a, struct campaign *c, uint64_t now_unix_ns)
{
	struct run_order o = { .campaign = c->name,
		.conf = c->conf,
		.by = "schedule",
		.origin = RUN_BY_SCHEDULE,
		/* The maximum wait of a run: until the next start; 0: the
		 * default limit of runs. */
		.margin_ns = c->schedule.every_ns };
	const char *live = runs_find_campaign(a->runs, c->name);
	char run[64], when[40];
	struct err err;

	/* While nodes are being enrolled, nothing is missed. */
	if ((int64_t)runs_known_nodes(a->runs, c->conf) <
	    conf_int(c->conf, "campaign", "nodes_min")) {
		c->few_unix_ns = now_unix_ns;
		return;
	}
	clk_unix_format(c->next_unix_ns, when, sizeof(when));
	if (now_unix_ns - c->next_unix_ns > LATE_NS) {
		err_say(&err,
		    "a start was due at %s, while the collector was down",
		    when);
		runs_miss(a->runs, c->name, c->conf, CAUSE_COLLECTOR_LOST,
		    err.text, "schedule");
	} else if (live != NULL) {
		err_say(&err,
		    "the earlier run %s of this campaign is still active",
		    live);
		runs_miss(a->runs, c->name, c->conf, CAUSE_BUSY, err.text,
		    "schedule");
	} else if (runs_submit(a->runs, &o, run, &err) < 0) {
		runs_miss(a->runs, c->name, c->conf, CAUSE_CONFIG, err.text,
		    "schedule");
	}
}

void
scheduler_tick(struct scheduler *a, uint64_t now_unix_ns)
{
	struct campaign *c;

	if (a->scan_ns == 0 || clk_ns() - a->scan_ns >= SCAN_NS)
		scheduler_reload(a);
	TAILQ_FOREACH (c, campaigns_list(a->campaigns), link) {
		if (!scheduler_is_enabled(a, c)) {
			c->base_unix_ns = c->next_unix_ns = 0;
			continue;
		}
		if (now_unix_ns < a->ticked_unix_ns && c->next_unix_ns != 0 &&
		    schedule_is_far(&c->schedule, c->base_unix_ns, now_unix_ns))
			scheduler_plan(a, c, now_unix_ns);
		if (c->next_unix_ns == 0)
			scheduler_plan_first(a, c, now_unix_ns);
		if (c->next_unix_ns == 0 || now_unix_ns < c->next_unix_ns)
			continue;
		scheduler_start(a, c, now_unix_ns);
		/* After a long absence only one run is recorded as missed. */
		scheduler_plan(a, c,
		    now_unix_ns - c->base_unix_ns >
			    LATE_NS + c->schedule.jitter_ns
			? now_unix_ns
			: c->base_unix_ns);
	}
	a->ticked_unix_ns = now_unix_ns;
}
