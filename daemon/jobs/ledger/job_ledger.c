/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_ledger.c - input and results of the ledger. Samples of the last hours and
 * steps of jobs are in memory. When the time after a step has passed, the step
 * is evaluated once, with some random moments before it, and a row for each
 * test is stored. With 10,000 nodes there are many evaluations: they run one at
 * a time, and the loop runs between them.
 */
#include "daemon/jobs/ledger/job_ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/member.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/evidence/round.h"
#include "daemon/jobs/ledger/ledger.h"
#include "daemon/store/store.h"
#include "schema/mesh.h"

#define SPAN_SAMPLES 3 /* on each side of a step */
/* The scheduler reports whole seconds, and programs start a moment after their
 * job starts and end a moment before it ends: samples in between belong to
 * neither side. */
#define EDGE_NS      (2 * (int64_t)CLK_NS_PER_S)
#define KEPT_SPANS   12 /* spans of samples that are kept */
#define PLACEBOS     4  /* of one step */
#define TESTS_MAX    32
#define SERIES_MAX   100000
#define SAMPLES_MAX  4000000 /* 128 MB; 10,000 nodes need a quarter */
#define STEPS_MAX    20000
#define MESH_TEST    "mesh"
#define PLACEBO_LATE 2 /* spans before the step that placebos stay away */
#define LOOKS_NS     (5 * CLK_NS_PER_S / 1000) /* limit of a tick */

/* The job of a step. */
struct owner {
	char *job, *name;
	int64_t start_unix_ns;
	uint64_t beside_jobs; /* that shared a link; set at its end */
	double beside_node_s; /* their node-seconds */
	uint32_t tests;       /* tests that are done */
	json_t *row;          /* the row of the next test, or NULL */
	int spans;            /* from the step back to its next random moment */
	int is_looked_at;
};

struct job_ledger {
	struct store *store;
	struct roster *roster;
	struct ledger_world world; /* its lists are these: */
	struct ledger_series *series;
	struct ledger_sample *samples;
	struct ledger_step *steps;
	struct owner *owners;          /* of steps, in their order */
	json_t *series_ids, *leaf_ids; /* by key, by name */
	char *tests[TESTS_MAX];
	int are_rates[TESTS_MAX]; /* samples are seconds for a byte */
	size_t test_count;
	int64_t late_ns; /* maximum delay of a step's report */
};

struct job_ledger *
job_ledger_new(struct store *store, struct roster *roster, int64_t sample_ns,
    int64_t late_ns)
{
	struct job_ledger *l = xcalloc(1, sizeof(*l));

	l->store = store;
	l->roster = roster;
	l->world.guard_ns = sample_ns + EDGE_NS;
	l->world.lead_ns = EDGE_NS;
	l->world.span_ns = SPAN_SAMPLES * sample_ns;
	l->late_ns = late_ns;
	l->series_ids = json_object();
	l->leaf_ids = json_object();
	return l;
}

static void
job_ledger_place_free(struct ledger_place *p)
{
	free((void *)(uintptr_t)p->leaves);
	free((void *)(uintptr_t)p->nodes);
}

static void
job_ledger_owner_free(struct owner *o)
{
	free(o->job);
	free(o->name);
	json_decref(o->row);
}

void
job_ledger_free(struct job_ledger *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->world.series_count; i++)
		job_ledger_place_free(&l->series[i].place);
	for (size_t i = 0; i < l->world.step_count; i++) {
		job_ledger_place_free(&l->steps[i].place);
		job_ledger_owner_free(&l->owners[i]);
	}
	for (size_t i = 0; i < l->test_count; i++)
		free(l->tests[i]);
	free(l->series);
	free(l->samples);
	free(l->steps);
	free(l->owners);
	json_decref(l->series_ids);
	json_decref(l->leaf_ids);
	free(l);
}

static int
job_ledger_id_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

size_t
job_ledger_key_id(json_t *ids, const char *key, size_t next)
{
	const json_t *id = json_object_get(ids, key);

	if (id != NULL)
		return (size_t)json_integer_value(id);
	json_object_set_new(ids, key, json_integer((json_int_t)next));
	return next;
}

