/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_type.c - one reader a type; each refuses with the words that say what is
 * allowed.
 */
#include "common/conf_type.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "common/str.h"

/* Position of an item of len_bytes in "a|b|c", or -1. */
static int
conf_type_allowed_find(const char *allowed, const char *item, size_t len_bytes)
{
	int at = 0;

	for (const char *p = allowed;; at++) {
		size_t n = strcspn(p, "|");

		if (n == len_bytes && memcmp(p, item, n) == 0)
			return at;
		if (p[n] == '\0')
			return -1;
		p += n + 1;
	}
}

static int
conf_type_in_range(const struct conf_row *row, double x)
{
	return (row->min == 0 && row->max == 0) ||
	    (x >= row->min && x <= row->max);
}

/* "1 to 100", or "any" for a row without limits, in the row's own notation. */
static void
conf_type_range_format(const struct conf_row *row, char *ret, size_t cap_bytes)
{
	char lo[32], hi[32];

	if (row->min == 0 && row->max == 0) {
		snprintf(ret, cap_bytes, "any value");
		return;
	}
	if (row->type == CONF_SPAN) {
		clk_span_format((uint64_t)(row->min * 1e9), lo, sizeof(lo));
		clk_span_format((uint64_t)(row->max * 1e9), hi, sizeof(hi));
	} else if (row->type == CONF_BYTES) {
		str_bytes_format(row->min, lo, sizeof(lo));
		str_bytes_format(row->max, hi, sizeof(hi));
	} else {
		snprintf(lo, sizeof(lo), "%.16g", row->min);
		snprintf(hi, sizeof(hi), "%.16g", row->max);
	}
	snprintf(ret, cap_bytes, "%s to %s", lo, hi);
}

/* Readers, one per type: return 0, or -EINVAL and the expected value in
 * want. */

static int
conf_type_read_string(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	size_t n = strlen(raw);

	(void)ret;
	if (conf_type_in_range(row, (double)n))
		return 0;
	snprintf(want, CONF_WANT_BYTES, "%.0f to %.0f characters", row->min,
	    row->max);
	return -EINVAL;
}

static int
conf_type_read_bool(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	int b;

	(void)row;
	snprintf(want, CONF_WANT_BYTES, "yes or no");
	if (str_to_bool(raw, &b) < 0)
		return -EINVAL;
	ret->i = b;
	return 0;
}

static int
conf_type_read_int(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	char range[80];
	uint64_t count;
	int64_t i;

	conf_type_range_format(row, range, sizeof(range));
	snprintf(want, CONF_WANT_BYTES, "a whole number, %s", range);
	if (str_to_int(raw, INT64_MIN, INT64_MAX, &i) < 0) {
		/* Counts take the units of sizes. */
		if (strcmp(row->unit, "elements") != 0 ||
		    str_to_bytes(raw, &count) < 0 || count > INT64_MAX)
			return -EINVAL;
		i = (int64_t)count;
	}
	if (!conf_type_in_range(row, (double)i))
		return -EINVAL;
	ret->i = i;
	return 0;
}

static int
conf_type_read_real(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	char range[80], text[64];
	size_t n = strlen(raw);
	double r, scale = 1;

	conf_type_range_format(row, range, sizeof(range));
	snprintf(want, CONF_WANT_BYTES, "a number, %s", range);
	if (n >= sizeof(text))
		return -EINVAL;
	memcpy(text, raw, n + 1);
	if (n > 0 && text[n - 1] == '%') {
		text[n - 1] = '\0';
		scale = 0.01;
	}
	if (str_to_double(text, -1e300, 1e300, &r) < 0 ||
	    !conf_type_in_range(row, r * scale))
		return -EINVAL;
	ret->r = r * scale;
	return 0;
}

static int
conf_type_read_bytes(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	char range[80];
	uint64_t u;

	conf_type_range_format(row, range, sizeof(range));
	snprintf(want, CONF_WANT_BYTES, "a size such as 4096, 4K or 1M, %s",
	    range);
	if (str_to_bytes(raw, &u) < 0 || !conf_type_in_range(row, (double)u))
		return -EINVAL;
	ret->u = u;
	return 0;
}

static int
conf_type_read_span(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	char range[80];
	uint64_t u;

	conf_type_range_format(row, range, sizeof(range));
	snprintf(want, CONF_WANT_BYTES,
	    "a duration such as 250ms, 10s or 5m, %s", range);
	if (clk_span_parse(raw, &u) < 0 ||
	    !conf_type_in_range(row, (double)u / 1e9))
		return -EINVAL;
	ret->u = u;
	return 0;
}

static int
conf_type_read_choice(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	(void)ret;
	snprintf(want, CONF_WANT_BYTES, "one of %s", row->allowed);
	return conf_type_allowed_find(row->allowed, raw, strlen(raw)) < 0
	    ? -EINVAL
	    : 0;
}

static int
conf_type_read_choices(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	size_t count = 0;
	char **list = str_list_parse(raw, &count);
	int rc = list == NULL || count == 0 ? -EINVAL : 0;

	(void)ret;
	snprintf(want, CONF_WANT_BYTES, "a comma-separated list of %s",
	    row->allowed);
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (conf_type_allowed_find(row->allowed, list[i],
			strlen(list[i])) < 0)
			rc = -EINVAL;
	str_list_free(list);
	return rc;
}

