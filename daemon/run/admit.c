/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.c - choose the nodes of a run and the time of its start.
 *
 * An exclusive run shares its nodes with no other run; background runs share
 * nodes with each other. While other runs hold some of its nodes, a run waits.
 * At the end of its waiting time it starts on the nodes that are free. A run
 * that must be alone has the whole network.
 */
#include "daemon/run/admit.h"
#include "daemon/run/budget.h"
#include "daemon/run/fabric.h"
#include "daemon/run/hold.h"
#include "daemon/run/launch.h"
#include "daemon/run/placement.h"
#include "daemon/run/run_int.h"
#include "daemon/run/run_state.h"
#include "daemon/run/symptom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/rng.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "common/member.h"
#include "daemon/slurm/slurm.h"

int
runs_may_have(struct runs *rs, const char *class, const char *launcher,
    const json_t *slurm, const struct node *n)
{
	struct err err;

	if (!hold_needs_idle(rs, launcher_find(launcher),
		strcmp(class, "exclusive") == 0))
		return 1;
	slurm_nodes_ask(rs->slurm);
	if (!slurm_nodes_known(rs->slurm))
		return -EAGAIN;
	return slurm_node_look(rs->slurm, n->name,
		   roster_is_alone(rs->roster, n),
		   member_text(slurm, "partition"),
		   member_text(slurm, "reservation"), &err) != SLURM_OUT;
}

struct candidates {
	struct node **nodes; /* wanted and up, in order */
	size_t count;
	size_t wanted;
	size_t free_count;     /* of nodes, not held by others */
	size_t lacking;        /* up, but without the required devices */
	struct err err;        /* the first that is not up */
	struct err held;       /* the first that is held, or the budget */
	enum cause held_cause; /* of held: CAUSE_BUSY or CAUSE_HELD */
	enum budget_answer budget;
};

/* Return the state of a node in Slurm, if the run needs it. */
static enum slurm_node
admit_slurm_says(const struct run *r, const struct node *n, struct err *err)
{
	const struct slurm *slurm = r->all->slurm;

	if (!hold_asks_slurm(r))
		return SLURM_IDLE;
	return slurm_node_look(slurm, n->name,
	    roster_is_alone(r->all->roster, n),
	    conf_string(r->conf, "slurm", "partition"),
	    conf_string(r->conf, "slurm", "reservation"), err);
}

/* Return 1 if the node is not reserved, and no run of a higher priority waits
 * for it. */
static int
admit_is_free(const struct run *r, const struct node *n)
{
	struct err err;

	if (admit_slurm_says(r, n, &err) != SLURM_IDLE)
		return 0;
	if (n->claim_tick == r->all->tick && n->claim_priority > r->priority)
		return 0;
	return n->exclusive == NULL && (!r->exclusive || n->shared == 0);
}

static int
admit_is_avoided(const struct run *r, const struct node *n, struct err *err)
{
	const struct runs_ops *ops = r->all->ops;

	return ops->avoid != NULL && ops->avoid(r->all->ctx, n, err);
}

static void
admit_consider(const struct run *r, struct candidates *c, struct node *n,
    const char *name)
{
	struct err err = { 0 };
	int lacks = 0;

	c->wanted++;
	if (n == NULL || !roster_is_up(n) ||
	    (r->exclusive && n->busy != NULL) ||
	    admit_slurm_says(r, n, &err) == SLURM_OUT ||
	    (lacks = fabric_lacks(r->conf, n, &err))) {
		c->lacking += (size_t)lacks;
		if (c->err.text[0] != '\0')
			return;
		if (n == NULL)
			err_say(&err, "the agent of %s has never connected",
			    name);
		else if (err.text[0] == '\0')
			roster_why(n, &err);
		c->err = err;
		return;
	}
	c->nodes[c->count++] = n;
	if (admit_is_free(r, n)) {
		c->free_count++;
		return;
	}
	if (c->held.text[0] != '\0')
		return;
	c->held_cause = CAUSE_HELD;
	if (n->exclusive != NULL)
		err_say(&c->held, "%s is reserved for run %s", n->name,
		    n->exclusive->id);
	else if (admit_slurm_says(r, n, &c->held) != SLURM_IDLE)
		c->held_cause = CAUSE_BUSY;
	else
		err_say(&c->held,
		    n->shared > 0 ? "%s is used by a run of class background"
				  : "%s is needed by a run of higher priority",
		    n->name);
}

