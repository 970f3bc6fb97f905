/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.c - numbers have a unit and as many digits as they mean for people, and
 * 15 digits in JSON.
 */
#include "ctl/lib/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/ctl.h"

#define INTERVAL_WIDE 100 /* times as high as low */

/* 17 digits would print 0.1 as 0.10000000000000001. */
#define JSON_NUMBERS JSON_REAL_PRECISION(15)

void
print_json_line(const json_t *value)
{
	json_dumpf(value, stdout,
	    JSON_COMPACT | JSON_ENCODE_ANY | JSON_NUMBERS);
	putchar('\n');
}

void
print_json(const json_t *value)
{
	size_t i;
	json_t *item;

	if (!json_is_array(value)) {
		json_dumpf(value, stdout,
		    JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_NUMBERS);
		putchar('\n');
		return;
	}
	printf("[");
	json_array_foreach (value, i, item) {
		printf("%s\n", i == 0 ? "" : ",");
		json_dumpf(item, stdout,
		    JSON_COMPACT | JSON_ENCODE_ANY | JSON_NUMBERS);
	}
	printf("%s]\n", json_array_size(value) == 0 ? "" : "\n");
}

const char *
print_member(const json_t *object, const char *name, const char *fallback)
{
	const char *text = member_text_or(object, name, NULL);

	return text == NULL || text[0] == '\0' ? fallback : text;
}

void
print_count(const json_t *object, const char *name, char *ret)
{
	double x = member_number(object, name);

	if (isfinite(x))
		snprintf(ret, PRINT_BYTES, "%.0f", x);
	else
		snprintf(ret, PRINT_BYTES, "-");
}

int
print_is_unknown(double lo, double hi)
{
	return lo > 0 && isfinite(hi) && hi > INTERVAL_WIDE * lo;
}

void
print_quantity(double value, const char *unit, char *ret)
{
	static const struct {
		double unit_s;
		const char *name;
	} units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" },
		{ 1e-9, "ns" } };
	char bytes[32];
	size_t i = 0;

	if (!isfinite(value)) {
		snprintf(ret, PRINT_BYTES, "-");
	} else if (strcmp(unit, "s") == 0) {
		/* 999.95 of a unit would be printed as 1000 of it. */
		while (i + 1 < ARRAY_LEN(units) &&
		    fabs(value) < units[i].unit_s * 0.99995)
			i++;
		value /= units[i].unit_s;
		snprintf(ret, PRINT_BYTES, "%.*f %s",
		    fabs(value) < 10        ? 2
			: fabs(value) < 100 ? 1
					    : 0,
		    value, units[i].name);
	} else if (strcmp(unit, "B/s") == 0) {
		str_bytes_format(value, bytes, sizeof(bytes));
		snprintf(ret, PRINT_BYTES, "%s/s", bytes);
	} else if (strcmp(unit, "x") == 0) {
		snprintf(ret, PRINT_BYTES, "%.*fx",
		    value < 10        ? 2
			: value < 100 ? 1
				      : 0,
		    value);
	} else {
		snprintf(ret, PRINT_BYTES, "%.3g%s", value, unit);
	}
}

void
print_time(const json_t *object, const char *name, char *ret)
{
	json_int_t unix_ns = member_int(object, name);
	time_t at = (time_t)(unix_ns / (json_int_t)CLK_NS_PER_S);
	struct tm tm;

	snprintf(ret, PRINT_BYTES, "-");
	if (unix_ns > 0 && gmtime_r(&at, &tm) != NULL)
		strftime(ret, PRINT_BYTES, "%Y-%m-%d %H:%M:%S", &tm);
}

void
print_span(double span_s, char *ret)
{
	if (!isfinite(span_s) || span_s < 0)
		snprintf(ret, PRINT_BYTES, "-");
	else
		clk_span_format((uint64_t)(span_s * 1e9), ret, PRINT_BYTES);
}

char *
print_hostlist(const json_t *hosts, size_t *ret_count)
{
	const char *text = json_string_value(hosts), **names;
	size_t count = 0, i;
	struct hostlist hl;
	json_t *name;
	char *folded;

	if (text != NULL) {
		if (hostlist_parse(text, &hl, NULL) == 0) {
			count = hl.count;
			hostlist_clear(&hl);
		}
		folded = xstrdup(text);
	} else {
		names = xcalloc(json_array_size(hosts) + 1, sizeof(*names));
		json_array_foreach (hosts, i, name)
			if (json_is_string(name))
				names[count++] = json_string_value(name);
		hostlist_sort(names, count);
		folded = hostlist_format(names, count);
		free(names);
	}
	if (ret_count != NULL)
		*ret_count = count;
	return folded;
}

