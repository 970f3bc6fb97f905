/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpcnet_table.c - which numbers of the records the table has, and its columns,
 * as GPCNeT prints them.
 */
#include "probes/congestion/gpcnet_table.h"

#include <math.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"

#define MIB (1024.0 * 1024)

#define LINE 80 /* of the impacts, and of a phase's two columns */
#define WIDE 15 /* width of a column with its separator */

static const char halves[] = "+---------------------------------+-------------"
			     "---------+---------------------+\n";

void
gpcnet_table_init(struct gpcnet_table *t)
{
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < 2 * CANARY_MAX; i++)
		t->impact[i / 2][i % 2].value = t->impact[i / 2][i % 2].lo =
		    t->impact[i / 2][i % 2].hi = NAN;
}

static double
gpcnet_table_number(const json_t *record, const char *name)
{
	const json_t *v = json_object_get(record, name);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static int
gpcnet_table_is_time(int test)
{
	return strcmp(names_tests[test].unit, "s") == 0;
}

/* Of a record's rings; the last two are of all samples. */
static const char *const ring_names[GPCNET_COLUMNS] = { "min", "max", "avg",
	"avg_worst", "", "" };

void
gpcnet_table_take(struct gpcnet_table *t, const json_t *record)
{
	const char *probe, *name, *phase, *of;
	int test, p = 0;

	probe = member_text_or(record, "probe", NULL);
	if (strcmp(probe, "begin") == 0 &&
	    json_object_get(record, "device") != NULL)
		snprintf(t->memory, sizeof(t->memory),
		    "Memory of %s%s%.80s, messages by %s",
		    member_text(record, "device"),
		    member_text(record, "device_name")[0] != '\0' ? ", " : "",
		    member_text(record, "device_name"),
		    json_object_get(record, "staging") != NULL
			? "mpi through host memory"
			: member_text_or(record, "impl",
			      member_text(record, "via")));
	name = member_text_or(record, "test", NULL);
	test = STR_FIND(names_tests, name);
	if (test < 0)
		return;
	if (strcmp(probe, "canary") == 0) {
		phase = member_text_or(record, "phase", NULL);
		while (p < PHASE_MAX - 1 && strcmp(names_phases[p], phase) != 0)
			p++;
		t->cells[test][p].known = 1;
		for (int i = 0; i < GPCNET_COLUMNS; i++)
			t->cells[test][p].column[i] =
			    gpcnet_table_number(json_object_get(record,
						    "rings"),
				ring_names[i]);
		if (!t->exact)
			t->cells[test][p].column[GPCNET_AVG] =
			    gpcnet_table_number(record, "mean");
		t->cells[test][p].column[GPCNET_99] =
		    gpcnet_table_number(record,
			gpcnet_table_is_time(test) ? "p99" : "p01");
		t->cells[test][p].column[GPCNET_999] = gpcnet_table_is_time(
							   test)
		    ? gpcnet_table_number(record, "p999")
		    : gpcnet_table_number(json_object_get(record, "rings"),
			  "p001");
	} else if (strcmp(probe, "impact") == 0) {
		const json_t *interval = json_object_get(record, "interval");

		of = member_text_or(record, "of", NULL);
		p = strcmp(of, "p99") == 0;
		t->impact[test][p].value = gpcnet_table_number(record, "value");
		t->impact[test][p].lo = gpcnet_table_number(interval, "lo");
		t->impact[test][p].hi = gpcnet_table_number(interval, "hi");
	}
}

static void
gpcnet_table_print_bar(FILE *to, int width, int inner)
{
	for (int i = 0; i < width; i++)
		fputc(i == 0 || i == width - 1 ||
			    (inner && i >= 34 && (i - 34) % WIDE == 0)
			? '+'
			: '-',
		    to);
	fputc('\n', to);
}

/* A bar, and a title in the middle of the line. */
static void
gpcnet_table_print_title(FILE *to, int width, const char *title)
{
	int pad = width - 4 - (int)strlen(title);

	fputc('\n', to);
	gpcnet_table_print_bar(to, width, 0);

	fprintf(to, "| %*s%s%*s |\n", pad / 2, "", title, pad - pad / 2, "");
}

static void
gpcnet_table_print_name(FILE *to, int test)
{
	char name[64];

	snprintf(name, sizeof(name), "%s (%zu B)", names_tests[test].title,
	    names_tests[test].bytes);
	if (names_tests[test].bytes == 0)
		snprintf(name, sizeof(name), "%s", names_tests[test].title);
	fprintf(to, "| %31.31s |", name);
}

/* One decimal as the reference prints, or a dash without a number. */
static void
gpcnet_table_print_phase(const struct gpcnet_table *t, FILE *to,
    enum phase phase, const char *title)
{
	static const char *const heads[GPCNET_COLUMNS] = { "Min", "Max", "Avg",
		"Avg(Worst)", "99%", "99.9%" };
	int known = 0, width = LINE + (t->exact ? 4 * WIDE : 0);

	for (int i = 0; i < CANARY_MAX; i++)
		known += t->cells[i][phase].known;
	if (known == 0)
		return;
	gpcnet_table_print_title(to, width, title);
	gpcnet_table_print_bar(to, width, 1);
	fprintf(to, "| %31s |", "Name");
	for (int k = 0; k < GPCNET_COLUMNS; k++)
		if (t->exact || k == GPCNET_AVG || k == GPCNET_99)
			fprintf(to, " %12s |", heads[k]);
	fprintf(to, " %12s |\n", "Units");
	gpcnet_table_print_bar(to, width, 1);
	for (int i = 0; i < CANARY_MAX; i++) {
		double scale = gpcnet_table_is_time(i) ? 1e6 : 1 / MIB;

		if (!t->cells[i][phase].known)
			continue;
		gpcnet_table_print_name(to, i);
		for (int k = 0; k < GPCNET_COLUMNS; k++) {
			double x = t->cells[i][phase].column[k] * scale;

			if (!t->exact && k != GPCNET_AVG && k != GPCNET_99)
				continue;
			if (isfinite(x))
				fprintf(to, " %12.1f |", x);
			else
				fprintf(to, " %12s |", "-");
		}
		fprintf(to, " %12s |\n",
		    gpcnet_table_is_time(i) ? "usec" : "MiB/s/rank");
		gpcnet_table_print_bar(to, width, 1);
	}
}

/* Print the impact of the records: 2.4X, or with its interval 2.4X [2.2,
 * 2.7]. */
static void
gpcnet_table_print_impact(const struct gpcnet_table *t, FILE *to)
{
	gpcnet_table_print_title(to, LINE,
	    "Network Tests running with Congestion Tests - Key Results");
	fprintf(to, "%s| %31s | %42s |\n%s| %31s | %20s | %19s |\n%s", halves,
	    "Name", "Congestion Impact Factor", halves, "", "Avg", "99%",
	    halves);
	for (int i = 0; i < CANARY_MAX; i++) {
		if (!t->cells[i][PHASE_CONGESTED].known)
			continue;
		gpcnet_table_print_name(to, i);
		for (int k = 0; k < 2; k++) {
			double x = t->impact[i][k].value;
			double lo = t->impact[i][k].lo, hi = t->impact[i][k].hi;
			int digits = hi >= 100 ? 0 : 1;
			char text[96] = "-";

			if (isfinite(x) && isfinite(lo) && isfinite(hi))
				snprintf(text, sizeof(text),
				    "%.*fX [%.*f, %.*f]", digits, x, digits, lo,
				    digits, hi);
			else if (isfinite(x))
				snprintf(text, sizeof(text), "%.1fX", x);
			fprintf(to, " %*.*s |", 20 - k, 20 - k, text);
		}
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
	if (t->memory[0] != '\0')
		fprintf(to, "  %s\n", t->memory);
	fprintf(to,
	    "\n  Legend\n"
	    "   RR = random ring communication pattern\n"
	    "   Nat = natural ring communication pattern\n"
	    "   Lat = latency\n   BW = bandwidth\n"
	    "   BW+Sync = bandwidth with barrier\n");

	gpcnet_table_print_phase(t, to, PHASE_ISOLATED,
	    "Isolated Network Tests");
	gpcnet_table_print_phase(t, to, PHASE_PRODUCTION,
	    "Network Tests with other jobs running");
	if (!t->congested)
		return;
	gpcnet_table_print_phase(t, to, PHASE_CONGESTED,
	    "Network Tests running with Congestion Tests");
	gpcnet_table_print_impact(t, to);
}
