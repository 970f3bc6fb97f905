/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/delivered.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/print.h"

/* ---- cells ---- */

static void
quantity_cell(struct table *t, double x, const char *unit)
{
	char text[PRINT_BYTES];

	print_quantity(x, unit, text);
	table_cell(t, "%s", text);
}

static void
share_cell(struct table *t, double x)
{
	if (isfinite(x))
		table_cell(t, "%.0f %%", 100 * x);
	else
		table_cell(t, "-");
}

static void
bytes_cell(struct table *t, double bytes)
{
	char text[PRINT_BYTES] = "-";

	if (isfinite(bytes))
		str_bytes_format(bytes, text, sizeof(text));
	table_cell(t, "%s", text);
}

static int
is(const json_t *r, const char *name, const char *want)
{
	return strcmp(print_member(r, name, ""), want) == 0;
}

/* ---- plans ---- */

/* Those that have no table of their own. */
static int
is_plan(const json_t *r)
{
	static const char *const probes[] = { "group", "stripe", "self",
		"sparse", "binding", "concurrent", "pairs" };

	for (size_t i = 0; i < ARRAY_LEN(probes); i++)
		if (is(r, "probe", probes[i]))
			return 1;
	return 0;
}

static double
rate_of(const json_t *r)
{
	return print_number(json_object_get(r, "bandwidth"), "median_middle");
}

static void
step_cell(struct table *t, const json_t *r)
{
	if (is(r, "of", "step") && is(r, "probe", "binding"))
		table_cell(t, "%s k=%.0f", print_member(r, "pattern", "?"),
		    print_number(r, "k"));
	else if (is(r, "of", "step"))
		table_cell(t, "step %.0f", print_number(r, "step"));
	else
		table_cell(t, "%s", print_member(r, "of", "-"));
}

static void
plan_row(struct table *t, const json_t *r, const char **last)
{
	const char *plan = print_member(r, "plan", "?");

	table_cell(t, "%s",
	    *last != NULL && strcmp(*last, plan) == 0 ? "" : plan);
	*last = plan;
	step_cell(t, r);
	table_cell(t, "%s", print_member(r, "via", "-"));
	bytes_cell(t, print_number(r, "bytes"));
	table_cell(t, "%.0f", print_number(r, "n"));
	quantity_cell(t, print_number(r, "min"), "s");
	quantity_cell(t, print_number(r, "median_middle"), "s");
	quantity_cell(t, rate_of(r), "B/s");
	quantity_cell(t, print_number(r, "model"), "B/s");
	share_cell(t, rate_of(r) / print_number(r, "model"));
	table_cell(t, "%s", print_member(r, "cause", ""));
}

static int
print_plans(const json_t *records)
{
	struct table *t = table_new("plan|of|via|>bytes|>n|>best|>median|"
				    ">bandwidth|>predicted|>of it|");
	const char *last = NULL;
	int count = 0;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!is_plan(r))
			continue;
		if (count++ == 0)
			printf("\nplans:\n");
		plan_row(t, r, &last);
	}
	if (count > 0)
		table_print(t, stdout);
	table_free(t);
	return count;
}

/* ---- more and more nodes ---- */

static void
scale_row(struct table *t, const json_t *r)
{
	table_cell(t, "%s", print_member(r, "pattern", "?"));
	table_cell(t, "%s", print_member(r, "direction", "?"));
	table_cell(t, "%.0f", print_number(r, "k"));
	table_cell(t, "%.0f", print_number(r, "groups"));
	bytes_cell(t, print_number(r, "bytes"));
	quantity_cell(t, print_number(r, "node_bandwidth"), "B/s");
	quantity_cell(t, print_number(r, "rated"), "B/s");
	share_cell(t, print_number(r, "rated_ratio"));
	share_cell(t, print_number(r, "ratio"));
}

static int
is_scale(const json_t *r)
{
	return is(r, "probe", "group") && is(r, "of", "whole") &&
	    isfinite(print_number(r, "node_bandwidth"));
}

static int
print_scales(const json_t *records)
{
	struct table *t = table_new("pattern|direction|>k|>nodes|>bytes|"
				    ">per node|>rated|>of it|>of predicted");
	int count = 0;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!is_scale(r))
			continue;
		if (count++ == 0)
			printf("\neach way through the busiest node:\n");
		scale_row(t, r);
	}
	if (count > 0)
		table_print(t, stdout);
	table_free(t);
	return count;
}

/* ---- beside others ---- */

static int
is_beside(const json_t *r)
{
	return is(r, "probe", "speedup") &&
	    (is(r, "of", "stripe") || is(r, "of", "sparse") ||
		is(r, "of", "binding"));
}

