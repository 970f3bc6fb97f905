/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clk.c - a span is read in whole nanoseconds without rounding, and printed
 * rounded for people; units are tried from the longest to the shortest.
 */
#include "common/clk.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/str.h"

#define SPAN_MAX_NS ((uint64_t)INT64_MAX) /* 292 years */

static uint64_t
clk_read_ns(clockid_t id)
{
	struct timespec ts;
	int rc = clock_gettime(id, &ts);

	assert(rc == 0);
	return (uint64_t)ts.tv_sec * CLK_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static uint64_t
clk_real_ns(void)
{
	return clk_read_ns(CLOCK_MONOTONIC);
}

static uint64_t
clk_real_unix_ns(void)
{
	return clk_read_ns(CLOCK_REALTIME);
}

static uint64_t (*source_ns)(void) = clk_real_ns;
static uint64_t (*source_unix_ns)(void) = clk_real_unix_ns;

uint64_t
clk_ns(void)
{
	return source_ns();
}

uint64_t
clk_unix_ns(void)
{
	return source_unix_ns();
}

void
clk_set_source(uint64_t (*monotonic_ns)(void), uint64_t (*unix_ns)(void))
{
	source_ns = monotonic_ns != NULL ? monotonic_ns : clk_real_ns;
	source_unix_ns = unix_ns != NULL ? unix_ns : clk_real_unix_ns;
}

struct timeval
clk_timeval(uint64_t span_ns)
{
	return (struct timeval){ (time_t)(span_ns / CLK_NS_PER_S),
		(suseconds_t)(span_ns % CLK_NS_PER_S / CLK_NS_PER_US) };
}

void
clk_sleep_ns(uint64_t span_ns)
{
	struct timespec left = { .tv_sec = (time_t)(span_ns / CLK_NS_PER_S),
		.tv_nsec = (long)(span_ns % CLK_NS_PER_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		continue;
}

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	/* the longest first: parts of a span must come in this order */
	{ "d", 86400 * CLK_NS_PER_S },
	{ "h", 3600 * CLK_NS_PER_S },
	{ "m", 60 * CLK_NS_PER_S },
	{ "s", CLK_NS_PER_S },
	{ "ms", CLK_NS_PER_MS },
	{ "us", CLK_NS_PER_US },
	{ "ns", 1 },
};

/* Digits, perhaps with a fraction, leaving *text behind them. Whole and
 * fraction stay apart so that no precision is lost; a digit of the fraction
 * is worth less than a nanosecond from the 14th on. */
static int
clk_number(const char **text, uint64_t *ret_whole, const char **ret_fraction,
    size_t *ret_digits)
{
	const char *p = *text;
	uint64_t whole = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		if (whole > SPAN_MAX_NS / 10)
			return -ERANGE;
		whole = whole * 10 + (uint64_t)(*p - '0');
	}
	*ret_digits = 0;
	*ret_fraction = p;
	if (*p == '.') {
		*ret_fraction = ++p;
		while (isdigit((unsigned char)*p))
			p++;
		*ret_digits = (size_t)(p - *ret_fraction);
		if (*ret_digits == 0)
			return -EINVAL;
	}
	*ret_whole = whole;
	*text = p;
	return 0;
}

int
clk_span_parse(const char *text, uint64_t *ret_ns)
{
	uint64_t total_ns = 0, whole, part_ns;
	const char *p = text, *fraction;
	const struct unit *u;
	size_t digits, next = 0;
	int rc;

	do {
		rc = clk_number(&p, &whole, &fraction, &digits);
		if (rc < 0)
			return rc;
		if (*p == '\0' && next == 0) {
			u = &units[3]; /* a bare number: seconds */
		} else {
			/* As long as the letters there, so that "m" is not
			 * found in "ms"; units come in falling order. */
			size_t len = 0;

			while (isalpha((unsigned char)p[len]))
				len++;
			while (next < ARRAY_LEN(units) &&
			    (strlen(units[next].name) != len ||
				memcmp(units[next].name, p, len) != 0))
				next++;
			if (next == ARRAY_LEN(units))
				return -EINVAL;
			u = &units[next];
			p += len;
		}
		next = (size_t)(u - units) + 1;
		part_ns = 0;
		for (size_t i = 0, worth = u->ns; i < digits; i++) {
			worth /= 10;
			part_ns += worth * (uint64_t)(fraction[i] - '0');
		}
		if (whole > (SPAN_MAX_NS - part_ns) / u->ns)
			return -ERANGE;
		part_ns += whole * u->ns;
		if (total_ns > SPAN_MAX_NS - part_ns)
			return -ERANGE;
		total_ns += part_ns;
	} while (*p != '\0');
	*ret_ns = total_ns;
	return 0;
}

/* "34.2us" when the rounded text stays under limit tenths of the unit. */
static int
clk_format_tenths(uint64_t span_ns, uint64_t unit_ns, const char *unit,
    uint64_t limit, char *ret, size_t cap_bytes)
{
	uint64_t tenth_ns = unit_ns / 10;
	uint64_t tenths = span_ns / tenth_ns +
	    (span_ns % tenth_ns >= tenth_ns / 2);

	if (tenths >= limit)
		return 0;
	if (tenths % 10 == 0)
		snprintf(ret, cap_bytes, "%ju%s", (uintmax_t)tenths / 10, unit);
	else
		snprintf(ret, cap_bytes, "%ju.%ju%s", (uintmax_t)tenths / 10,
		    (uintmax_t)tenths % 10, unit);
	return 1;
}

static void
clk_format_pair(uint64_t big, const char *big_unit, uint64_t small,
    const char *small_unit, char *ret, size_t cap_bytes)
{
	if (small == 0)
		snprintf(ret, cap_bytes, "%ju%s", (uintmax_t)big, big_unit);
	else
		snprintf(ret, cap_bytes, "%ju%s%02ju%s", (uintmax_t)big,
		    big_unit, (uintmax_t)small, small_unit);
}

void
clk_span_format(uint64_t span_ns, char *ret, size_t cap_bytes)
{
	uint64_t s, m, h;

	if (span_ns < CLK_NS_PER_US) {
		snprintf(ret, cap_bytes, "%juns", (uintmax_t)span_ns);
		return;
	}
	if (clk_format_tenths(span_ns, CLK_NS_PER_US, "us", 10000, ret,
		cap_bytes))
		return;
	if (clk_format_tenths(span_ns, CLK_NS_PER_MS, "ms", 10000, ret,
		cap_bytes))
		return;
	if (clk_format_tenths(span_ns, CLK_NS_PER_S, "s", 600, ret, cap_bytes))
		return;
	s = span_ns / CLK_NS_PER_S +
	    (span_ns % CLK_NS_PER_S >= CLK_NS_PER_S / 2);
	m = s / 60;
	h = m / 60;
	if (m < 60)
		clk_format_pair(m, "m", s % 60, "s", ret, cap_bytes);
	else if (h < 24)
		clk_format_pair(h, "h", m % 60, "m", ret, cap_bytes);
	else
		clk_format_pair(h / 24, "d", h % 24, "h", ret, cap_bytes);
}

void
clk_unix_format(uint64_t unix_ns, char *ret, size_t cap_bytes)
{
	time_t s = (time_t)(unix_ns / CLK_NS_PER_S);
	unsigned ms = (unsigned)(unix_ns % CLK_NS_PER_S / CLK_NS_PER_MS);
	char text[64];
	struct tm tm;
	size_t len;

	gmtime_r(&s, &tm);
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, sizeof(text) - len, ".%03uZ", ms);
	snprintf(ret, cap_bytes, "%s", text);
}
