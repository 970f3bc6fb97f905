/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/speedups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/print.h"

static void
ratio_cell(struct table *t, double x)
{
	if (isfinite(x))
		table_cell(t, "%.2f", x);
	else
		table_cell(t, "-");
}

static void
span_cell(struct table *t, const json_t *r, const char *name)
{
	char text[PRINT_BYTES];

	print_span(print_number(r, name), text);
	table_cell(t, "%s", text);
}

static void
interval_cell(struct table *t, const json_t *r)
{
	const json_t *interval = json_object_get(r, "interval");

	if (json_is_object(interval))
		table_cell(t, "%.2f .. %.2f", print_number(interval, "lo"),
		    print_number(interval, "hi"));
	else
		table_cell(t, "-");
}

/* Bytes of a direction over those of the list of transfers, as a share; what
 * left twice, since a queue dropped it, counts once. */
static double
beyond_out(const json_t *node)
{
	double again = print_number(node, "resent_bytes");

	return (print_number(node, "out_bytes") -
		   (isfinite(again) ? again : 0)) /
	    print_number(node, "expected_out_bytes") -
	    1;
}

static double
beyond_in(const json_t *node)
{
	return print_number(node, "in_bytes") /
	    print_number(node, "expected_in_bytes") -
	    1;
}

static double
resent(const json_t *node)
{
	return print_number(node, "resent_bytes") /
	    print_number(node, "expected_out_bytes");
}

static double
worse(double a, double b)
{
	return isfinite(b) && !(fabs(a) >= fabs(b)) ? b : a;
}

/* The worst of all nodes; NAN where nothing was to pass or nobody counted. */
static double
worst_node(const json_t *r, const char *design,
    double (*share)(const json_t *node))
{
	double worst = NAN;
	size_t i;
	json_t *node;

	json_array_foreach (json_object_get(r, "wire"), i, node)
		if (strcmp(print_member(node, "design", ""), design) == 0)
			worst = worse(worst, share(node));
	return worst;
}

static double
wire_beyond(const json_t *r, const char *design)
{
	return worse(worst_node(r, design, beyond_out),
	    worst_node(r, design, beyond_in));
}

static void
share_cell(struct table *t, double x)
{
	if (isfinite(x))
		table_cell(t, "%+.1f%%", 100 * x);
	else
		table_cell(t, "-");
}

static void
speedup_row(struct table *t, const json_t *r)
{
	char size[PRINT_BYTES];

	str_bytes_format(print_number(r, "bytes"), size, sizeof(size));
	ratio_cell(t, print_number(r, "density"));
	table_cell(t, "%s", size);
	table_cell(t, "%s", print_member(r, "order", "-"));
	span_cell(t, r, "baseline_seconds");
	span_cell(t, r, "seconds");
	ratio_cell(t, print_number(r, "value"));
	interval_cell(t, r);
	ratio_cell(t, print_number(r, "load_bound"));
	ratio_cell(t, print_number(r, "byte_ratio"));
	ratio_cell(t, print_number(r, "byte_ratio_expected"));
	share_cell(t, wire_beyond(r, "direct"));
	share_cell(t, wire_beyond(r, "leader"));
	share_cell(t, worst_node(r, "direct", resent));
	share_cell(t, worst_node(r, "leader", resent));
	table_cell(t, "%s", print_member(r, "text", ""));
}

static void
spmm_row(struct table *t, const json_t *r)
{
	table_cell(t, "%.0f", print_number(r, "rows"));
	table_cell(t, "%.0f", print_number(r, "nonzeros"));
	table_cell(t, "%.0f", print_number(r, "columns"));
	table_cell(t, "%s", print_member(r, "order", "-"));
	span_cell(t, r, "baseline_seconds");
	span_cell(t, r, "seconds");
	ratio_cell(t, print_number(r, "steady_value"));
	interval_cell(t, r);
	span_cell(t, r, "baseline_setup_s");
	span_cell(t, r, "setup_s");
	ratio_cell(t, print_number(r, "value"));
	table_cell(t, "%.0f", print_number(r, "n"));
	table_cell(t, "%s", print_member(r, "text", ""));
}

static void
collective_row(struct table *t, const json_t *r)
{
	static const char *const rates[] = { "throughput",
		"baseline_throughput", "bound" };
	char text[PRINT_BYTES];

	table_cell(t, "%s", print_member(r, "collective", "?"));
	str_bytes_format(print_number(r, "bytes"), text, sizeof(text));
	table_cell(t, "%s", text);
	for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
		print_quantity(print_number(r, rates[i]), "B/s", text);
		table_cell(t, "%s", text);
	}
	if (isfinite(print_number(r, "bound_ratio")))
		table_cell(t, "%.0f %%", 100 * print_number(r, "bound_ratio"));
	else
		table_cell(t, "-");
	ratio_cell(t, print_number(r, "value"));
	interval_cell(t, r);
	table_cell(t, "%s", print_member(r, "text", ""));
}

/* The forms of one all-reduce differ in what was asked for. */
static void
allreduce_row(struct table *t, const json_t *r)
{
	table_cell(t, "%s", print_member(r, "plan", "?"));
	collective_row(t, r);
}