/* Make the place of nodes, by id; nodes without a leaf are skipped. */
static struct ledger_place
job_ledger_place_of(struct job_ledger *l, const uint32_t *nodes, size_t count)
{
	uint32_t *own = xcalloc(count + 1, sizeof(*own));
	uint32_t *leaves = xcalloc(count + 1, sizeof(*leaves));
	size_t own_count = 0, leaf_count = 0, at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct node *n = roster_by_id(l->roster, nodes[i]);

		if (n->leaf[0] == '\0')
			continue;
		own[own_count++] = nodes[i];
		leaves[leaf_count++] = (uint32_t)job_ledger_key_id(l->leaf_ids,
		    n->leaf, l->world.leaf_count);
		l->world.leaf_count = json_object_size(l->leaf_ids);
		if (nodes[i] >= l->world.node_count)
			l->world.node_count = nodes[i] + 1;
	}
	qsort(own, own_count, sizeof(*own), job_ledger_id_compare);
	qsort(leaves, leaf_count, sizeof(*leaves), job_ledger_id_compare);
	for (size_t i = 0; i < leaf_count; i++)
		if (at == 0 || leaves[i] != leaves[at - 1])
			leaves[at++] = leaves[i];
	return (struct ledger_place){
		xreallocarray(leaves, at + 1, sizeof(*leaves)),
		xreallocarray(own, own_count + 1, sizeof(*own)), at, own_count
	};
}

/* Return -ENOSPC if there are too many. */
static long
job_ledger_test_id(struct job_ledger *l, const char *test)
{
	for (size_t i = 0; i < l->test_count; i++)
		if (strcmp(l->tests[i], test) == 0)
			return (long)i;
	if (l->test_count == TESTS_MAX)
		return -ENOSPC;
	l->tests[l->test_count] = xstrdup(test);
	return (long)l->test_count++;
}

/* Return the series of a key. A new one is made from nodes, which it keeps if
 * has_nodes. */
static long
job_ledger_series_id(struct job_ledger *l, const char *key, const char *test,
    const uint32_t *nodes, size_t count, int has_nodes)
{
	const json_t *id = json_object_get(l->series_ids, key);
	long of = id == NULL ? job_ledger_test_id(l, test) : 0;
	struct ledger_series *s;

	if (id != NULL)
		return (long)json_integer_value(id);
	if (of < 0 || l->world.series_count == SERIES_MAX)
		return -ENOSPC;
	l->series = xmore(l->series, l->world.series_count, sizeof(*l->series));
	s = &l->series[l->world.series_count];
	*s = (struct ledger_series){ (uint32_t)of,
		job_ledger_place_of(l, nodes, count) };
	if (!has_nodes)
		s->place.node_count = 0;
	json_object_set_new(l->series_ids, key,
	    json_integer((json_int_t)l->world.series_count));
	l->world.series = l->series;
	return (long)l->world.series_count++;
}

static void
job_ledger_sample_add(struct job_ledger *l, const struct ledger_sample *s)
{
	struct ledger_world *w = &l->world;
	size_t at = w->sample_count;

	/* After the clock was set back, job_ledger_tick repairs the order. */
	if (!isfinite(s->log_s) || at == SAMPLES_MAX ||
	    (at > 0 && s->at_ns + w->guard_ns < l->samples[at - 1].at_ns))
		return;
	/* Ids are below the count, even of nodes without a place. */
	if (s->a != LEDGER_NONE && s->a >= w->node_count)
		w->node_count = s->a + (size_t)1;
	if (s->b != LEDGER_NONE && s->b >= w->node_count)
		w->node_count = s->b + (size_t)1;
	l->samples = xmore(l->samples, w->sample_count, sizeof(*l->samples));
	/* Samples of an epoch of the mesh arrive a little later than other
	 * samples of the same time. */
	for (; at > 0 && l->samples[at - 1].at_ns > s->at_ns; at--)
		l->samples[at] = l->samples[at - 1];
	l->samples[at] = *s;
	w->sample_count++;
	w->samples = l->samples;
}