static void
beside_row(struct table *t, const json_t *r)
{
	const json_t *interval = json_object_get(r, "interval");

	table_cell(t, "%s", print_member(r, "plan", "?"));
	table_cell(t, "%s", print_member(r, "baseline", "?"));
	quantity_cell(t, print_number(r, "throughput"), "B/s");
	quantity_cell(t, print_number(r, "baseline_throughput"), "B/s");
	quantity_cell(t, print_number(r, "value"), "x");
	if (json_is_object(interval))
		table_cell(t, "%.2f .. %.2f", print_number(interval, "lo"),
		    print_number(interval, "hi"));
	else
		table_cell(t, "-");
	share_cell(t, print_number(r, "efficiency"));
	table_cell(t, "%s", print_member(r, "text", ""));
}

static int
print_beside(const json_t *records)
{
	struct table *t = table_new("plan|against|>bandwidth|>its|>speed-up|"
				    "interval|>efficiency|");
	int count = 0;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!is_beside(r))
			continue;
		if (count++ == 0)
			printf("\nagainst other ways to do the same:\n");
		beside_row(t, r);
	}
	if (count > 0)
		table_print(t, stdout);
	table_free(t);
	return count;
}

/* ---- fits ---- */

static void
print_fit(const json_t *r)
{
	struct table *t = table_new(">k|>bandwidth|>model|>of it");
	json_t *point;
	size_t i;

	printf("\n%s\n", print_member(r, "text", "?"));
	json_array_foreach (json_object_get(r, "profile"), i, point) {
		double per_s = print_number(point, "bandwidth");
		double model = print_number(point, "model");

		table_cell(t, "%.0f", print_number(point, "k"));
		quantity_cell(t, per_s, "B/s");
		quantity_cell(t, model, "B/s");
		share_cell(t, per_s / model);
	}
	table_print(t, stdout);
	table_free(t);
}

static int
print_fits(const json_t *records)
{
	int count = 0;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r)
		if (is(r, "probe", "fit")) {
			print_fit(r);
			count++;
		}
	return count;
}

/* ---- rails and nodes ---- */

static int
rails_rows(struct table *t, const json_t *r)
{
	json_t *rail, *node;
	size_t i, k;
	int count = 0;

	json_array_foreach (json_object_get(r, "rails"), i, rail)
		json_array_foreach (json_object_get(rail, "nodes"), k, node) {
			table_cell(t, "%.0f", print_number(rail, "rail"));
			table_cell(t, "%s", print_member(rail, "nic", "-"));
			table_cell(t, "%s", print_member(node, "node", "?"));
			quantity_cell(t, print_number(node, "bandwidth"),
			    "B/s");
			share_cell(t, print_number(node, "ratio"));
			count++;
		}
	return count;
}

/* The newest record that measures rails: all of a sweep say the same. */
static int
print_rails(const json_t *records)
{
	struct table *t = table_new(">rail|NIC|node|>bandwidth|>of a sound "
				    "one");
	const json_t *last = NULL;
	int count = 0;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r)
		if ((is(r, "probe", "fit") || is(r, "probe", "speedup")) &&
		    json_array_size(json_object_get(r, "rails")) > 0)
			last = r;
	if (last != NULL)
		count = rails_rows(t, last);
	if (count > 0) {
		printf("\nrails:\n");
		table_print(t, stdout);
	}
	table_free(t);
	return count;
}

static int
print_selves(const json_t *records)
{
	struct table *t = table_new("node|>bytes|>bandwidth|>of measured|"
				    ">of rated");
	json_t *r, *node;
	size_t i, k;
	int count = 0;

	json_array_foreach (records, i, r)
		json_array_foreach (json_object_get(r, "nodes"), k, node) {
			double share = print_number(node, "memory_ratio");

			if (!isfinite(share))
				continue;
			table_cell(t, "%s", print_member(node, "node", "?"));
			bytes_cell(t, print_number(r, "bytes"));
			quantity_cell(t, print_number(node, "bandwidth"),
			    "B/s");
			share_cell(t, share);
			share_cell(t, print_number(node, "ratio"));
			count++;
		}
	if (count > 0) {
		printf("\ncopies within nodes, against the memory's "
		       "bandwidth:\n");
		table_print(t, stdout);
	}
	table_free(t);
	return count;
}

int
delivered_print(const json_t *records)
{
	return print_plans(records) + print_scales(records) +
	    print_beside(records) + print_fits(records) + print_rails(records) +
	    print_selves(records);
}

/* ---- pictures ---- */

/* The collective beside a group of k devices, NAN where there is none. */
static double
collective_per_s(const json_t *records, const char *pattern, double k)
{
	char plan[64];
	size_t i;
	json_t *r;

	snprintf(plan, sizeof(plan), "%s k=%.0f", pattern, k);
	json_array_foreach (records, i, r)
		if (is(r, "probe", "speedup") && is(r, "of", "binding") &&
		    is(r, "plan", plan))
			return print_number(r, "baseline_throughput");
	return NAN;
}

