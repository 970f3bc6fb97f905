/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_csv.c - CSV for data frames: a line for each run, test, phase and
 * size, with the columns of the run repeated in each line. Values are in base
 * units, without a text such as "2.4 ms".
 */
#include "ctl/lib/record_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "schema/names_probe.h"
#include "schema/options.h"

/* Quote as in RFC 4180 where necessary. */
static void
record_csv_text(const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

static void
record_csv_number(double x)
{
	if (isfinite(x))
		printf("%.15g", x);
	putchar(',');
}

static int
record_csv_is_result(const json_t *r)
{
	const char *probe = print_member(r, "probe", "");

	return strcmp(probe, "canary") == 0 ||
	    strcmp(probe, "congestor") == 0 || strcmp(probe, "impact") == 0 ||
	    strcmp(probe, "speedup") == 0 || strcmp(probe, "spmm") == 0 ||
	    strcmp(probe, "concurrent") == 0 || options_is_plan(probe);
}

/* The quantity of a plan that has no name of a test. */
static const char *
record_csv_test(const json_t *r)
{
	return print_member(r, "test",
	    print_member(r, "collective", print_member(r, "pattern", "")));
}

static double
record_csv_value(const json_t *r)
{
	double value = member_number(r, "value");

	return isfinite(value) ? value : member_number(r, "median_middle");
}

static double
record_csv_rate(const json_t *r)
{
	double rate = records_rate(r);

	if (!isfinite(rate))
		rate = member_number(r, "throughput");
	if (!isfinite(rate) && strcmp(print_member(r, "unit", ""), "B/s") == 0)
		rate = member_number(r, "mean");
	return rate;
}

/* A canary has a size if it is not that of its test. */
static double
record_csv_bytes(const json_t *r)
{
	int test = STR_FIND(names_tests, print_member(r, "test", ""));
	double bytes = member_number(r, "bytes");

	return isfinite(bytes) || test < 0 || names_tests[test].bytes == 0 ||
		strcmp(print_member(r, "probe", ""), "canary") != 0
	    ? bytes
	    : (double)names_tests[test].bytes;
}

/* "tcp eth0 eth1" */
static void
record_csv_carried(const json_t *r)
{
	const json_t *carried = json_object_get(r, "carried");
	char *devices = print_texts(json_object_get(carried, "devices"), " ");
	char *text = xasprintf("%s%s%s", print_member(carried, "transport", ""),
	    devices != NULL && devices[0] != '\0' ? " " : "",
	    devices != NULL ? devices : "");

	record_csv_text(text);
	free(text);
	free(devices);
}

/* "canary.time=5s congestor.bytes=1M" */
static char *
record_csv_overrides(const json_t *run)
{
	struct strbuf text = { 0 };
	const char *key;
	json_t *value;

	json_object_foreach (json_object_get(run, "overrides"), key, value)
		strbuf_addf(&text, "%s%s=%s", text.len_bytes > 0 ? " " : "",
		    key, json_string_value(value));
	return text.text != NULL ? text.text : xstrdup("");
}

static void
record_csv_line(const json_t *r, const json_t *run, const char *overrides)
{
	static const char *const numbers[] = { "n", "mean", "min", "p50", "p90",
		"p99", "p999", "max" };
	const json_t *interval = json_object_get(r, "interval");
	char *hosts = print_hostlist(json_object_get(run, "nodes"), NULL);

	printf("%s,", print_member(r, "run", ""));
	record_csv_number(member_number(r, "seq"));
	printf("%s,", print_member(r, "probe", ""));
	record_csv_text(record_csv_test(r));
	printf(",%s,%s,", print_member(r, "phase", ""),
	    print_member(r, "unit", ""));
	for (size_t k = 0; k < ARRAY_LEN(numbers); k++)
		record_csv_number(member_number(r, numbers[k]));
	record_csv_number(record_csv_value(r));
	printf("%s,", print_member(r, "of", print_member(interval, "of", "")));
	record_csv_number(member_number(interval, "level"));
	record_csv_number(member_number(interval, "lo"));
	record_csv_number(member_number(interval, "hi"));
	printf("%s,%s,", print_member(r, "stopped_by", ""),
	    print_member(r, "cause", ""));
	record_csv_number(record_csv_bytes(r));
	record_csv_number(record_csv_rate(r));
	record_csv_text(print_member(r, "plan", ""));
	putchar(',');
	record_csv_text(print_member(r, "baseline", ""));
	putchar(',');
	record_csv_number(member_number(r, "baseline_throughput"));
	record_csv_carried(r);
	putchar(',');
	record_csv_text(print_member(run, "campaign", ""));
	putchar(',');
	record_csv_number(member_number(run, "started_unix_ns") / 1e9);
	record_csv_text(hosts);
	putchar(',');
	record_csv_number(member_number(run, "ranks"));
	record_csv_text(overrides);
	putchar('\n');
	free(hosts);
}

void
record_csv_head(void)
{
	puts("run,seq,probe,test,phase,unit,n,mean,min,p50,p90,p99,p999,max,"
	     "value,of,level,lo,hi,stopped_by,cause,size_bytes,bytes_per_s,"
	     "plan,baseline,baseline_bytes_per_s,carried,campaign,"
	     "started_unix_s,nodes,ranks,overrides");
}

size_t
record_csv_lines(const json_t *run, const json_t *records)
{
	char *overrides = record_csv_overrides(run);
	size_t i, lines = 0;
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!record_csv_is_result(r))
			continue;
		lines++;
		record_csv_line(r, run, overrides);
	}
	free(overrides);
	return lines;
}

void
record_csv_print(const json_t *run, const json_t *records)
{
	record_csv_head();
	if (record_csv_lines(run, records) == 0)
		fputs("coalctl: the run has no results\n", stderr);
}