char *
print_texts(const json_t *array, const char *between)
{
	struct strbuf sb = { 0 };
	size_t i;
	json_t *item;

	strbuf_add(&sb, "", 0);
	json_array_foreach (array, i, item) {
		char *text = json_dumps(item, JSON_ENCODE_ANY);
		int plain = !json_is_object(item) && !json_is_array(item);

		strbuf_addf(&sb, "%s%s", i == 0 ? "" : between,
		    json_is_string(item) ? json_string_value(item) : text);
		free(text);
		if (plain)
			continue;
		strbuf_clear(&sb);
		return NULL;
	}
	return sb.text;
}

static const char *
print_cell_text(const struct print_column *col, const json_t *row,
    char *scratch)
{
	double x = member_number(row, col->member);
	size_t count;

	switch (col->as) {
	case PRINT_TEXT:
		return print_member(row, col->member, col->else_text);
	case PRINT_TIME:
		print_time(row, col->member, scratch);
		break;
	case PRINT_SPAN:
		print_span(x, scratch);
		break;
	case PRINT_NUMBER:
		print_quantity(x, "", scratch);
		break;
	case PRINT_COUNT:
		print_count(row, col->member, scratch);
		break;
	case PRINT_SECONDS:
		print_quantity(x, "s", scratch);
		break;
	case PRINT_OWN:
		print_quantity(x, print_member(row, "unit", "s"), scratch);
		break;
	case PRINT_RATE:
		print_quantity(x, "B/s", scratch);
		break;
	case PRINT_TIMES:
		print_quantity(x, "x", scratch);
		break;
	case PRINT_RATIO:
		snprintf(scratch, PRINT_BYTES, isfinite(x) ? "%.2f" : "-", x);
		break;
	case PRINT_SHARE:
		snprintf(scratch, PRINT_BYTES, isfinite(x) ? "%.0f %%" : "-",
		    100 * x);
		break;
	case PRINT_BEYOND:
		snprintf(scratch, PRINT_BYTES, isfinite(x) ? "%+.1f%%" : "-",
		    100 * x);
		break;
	case PRINT_BYTES_OF:
		snprintf(scratch, PRINT_BYTES, "-");
		if (x > 0)
			str_bytes_format(x, scratch, PRINT_BYTES);
		break;
	case PRINT_YES:
		return member_bool(row, col->member) ? "yes" : "no";
	case PRINT_NODES:
		free(print_hostlist(json_object_get(row, col->member), &count));
		snprintf(scratch, PRINT_BYTES, "%zu", count);
		break;
	case PRINT_TEXTS:
		return col->else_text; /* an empty list */
	case PRINT_OF:
		return col->text_of(row, scratch);
	}
	return scratch;
}

const char *
print_every(const json_t *row, char *scratch)
{
	double every_s = member_number(row, "every_s");

	print_span(every_s > 0 ? every_s : -1, scratch);
	return scratch;
}

void
print_rows(const json_t *rows, const struct print_column *columns)
{
	const struct print_column *col;
	struct strbuf titles = { 0 };
	char scratch[PRINT_BYTES];
	struct table *t;
	json_t *row;
	size_t i;

	for (col = columns; col->title != NULL; col++)
		strbuf_addf(&titles, "%s%s", col > columns ? "|" : "",
		    col->title);
	t = table_new(titles.text);
	json_array_foreach (rows, i, row)
		for (col = columns; col->title != NULL; col++) {
			char *list = col->as == PRINT_TEXTS
			    ? print_texts(json_object_get(row, col->member),
				  ",")
			    : NULL;

			table_cell(t, "%s",
			    list != NULL && list[0] != '\0'
				? list
				: print_cell_text(col, row, scratch));
			free(list);
		}
	table_print(t, stdout);
	table_free(t);
	strbuf_clear(&titles);
}

int
print_list(const struct ctl *c, json_t *rows,
    const struct print_column *columns, const char *nothing)
{
	if (opts_given(&c->opts, OPT_JSON))
		print_json(rows);
	else if (nothing != NULL && json_array_size(rows) == 0)
		puts(nothing);
	else
		print_rows(rows, columns);
	json_decref(rows);
	return EXIT_CODE_OK;
}