/* Collect all nodes of the campaign that could be used. */
static void
admit_collect(struct run *r, struct candidates *c)
{
	struct roster *roster = r->all->roster;
	const char *text = conf_string(r->conf, "campaign", "nodes");
	struct hostlist hl = { 0 };
	struct err err;
	int enough;

	memset(c, 0, sizeof(*c));
	c->held_cause = CAUSE_BUSY;
	if (strcmp(text, "all") == 0) {
		size_t count = roster_count(roster);

		c->nodes = xcalloc(count + 1, sizeof(c->nodes[0]));
		for (size_t i = 0; i < count; i++) {
			struct node *n = roster_at(roster, i);

			if (!admit_is_avoided(r, n, &err))
				admit_consider(r, c, n, n->name);
		}
		/* Use avoided nodes, too, if there are too few others. */
		enough = (int64_t)c->count >=
		    conf_int(r->conf, "campaign", "nodes_min");
		for (size_t i = 0; i < count && !enough; i++) {
			struct node *n = roster_at(roster, i);

			if (admit_is_avoided(r, n, &err))
				admit_consider(r, c, n, n->name);
		}
		return;
	}
	if (hostlist_parse(text, &hl, NULL) < 0)
		return; /* it was checked when the campaign was read */
	c->nodes = xcalloc(hl.count + 1, sizeof(c->nodes[0]));
	for (size_t i = 0; i < hl.count; i++)
		admit_consider(r, c, roster_find(roster, hl.names[i]),
		    hl.names[i]);
	hostlist_clear(&hl);
}

static const char *
admit_software_of(const struct node *n)
{
	return n->software != NULL ? n->software : "";
}

/* Engines of two versions may fail to communicate during a run. A run uses
 * nodes of one version, the most frequent one: in a rollout first the old
 * nodes, and the new ones once half is done. */
static void
admit_keep_one_version(const struct run *r, struct candidates *c)
{
	const char *most = "", *own;
	json_t *counts = json_object(), *count;
	json_int_t best = 0;
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		own = admit_software_of(c->nodes[i]);
		json_object_set_new(counts, own,
		    json_integer(member_int(counts, own) + 1));
	}
	json_object_foreach (counts, own, count)
		if (json_integer_value(count) > best) {
			best = json_integer_value(count);
			most = own;
		}
	if ((size_t)best == c->count) {
		json_decref(counts);
		return;
	}
	c->free_count = 0;
	for (size_t i = 0; i < c->count; i++) {
		struct node *n = c->nodes[i];

		if (strcmp(admit_software_of(n), most) == 0) {
			c->free_count += (size_t)admit_is_free(r, n);
			c->nodes[kept++] = n;
		} else if (c->err.text[0] == '\0') {
			err_say(&c->err,
			    "%s has version %.60s, but other nodes have "
			    "%.60s: all nodes of a run must have the same "
			    "version",
			    n->name, admit_software_of(n), most);
		}
	}
	c->count = kept;
	json_decref(counts);
}

struct drawn {
	struct node *node;
	int place; /* among the candidates */
	int lot;   /* by the seed */
};

/* Nodes measured longest ago come first, equals in random order. */
static int
admit_drawn_compare(const void *a, const void *b)
{
	const struct drawn *x = a, *y = b;

	if (x->node->used_unix_ns != y->node->used_unix_ns)
		return x->node->used_unix_ns < y->node->used_unix_ns ? -1 : 1;
	return x->lot - y->lot;
}

static int
admit_place_compare(const void *a, const void *b)
{
	return ((const struct drawn *)a)->place -
	    ((const struct drawn *)b)->place;
}

/* Keep count of the free candidates, those that were not measured for the
 * longest time, in their old order. */
