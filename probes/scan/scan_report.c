/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_report.c - the result of a scan as lines for people.
 */
#include "probes/scan/scan_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/member.h"
#include "probes/scan/scan.h"

/* "23.4 MB/s", "12.3 us". */
static void
scan_report_value(double value, const char *unit, char *ret, size_t cap_bytes)
{
	static const struct {
		double at_least;
		const char *name;
	} rates[] = { { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" },
		{ 0, "B/s" } },
	  times[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 0, "ns" } };
	int is_rate = strcmp(unit, "B/s") == 0;

	for (size_t i = 0; i < 4; i++) {
		double least = is_rate ? rates[i].at_least : times[i].at_least;
		double by = least > 0 ? least : is_rate ? 1 : 1e-9;

		if (!(value >= least) && i < 3)
			continue;
		snprintf(ret, cap_bytes, "%.3g %s", value / by,
		    is_rate ? rates[i].name : times[i].name);
		return;
	}
}

enum scan_status
scan_status_of(const json_t *result)
{
	if (!member_bool(result, "measured"))
		return SCAN_UNKNOWN;
	if (json_array_size(json_object_get(result, "slow")) +
		json_array_size(json_object_get(result, "paths")) +
		json_array_size(json_object_get(result, "below")) >
	    0)
		return SCAN_NAMED;
	return member_text(result, "open")[0] != '\0' ||
		!member_bool(result, "timely")
	    ? SCAN_OPEN
	    : SCAN_FIT;
}

void
scan_print_fabric(const json_t *carried, const struct world *w)
{
	const json_t *devices = json_object_get(carried, "devices"), *name;
	size_t i;

	printf("fabric  %s by %s",
	    member_text_or(carried, "transport", "unknown transport"),
	    member_text_or(carried, "library", "an unknown library"));
	json_array_foreach (devices, i, name)
		printf("%s%s", i == 0 ? " over " : ",",
		    json_string_value(name));
	printf("; %d node%s, %d ranks\n", w->nodes, w->nodes == 1 ? "" : "s",
	    w->size);
	fflush(stdout);
}

static void
scan_report_times(const json_t *o)
{
	const json_t *interval = json_object_get(o, "interval");

	if (!json_is_number(json_object_get(o, "times"))) {
		fputs("no exchange completes", stdout);
		return;
	}
	printf("%.2f times slower", member_number(o, "times"));
	if (json_is_object(interval))
		printf(" (%.0f %%: %.2f to %.2f)",
		    100 * member_number(interval, "level"),
		    member_number(interval, "lo"),
		    member_number(interval, "hi"));
}

static void
scan_report_busy(const json_t *o)
{
	if (member_number(o, "wait_ratio") > 0.3)
		printf("; waited for a CPU core for %.0f %% of its runnable "
		       "time",
		    100 * member_number(o, "wait_ratio"));
	putchar('\n');
}

static void
scan_report_tests(const json_t *result)
{
	const json_t *interval, *o;
	char at[32], lo[32], hi[32];
	const char *name;

	json_object_foreach (json_object_get(result, "tests"), name, o) {
		const char *unit = member_text(o, "unit");

		printf("%-6s  ", name);
		if (!json_is_number(json_object_get(o, "typical"))) {
			printf("not measured%s%s\n",
			    member_text(o, "cause")[0] != '\0' ? ": " : "",
			    member_text(o, "cause"));
			continue;
		}
		scan_report_value(member_number(o, "typical"), unit, at,
		    sizeof(at));
		printf("%s", at);
		interval = json_object_get(o, "interval");
		if (json_is_object(interval)) {
			scan_report_value(member_number(interval, "lo"), unit,
			    lo, sizeof(lo));
			scan_report_value(member_number(interval, "hi"), unit,
			    hi, sizeof(hi));
			printf(" (%.0f %%: %s to %s)",
			    100 * member_number(interval, "level"), lo, hi);
		}
		printf(" of %lld nodes\n", (long long)member_int(o, "count"));
	}
}

static void
scan_report_slow(const json_t *result)
{
	char value[32], typical[32];
	const char *unit;
	json_t *o;
	size_t i;

	member_foreach (result, "slow", i, o) {
		printf("slow    %s: ", member_text(o, "node"));
		scan_report_times(o);
		if (member_text(o, "test")[0] != '\0') {
			unit = member_text(o, "unit");
			scan_report_value(member_number(o, "value"), unit,
			    value, sizeof(value));
			scan_report_value(member_number(o, "typical"), unit,
			    typical, sizeof(typical));
			printf(" with %lld good partners; %s %s, others %s",
			    (long long)member_int(o, "partners"),
			    member_text(o, "test"), value, typical);
		}
		scan_report_busy(o);
	}
	member_foreach (result, "paths", i, o) {
		printf("slow    pairs between %s and %s: ",
		    member_text(o, "between"), member_text(o, "and"));
		scan_report_times(o);
		printf(", %lld pairs, one at a time\n",
		    (long long)member_int(o, "pairs"));
	}
	member_foreach (result, "below", i, o) {
		scan_report_value(member_number(o, "value"), "B/s", value,
		    sizeof(value));
		scan_report_value(member_number(o, "expected"), "B/s", typical,
		    sizeof(typical));
		printf("below   %s: %s, %.0f %% of the promised %s",
		    member_text(o, "node"), value,
		    100 * member_number(o, "share"), typical);
		scan_report_busy(o);
	}
}

void
scan_print(const json_t *result)
{
	json_t *o;
	size_t i;

	scan_report_tests(result);
	scan_report_slow(result);
	member_foreach (result, "doubtful", i, o) {
		printf("open    %s: ", member_text(o, "node"));
		scan_report_times(o);
		printf(", and %s", member_text(o, "text"));
		scan_report_busy(o);
	}
	if (member_text(result, "fit")[0] != '\0')
		printf("fit     %s\n", member_text(result, "fit"));
	if (member_text(result, "open")[0] != '\0')
		printf("open    %s: %s\n", member_text(result, "open"),
		    !member_bool(result, "measured") ? "not measured"
			: !member_bool(result, "timely")
			? "undetermined within the time limit"
			: member_int(result, "nodes") == 2
			? "undetermined: with 2 nodes there is no third to "
			  "compare with"
			: member_bool(result, "busy")
			? "undetermined: CPU cores were busy"
			: "undetermined");
	else if (!member_bool(result, "timely"))
		puts("open    paths between nodes: not measured within the "
		     "time limit");
	member_foreach (result, "notes", i, o)
		printf("note    %s\n", json_string_value(o));
	printf("%lld rounds in %.1f s\n",
	    (long long)member_int(result, "rounds"),
	    member_number(result, "took_s"));
}
