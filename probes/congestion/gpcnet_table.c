/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpcnet_table.c - which numbers of the records the table has, and its columns,
 * as GPCNeT prints them.
 */
#include "probes/congestion/gpcnet_table.h"

#include <math.h>
#include <string.h>

#define MIB (1024.0 * 1024)

static const char outer[] = "+-----------------------------------------------"
			    "-------------------------------+\n";
static const char inner[] = "+---------------------------------+--------------"
			    "+--------------+--------------+\n";
static const char halves[] = "+---------------------------------+-------------"
			     "---------+---------------------+\n";

void
gpcnet_table_init(struct gpcnet_table *t)
{
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < CANARY_MAX; i++)
		t->impact[i][0] = t->impact[i][1] = NAN;
}

static double
number(const json_t *record, const char *name)
{
	const json_t *v = json_object_get(record, name);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static int
is_time(int test)
{
	return strcmp(names_tests[test].unit, "s") == 0;
}

void
gpcnet_table_take(struct gpcnet_table *t, const json_t *record)
{
	const char *probe, *name, *phase, *of;
	int test, p = 0;

	probe = json_string_value(json_object_get(record, "probe"));
	name = json_string_value(json_object_get(record, "test"));
	test = name == NULL ? -1 : names_test_find(name);
	if (test < 0)
		return;
	if (strcmp(probe, "canary") == 0) {
		phase = json_string_value(json_object_get(record, "phase"));
		while (p < PHASE_MAX - 1 && strcmp(names_phases[p], phase) != 0)
			p++;
		t->cells[test][p].known = 1;
		t->cells[test][p].mean = number(record, "mean");
		t->cells[test][p].tail = number(record,
		    is_time(test) ? "p99" : "p01");
	} else if (strcmp(probe, "impact") == 0) {
		of = json_string_value(json_object_get(record, "of"));
		t->impact[test][strcmp(of, "p99") == 0] = number(record,
		    "value");
	}
}

/* A title in the middle of 76 columns. */
static void
print_title(FILE *to, const char *title)
{
	int pad = 76 - (int)strlen(title);

	fprintf(to, "| %*s%s%*s |\n", pad / 2, "", title, pad - pad / 2, "");
}

static void
print_name(FILE *to, int test)
{
	char name[64];

	snprintf(name, sizeof(name), "%s (%zu B)", names_tests[test].title,
	    names_tests[test].bytes);
	if (names_tests[test].bytes == 0)
		snprintf(name, sizeof(name), "%s", names_tests[test].title);
	fprintf(to, "| %31.31s |", name);
}

/* One decimal as the reference, or a dash where there is no number. */
static void
print_number(FILE *to, int width, double x, const char *behind)
{
	if (isfinite(x))
		fprintf(to, " %*.1f%s |", width - (int)strlen(behind), x,
		    behind);
	else
		fprintf(to, " %*s |", width, "-");
}

static void
print_phase(const struct gpcnet_table *t, FILE *to, enum phase phase,
    const char *title)
{
	int known = 0;

	for (int i = 0; i < CANARY_MAX; i++)
		known += t->cells[i][phase].known;
	if (known == 0)
		return;
	fprintf(to, "\n%s", outer);
	print_title(to, title);
	fprintf(to, "%s| %31s | %12s | %12s | %12s |\n%s", inner, "Name", "Avg",
	    "99%", "Units", inner);
	for (int i = 0; i < CANARY_MAX; i++) {
		double scale = is_time(i) ? 1e6 : 1 / MIB;

		if (!t->cells[i][phase].known)
			continue;
		print_name(to, i);
		print_number(to, 12, t->cells[i][phase].mean * scale, "");
		print_number(to, 12, t->cells[i][phase].tail * scale, "");
		fprintf(to, " %12s |\n%s", is_time(i) ? "usec" : "MiB/s/rank",
		    inner);
	}
}

static void
print_impact(const struct gpcnet_table *t, FILE *to)
{
	fprintf(to, "\n%s", outer);
	print_title(to,
	    "Network Tests running with Congestion Tests - Key Results");
	fprintf(to, "%s| %31s | %42s |\n%s| %31s | %20s | %19s |\n%s", halves,
	    "Name", "Congestion Impact Factor", halves, "", "Avg", "99%",
	    halves);
	for (int i = 0; i < CANARY_MAX; i++) {
		if (!t->cells[i][PHASE_CONGESTED].known)
			continue;
		print_name(to, i);
		print_number(to, 20, t->impact[i][0], "X");
		print_number(to, 19, t->impact[i][1], "X");
		fprintf(to, "\n%s", halves);
	}
}

void
gpcnet_table_print(const struct gpcnet_table *t, FILE *to)
{
	fprintf(to,
	    "NetworkLoad Tests, by coalmine-probe " COALMINE_VERSION
	    "\n  Test with %d MPI ranks (%d nodes)\n"
	    "  %d nodes running Network Tests\n",
	    t->ranks, t->nodes, t->canaries);
	if (t->congested)
		fprintf(to,
		    "  %d nodes running Congestion Tests (min %d "
		    "nodes per congestor)\n",
		    t->nodes - t->canaries,
		    (t->nodes - t->canaries) / t->kinds);
	fprintf(to,
	    "\n  Legend\n"
	    "   RR = random ring communication pattern\n"
	    "   Nat = natural ring communication pattern\n"
	    "   Lat = latency\n   BW = bandwidth\n"
	    "   BW+Sync = bandwidth with barrier\n");

	print_phase(t, to, PHASE_ISOLATED, "Isolated Network Tests");
	print_phase(t, to, PHASE_PRODUCTION, "Network Tests beside other work");
	if (!t->congested)
		return;
	print_phase(t, to, PHASE_CONGESTED,
	    "Network Tests running with Congestion Tests");
	print_impact(t, to);
}