static void
admit_take(struct run *r, const struct candidates *c, size_t count)
{
	struct drawn *list = xcalloc(c->free_count, sizeof(list[0]));
	int *lots = xcalloc(c->free_count, sizeof(lots[0]));
	double least = 0; /* the slowest link that is known */
	struct rng rng;
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++)
		if (admit_is_free(r, c->nodes[i])) {
			lots[n] = (int)n;
			list[n++] = (struct drawn){ c->nodes[i], (int)i, 0 };
		}
	rng_seed(&rng, r->seed);
	rng_shuffle(&rng, lots, n);
	for (size_t i = 0; i < n; i++)
		list[i].lot = lots[i];
	free(lots);
	if (count < n) {
		qsort(list, n, sizeof(list[0]), admit_drawn_compare);
		qsort(list, count, sizeof(list[0]), admit_place_compare);
	}
	r->nodes = xcalloc(count, sizeof(r->nodes[0]));
	r->node_count = count;
	run_nodes_changed(r);
	for (size_t i = 0; i < count; i++) {
		double link = costs_link(list[i].node);

		r->nodes[i].node = list[i].node;
		hold_node(r, list[i].node);
		if (link > 0 && (least == 0 || link < least))
			least = link;
	}
	free(list);
	if (r->all->costs == NULL)
		return;
	r->cost.nodes = (double)count;
	r->cost.link_bytes_per_s = least;
	budget_reserve(costs_budget(r->all->costs), &r->cost);
	r->cost_held = 1;
}

/* Could it end that run? */
static int
admit_is_below(const struct run *r, const struct run *other)
{
	return other->priority < r->priority && !run_is_final(other) &&
	    other->step != STEP_WAIT;
}

static struct run *
admit_holder_below(const struct run *r, const struct node *n)
{
	struct run *other;

	if (n->exclusive != NULL)
		return admit_is_below(r, n->exclusive) ? n->exclusive : NULL;
	TAILQ_FOREACH (other, &r->all->live, link)
		if (admit_is_below(r, other) && run_node_index(other, n) >= 0)
			return other;
	return NULL;
}

/* End runs of lower priority if their nodes would suffice. These nodes become
 * free when their processes have ended. */
static void
admit_preempt(struct run *r, const struct candidates *c, size_t want)
{
	size_t could = c->free_count;
	char text[RUN_WHY_MAX];
	struct run *other;

	for (size_t i = 0; i < c->count; i++)
		could += !admit_is_free(r, c->nodes[i]) &&
		    admit_holder_below(r, c->nodes[i]) != NULL;
	if (could < want)
		return;
	for (size_t i = 0; i < c->count; i++) {
		if (admit_is_free(r, c->nodes[i]))
			continue;
		other = admit_holder_below(r, c->nodes[i]);
		if (other == NULL)
			continue;
		snprintf(text, sizeof(text),
		    "preempted by run %s of campaign %.60s: priority %lld over "
		    "%lld",
		    r->id, r->campaign, (long long)r->priority,
		    (long long)other->priority);
		run_finish(other, RUN_PREEMPTED, CAUSE_BUSY, text);
	}
}

/* Return 1 if the run has waited long enough for missing nodes. */
static int
admit_is_patient(const struct run *r, const struct candidates *c, size_t min)
{
	uint64_t now_ns = clk_ns();
	uint64_t from_ns = r->created_ns > r->all->born_ns ? r->created_ns
							   : r->all->born_ns;

	if (c->count < min)
		return now_ns - from_ns < RUN_LACK_NS;
	return now_ns - r->created_ns < r->margin_ns;
}

/* Return 1 if too few nodes can ever meet its requirements. */
static int
admit_lacks_devices(const struct candidates *c, size_t min)
{
	return c->lacking > 0 && c->wanted - c->lacking < min;
}

/* The run has waited until its limit, or can never start. */
static void
admit_give_up(struct run *r, const struct candidates *c, size_t min)
{
	char text[SYMPTOM_TEXT_MAX];
	int lack = c->count < min;
	enum cause cause = !lack          ? c->held_cause
	    : admit_lacks_devices(c, min) ? CAUSE_NO_DEVICE
					  : CAUSE_TOO_FEW_NODES;

	snprintf(text, sizeof(text),
	    "%zu of %zu nodes usable, %zu needed%s%.240s",
	    lack ? c->count : c->free_count, c->wanted, min,
	    lack && c->err.text[0] == '\0' ? "" : "; ",
	    lack ? c->err.text : c->held.text);
	if (!lack && c->budget != BUDGET_FITS) {
		budget_refused(costs_budget(r->all->costs));
		cause = CAUSE_BUDGET;
	}
	if (!lack)
		fabric_turn_back(r);
	run_finish(r, RUN_MISSED, cause,
	    cause == CAUSE_BUDGET ? c->held.text : text);
	run_step_set(r, STEP_DONE);
}

/* Return 1 if the budget allows a run of this many nodes now. The reason goes
 * to c. */
