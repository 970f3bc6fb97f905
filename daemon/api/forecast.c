/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forecast.c - the starts of the schedule, and those that will not fit and why,
 * from the current state: the nodes that are up, the cost of campaigns,
 * blackouts, and the budget. Starts are evaluated in the order of time, each
 * after the earlier ones, so an overloaded schedule is visible.
 */
#include "daemon/api/forecast.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/schedule/campaign.h"
#include "daemon/schedule/schedule.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/run/cost.h"
#include "daemon/run/budget.h"
#include "daemon/collector.h"
#include "daemon/cluster/roster.h"
#include "daemon/api/api_int.h"

#define STARTS_MAX 2000 /* of the list */
#define EACH_MAX   1440 /* of one campaign: one in each minute of a day */
#define HOUR_NS    (3600 * CLK_NS_PER_S)
/* The maximum wait of a start, as in scheduler.c: until the next start. */
#define WAIT_NS (15 * 60 * CLK_NS_PER_S)

enum answer { ANSWER_RUNS, ANSWER_WAITS, ANSWER_MISSED };
static const char *const answers[] = { "runs", "waits", "missed" };

struct start {
	const struct campaign *c;
	uint64_t due_unix_ns, at_unix_ns;
	struct budget_cost cost;
	size_t usable;         /* nodes that are up now */
	const uint8_t *wanted; /* by node id: of the campaign */
	int exclusive;
	enum answer answer;
	struct err err;
};

/* A campaign and its next start. */
struct turn {
	struct start next;
	uint64_t base_unix_ns;
	size_t count; /* starts in the list */
};

struct forecast {
	struct api *api;
	struct start *list; /* in the order of time */
	size_t count;
	size_t nodes; /* in the roster */
	struct turn *turns;
	size_t turn_count;
};

static void __attribute__((format(printf, 3, 4)))
forecast_say(struct start *s, enum answer answer, const char *fmt, ...)
{
	va_list ap;

	if (answer < s->answer)
		return;
	s->answer = answer;
	va_start(ap, fmt);
	err_vsay(&s->err, fmt, ap);
	va_end(ap);
}

/* Return the nodes of a campaign by node id, and count those that it could use
 * now. Done once for all its starts. The caller frees. */
static const uint8_t *
forecast_nodes_mark(const struct forecast *h, const struct campaign *c,
    int exclusive, size_t *ret_usable)
{
	const char *text = conf_string(c->conf, "campaign", "nodes");
	struct roster *r = collector_roster(h->api->p.collector);
	uint8_t *wanted = xcalloc(h->nodes + 1, 1);
	struct hostlist hl = { 0 };

	if (strcmp(text, "all") == 0)
		memset(wanted, 1, h->nodes);
	else
		(void)hostlist_parse(text, &hl, NULL); /* it was checked */
	for (size_t i = 0; i < hl.count; i++) {
		const struct node *n = roster_find(r, hl.names[i]);

		if (n != NULL)
			wanted[n->id] = 1;
	}
	hostlist_clear(&hl);
	*ret_usable = 0;
	for (size_t id = 0; id < h->nodes; id++) {
		const struct node *n = roster_by_id(r, id);

		*ret_usable += wanted[id] && roster_is_up(n) &&
		    (!exclusive || n->busy == NULL);
	}
	return wanted;
}

static void
forecast_turn_add(struct forecast *h, const struct campaign *c)
{
	double most = (double)conf_int(c->conf, "campaign", "nodes_max");
	struct turn *t;
	struct start *s;

	h->turns = xmore(h->turns, h->turn_count, sizeof(h->turns[0]));
	t = &h->turns[h->turn_count++];
	*t = (struct turn){ .base_unix_ns = c->base_unix_ns };
	s = &t->next;
	s->c = c;
	s->due_unix_ns = s->at_unix_ns = c->next_unix_ns;
	s->exclusive = conf_is(c->conf, "campaign", "class", "exclusive");
	s->wanted = forecast_nodes_mark(h, c, s->exclusive, &s->usable);
	costs_expect(h->api->p.costs, c->name, c->conf, &s->cost.duration_s,
	    &s->cost.bytes_per_node);
	s->cost.nodes = fmin((double)s->usable, most);
}

/* Process the earliest start first, of any campaign, until a time or a limit of
 * starts. */
static void
forecast_starts_fill(struct forecast *h, uint64_t until_ns)
{
	while (h->count < STARTS_MAX) {
		struct turn *first = NULL;
		uint64_t at;

		for (struct turn *t = h->turns; t < h->turns + h->turn_count;
		     t++)
			if (t->count < EACH_MAX && t->next.due_unix_ns != 0 &&
			    t->next.due_unix_ns < until_ns &&
			    (first == NULL ||
				t->next.due_unix_ns < first->next.due_unix_ns))
				first = t;
		if (first == NULL)
			return;
		h->list[h->count++] = first->next;
		first->count++;
		/* half of the jitter, as its expected value */
		if (!schedule_next(&first->next.c->schedule,
			first->base_unix_ns, 0.5, &first->base_unix_ns, &at))
			at = 0;
		first->next.due_unix_ns = first->next.at_unix_ns = at;
	}
}

static uint64_t
forecast_end_of(const struct start *s)
{
	return s->at_unix_ns + (uint64_t)(s->cost.duration_s * 1e9);
}

