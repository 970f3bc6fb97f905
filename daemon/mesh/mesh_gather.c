/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_gather.c - combine the reports of one epoch to one record per class. A
 * loss counts only if the target was able to answer: it has reported and
 * dropped no request.
 */

#include "daemon/mesh/mesh_gather.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "common/member.h"
#include "schema/record.h"

#define COUNT_MAX  1000000000LL /* limit of one report: more is malformed */
#define ECHO_MAX_S 86400.0

/* The state of a host, from its own report. */
struct host {
	int reported;
	int deaf;          /* requests to it were dropped at its host */
	double turn_p99_s; /* time to answer; NAN: no request */
	double wait_p99_s; /* answers lay unread */
	double stretch;    /* slowed by pressure, 1: not */
};

struct mesh_gather {
	uint64_t epoch, seed;
	struct mesh_names names;
	struct host *hosts; /* by id */
	size_t host_count;
	size_t reports;
	struct mesh_pair *pairs;
	size_t pair_count;
	struct mesh_totals totals[MESH_CLASS_MAX];
	struct hist scratch;
};

struct mesh_gather *
mesh_gather_new(uint64_t epoch, uint64_t seed, const struct mesh_names *names)
{
	struct mesh_gather *g = xcalloc(1, sizeof(*g));

	g->epoch = epoch;
	g->seed = seed;
	g->names = *names;
	for (int c = 0; c < MESH_CLASS_MAX; c++)
		hist_clear(&g->totals[c].rtt_s);
	return g;
}

void
mesh_gather_free(struct mesh_gather *g)
{
	if (g == NULL)
		return;
	free(g->hosts);
	free(g->pairs);
	free(g);
}

uint64_t
mesh_gather_epoch(const struct mesh_gather *g)
{
	return g->epoch;
}

size_t
mesh_gather_reports(const struct mesh_gather *g)
{
	return g->reports;
}

/* Read a count. Return 0 or -EPROTO. */
static int
mesh_gather_count_get(const json_t *o, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || n > COUNT_MAX)
		return -EPROTO;
	*ret = (uint64_t)n;
	return 0;
}

static int
mesh_gather_class_get(const json_t *o)
{
	const char *name = member_text_or(o, "class", NULL);

	return name == NULL ? -ENOENT : mesh_class_find(name);
}

/* Check that the mean is between the minimum and the maximum, except for
 * rounding, and that these are possible times of echoes, since they become part
 * of a record. */
static int
mesh_gather_is_of_echoes(const struct hist *h)
{
	double mean_s = hist_mean(h);

	return h->count == 0 ||
	    (h->min > 0 && h->min <= h->max && h->max < ECHO_MAX_S &&
		mean_s >= h->min * (1 - 1e-6) && mean_s <= h->max * (1 + 1e-6));
}

static int
mesh_gather_classes_add(struct mesh_gather *g, const json_t *list,
    struct err *err)
{
	size_t i;
	json_t *o;

	json_array_foreach (list, i, o) {
		uint64_t answered, lost, unknown, unsent;
		struct hist *h = &g->scratch;
		struct mesh_totals *to;
		int class = mesh_gather_class_get(o);

		if (class < 0 || i >= MESH_CLASS_MAX ||
		    mesh_gather_count_get(o, "answered", &answered) < 0 ||
		    mesh_gather_count_get(o, "lost", &lost) < 0 ||
		    mesh_gather_count_get(o, "unknown", &unknown) < 0 ||
		    mesh_gather_count_get(o, "unsent", &unsent) < 0 ||
		    record_hist_read(o, NULL, h) < 0 || h->count != answered ||
		    !mesh_gather_is_of_echoes(h))
			return err_set(err, -EPROTO,
			    "invalid mesh-report: invalid class");
		to = &g->totals[class];
		to->answered += answered;
		to->lost += lost;
		to->unknown += unknown;
		to->unsent += unsent;
		hist_merge(&to->rtt_s, h);
	}
	return 0;
}