/* Tables, each of the records of one probe and what they are of. */
static const struct sort {
	const char *probe, *of; /* of: NULL: any */
	const char *title, *columns;
	void (*row)(struct table *t, const json_t *r);
} sorts[] = {
	{ "speedup", "neighbor", "neighborhood collectives",
	    ">density|>message|order|>MPI|>leader|>speed-up|interval|"
	    ">bound|>byte ratio|>expected|>wire MPI|>leader|"
	    ">resent MPI|>leader|",
	    speedup_row },
	{ "speedup", "collective", "collectives",
	    "collective|>all blocks|>here|>baseline|>bound|>of it|>speed-up|"
	    "interval|",
	    collective_row },
	{ "speedup", "allreduce", "all-reduces for devices of nodes",
	    "plan|collective|>all blocks|>here|>baseline|>bound|>of it|"
	    ">speed-up|interval|",
	    allreduce_row },
	{ "spmm", NULL, "products of sparse matrices",
	    ">rows|>nonzeros|>columns|order|>MPI|>leader|>speed-up|"
	    "interval|>set-up MPI|>leader|>with set-up|>products|",
	    spmm_row },
};

static int
is_of(const json_t *r, const char *probe, const char *of)
{
	return strcmp(print_member(r, "probe", ""), probe) == 0 &&
	    (of == NULL || strcmp(print_member(r, "of", ""), of) == 0);
}

/* "MPI_Bcast", or of many functions whose they are. */
static const char *
baseline_of(const json_t *r)
{
	return print_member(r, "baseline_impl",
	    print_member(r, "baseline", "-"));
}

static int
print_sort(const struct sort *s, const json_t *records)
{
	struct table *t = table_new(s->columns);
	int count = 0;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!is_of(r, s->probe, s->of))
			continue;
		if (count++ == 0)
			printf("\n%s, against %s:\n", s->title, baseline_of(r));
		s->row(t, r);
	}
	if (count > 0)
		table_print(t, stdout);
	table_free(t);
	return count;
}

int
speedups_print(const json_t *records)
{
	int count = 0;

	for (size_t i = 0; i < ARRAY_LEN(sorts); i++)
		count += print_sort(&sorts[i], records);
	return count;
}

/* Pictures ----------------------------------------------------------------- */

struct drawing {
	const char *probe, *of; /* of: NULL: any */
	const char *title;
	/* The members of a record to draw, and to mark as what may be hoped
	 * for: NULL for none. */
	const char *value, *model;
	int once; /* for all records of one label */
	void (*label)(const json_t *r, char *ret, size_t cap_bytes);
};

static void
speedup_label(const json_t *r, char *ret, size_t cap_bytes)
{
	char size[PRINT_BYTES];

	str_bytes_format(print_number(r, "bytes"), size, sizeof(size));
	snprintf(ret, cap_bytes, "density %.2f, %s, %s",
	    print_number(r, "density"), size, print_member(r, "order", "-"));
}

static void
graph_label(const json_t *r, char *ret, size_t cap_bytes)
{
	snprintf(ret, cap_bytes, "density %.2f, %.0f ranks, %.0f edges",
	    print_number(r, "density"), print_number(r, "ranks"),
	    print_number(r, "edges"));
}

static void
spmm_label(const json_t *r, char *ret, size_t cap_bytes)
{
	snprintf(ret, cap_bytes, "%.0f rows, %.0f nonzeros, %s",
	    print_number(r, "rows"), print_number(r, "nonzeros"),
	    print_member(r, "order", "-"));
}

static const struct drawing drawings[] = {
	{ "speedup", "neighbor",
	    "Speed-up over the MPI's own (bar), and its bound (mark)", "value",
	    "load_bound", 0, speedup_label },
	{ "speedup", "neighbor",
	    "Bytes between nodes, MPI's over leaders' (bar), and "
	    "the mean of such graphs (mark)",
	    "byte_ratio", "byte_ratio_expected", 1, graph_label },
	{ "spmm", NULL,
	    "Speed-up of products of sparse matrices, set-up included", "value",
	    NULL, 0, spmm_label },
};

/* So that a graph is drawn once, however many sizes went over it. */
static int
drawn(char (*labels)[96], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(labels[i], labels[count]) == 0)
			return 1;
	return 0;
}

static void
draw(const struct drawing *d, const json_t *records, struct picture *p)
{
	size_t max = json_array_size(records), count = 0, i;
	struct picture_bar *bars = xcalloc(max + 1, sizeof(*bars));
	char(*labels)[96] = xcalloc(max + 1, sizeof(*labels));
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!is_of(r, d->probe, d->of))
			continue;
		d->label(r, labels[count], sizeof(labels[count]));
		if (d->once && drawn(labels, count))
			continue;
		bars[count] = (struct picture_bar){ labels[count],
			print_number(r, d->value),
			d->model != NULL ? print_number(r, d->model) : NAN };
		count++;
	}
	picture_bars(p, d->title, "x", bars, count);
	free(bars);
	free(labels);
}

void
speedups_draw(const json_t *records, struct picture *p)
{
	for (size_t i = 0; i < ARRAY_LEN(drawings); i++)
		draw(&drawings[i], records, p);
}