static uint64_t
forecast_wait_max_ns(const struct start *s)
{
	uint64_t every_ns = s->c->schedule.every_ns;

	return every_ns != 0 && every_ns < WAIT_NS ? every_ns : WAIT_NS;
}

static int
forecast_shares_nodes(const struct forecast *h, const struct start *a,
    const struct start *b)
{
	for (size_t id = 0; id < h->nodes; id++)
		if (a->wanted[id] && b->wanted[id])
			return 1;
	return 0;
}

static void
forecast_check_nodes(const struct forecast *h, struct start *s)
{
	size_t least = (size_t)conf_int(s->c->conf, "campaign", "nodes_min");

	(void)h;
	if (s->usable < least || s->usable == 0)
		forecast_say(s, ANSWER_MISSED,
		    "%zu nodes usable now, %zu needed", s->usable, least);
}

static void
forecast_check_blackout(const struct forecast *h, struct start *s)
{
	uint64_t end;
	struct err err;

	if (!costs_black(h->api->p.costs, s->c->conf, s->at_unix_ns,
		s->cost.duration_s, &end, &err))
		return;
	if (end - s->due_unix_ns < forecast_wait_max_ns(s)) {
		s->at_unix_ns = end;
		forecast_say(s, ANSWER_WAITS, "%s", err.text);
	} else {
		forecast_say(s, ANSWER_MISSED, "%s", err.text);
	}
}

/* The start waits for runs that hold its nodes, one after the other. */
static void
forecast_check_others(const struct forecast *h, struct start *s)
{
	for (const struct start *o = h->list; o < s; o++) {
		if (o->answer == ANSWER_MISSED ||
		    (!s->exclusive && !o->exclusive) ||
		    s->at_unix_ns >= forecast_end_of(o) ||
		    o->at_unix_ns >= forecast_end_of(s) ||
		    !forecast_shares_nodes(h, s, o))
			continue;
		if (forecast_end_of(o) - s->due_unix_ns >=
		    forecast_wait_max_ns(s)) {
			forecast_say(s, ANSWER_MISSED,
			    "the nodes are reserved by campaign %s for longer "
			    "than this start may wait",
			    o->c->name);
			return;
		}
		s->at_unix_ns = forecast_end_of(o);
		forecast_say(s, ANSWER_WAITS,
		    "waits for the end of campaign %s, which uses its nodes",
		    o->c->name);
	}
}

/* A separate budget, in which the hour before the start has passed. */
static void
forecast_check_budget(const struct forecast *h, struct start *s)
{
	struct budget *real = costs_budget(h->api->p.costs), *b;
	struct budget_use use;
	uint64_t now_ns = clk_unix_ns();
	struct err err;

	if (s->answer == ANSWER_MISSED)
		return;
	b = budget_new(budget_limits(real));
	budget_look(real, clk_ns(), &use);
	if (s->at_unix_ns < now_ns + HOUR_NS)
		budget_use(b, s->at_unix_ns, use.bytes + use.bytes_reserved,
		    use.node_s + use.node_s_reserved);
	for (const struct start *o = h->list; o < s; o++)
		if (o->answer != ANSWER_MISSED &&
		    o->at_unix_ns + HOUR_NS > s->at_unix_ns)
			budget_use(b, s->at_unix_ns,
			    o->cost.bytes_per_node * o->cost.nodes,
			    o->cost.duration_s * o->cost.nodes);
	if (budget_ask(b, s->at_unix_ns, &s->cost, &err) != BUDGET_FITS)
		forecast_say(s, ANSWER_MISSED, "%s", err.text);
	budget_free(b);
}

json_t *
forecast_json(struct api *api, uint64_t span_ns)
{
	static void (*const checks[])(const struct forecast *,
	    struct start *) = { forecast_check_nodes, forecast_check_blackout,
		forecast_check_others, forecast_check_budget };
	struct forecast h = { .api = api,
		.list = xcalloc(STARTS_MAX, sizeof(h.list[0])),
		.nodes = roster_count(collector_roster(api->p.collector)) };
	const struct campaign *c;
	json_t *list = json_array();

	TAILQ_FOREACH (c, campaigns_list(api->p.campaigns), link)
		if (scheduler_is_enabled(api->p.scheduler, c))
			forecast_turn_add(&h, c);
	forecast_starts_fill(&h, clk_unix_ns() + span_ns);
	for (size_t i = 0; i < h.count; i++) {
		struct start *s = &h.list[i];
		double bytes;

		for (size_t k = 0; k < ARRAY_LEN(checks); k++)
			checks[k](&h, s);
		bytes = s->cost.bytes_per_node * s->cost.nodes;
		json_array_append_new(list,
		    json_pack("{s:s, s:I, s:I, s:f, s:I, s:f, s:s, s:o, s:o}",
			"campaign", s->c->name, "due_unix_ns",
			(json_int_t)s->due_unix_ns, "at_unix_ns",
			(json_int_t)s->at_unix_ns, "duration_s",
			s->cost.duration_s, "nodes", (json_int_t)s->cost.nodes,
			"node_seconds", s->cost.duration_s * s->cost.nodes,
			"answer", answers[s->answer], "why",
			text_json(s->err.text), "bytes",
			/* otherwise neither measured nor configured */
			bytes > 0 ? json_real(bytes) : json_null()));
	}
	for (size_t i = 0; i < h.turn_count; i++)
		free((void *)(uintptr_t)h.turns[i].next.wanted);
	free(h.turns);
	free(h.list);
	return list;
}
