/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objective.c - the arithmetic of objectives: budgets and burn rates, from
 * rings of node-hours.
 */
#include "daemon/objective/objective.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/str.h"
#include "common/xalloc.h"

#define SHORT_OF  12  /* the short window of an alert is 1/12 of the long */
#define LONG_GAPS 3   /* the long window has at least this many rounds */
#define HOLD      0.8 /* of its limit: an alert ends below it */
#define NEEDED_OF 30  /* 1/30 of the window must be measured */
#define NS_PER_H  (3600.0 * 1e9)
/* Slots of a ring, and the widths of a slot: with a window of 30 days a minute,
 * for the windows of alerts, and an hour. */
#define SLOTS     736
#define FINE_OF   43200
#define COARSE_OF 720
#define ROW_FORMAT                                                             \
	"NAME node|leaf|collective:NODES SHARE TARGET WINDOW [promise]"
#define SET_NODES_MAX 4096

const char *const objective_classes[OBJECTIVE_CLASS_MAX] = {
	[OBJECTIVE_NODE] = "node",
	[OBJECTIVE_LEAF] = "leaf",
	[OBJECTIVE_COLLECTIVE] = "collective"
};

const char *const objective_bases[OBJECTIVE_BASIS_MAX] = {
	[OBJECTIVE_PEERS] = "peers",
	[OBJECTIVE_PROMISE] = "promise"
};

const char *const objective_alerts[OBJECTIVE_ALERT_MAX] = {
	[OBJECTIVE_FAST] = "fast",
	[OBJECTIVE_SLOW] = "slow",
	[OBJECTIVE_LASTING] = "lasting"
};

/* With a window of 30 days: 14.4 in one hour, 6 in six hours, and 1 in three
 * days. */
static const struct {
	uint64_t window_of; /* the long window is 1/window_of of the window */
	double limit;
} alerts[OBJECTIVE_ALERT_MAX] = {
	[OBJECTIVE_FAST] = { 720, 14.4 },
	[OBJECTIVE_SLOW] = { 120, 6 },
	[OBJECTIVE_LASTING] = { 10, 1 },
};