void
job_ledger_paths(struct job_ledger *l, const struct mesh_path *paths,
    size_t count, int64_t at_ns)
{
	for (size_t i = 0; i < count; i++) {
		const struct mesh_path *p = &paths[i];
		uint32_t nodes[] = { p->a, p->b };
		const struct node *a = roster_by_id(l->roster, p->a);
		const struct node *b = roster_by_id(l->roster, p->b);
		int turned = strcmp(a->leaf, b->leaf) > 0;
		char key[3 * TOPO_LEAF_MAX];
		long id;

		if (!(p->p50_s > 0) || a->leaf[0] == '\0' ||
		    strcmp(a->leaf, b->leaf) == 0)
			continue;
		snprintf(key, sizeof(key), MESH_TEST " %s %s",
		    turned ? b->leaf : a->leaf, turned ? a->leaf : b->leaf);
		id = job_ledger_series_id(l, key, MESH_TEST, nodes, 2, 0);
		if (id >= 0)
			job_ledger_sample_add(l,
			    &(struct ledger_sample){ at_ns, (uint32_t)id, p->a,
				p->b, log(p->p50_s) });
	}
}

void
job_ledger_canary(struct job_ledger *l, const uint32_t *nodes, size_t count,
    const struct round *round, int64_t at_ns)
{
	double mean = round->mean;
	uint64_t hash = count;
	char key[200];
	long id;

	if (!round->is_canary || round->is_congested || !(mean > 0))
		return;
	for (size_t i = 0; i < count; i++)
		hash = rng_mix(hash ^ rng_mix(nodes[i]));
	snprintf(key, sizeof(key), "%.80s %.20s %016" PRIx64, round->test,
	    round->phase, hash);
	id = job_ledger_series_id(l, key, round->test, nodes, count, 1);
	if (id < 0)
		return;
	/* A rate is the inverse of a time. */
	l->are_rates[l->series[id].test] = round->is_rate;
	job_ledger_sample_add(l,
	    &(struct ledger_sample){ at_ns, (uint32_t)id, LEDGER_NONE,
		LEDGER_NONE, round->is_rate ? -log(mean) : log(mean) });
}

/* Return the nodes of a job that have an agent; the caller frees. */
static uint32_t *
job_ledger_nodes_of(const struct job_ledger *l, const json_t *job,
    size_t *ret_count)
{
	struct hostlist hl = { 0 };
	uint32_t *nodes;
	size_t n = 0;

	if (hostlist_parse(member_text(job, "nodes"), &hl, NULL) < 0)
		hl = (struct hostlist){ 0 };
	nodes = xcalloc(hl.count + 1, sizeof(*nodes));
	for (size_t i = 0; i < hl.count; i++) {
		const struct node *node = roster_find_host(l->roster,
		    hl.names[i]);

		if (node != NULL)
			nodes[n++] = (uint32_t)node->id;
	}
	hostlist_clear(&hl);
	*ret_count = n;
	return nodes;
}

uint32_t
job_ledger_hash(const char *job, int64_t start_unix_ns)
{
	uint64_t hash = (uint64_t)start_unix_ns;

	for (const char *p = job; *p != '\0'; p++)
		hash = rng_mix(hash ^ (uint8_t)*p);
	return (uint32_t)(hash % LEDGER_NONE);
}

/* Count other jobs that ran on leaves of the job at the same time, and their
 * node-seconds. */
static void
job_ledger_beside_count(const json_t *job, const json_t *others,
    int64_t until_ns, struct owner *o)
{
	int64_t from_ns = member_int(job, "start_unix_ns");
	const json_t *leaves = json_object_get(job, "leaves");
	const char *key, *leaf;
	json_t *other, *value;

	json_object_foreach ((json_t *)(uintptr_t)others, key, other) {
		const json_t *end = json_object_get(other, "end_unix_ns");
		int64_t a_ns = member_int(other, "start_unix_ns");
		int64_t b_ns = end == NULL ? until_ns : json_integer_value(end);
		json_t *its = json_object_get(other, "leaves");
		int is_beside = 0;

		a_ns = a_ns > from_ns ? a_ns : from_ns;
		b_ns = b_ns < until_ns ? b_ns : until_ns;
		if (b_ns <= a_ns || json_object_size(its) < 2 ||
		    json_equal(json_object_get(other, "job"),
			json_object_get(job, "job")))
			continue;
		json_object_foreach (its, leaf, value)
			is_beside |= json_object_get(leaves, leaf) != NULL;
		if (!is_beside)
			continue;
		o->beside_jobs++;
		o->beside_node_s += (double)(b_ns - a_ns) / 1e9 *
		    (double)member_int(other, "node_count");
	}
}

