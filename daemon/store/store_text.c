/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/store_db.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/decimal.h"
#include "common/xalloc.h"

#define NUMBER_MAX 40 /* bytes of the longest number */
/* Beyond these, powers of ten have an exponent. */
#define PLAIN_LOW  (-4)
#define PLAIN_HIGH 16

struct text {
	char *at;
	size_t len_bytes, cap_bytes;
};

/* Room for so many bytes more, and where. */
static char *
need(struct text *t, size_t bytes)
{
	if (t->len_bytes + bytes > t->cap_bytes) {
		t->cap_bytes = (t->len_bytes + bytes) * 2;
		t->at = xreallocarray(t->at, t->cap_bytes, 1);
	}
	return t->at + t->len_bytes;
}

static void
put(struct text *t, const char *bytes, size_t len_bytes)
{
	memcpy(need(t, len_bytes), bytes, len_bytes);
	t->len_bytes += len_bytes;
}

static void
put_char(struct text *t, char c)
{
	*need(t, 1) = c;
	t->len_bytes++;
}

/* Decimal digits of v > 0 into ret, not terminated; their number. */
static int
digits_of(uint64_t v, char ret[20])
{
	char back[20];
	int n = 0;

	for (; v != 0; v /= 10)
		back[n++] = (char)('0' + v % 10);
	for (int i = 0; i < n; i++)
		ret[i] = back[n - 1 - i];
	return n;
}

static void
put_integer(struct text *t, json_int_t value)
{
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char *to = need(t, NUMBER_MAX), *p = to;

	if (value < 0)
		*p++ = '-';
	if (v == 0)
		*p++ = '0';
	t->len_bytes += (size_t)(p - to + digits_of(v, p));
}

/* n digits, of which the first counts so many powers of ten. */
static char *
write_scientific(char *p, const char *digits, int n, int first)
{
	*p++ = digits[0];
	if (n > 1) {
		*p++ = '.';
		memcpy(p, digits + 1, (size_t)n - 1);
		p += n - 1;
	}
	return p + snprintf(p, NUMBER_MAX / 4, "e%d", first);
}

/* The same without an exponent; at least one digit on each side. */
static char *
write_plain(char *p, const char *digits, int n, int first)
{
	int last = first - n + 1 < -1 ? first - n + 1 : -1;

	for (int power = first > 0 ? first : 0; power >= last; power--) {
		int i = first - power;

		if (power == -1)
			*p++ = '.';
		*p++ = i >= 0 && i < n ? digits[i] : '0';
	}
	return p;
}

/* 17 digits say any double; a mark says that it is none of the integers. */
static char *
write_any(char *p, double x)
{
	int n = snprintf(p, NUMBER_MAX - 2, "%.17g", x);

	if (strpbrk(p, ".e") == NULL) {
		memcpy(p + n, ".0", 2);
		n += 2;
	}
	return p + n;
}

static void
put_real(struct text *t, double x)
{
	char digits[20] = "", *to = need(t, NUMBER_MAX), *p = to;
	uint64_t mantissa;
	int n, power;

	if (x == 0 || decimal_write(fabs(x), &mantissa, &power) < 0) {
		t->len_bytes += (size_t)(write_any(p, x) - to);
		return;
	}
	if (x < 0)
		*p++ = '-';
	n = digits_of(mantissa, digits);
	power += n - 1; /* of the first digit */
	p = power < PLAIN_LOW || power > PLAIN_HIGH
	    ? write_scientific(p, digits, n, power)
	    : write_plain(p, digits, n, power);
	t->len_bytes += (size_t)(p - to);
}

static int
is_plain(unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\';
}

static void
put_string(struct text *t, const char *s, size_t len)
{
	put_char(t, '"');
	for (size_t from = 0, to; from < len; from = to) {
		char escape[8];

		for (to = from; to < len && is_plain((unsigned char)s[to]);)
			to++;
		put(t, s + from, to - from);
		if (to == len)
			break;
		snprintf(escape, sizeof(escape), "\\u%04x",
		    (unsigned char)s[to++]);
		put(t, escape, 6);
	}
	put_char(t, '"');
}

static void put_value(struct text *t, const json_t *v);

static void
put_object(struct text *t, const json_t *o, const char *without)
{
	const char *key, *comma = "";
	json_t *value;

	put_char(t, '{');
	json_object_foreach ((json_t *)(uintptr_t)o, key, value) {
		if (without != NULL && strcmp(key, without) == 0)
			continue;
		put(t, comma, strlen(comma));
		put_string(t, key, strlen(key));
		put_char(t, ':');
		put_value(t, value);
		comma = ",";
	}
	put_char(t, '}');
}

static void
put_array(struct text *t, const json_t *list)
{
	const json_t *value;
	size_t i;

	put_char(t, '[');
	json_array_foreach (list, i, value) {
		if (i > 0)
			put_char(t, ',');
		put_value(t, value);
	}
	put_char(t, ']');
}

static void
put_word(struct text *t, const json_t *v)
{
	const char *word = json_is_true(v) ? "true"
	    : json_is_false(v)             ? "false"
					   : "null";

	put(t, word, strlen(word));
}

/* Depth: of what was parsed, which jansson limits. */
static void
put_value(struct text *t, const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		put_object(t, v, NULL);
		break;
	case JSON_ARRAY:
		put_array(t, v);
		break;
	case JSON_STRING:
		put_string(t, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		put_integer(t, json_integer_value(v));
		break;
	case JSON_REAL:
		put_real(t, json_real_value(v));
		break;
	default:
		put_word(t, v);
	}
}

char *
store_text(const json_t *value, const char *without)
{
	struct text t = { 0 };

	if (value == NULL)
		return NULL;
	if (json_is_object(value))
		put_object(&t, value, without);
	else
		put_value(&t, value);
	put_char(&t, '\0');
	return t.at;
}
