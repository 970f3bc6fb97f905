/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_nodes.c - which nodes got worse than their peers did, against a
 * pinned baseline and against their own last weeks, and how they stand among
 * their peers now. What all nodes share is the cluster's, not theirs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"
#include "ctl/baseline.h"
#include "ctl/print.h"
#include "ctl/records.h"

#define NODES_SHOWN 20
#define NODE_Z      3.0  /* beyond the scatter of its peers */
#define SIGMA_MIN   0.02 /* the histograms' resolution */

struct node_row {
	const char *node;
	double now;    /* all are logarithms; larger is worse */
	double pinned; /* now against the baseline; NAN: not in it */
	double recent; /* against its own last weeks; NAN: nothing known */
};

/* A column of the rows against what is typical of it. */
struct column {
	size_t at; /* in struct node_row */
	double median, mad;
};

static int
sign_of(const json_t *record)
{
	return strcmp(print_member(record, "unit", "s"), "s") == 0 ? 1 : -1;
}

/* {node: logarithm of its good quartile}, an object for fast look-ups. */
static json_t *
numbers_of(const json_t *record)
{
	const char *key = sign_of(record) > 0 ? "q25" : "q75";
	json_t *by_node = json_object(), *o;
	size_t i;

	json_array_foreach (json_object_get(record, "nodes"), i, o) {
		double q = print_number(o, key);

		if (q > 0)
			json_object_set_new(by_node,
			    print_member(o, "node", "?"),
			    json_real(sign_of(record) * log(q)));
	}
	return by_node;
}

static double
number_of(const json_t *by_node, const char *node)
{
	const json_t *v = json_object_get(by_node, node);

	return v == NULL ? NAN : json_real_value(v);
}

/* The values of a column that are there, into x. */
static size_t
values(const struct column *c, const struct node_row *rows, size_t count,
    double *x)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		double v = *(
		    const double *)(const void *)((const char *)&rows[i] +
		    c->at);

		if (!isnan(v))
			x[n++] = v;
	}
	return n;
}

static void
column_find(struct column *c, const struct node_row *rows, size_t count)
{
	double *x = xcalloc(count + 1, sizeof(*x));
	size_t n = values(c, rows, count, x);

	c->median = robust_median(x, n);
	c->mad = robust_mad(x, n, c->median);
	free(x);
}

static int
is_worse(const struct column *c, double x, double margin)
{
	return x - c->median >= margin &&
	    robust_z(x, c->median, c->mad, SIGMA_MIN) >= NODE_Z;
}

static int
worse_first(const void *a, const void *b)
{
	const struct node_row *p = a, *q = b;
	double x = fmax(p->pinned, p->recent), y = fmax(q->pinned, q->recent);

	return (x < y) - (x > y);
}

static void
cell(struct table *t, double x)
{
	if (isnan(x))
		table_cell(t, "-");
	else
		table_cell(t, "%.3f", exp(x));
}

static size_t
rows_make(const json_t *was, const json_t *recent, const json_t *is,
    struct node_row *ret)
{
	json_t *then = numbers_of(was), *weeks = numbers_of(recent);
	json_t *now = numbers_of(is), *o;
	size_t n = 0, i;

	json_array_foreach (json_object_get(is, "nodes"), i, o) {
		struct node_row *r = &ret[n];

		r->node = print_member(o, "node", "?");
		r->now = number_of(now, r->node);
		r->pinned = r->now - number_of(then, r->node);
		r->recent = r->now - number_of(weeks, r->node);
		n += !isnan(r->now);
	}
	json_decref(then);
	json_decref(weeks);
	json_decref(now);
	return n;
}

size_t
baseline_nodes(struct table *t, const json_t *was, const json_t *recent,
    const json_t *is, double margin)
{
	size_t count = json_array_size(json_object_get(is, "nodes")), shown = 0;
	struct node_row *rows = xcalloc(count + 1, sizeof(*rows));
	struct column now = { offsetof(struct node_row, now), 0, 0 };
	struct column pinned = { offsetof(struct node_row, pinned), 0, 0 };
	struct column weeks = { offsetof(struct node_row, recent), 0, 0 };

	count = rows_make(was, recent, is, rows);
	column_find(&now, rows, count);
	column_find(&pinned, rows, count);
	column_find(&weeks, rows, count);
	qsort(rows, count, sizeof(*rows), worse_first);
	for (size_t i = 0; i < count && shown < NODES_SHOWN; i++) {
		const struct node_row *r = &rows[i];

		if (!is_worse(&pinned, r->pinned, margin) &&
		    !is_worse(&weeks, r->recent, margin))
			continue;
		table_cell(t, "%s", r->node);
		table_cell(t, "%s", print_member(is, "test", "?"));
		cell(t, r->pinned);
		cell(t, pinned.median);
		cell(t, r->recent - weeks.median);
		cell(t, r->now - now.median);
		shown++;
	}
	free(rows);
	return shown;
}
