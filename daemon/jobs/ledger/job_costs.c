/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_costs.c - compute the cost of jobs from rows on request. With 10,000
 * nodes there are many statements: they are made one at a time, and the loop
 * runs between them.
 */
#include "daemon/jobs/ledger/job_costs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/jobs/ledger/job_ledger.h"
#include "daemon/jobs/ledger/ledger.h"
#include "daemon/jobs/ledger/pool.h"

#define DAY_NS (86400 * (int64_t)CLK_NS_PER_S)

/* Effects at random moments, of a kind and test, or of all kinds. The latter
 * are used if a kind has too few, since chance effects are similar for all. */
struct moments {
	double *x;
	size_t count;
	struct ledger_chance chance;
};

/* A cost has two units: a share, and seconds of an operation, since a share of
 * a very short time is large and uncertain. */
enum { COST_SHARE, COST_SECONDS, COST_WAYS };
static const struct {
	const char *effect, *placebos; /* of rows */
	const char *told[3];
} ways[COST_WAYS] = {
	{ "log_ratio", "placebos", { "cost", "lo", "hi" } },
	{ "seconds", "placebos_s", { "cost_s", "lo_s", "hi_s" } },
};

/* One statement: of a test, and a name, one of its jobs, or one of its weeks.
 */
struct group {
	char *name, *test, *job; /* job may be NULL */
	int64_t week_ns;         /* 0: the whole requested time */
	int64_t from_ns, to_ns;  /* of its steps */
	struct {
		size_t moments, all; /* indices: of its kind, of all kinds */
		struct ledger_row *rows;
		size_t count;
	} ways[COST_WAYS];
	double *quiet_s; /* of each row in seconds */
	size_t quiet_count, confounded, alone;
	json_int_t beside_jobs;
	double beside_node_s;
	json_t *rivals; /* names, as a set */
};

struct job_costs {
	enum job_costs_by by;
	json_t *group_ids, *moment_ids; /* by key */
	struct group *groups;
	struct moments *moments;
	size_t group_count, moment_count;
	size_t told; /* groups that are done */
	json_t *blamed, *others;
};

struct job_costs *
job_costs_new(enum job_costs_by by)
{
	struct job_costs *c = xcalloc(1, sizeof(*c));

	c->by = by;
	c->group_ids = json_object();
	c->moment_ids = json_object();
	c->blamed = json_array();
	c->others = json_array();
	return c;
}

void
job_costs_free(struct job_costs *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->group_count; i++) {
		struct group *g = &c->groups[i];

		free(g->name);
		free(g->test);
		free(g->job);
		for (int k = 0; k < COST_WAYS; k++)
			free(g->ways[k].rows);
		free(g->quiet_s);
		json_decref(g->rivals);
	}
	for (size_t i = 0; i < c->moment_count; i++)
		free(c->moments[i].x);
	free(c->groups);
	free(c->moments);
	json_decref(c->group_ids);
	json_decref(c->moment_ids);
	json_decref(c->blamed);
	json_decref(c->others);
	free(c);
}

static size_t
job_costs_moments_id(struct job_costs *c, int way, const char *test,
    const char *name)
{
	char key[400];
	size_t id;

	utf8_format(key, sizeof(key), "%d %.80s\n%.300s", way, test, name);
	id = job_ledger_key_id(c->moment_ids, key, c->moment_count);
	if (id < c->moment_count)
		return id;
	c->moments = xmore(c->moments, c->moment_count, sizeof(*c->moments));
	c->moments[c->moment_count++] = (struct moments){ .x = NULL };
	return id;
}

static struct group *
job_costs_group_of(struct job_costs *c, const json_t *row)
{
	const char *test = member_text(row, "test");
	const char *name = member_text(row, "name");
	size_t moments = job_costs_moments_id(c, COST_SHARE, test, name), id;
	int64_t at_ns = member_int(row, "at_unix_ns"), week_ns = 0;
	const char *job = NULL;
	char key[300];

	/* From Monday on; the first day was a Thursday. */
	if (c->by == JOB_COSTS_BY_WEEK)
		week_ns = ((at_ns / DAY_NS + 3) / 7 * 7 - 3) * DAY_NS;
	if (c->by == JOB_COSTS_BY_JOB)
		job = member_text(row, "job");
	utf8_format(key, sizeof(key), "%zu %" PRId64 " %.200s", moments,
	    week_ns, job != NULL ? job : "");
	id = job_ledger_key_id(c->group_ids, key, c->group_count);
	if (id < c->group_count)
		return &c->groups[id];
	c->groups = xmore(c->groups, c->group_count, sizeof(*c->groups));
	c->groups[id] = (struct group){ .name = xstrdup(name),
		.test = xstrdup(test),
		.job = job != NULL ? xstrdup(job) : NULL,
		.week_ns = week_ns,
		.from_ns = at_ns,
		.rivals = json_object() };
	c->group_count++;
	for (int k = 0; k < COST_WAYS; k++) {
		c->groups[id].ways[k].moments = job_costs_moments_id(c, k, test,
		    name);
		/* No name has a line feed in it. */
		c->groups[id].ways[k].all = job_costs_moments_id(c, k, test,
		    "\n");
	}
	return &c->groups[id];
}

/* Add a row's effect in one unit, and its random moments. Return 1 if the row
 * has an effect. */
