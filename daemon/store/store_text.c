/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_text.c - a real is written from its digits as an integer where it is a
 * whole number of billionths, and by printf only where it is not.
 */
#include "daemon/store/store_db.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/decimal.h"
#include "common/xalloc.h"

#define NUMBER_MAX 40 /* bytes of the longest number */
#define DIGITS_MAX 20
#define TEXT_BYTES 2048 /* at first */
/* Beyond these, powers of ten have an exponent. */
#define PLAIN_LOW  (-4)
#define PLAIN_HIGH 16

struct text {
	char *at;
	size_t len_bytes, cap_bytes;
};

/* Room for so many bytes more, and where. */
static char *
store_text_need(struct text *t, size_t bytes)
{
	if (t->len_bytes + bytes > t->cap_bytes) {
		t->cap_bytes = (t->len_bytes + bytes) * 2;
		t->at = xreallocarray(t->at, t->cap_bytes, 1);
	}
	return t->at + t->len_bytes;
}

static void
store_text_put(struct text *t, const char *bytes, size_t len_bytes)
{
	memcpy(store_text_need(t, len_bytes), bytes, len_bytes);
	t->len_bytes += len_bytes;
}

static void
store_text_put_char(struct text *t, char c)
{
	*store_text_need(t, 1) = c;
	t->len_bytes++;
}

/* Decimal digits of v > 0, at the end of buffer, not terminated; their number.
 */
static int
store_text_digits_of(uint64_t v, char buffer[DIGITS_MAX], const char **ret)
{
	char *at = buffer + DIGITS_MAX;

	for (; v != 0; v /= 10)
		*--at = (char)('0' + v % 10);
	*ret = at;
	return (int)(buffer + DIGITS_MAX - at);
}

/* As few digits as say it, and at least one on each side of the point, so that
 * it is none of the integers. */
static void
store_text_put_real(struct text *t, double x)
{
	char buffer[DIGITS_MAX], *to = store_text_need(t, NUMBER_MAX), *p = to;
	const char *digits;
	uint64_t mantissa;
	int n, power, last;

	if (x == 0 || decimal_write(fabs(x), &mantissa, &power) < 0) {
		/* 17 digits say any double. */
		p += snprintf(p, NUMBER_MAX - 2, "%.17g", x);
		if (strpbrk(to, ".e") == NULL)
			p = stpcpy(p, ".0");
		t->len_bytes += (size_t)(p - to);
		return;
	}
	if (x < 0)
		*p++ = '-';
	n = store_text_digits_of(mantissa, buffer, &digits);
	power += n - 1; /* of the first digit */
	if (power < PLAIN_LOW || power > PLAIN_HIGH) {
		*p++ = digits[0];
		if (n > 1)
			*p++ = '.';
		memcpy(p, digits + 1, (size_t)n - 1);
		p += n - 1;
		*p++ = 'e';
		if (power < 0)
			*p++ = '-';
		n = store_text_digits_of((uint64_t)(power < 0 ? -power : power),
		    buffer, &digits);
		memcpy(p, digits, (size_t)n);
		p += n;
	} else {
		last = power - n + 1 < -1 ? power - n + 1 : -1;
		for (int at = power > 0 ? power : 0; at >= last; at--) {
			int i = power - at;

			if (at == -1)
				*p++ = '.';
			*p++ = i >= 0 && i < n ? digits[i] : '0';
		}
	}
	t->len_bytes += (size_t)(p - to);
}

static void
store_text_put_string(struct text *t, const char *s, size_t len)
{
	char *p = store_text_need(t, len + 2);

	*p++ = '"';
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)s[i] >= 0x20 && s[i] != '"' &&
		    s[i] != '\\') {
			*p++ = s[i];
			continue;
		}
		t->len_bytes = (size_t)(p - t->at);
		p = store_text_need(t, 6 + len - i); /* and the closing quote */
		p += snprintf(p, 7, "\\u%04x", (unsigned char)s[i]);
	}
	*p++ = '"';
	t->len_bytes = (size_t)(p - t->at);
}

static void store_text_put_value(struct text *t, const json_t *v);

static void
store_text_put_object(struct text *t, const json_t *o, const char *without)
{
	const char *key;
	json_t *value;
	int some = 0;

	store_text_put_char(t, '{');
	json_object_foreach ((json_t *)(uintptr_t)o, key, value) {
		if (without != NULL && strcmp(key, without) == 0)
			continue;
		if (some)
			store_text_put_char(t, ',');
		store_text_put_string(t, key, strlen(key));
		store_text_put_char(t, ':');
		store_text_put_value(t, value);
		some = 1;
	}
	store_text_put_char(t, '}');
}

/* Depth: of what was parsed, which jansson limits. */
static void
store_text_put_value(struct text *t, const json_t *v)
{
	json_int_t number = json_integer_value(v);
	const json_t *inner;
	const char *word = "null";
	char buffer[DIGITS_MAX];
	size_t i;
	int n;

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		store_text_put_object(t, v, NULL);
		return;
	case JSON_ARRAY:
		store_text_put_char(t, '[');
		json_array_foreach (v, i, inner) {
			if (i > 0)
				store_text_put_char(t, ',');
			store_text_put_value(t, inner);
		}
		store_text_put_char(t, ']');
		return;
	case JSON_STRING:
		store_text_put_string(t, json_string_value(v),
		    json_string_length(v));
		return;
	case JSON_INTEGER:
		if (number < 0)
			store_text_put_char(t, '-');
		if (number == 0)
			store_text_put_char(t, '0');
		n = store_text_digits_of(number < 0 ? -(uint64_t)number
						    : (uint64_t)number,
		    buffer, &word);
		store_text_put(t, word, (size_t)n);
		return;
	case JSON_REAL:
		store_text_put_real(t, json_real_value(v));
		return;
	case JSON_TRUE:
		word = "true";
		break;
	case JSON_FALSE:
		word = "false";
		break;
	default:
		break;
	}
	store_text_put(t, word, strlen(word));
}

char *
store_text(const json_t *value, const char *without)
{
	struct text t = { 0 };

	if (value == NULL)
		return NULL;
	(void)store_text_need(&t, TEXT_BYTES / 2);
	if (json_is_object(value))
		store_text_put_object(&t, value, without);
	else
		store_text_put_value(&t, value);
	store_text_put_char(&t, '\0');
	return t.at;
}