/* As Figure 10: bandwidth over k, framed by the model. */
static void
draw_fit(const json_t *records, const json_t *r, struct picture *p)
{
	const char *names[] = { "measured", NULL, "model" };
	const json_t *profile = json_object_get(r, "profile");
	size_t count = json_array_size(profile), i;
	struct picture_group *groups = xcalloc(count + 1, sizeof(*groups));
	char(*labels)[16] = xcalloc(count + 1, sizeof(*labels));
	const char *text = print_member(r, "text", "?");
	char title[160];

	for (i = 0; i < count; i++) {
		const json_t *point = json_array_get(profile, i);
		double k = print_number(point, "k");

		snprintf(labels[i], sizeof(labels[i]), "k=%.0f", k);
		groups[i] = (struct picture_group){ labels[i],
			{ print_number(point, "bandwidth"),
			    collective_per_s(records,
				print_member(r, "pattern", ""), k) },
			print_number(point, "model") };
		if (isfinite(groups[i].value[1]))
			names[1] = "MPI_Scatter";
	}
	snprintf(title, sizeof(title), "%.*s", (int)strcspn(text, ";"), text);
	picture_groups(p, title, "B/s", names, groups, count);
	free(labels);
	free(groups);
}

/* One curve: nothing but the number of nodes and the size differs. */
static int
same_scale(const json_t *a, const json_t *b)
{
	return strcmp(print_member(a, "pattern", ""),
		   print_member(b, "pattern", "")) == 0 &&
	    strcmp(print_member(a, "direction", ""),
		print_member(b, "direction", "")) == 0 &&
	    print_number(a, "k") == print_number(b, "k");
}

/* Of so many nodes the largest messages, the first of them. */
static int
leads_scale(const json_t *records, const json_t *r)
{
	int before = 1;
	size_t i;
	json_t *o;

	json_array_foreach (records, i, o) {
		double more = print_number(o, "bytes") -
		    print_number(r, "bytes");

		if (o == r)
			before = 0;
		else if (is_scale(o) && same_scale(o, r) &&
		    print_number(o, "groups") == print_number(r, "groups") &&
		    (before ? more >= 0 : more > 0))
			return 0;
	}
	return 1;
}

/* As Figure 12: what a node gets through when there are more of them. */
static void
draw_scale(const json_t *records, const json_t *first, struct picture *p)
{
	static const char *const names[] = { "busiest node", NULL, "rated" };
	size_t max = json_array_size(records), count = 0, i;
	struct picture_group *groups = xcalloc(max + 1, sizeof(*groups));
	char(*labels)[16] = xcalloc(max + 1, sizeof(*labels)), title[96];
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!is_scale(r) || !same_scale(first, r) ||
		    !leads_scale(records, r))
			continue;
		snprintf(labels[count], sizeof(labels[count]), "%.0f nodes",
		    print_number(r, "groups"));
		groups[count] = (struct picture_group){ labels[count],
			{ print_number(r, "node_bandwidth"), NAN },
			print_number(r, "rated") };
		count++;
	}
	snprintf(title, sizeof(title),
	    "Each way through a node: %s, direction %s, k=%.0f",
	    print_member(first, "pattern", "?"),
	    print_member(first, "direction", "?"), print_number(first, "k"));
	if (count > 1)
		picture_groups(p, title, "B/s", names, groups, count);
	free(labels);
	free(groups);
}

static void
draw_scales(const json_t *records, struct picture *p)
{
	size_t i, k;
	json_t *r, *o;

	json_array_foreach (records, i, r) {
		int drawn = !is_scale(r);

		json_array_foreach (records, k, o)
			drawn |= k < i && is_scale(o) && same_scale(o, r);
		if (!drawn)
			draw_scale(records, r, p);
	}
}

/* As Figure 11: what the smallest messages take. */
static void
draw_latencies(const json_t *records, struct picture *p)
{
	size_t max = json_array_size(records), count = 0, i;
	struct picture_bar *bars = xcalloc(max + 1, sizeof(*bars));
	json_t *r;

	json_array_foreach (records, i, r) {
		double elements = print_number(r, "bytes") /
		    print_number(r, "messages");

		if (!is_plan(r) || !is(r, "of", "whole") || !(elements <= 16))
			continue;
		bars[count].label = print_member(r, "plan", "?");
		bars[count].model = NAN;
		bars[count++].value = print_number(r, "median_middle");
	}
	picture_bars(p, "Latency of small messages, median", "s", bars, count);
	free(bars);
}

void
delivered_draw(const json_t *records, struct picture *p)
{
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r)
		if (is(r, "probe", "fit"))
			draw_fit(records, r, p);
	draw_scales(records, p);
	draw_latencies(records, p);
}