void
job_ledger_step(struct job_ledger *l, const json_t *job, int sign,
    int64_t at_ns, const json_t *running, const json_t *ended)
{
	struct ledger_world *w = &l->world;
	const char *text = member_text(job, "job");
	int64_t start_ns = member_int(job, "start_unix_ns");
	struct ledger_place place;
	struct owner owner;
	uint32_t *nodes;
	size_t count, at;

	if (w->step_count == STEPS_MAX)
		return;
	nodes = job_ledger_nodes_of(l, job, &count);
	place = job_ledger_place_of(l, nodes, count);
	free(nodes);
	owner = (struct owner){ .job = xstrdup(text),
		.name = xstrdup(member_text(job, "name")),
		.start_unix_ns = start_ns };
	/* A job on one leaf shares no uplink. */
	if (sign < 0 && place.leaf_count > 1) {
		job_ledger_beside_count(job, running, at_ns, &owner);
		job_ledger_beside_count(job, ended, at_ns, &owner);
	}
	l->steps = xmore(l->steps, w->step_count, sizeof(*l->steps));
	l->owners = xmore(l->owners, w->step_count, sizeof(*l->owners));
	for (at = w->step_count; at > 0 && l->steps[at - 1].at_ns > at_ns;
	     at--) {
		l->steps[at] = l->steps[at - 1];
		l->owners[at] = l->owners[at - 1];
	}
	l->steps[at] = (struct ledger_step){ at_ns,
		job_ledger_hash(text, start_ns), sign, place };
	l->owners[at] = owner;
	w->step_count++;
	w->steps = l->steps;
}

/* Return the row of a test, without random moments; NULL if no canary of that
 * test shared a link with the job. The mesh has a row in any case. */
static json_t *
job_ledger_row_make(const struct job_ledger *l, size_t at, uint32_t test,
    int *ret_alone)
{
	const struct ledger_step *s = &l->steps[at];
	const struct owner *o = &l->owners[at];
	const struct ledger_world *w = &l->world;
	struct ledger_effect e;
	int rc = ledger_look(w, test, s, s->at_ns, &e);
	json_t *row;

	*ret_alone = rc == -ENODATA;
	if (rc == -ENODATA && strcmp(l->tests[test], MESH_TEST) != 0)
		return NULL;
	row = json_pack("{s:s, s:I, s:s, s:s, s:I, s:i, s:I, s:I, s:I, s:[], "
			"s:[], s:I, s:f}",
	    "job", o->job, "start_unix_ns", (json_int_t)o->start_unix_ns,
	    "name", o->name, "test", l->tests[test], "at_unix_ns",
	    (json_int_t)s->at_ns, "sign", s->sign, "shared",
	    (json_int_t)e.shared, "others", (json_int_t)e.others, "confounded",
	    (json_int_t)e.confounded, "placebos", "placebos_s", "beside_jobs",
	    (json_int_t)o->beside_jobs, "beside_node_s", o->beside_node_s);
	if (rc == 0)
		json_object_set_new(row, "log_ratio", json_real(e.log_ratio));
	if (rc == 0 && !l->are_rates[test]) {
		json_object_set_new(row, "seconds", json_real(e.seconds));
		json_object_set_new(row, "quiet_s", json_real(e.quiet_s));
	}
	for (size_t i = 0; e.rival != LEDGER_NONE && i < w->step_count; i++)
		if (l->steps[i].job == e.rival)
			json_object_set_new(row, "rival",
			    json_string(l->owners[i].name));
	return row;
}

/* Evaluate a step once: at its own time, or at a random time before it. The row
 * is stored when all evaluations are done. */