/* Read the results of large datagrams from a target's row, if it has any. */
static int
mesh_gather_large_get(const json_t *o, struct mesh_pair *p)
{
	uint64_t bytes, answered, lost, unsent;

	if (o == NULL)
		return 0;
	if (mesh_gather_count_get(o, "bytes", &bytes) < 0 ||
	    bytes < MESH_LARGE_MIN || bytes > MESH_LARGE_MAX ||
	    mesh_gather_count_get(o, "answered", &answered) < 0 ||
	    mesh_gather_count_get(o, "lost", &lost) < 0 ||
	    mesh_gather_count_get(o, "unsent", &unsent) < 0)
		return -EPROTO;
	p->large_bytes = (uint32_t)bytes;
	p->large_answered = (uint32_t)answered;
	p->large_lost = (uint32_t)lost;
	p->large_unsent = (uint32_t)unsent;
	return 0;
}

static int
mesh_gather_targets_add(struct mesh_gather *g, size_t node, const json_t *list,
    struct err *err)
{
	size_t i;
	json_t *o;

	if (json_array_size(list) > MESH_TARGETS_MAX)
		return err_set(err, -EPROTO,
		    "invalid mesh-report: too many targets");
	json_array_foreach (list, i, o) {
		const char *name = member_text_or(o, "node", NULL);
		long other = name == NULL ? -ENOENT
					  : g->names.find(g->names.arg, name);
		double p50_s = member_number(o, "p50");
		uint64_t answered, lost, unknown;
		int class = mesh_gather_class_get(o);
		struct mesh_pair *p;

		if (other < 0 || class < 0 || (size_t)other == node ||
		    mesh_gather_count_get(o, "answered", &answered) < 0 ||
		    mesh_gather_count_get(o, "lost", &lost) < 0 ||
		    mesh_gather_count_get(o, "unknown", &unknown) < 0 ||
		    (answered > 0) != (p50_s > 0))
			return err_set(err, -EPROTO,
			    "invalid mesh-report: invalid target");
		g->pairs = xmore(g->pairs, g->pair_count, sizeof(g->pairs[0]));
		p = &g->pairs[g->pair_count];
		*p = (struct mesh_pair){ (uint32_t)node, (uint32_t)other,
			(enum mesh_class) class, (uint32_t)answered,
			(uint32_t)lost, (uint32_t)unknown, p50_s, 0, 0, 0, 0 };
		if (mesh_gather_large_get(json_object_get(o, "large"), p) < 0)
			return err_set(err, -EPROTO,
			    "invalid mesh-report: invalid target.large");
		g->pair_count += answered + lost + unknown > 0;
	}
	return 0;
}

int
mesh_gather_add(struct mesh_gather *g, size_t node, const json_t *report,
    struct err *err)
{
	const json_t *o = json_object_get(report, "host");
	uint64_t limited, drops;
	struct host *h;
	int rc;

	if (node >= g->host_count) {
		size_t count = node + node / 2 + 64;

		g->hosts = xreallocarray(g->hosts, count, sizeof(g->hosts[0]));
		memset(g->hosts + g->host_count, 0,
		    (count - g->host_count) * sizeof(g->hosts[0]));
		g->host_count = count;
	}
	h = &g->hosts[node];
	if (h->reported)
		return -EALREADY;
	h->reported = 1;
	g->reports++;
	if (mesh_gather_count_get(o, "limited", &limited) < 0 ||
	    mesh_gather_count_get(o, "drops", &drops) < 0)
		return err_set(err, -EPROTO,
		    "invalid mesh-report: invalid host");
	h->deaf = limited + drops > 0;
	h->turn_p99_s = member_number(json_object_get(o, "turn"), "p99");
	h->wait_p99_s = member_number(json_object_get(o, "wait"), "p99");
	h->stretch = member_number(o, "stretch");
	rc = mesh_gather_targets_add(g, node,
	    json_object_get(report, "targets"), err);
	if (rc == 0)
		rc = mesh_gather_classes_add(g,
		    json_object_get(report, "classes"), err);
	return rc;
}

