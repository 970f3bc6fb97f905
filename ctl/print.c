/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"

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
	const char *text = json_string_value(json_object_get(object, name));

	return text == NULL || text[0] == '\0' ? fallback : text;
}

double
print_number(const json_t *object, const char *name)
{
	const json_t *v = json_object_get(object, name);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

void
print_count(const json_t *object, const char *name, char *ret)
{
	double x = print_number(object, name);

	if (isfinite(x))
		snprintf(ret, PRINT_BYTES, "%.0f", x);
	else
		snprintf(ret, PRINT_BYTES, "-");
}

static void
seconds_format(double x, char *ret)
{
	static const struct {
		double unit_s;
		const char *name;
	} units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" },
		{ 1e-9, "ns" } };
	size_t i = 0;

	/* 999.95 of a unit would be printed as 1000 of it. */
	while (i + 1 < ARRAY_LEN(units) && x < units[i].unit_s * 0.99995)
		i++;
	x /= units[i].unit_s;
	snprintf(ret, PRINT_BYTES, "%.*f %s",
	    x < 10        ? 2
		: x < 100 ? 1
			  : 0,
	    x, units[i].name);
}

void
print_quantity(double value, const char *unit, char *ret)
{
	char bytes[32];

	if (!isfinite(value)) {
		snprintf(ret, PRINT_BYTES, "-");
	} else if (strcmp(unit, "s") == 0) {
		seconds_format(value, ret);
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
	json_int_t unix_ns = json_integer_value(json_object_get(object, name));
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

static int
compare_cb(const void *a, const void *b)
{
	return hostlist_compare(*(const char *const *)a,
	    *(const char *const *)b);
}

static char *
fold(const json_t *array, size_t *ret_count)
{
	const char **names = xcalloc(json_array_size(array) + 1,
	    sizeof(*names));
	size_t i;
	char *text;
	json_t *name;

	*ret_count = 0;
	json_array_foreach (array, i, name)
		if (json_is_string(name))
			names[(*ret_count)++] = json_string_value(name);
	qsort(names, *ret_count, sizeof(*names), compare_cb);
	text = hostlist_format(names, *ret_count);
	free(names);
	return text;
}

char *
print_hostlist(const json_t *hosts, size_t *ret_count)
{
	const char *text = json_string_value(hosts);
	size_t count = 0;
	struct hostlist hl;
	char *folded;

	if (text != NULL && hostlist_parse(text, &hl, NULL) == 0) {
		count = hl.count;
		hostlist_clear(&hl);
	}
	folded = text != NULL ? xstrdup(text) : fold(hosts, &count);
	if (ret_count != NULL)
		*ret_count = count;
	return folded;
}