static void
job_ledger_step_look(struct job_ledger *l, size_t at)
{
	const struct ledger_step *s = &l->steps[at];
	const struct ledger_world *w = &l->world;
	struct owner *o = &l->owners[at];
	json_t *placebos = json_object_get(o->row, "placebos");
	struct ledger_effect e;
	int is_alone = 0;

	if (o->row == NULL) {
		o->row = job_ledger_row_make(l, at, o->tests, &is_alone);
		o->spans = is_alone ? KEPT_SPANS : PLACEBO_LATE;
	} else if (ledger_look(w, o->tests, s,
		       s->at_ns - o->spans++ * (w->span_ns + w->guard_ns),
		       &e) == 0) {
		json_array_append_new(placebos, json_real(e.log_ratio));
		json_array_append_new(json_object_get(o->row, "placebos_s"),
		    json_real(e.seconds));
	}
	if (o->row != NULL && o->spans < KEPT_SPANS &&
	    json_array_size(placebos) < PLACEBOS)
		return;
	if (o->row != NULL)
		store_put_occasion(l->store, o->row);
	json_decref(o->row);
	o->row = NULL;
	o->tests++;
}

/* Return 1 if an evaluation of a due step was made. */
static int
job_ledger_look_next(struct job_ledger *l, int64_t due_ns)
{
	for (size_t i = 0; i < l->world.step_count; i++) {
		struct owner *o = &l->owners[i];

		if (o->is_looked_at || l->steps[i].at_ns > due_ns)
			continue;
		if (o->tests < l->test_count) {
			job_ledger_step_look(l, i);
			return 1;
		}
		o->is_looked_at = 1;
	}
	return 0;
}

/* Drop series without samples, for example of runs on a set of nodes that is
 * not used again. */
static void
job_ledger_series_drop(struct job_ledger *l)
{
	struct ledger_world *w = &l->world;
	uint32_t *to = xcalloc(w->series_count + 1, sizeof(*to));
	size_t count = 0;
	const char *key;
	json_t *id;
	void *next;

	for (size_t i = 0; i < w->series_count; i++)
		to[i] = LEDGER_NONE;
	for (size_t i = 0; i < w->sample_count; i++)
		to[l->samples[i].series] = 0;
	for (size_t i = 0; i < w->series_count; i++) {
		if (to[i] == LEDGER_NONE) {
			job_ledger_place_free(&l->series[i].place);
			continue;
		}
		to[i] = (uint32_t)count;
		l->series[count++] = l->series[i];
	}
	w->series_count = count;
	for (size_t i = 0; i < w->sample_count; i++)
		l->samples[i].series = to[l->samples[i].series];
	json_object_foreach_safe(l->series_ids, next, key, id)
	{
		uint32_t at = to[json_integer_value(id)];

		if (at == LEDGER_NONE)
			json_object_del(l->series_ids, key);
		else
			json_integer_set(id, (json_int_t)at);
	}
	free(to);
}

void
job_ledger_tick(struct job_ledger *l, int64_t now_ns)
{
	struct ledger_world *w = &l->world;
	int64_t whole_ns = w->span_ns + w->guard_ns;
	int64_t old_ns = now_ns - KEPT_SPANS * whole_ns;
	uint64_t began_ns = clk_ns();
	size_t old;

	while (job_ledger_look_next(l, now_ns - whole_ns - l->late_ns) &&
	    clk_ns() - began_ns < LOOKS_NS)
		;
	/* The clock was ahead. */
	w->sample_count = ledger_sample_from(w, now_ns + whole_ns);
	old = ledger_sample_from(w, old_ns);
	if (2 * old > w->sample_count) {
		w->sample_count -= old;
		memmove(l->samples, l->samples + old,
		    w->sample_count * sizeof(*l->samples));
		job_ledger_series_drop(l);
	}
	for (old = 0; old < w->step_count && l->owners[old].is_looked_at &&
	     l->steps[old].at_ns < old_ns;
	     old++) {
		job_ledger_place_free(&l->steps[old].place);
		job_ledger_owner_free(&l->owners[old]);
	}
	if (old > 0) {
		w->step_count -= old;
		memmove(l->steps, l->steps + old,
		    w->step_count * sizeof(*l->steps));
		memmove(l->owners, l->owners + old,
		    w->step_count * sizeof(*l->owners));
	}
}