void
mesh_gather_close(struct mesh_gather *g)
{
	for (size_t i = 0; i < g->pair_count; i++) {
		struct mesh_pair *p = &g->pairs[i];
		struct mesh_totals *t = &g->totals[p->class];

		/* A loss counts if the target has reported and dropped no
		 * request itself. */
		if (p->b >= g->host_count || !g->hosts[p->b].reported ||
		    g->hosts[p->b].deaf) {
			p->unknown += p->lost;
			t->unknown += p->lost;
			t->lost -= p->lost < t->lost ? p->lost : t->lost;
			p->lost = 0;
			/* A target that answered small datagrams but no large
			 * one was alive: if large packets are lost, its report
			 * may be lost too. */
			if (p->answered == 0 || p->large_answered > 0)
				p->large_lost = 0;
		}
		/* If large datagrams pass, they count like the others. They
		 * detect bit errors with a higher probability. */
		if (p->large_answered > 0) {
			p->answered += p->large_answered;
			p->lost += p->large_lost;
		}
	}
}

size_t
mesh_gather_pairs(const struct mesh_gather *g, const struct mesh_pair **ret)
{
	*ret = g->pairs;
	return g->pair_count;
}

const struct mesh_totals *
mesh_gather_totals(const struct mesh_gather *g, enum mesh_class class)
{
	return &g->totals[class];
}

/* A node's end of a pair, as sender or target. */
struct end {
	uint32_t node;
	const struct mesh_pair *pair;
};

static int
mesh_gather_end_compare(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

static void
mesh_gather_put_known(json_t *o, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(o, key, json_real(value));
}

static void
mesh_gather_put_quantile(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key,
	    isnan(value) ? json_null() : json_real(value));
}

static double
mesh_gather_loss_of(const struct mesh_pair *p)
{
	return p->lost / (double)(p->answered + p->lost + 1);
}

static int
mesh_gather_loss_compare(const void *a, const void *b)
{
	double x = mesh_gather_loss_of(((const struct end *)a)->pair);
	double y = mesh_gather_loss_of(((const struct end *)b)->pair);

	return (x > y) - (x < y);
}

/* Make the row of the node with ends[0..count), which are sorted again. */
static json_t *
mesh_gather_node_row(const struct mesh_gather *g, struct end *ends,
    size_t count)
{
	double *x = xcalloc(count + 1, sizeof(x[0]));
	uint64_t answered = 0, lost = 0, unknown = 0;
	uint64_t good_lost = 0, good_sent = 0;
	size_t node = ends[0].node, n = 0;
	json_t *o;

	/* Use the better half of its pairs, since the others may have a bad
	 * partner, which may be both target and source. A node with one pair
	 * gets none. */
	qsort(ends, count, sizeof(ends[0]), mesh_gather_loss_compare);
	for (size_t i = 0; i < count; i++) {
		const struct mesh_pair *p = ends[i].pair;

		answered += p->answered;
		lost += p->lost;
		unknown += p->unknown;
		if (!isnan(p->p50_s))
			x[n++] = p->p50_s;
		if (i < count / 2) {
			good_lost += p->lost;
			good_sent += p->lost + p->answered;
		}
	}
	o = json_pack("{s:s, s:I, s:I, s:I, s:I}", "node",
	    g->names.name(g->names.arg, node), "n", (json_int_t)answered,
	    "lost", (json_int_t)lost, "unknown", (json_int_t)unknown, "pairs",
	    (json_int_t)count);
	mesh_gather_put_quantile(o, "p50", robust_median(x, n));
	mesh_gather_put_quantile(o, "q25", robust_quantile_outer(x, n, 0.25));
	mesh_gather_put_quantile(o, "q75", robust_quantile_outer(x, n, 0.75));
	json_object_set_new(o, "good_lost",
	    json_integer((json_int_t)good_lost));
	json_object_set_new(o, "good_sent",
	    json_integer((json_int_t)good_sent));
	if (node < g->host_count && g->hosts[node].reported) {
		mesh_gather_put_known(o, "host_turn_p99",
		    g->hosts[node].turn_p99_s);
		mesh_gather_put_known(o, "host_wait_p99",
		    g->hosts[node].wait_p99_s);
		mesh_gather_put_known(o, "host_stretch",
		    g->hosts[node].stretch);
	}
	free(x);
	return o;
}