static int
admit_is_affordable(struct run *r, struct candidates *c, size_t count)
{
	struct costs *cs = r->all->costs;
	struct budget_cost *cost = &r->cost;
	uint64_t end;

	if (cs == NULL)
		return 1;
	costs_expect(cs, r->campaign, r->conf, &cost->duration_s,
	    &cost->bytes_per_node);
	cost->nodes = (double)count;
	c->budget = costs_black(cs, r->conf, clk_unix_ns(), cost->duration_s,
			&end, &c->held)
	    ? BUDGET_LATER
	    : budget_ask(costs_budget(cs), clk_ns(), cost, &c->held);
	return c->budget == BUDGET_FITS;
}

/* A run that must be alone shares the network with no other run. While it
 * waits, runs that would start before it are delayed, but only for a limited
 * time, since a long run may keep it waiting. The reason goes to c. */
static int
admit_has_network(const struct run *r, struct candidates *c)
{
	const struct run *other;

	TAILQ_FOREACH (other, &r->all->live, link) {
		int goes = other->step != STEP_WAIT;
		int holds = other->alone && other->priority >= r->priority &&
		    clk_ns() - other->created_ns < RUN_ALONE_HOLD_NS;

		if (other == r || run_is_final(other) ||
		    !(goes ? r->alone || other->alone : !r->alone && holds))
			continue;
		c->held_cause = CAUSE_HELD;
		err_say(&c->held,
		    goes && other->alone
			? "run %s is active and excludes other runs "
			  "(campaign.alone)"
			: goes
			? "this run excludes other runs (campaign.alone), "
			  "but run %s is active"
			: "run %s starts first and excludes other runs "
			  "(campaign.alone)",
		    other->id);
		return 0;
	}
	return 1;
}

static void
admit_wait_on(struct run *r, const struct candidates *c, size_t min,
    size_t want)
{
	if (c->budget == BUDGET_NEVER || admit_lacks_devices(c, min) ||
	    !admit_is_patient(r, c, min > 0 ? min : 1)) {
		admit_give_up(r, c, min);
		return;
	}
	/* Until then its text names the reason for the wait. */
	if (r->state == RUN_PENDING)
		utf8_format(r->text, sizeof(r->text), "%s",
		    c->held.text[0] != '\0' ? c->held.text : c->err.text);
	if (r->state == RUN_PENDING &&
	    clk_ns() - r->created_ns >= RUN_OVERDUE_NS)
		run_state_set(r, RUN_OVERDUE,
		    c->budget != BUDGET_FITS ? CAUSE_BUDGET : c->held_cause,
		    c->held.text[0] != '\0' ? c->held.text : c->err.text);
	if (c->count < min || c->budget != BUDGET_FITS)
		return;
	/* Runs of lower priority must not take nodes that it waits for. */
	for (size_t i = 0; i < c->count; i++) {
		struct node *n = c->nodes[i];

		if (n->claim_tick == r->all->tick &&
		    n->claim_priority >= r->priority)
			continue;
		n->claim_tick = r->all->tick;
		n->claim_priority = r->priority;
	}
	if (r->preempts)
		admit_preempt(r, c, want);
}

void
admit_tick(struct run *r)
{
	size_t min = (size_t)conf_int(r->conf, "campaign", "nodes_min");
	size_t max = (size_t)conf_int(r->conf, "campaign", "nodes_max");
	struct candidates c;
	size_t want, count;

	if (run_is_final(r)) {
		run_step_set(r, STEP_DONE);
		return;
	}
	if (hold_asks_slurm(r))
		slurm_nodes_ask(r->all->slurm);
	fabric_turn(r);
	admit_collect(r, &c);
	admit_keep_one_version(r, &c);
	if (max > r->launcher->nodes_max)
		max = r->launcher->nodes_max;
	if (min > max)
		min = max;
	want = c.count < max ? c.count : max;
	count = c.free_count < want ? c.free_count : want;
	/* Start with fewer nodes than requested only after a long wait. */
	if (c.count >= min && count > 0 && count >= min &&
	    (count == want || !admit_is_patient(r, &c, min)) &&
	    admit_has_network(r, &c) && admit_is_affordable(r, &c, count)) {
		admit_take(r, &c, count);
		placement_set(r);
		launch_prepare(r);
	} else {
		admit_wait_on(r, &c, min, want);
	}
	free(c.nodes);
}