static int
conf_type_read_hostlist(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	struct hostlist hl;
	struct err err;
	int rc;

	(void)row;
	(void)ret;
	rc = hostlist_parse(raw, &hl, &err);
	if (rc < 0) {
		snprintf(want, CONF_WANT_BYTES,
		    "a hostlist such as n[001-016,020],login1 (%.300s)",
		    err.text);
		return rc;
	}
	hostlist_clear(&hl);
	return 0;
}

static int
conf_type_read_address(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	size_t count = 1;
	char *one[] = { (char *)(uintptr_t)raw, NULL };
	char **list = row->min == 3 ? str_list_parse(raw, &count) : one;
	int rc = list == NULL || count == 0 ? -EINVAL : 0;
	struct str_address a;

	(void)ret;
	snprintf(want, CONF_WANT_BYTES, "host:port%s",
	    row->min == 0       ? " or nothing"
		: row->min == 1 ? " or :port"
		: row->min == 3 ? ", or several separated by commas"
				: "");
	if (raw[0] == '\0' && row->min == 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (str_address_parse(list[i], &a) < 0 ||
		    (row->min > 1 && (a.host[0] == '\0' || a.port[0] == '0')))
			rc = -EINVAL;
	if (list != one)
		str_list_free(list);
	return rc;
}

/* 0, or -EINVAL if the list or one of its items is invalid. */
static int
conf_type_check_each(const char *raw, int (*is_good)(const char *text))
{
	size_t count = 0;
	char **list = str_list_parse(raw, &count);
	int rc = list == NULL ? -EINVAL : 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		if (!is_good(list[i]))
			rc = -EINVAL;
	str_list_free(list);
	return rc;
}

static int
conf_type_url_good(const char *text)
{
	return strncmp(text, "http://", 7) == 0 ||
	    strncmp(text, "https://", 8) == 0;
}

static int
conf_type_read_urls(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	(void)row;
	(void)ret;
	snprintf(want, CONF_WANT_BYTES,
	    "http://HOST or https://HOST, separated by commas");
	return conf_type_check_each(raw, conf_type_url_good);
}

static int
conf_type_net_good(const char *text)
{
	const char *slash = strchr(text, '/');
	int family = strchr(text, ':') == NULL ? AF_INET : AF_INET6;
	char addr[INET6_ADDRSTRLEN];
	struct in6_addr parsed;
	int64_t bits;

	if (slash == NULL ||
	    str_format(addr, sizeof(addr), "%.*s", (int)(slash - text), text) <
		0)
		return 0;
	return inet_pton(family, addr, &parsed) == 1 &&
	    str_to_int(slash + 1, 1, family == AF_INET ? 32 : 128, &bits) == 0;
}

static int
conf_type_read_nets(const struct conf_row *row, const char *raw,
    union conf_number *ret, char *want)
{
	(void)row;
	(void)ret;
	snprintf(want, CONF_WANT_BYTES,
	    "networks such as 10.1.0.0/16, separated by commas");
	return conf_type_check_each(raw, conf_type_net_good);
}

static int (*const readers[CONF_TYPE_MAX])(const struct conf_row *row,
    const char *raw, union conf_number *ret, char *want) = {
	[CONF_STRING] = conf_type_read_string,
	[CONF_BOOL] = conf_type_read_bool,
	[CONF_INT] = conf_type_read_int,
	[CONF_REAL] = conf_type_read_real,
	[CONF_BYTES] = conf_type_read_bytes,
	[CONF_SPAN] = conf_type_read_span,
	[CONF_CHOICE] = conf_type_read_choice,
	[CONF_CHOICES] = conf_type_read_choices,
	[CONF_HOSTLIST] = conf_type_read_hostlist,
	[CONF_ADDRESS] = conf_type_read_address,
	[CONF_URLS] = conf_type_read_urls,
	[CONF_NETS] = conf_type_read_nets,
};

int
conf_type_read(const struct conf_row *row, const char *raw,
    union conf_number *ret, char want[CONF_WANT_BYTES])
{
	return readers[row->type](row, raw, ret, want);
}

void
conf_type_allowed(const struct conf_row *row, char *ret, size_t cap_bytes)
{
	static const char *const plain[CONF_TYPE_MAX] = {
		[CONF_STRING] = "text",
		[CONF_BOOL] = "yes or no",
		[CONF_HOSTLIST] = "a hostlist",
		[CONF_ADDRESS] = "host:port",
		[CONF_URLS] = "http:// and https:// addresses",
		[CONF_NETS] = "networks such as 10.1.0.0/16",
	};

	if (row->allowed != NULL)
		snprintf(ret, cap_bytes, "%s%s",
		    row->type == CONF_CHOICES ? "a list of " : "",
		    row->allowed);
	else if (plain[row->type] != NULL)
		snprintf(ret, cap_bytes, "%s", plain[row->type]);
	else
		conf_type_range_format(row, ret, cap_bytes);
}

int
conf_section_starts(const struct conf_row *rows, size_t at)
{
	return at == 0 || strcmp(rows[at].section, rows[at - 1].section) != 0;
}