/* The fields of a row after its name. */
static const struct conf_row fields[] = {
	{ "objective", "class", CONF_CHOICE, 0, 0, "node|leaf|collective", NULL,
	    "", "" },
	{ "objective", "nodes", CONF_INT, 2, SET_NODES_MAX, NULL, "2", "1",
	    "" },
	{ "objective", "basis", CONF_CHOICE, 0, 0, "peers|promise", "peers", "",
	    "" },
	{ "objective", "share", CONF_REAL, 0.01, 1, NULL, NULL, "1", "" },
	{ "objective", "target", CONF_REAL, 0.5, 0.99999, NULL, NULL, "1", "" },
	{ "objective", "window", CONF_SPAN, 86400, 365 * 86400.0, NULL, NULL,
	    "s", "" },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

static int
objective_name_is_good(const char *name)
{
	return strlen(name) < OBJECTIVE_NAME_BYTES &&
	    name[strspn(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_.-")] == '\0';
}

/* Split "collective:8" into class and nodes. Only collectives have nodes. */
static const char *
objective_class_split(char *class)
{
	char *colon = strchr(class, ':');

	if (colon != NULL)
		*colon++ = '\0';
	if ((colon != NULL) !=
	    (strcmp(class, objective_classes[OBJECTIVE_COLLECTIVE]) == 0))
		return NULL;
	return colon != NULL ? colon : "2";
}

static int
objective_row_parse(const char *row, struct objective *ret, struct err *err)
{
	char name[128], class[32], share[32], target[32], window[32];
	char basis[32] = "peers", text[384], end;
	int words = sscanf(row, "%127s %31s %31s %31s %31s %31s %c", name,
	    class, share, target, window, basis, &end);
	const char *nodes = words < 5 || words > 6
	    ? NULL
	    : objective_class_split(class);
	struct conf *c;
	int rc;

	if (nodes == NULL)
		return err_set(err, -EINVAL,
		    "invalid objective \"%.100s\": expected " ROW_FORMAT
		    ", for example links node 95%% 99.5%% 30d",
		    row);
	if (!objective_name_is_good(name))
		return err_set(err, -EINVAL,
		    "invalid name of objective \"%.60s\": expected up to %d "
		    "letters, digits, '.', '_' and '-'",
		    name, OBJECTIVE_NAME_BYTES - 1);
	snprintf(text, sizeof(text),
	    "[objective]\nclass = %s\nnodes = %s\nshare = %s\ntarget = %s\n"
	    "window = %s\nbasis = %s\n",
	    class, nodes, share, target, window, basis);
	rc = conf_parse(fields, name, text, &c, err);
	if (rc < 0)
		return rc;
	snprintf(ret->name, sizeof(ret->name), "%.31s", name);
	ret->of = (enum objective_class)CONF_CHOICE_OF(c, "objective", "class",
	    objective_classes);
	ret->basis = (enum objective_basis)CONF_CHOICE_OF(c, "objective",
	    "basis", objective_bases);
	ret->set_nodes = ret->of == OBJECTIVE_COLLECTIVE
	    ? (unsigned)conf_int(c, "objective", "nodes")
	    : 0;
	ret->share = conf_real(c, "objective", "share");
	ret->target = conf_real(c, "objective", "target");
	ret->window_ns = conf_span_ns(c, "objective", "window");
	conf_free(c);
	return 0;
}

double
objective_sets_good(unsigned set_nodes, unsigned nodes, unsigned slow)
{
	double good = 1;

	/* Sets that avoid one slow node, then two, ... */
	for (unsigned i = 0; i < slow; i++)
		good *= nodes - i <= set_nodes
		    ? 0
		    : (double)(nodes - i - set_nodes) / (double)(nodes - i);
	return good;
}

int
objective_parse(const char *rows, struct objective ret[OBJECTIVE_MAX],
    struct err *err)
{
	char row[256];
	int count = 0, rc;

	while (*(rows += strspn(rows, ", \t")) != '\0') {
		size_t len = strcspn(rows, ",");

		if (len >= sizeof(row))
			return err_set(err, -EINVAL,
			    "objective %d is longer than %zu bytes", count + 1,
			    sizeof(row) - 1);
		if (count == OBJECTIVE_MAX)
			return err_set(err, -EINVAL, "more than %d objectives",
			    OBJECTIVE_MAX);
		memcpy(row, rows, len);
		row[len] = '\0';
		rows += len;
		rc = objective_row_parse(row, &ret[count], err);
		if (rc < 0)
			return rc;
		for (int i = 0; i < count; i++)
			if (strcmp(ret[i].name, ret[count].name) == 0)
				return err_set(err, -EINVAL,
				    "two objectives have the name %s",
				    ret[i].name);
		count++;
	}
	return count;
}

/* Node-hours and hours in a slot of time. */
struct slot {
	uint64_t number; /* its time divided by the width */
	double good, bad, measured;
};

struct ring {
	uint64_t width_ns;
	struct slot slots[SLOTS];
};

struct objective_tally {
	const struct objective *o;
	int fires[OBJECTIVE_ALERT_MAX];
	struct ring fine, coarse;
};

struct objective_tally *
objective_tally_new(const struct objective *o)
{
	struct objective_tally *t = xcalloc(1, sizeof(*t));

	t->o = o;
	t->fine.width_ns = o->window_ns / FINE_OF;
	t->coarse.width_ns = o->window_ns / COARSE_OF;
	return t;
}

void
objective_tally_free(struct objective_tally *t)
{
	free(t);
}

static void
objective_ring_add(struct ring *r, uint64_t from_unix_ns, uint64_t to_unix_ns,
    double good, double bad)
{
	uint64_t cover_ns = r->width_ns * (SLOTS - 1);

	if (to_unix_ns > from_unix_ns && to_unix_ns - from_unix_ns > cover_ns)
		from_unix_ns = to_unix_ns - cover_ns;
	while (from_unix_ns < to_unix_ns) {
		uint64_t number = from_unix_ns / r->width_ns;
		uint64_t end_unix_ns = (number + 1) * r->width_ns;
		struct slot *s = &r->slots[number % SLOTS];
		double hours;

		if (end_unix_ns > to_unix_ns)
			end_unix_ns = to_unix_ns;
		hours = (double)(end_unix_ns - from_unix_ns) / NS_PER_H;
		if (s->number != number)
			*s = (struct slot){ .number = number };
		s->good += good * hours;
		s->bad += bad * hours;
		s->measured += hours;
		from_unix_ns = end_unix_ns;
	}
}

void
objective_tally_add(struct objective_tally *t, uint64_t from_unix_ns,
    uint64_t to_unix_ns, double good, double bad)
{
	if (!(good + bad > 0))
		return;
	objective_ring_add(&t->fine, from_unix_ns, to_unix_ns, good, bad);
	objective_ring_add(&t->coarse, from_unix_ns, to_unix_ns, good, bad);
}

/* Sum up a window. The slot in which it begins counts in part. Slots of a clock
 * that was ahead do not count. */
static struct slot
objective_sum(const struct objective_tally *t, uint64_t window_ns,
    uint64_t now_unix_ns)
{
	const struct ring *r = window_ns <= t->fine.width_ns * (SLOTS - 2)
	    ? &t->fine
	    : &t->coarse;
	uint64_t begin = now_unix_ns > window_ns ? now_unix_ns - window_ns : 0;
	uint64_t first = begin / r->width_ns;
	struct slot sum = { 0 };

	for (size_t i = 0; i < SLOTS; i++) {
		const struct slot *s = &r->slots[i];
		double part = 1;

		if (s->number < first || s->number > now_unix_ns / r->width_ns)
			continue;
		if (s->number == first)
			part -= (double)(begin % r->width_ns) /
			    (double)r->width_ns;
		sum.good += part * s->good;
		sum.bad += part * s->bad;
		sum.measured += part * s->measured;
	}
	return sum;
}

/* Return the burn rate in a window; NAN: nothing was measured in it. */
static double
objective_rate(const struct objective_tally *t, uint64_t window_ns,
    uint64_t now_unix_ns)
{
	struct slot sum = objective_sum(t, window_ns, now_unix_ns);

	return sum.measured > 0
	    ? sum.bad / (sum.good + sum.bad) / (1 - t->o->target)
	    : NAN;
}

static uint64_t
objective_window(const struct objective *o, uint64_t usual_ns, uint64_t gaps_ns)
{
	uint64_t ns = usual_ns > gaps_ns ? usual_ns : gaps_ns;

	return ns < o->window_ns / 2 ? ns : o->window_ns / 2;
}

void
objective_tally_state(const struct objective_tally *t, uint64_t gap_ns,
    uint64_t now_unix_ns, struct objective_state *ret)
{
	const struct objective *o = t->o;
	struct slot sum = objective_sum(t, o->window_ns, now_unix_ns);
	double all = sum.good + sum.bad;

	ret->measured_hours = sum.measured;
	ret->needed_hours = (double)o->window_ns / NS_PER_H / NEEDED_OF;
	ret->is_known = sum.measured >= ret->needed_hours;
	ret->good_hours = sum.good;
	ret->bad_hours = sum.bad;
	ret->good = ret->is_known ? sum.good / all : NAN;
	ret->budget = 1 - (1 - ret->good) / (1 - o->target);
	for (int a = 0; a < OBJECTIVE_ALERT_MAX; a++) {
		struct objective_burn *b = &ret->burn[a];
		uint64_t usual_ns = o->window_ns / alerts[a].window_of;

		b->long_ns = objective_window(o, usual_ns, LONG_GAPS * gap_ns);
		b->short_ns = objective_window(o, usual_ns / SHORT_OF, gap_ns);
		b->limit = alerts[a].limit;
		b->long_rate = objective_rate(t, b->long_ns, now_unix_ns);
		b->short_rate = objective_rate(t, b->short_ns, now_unix_ns);
		b->fires = t->fires[a];
	}
}

void
objective_tally_judge(struct objective_tally *t, uint64_t gap_ns,
    uint64_t now_unix_ns, struct objective_state *ret)
{
	objective_tally_state(t, gap_ns, now_unix_ns, ret);
	for (int a = 0; a < OBJECTIVE_ALERT_MAX; a++) {
		struct objective_burn *b = &ret->burn[a];
		double rate = fmin(b->long_rate, b->short_rate);

		if (ret->measured_hours == 0)
			b->fires = 0;
		else if (ret->is_known && !isnan(b->long_rate) &&
		    !isnan(b->short_rate))
			b->fires = rate >= (b->fires ? HOLD : 1) * b->limit;
		t->fires[a] = b->fires;
	}
}