static json_t *
mesh_gather_nodes_json(const struct mesh_gather *g, enum mesh_class class)
{
	struct end *ends = xcalloc(2 * g->pair_count + 1, sizeof(ends[0]));
	json_t *list = json_array();
	size_t count = 0, to;

	for (size_t i = 0; i < g->pair_count; i++) {
		const struct mesh_pair *p = &g->pairs[i];

		if (p->class != class)
			continue;
		ends[count++] = (struct end){ p->a, p };
		ends[count++] = (struct end){ p->b, p };
	}
	qsort(ends, count, sizeof(ends[0]), mesh_gather_end_compare);
	for (size_t from = 0; from < count; from = to) {
		to = from;
		while (to < count && ends[to].node == ends[from].node)
			to++;
		json_array_append_new(list,
		    mesh_gather_node_row(g, ends + from, to - from));
	}
	free(ends);
	return list;
}

static double
mesh_gather_large_loss_of(const struct mesh_pair *p)
{
	return p->large_lost /
	    ((double)p->large_answered + (double)p->large_lost + 1);
}

/* Sort the worst first: by losses, large datagrams last, then by time. */
static int
mesh_gather_pair_compare(const void *a, const void *b)
{
	const struct mesh_pair *x = *(const struct mesh_pair *const *)a;
	const struct mesh_pair *y = *(const struct mesh_pair *const *)b;
	double lx = mesh_gather_loss_of(x), ly = mesh_gather_loss_of(y);
	double px = isnan(x->p50_s) ? 0 : x->p50_s;
	double py = isnan(y->p50_s) ? 0 : y->p50_s;

	if (lx == ly) {
		lx = mesh_gather_large_loss_of(x);
		ly = mesh_gather_large_loss_of(y);
	}
	if (lx != ly)
		return lx > ly ? -1 : 1;
	return (px < py) - (px > py);
}

static json_t *
mesh_gather_pairs_json(const struct mesh_gather *g, enum mesh_class class)
{
	const struct mesh_pair **list = xcalloc(g->pair_count + 1,
	    sizeof(list[0]));
	json_t *rows = json_array();
	size_t n = 0;

	for (size_t i = 0; i < g->pair_count; i++)
		if (g->pairs[i].class == class)
			list[n++] = &g->pairs[i];
	qsort(list, n, sizeof(list[0]), mesh_gather_pair_compare);
	for (size_t i = 0; i < n && i < RECORD_PAIRS_MAX; i++) {
		const struct mesh_pair *p = list[i];
		json_t *row = json_pack("{s:s, s:s, s:i, s:i, s:o}", "a",
		    g->names.name(g->names.arg, p->a), "b",
		    g->names.name(g->names.arg, p->b), "n", (int)p->answered,
		    "lost", (int)p->lost, "p50", record_number(p->p50_s));

		if (p->large_bytes > 0)
			json_object_set_new(row, "large",
			    json_pack("{s:i, s:i, s:i}", "bytes",
				(int)p->large_bytes, "n",
				(int)p->large_answered, "lost",
				(int)p->large_lost));
		json_array_append_new(rows, row);
	}
	free(list);
	return rows;
}

json_t *
mesh_gather_record(const struct mesh_gather *g, enum mesh_class class)
{
	const struct mesh_totals *t = &g->totals[class];
	json_t *o;

	if (t->answered + t->lost + t->unknown == 0)
		return NULL;
	o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "probe",
	    "mesh", "test", mesh_classes[class], "phase", "wild", "unit", "s",
	    "epoch", (json_int_t)g->epoch, "lost", (json_int_t)t->lost,
	    "unknown", (json_int_t)t->unknown, "unsent", (json_int_t)t->unsent);
	record_put_hist(o, &t->rtt_s);
	json_object_set_new(o, "interval", json_null());
	json_object_set_new(o, "nodes", mesh_gather_nodes_json(g, class));
	json_object_set_new(o, "pairs", mesh_gather_pairs_json(g, class));
	json_object_set_new(o, "reports", json_integer((json_int_t)g->reports));
	json_object_set_new(o, "seed", json_integer((json_int_t)g->seed));
	if (t->answered == 0)
		json_object_set_new(o, "cause",
		    json_string(t->lost > 0 ? "timeout" : "busy"));
	return o;
}
