/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/speedups.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/table.h"
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

/* What the wire carried beyond the list of transfers, the worst of all nodes
 * and directions: a share; NAN where nothing was to pass or nobody counted. */
static double
wire_beyond(const json_t *r, const char *design)
{
	static const char *const ways[][2] = {
		{ "out_bytes", "expected_out_bytes" },
		{ "in_bytes", "expected_in_bytes" },
	};
	double worst = NAN;
	size_t i;
	json_t *node;

	json_array_foreach (json_object_get(r, "wire"), i, node) {
		if (strcmp(print_member(node, "design", ""), design) != 0)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
			double x = print_number(node, ways[k][0]) /
				print_number(node, ways[k][1]) -
			    1;

			if (isfinite(x) && !(fabs(worst) >= fabs(x)))
				worst = x;
		}
	}
	return worst;
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

/* Tables, each of the records of one probe and what they are of. */
static const struct sort {
	const char *probe, *of; /* of: NULL: any */
	const char *title, *columns;
	void (*row)(struct table *t, const json_t *r);
} sorts[] = {
	{ "speedup", "neighbor", "neighborhood collectives",
	    ">density|>message|order|>MPI|>leader|>speed-up|interval|"
	    ">bound|>byte ratio|>expected|>wire MPI|>wire leader|",
	    speedup_row },
	{ "speedup", "collective", "collectives",
	    "collective|>all blocks|>here|>baseline|>bound|>of it|>speed-up|"
	    "interval|",
	    collective_row },
	{ "spmm", NULL, "products of sparse matrices",
	    ">rows|>nonzeros|>columns|order|>MPI|>leader|>speed-up|"
	    "interval|>set-up MPI|>leader|>with set-up|>products|",
	    spmm_row },
};

static int
is_of(const struct sort *s, const json_t *r)
{
	return strcmp(print_member(r, "probe", ""), s->probe) == 0 &&
	    (s->of == NULL || strcmp(print_member(r, "of", ""), s->of) == 0);
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
		if (!is_of(s, r))
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