static int
job_costs_way_add(struct job_costs *c, struct group *g, int way,
    const json_t *row)
{
	double effect = member_number(row, ways[way].effect);
	size_t ids[] = { g->ways[way].moments, g->ways[way].all }, i;
	json_t *x;

	if (isfinite(effect)) {
		g->ways[way].rows = xmore(g->ways[way].rows, g->ways[way].count,
		    sizeof(struct ledger_row));
		g->ways[way].rows[g->ways[way].count++] = (struct ledger_row){
			job_ledger_hash(member_text(row, "job"),
			    member_int(row, "start_unix_ns")),
			member_int(row, "sign") < 0 ? -1 : 1, effect
		};
	}
	member_foreach (row, ways[way].placebos, i, x)
		for (size_t k = 0; k < ARRAY_LEN(ids); k++) {
			struct moments *m = &c->moments[ids[k]];

			m->x = xmore(m->x, m->count, sizeof(*m->x));
			m->x[m->count++] = json_number_value(x);
		}
	return isfinite(effect);
}

void
job_costs_add(struct job_costs *c, const json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		struct group *g = job_costs_group_of(c, row);
		double beside_s = member_number(row, "beside_node_s");
		double quiet_s = member_number(row, "quiet_s");
		int is_known = job_costs_way_add(c, g, COST_SHARE, row);

		(void)job_costs_way_add(c, g, COST_SECONDS, row);
		if (isfinite(quiet_s)) {
			g->quiet_s = xmore(g->quiet_s, g->quiet_count,
			    sizeof(*g->quiet_s));
			g->quiet_s[g->quiet_count++] = quiet_s;
		}
		if (!is_known && member_int(row, "confounded") > 0)
			g->confounded++;
		else
			g->alone += !is_known;
		if (json_object_get(row, "rival") != NULL)
			json_object_set_new(g->rivals,
			    member_text(row, "rival"), json_true());
		g->to_ns = member_int(row, "at_unix_ns");
		g->beside_jobs += member_int(row, "beside_jobs");
		g->beside_node_s += isfinite(beside_s) ? beside_s : 0;
	}
}

/* Pool a group in one unit. Only shares decide about blame. Random moments
 * of all kinds are used if the kind has too few. */
static size_t
job_costs_way_pool(struct job_costs *c, const struct group *g, int way,
    struct ledger_pooled *ret)
{
	struct moments *m = &c->moments[g->ways[way].moments];

	if (m->count < LEDGER_PLACEBOS_MIN)
		m = &c->moments[g->ways[way].all];
	if (m->chance.count != m->count)
		m->chance = ledger_chance_of(m->x, m->count);
	ledger_pool(g->ways[way].rows, g->ways[way].count, &m->chance,
	    way == COST_SHARE ? c->group_count : 0, ret);
	return m->count;
}

static void
job_costs_numbers_put(json_t *o, int way, const struct ledger_pooled *p)
{
	double x[] = { p->effect, p->lo, p->hi };

	for (size_t i = 0; i < ARRAY_LEN(x); i++)
		if (isfinite(x[i]))
			json_object_set_new(o, ways[way].told[i],
			    json_real(way == COST_SHARE ? expm1(x[i]) : x[i]));
}

int
job_costs_next(struct job_costs *c)
{
	struct ledger_pooled p, seconds;
	json_t *o, *list;
	struct group *g;
	size_t moments;

	if (c->told == c->group_count)
		return 0;
	g = &c->groups[c->told++];
	moments = job_costs_way_pool(c, g, COST_SHARE, &p);
	(void)job_costs_way_pool(c, g, COST_SECONDS, &seconds);
	o = json_pack("{s:s, s:s, s:s*, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
		      "s:f, s:I, s:b, s:I, s:I, s:O}",
	    "name", g->name, "test", g->test, "job", g->job, "from_unix_ns",
	    (json_int_t)g->from_ns, "to_unix_ns", (json_int_t)g->to_ns, "jobs",
	    (json_int_t)p.jobs, "steps", (json_int_t)p.steps,
	    "steps_confounded", (json_int_t)g->confounded, "steps_alone",
	    (json_int_t)g->alone, "beside_jobs", g->beside_jobs,
	    "beside_node_s", g->beside_node_s, "placebos", (json_int_t)moments,
	    "blamed", p.is_blamed, "placebo_sets", (json_int_t)p.sets,
	    "placebo_sets_blamed", (json_int_t)p.sets_blamed, "rivals",
	    g->rivals);
	if (g->week_ns != 0)
		json_object_set_new(o, "week_unix_ns",
		    json_integer(g->week_ns));
	job_costs_numbers_put(o, COST_SHARE, &p);
	job_costs_numbers_put(o, COST_SECONDS, &seconds);
	if (g->quiet_count > 0)
		json_object_set_new(o, "quiet_s",
		    json_real(robust_median(g->quiet_s, g->quiet_count)));
	list = p.is_blamed ? c->blamed : c->others;
	if (json_array_size(list) < JOB_COSTS_MAX)
		json_array_append(list, o);
	json_decref(o);
	return 1;
}

json_t *
job_costs_told(struct job_costs *c)
{
	json_array_extend(c->blamed, c->others);
	while (json_array_size(c->blamed) > JOB_COSTS_MAX)
		json_array_remove(c->blamed, json_array_size(c->blamed) - 1);
	return json_incref(c->blamed);
}
