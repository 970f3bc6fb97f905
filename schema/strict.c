/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict.c - JSON text to values, in one pass that also limits the depth and
 * rejects duplicate keys. jansson's own reader takes three times as long, and
 * the collector's main loop parses every record.
 */
#include "schema/strict.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "common/decimal.h"
#include "common/str.h"
#include "common/xalloc.h"

#define KEY_BYTES  64 /* a longer key is allocated */
#define LINE_DEPTH 3  /* of an object in an array in the outermost object */
#define SMALL_MIN  (-1023)
#define SMALL_MAX  1023

struct reader {
	const char *at, *end;
	int depth, depth_max;
	int too_deep;
	const char *wrong;          /* the first error */
	struct strbuf escaped;      /* of the string that was read last */
	struct strict_lines *lines; /* or NULL */
	int in_records;             /* the value of the outermost "records" */
	struct strict_line *line;   /* that is being read, or NULL */
};

/* A string, as it is in the text or unescaped in the reader. */
struct slice {
	const char *at;
	size_t len;
	int ascii; /* else it has to be checked */
};

static json_t *strict_value_read(struct reader *r);

static int
strict_wrong(struct reader *r, const char *what)
{
	if (r->wrong == NULL)
		r->wrong = what;
	return -EPROTO;
}

/* Return the next character that is not a blank; 0 at the end. */
static char
strict_next_char(struct reader *r)
{
	while (r->at < r->end &&
	    (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' ||
		*r->at == '\r'))
		r->at++;
	return r->at < r->end ? *r->at : '\0';
}

/* Four hexadecimal digits, or -EPROTO. */
static int
strict_hex4_read(struct reader *r)
{
	int code = 0;

	if (r->end - r->at < 4)
		return strict_wrong(r, "invalid escape");
	for (int i = 0; i < 4; i++) {
		char c = *r->at++;

		if (c >= '0' && c <= '9')
			code = code * 16 + c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			code = code * 16 + (c | 32) - 'a' + 10;
		else
			return strict_wrong(r, "invalid escape");
	}
	return code;
}

/* Read \uXXXX, or a surrogate pair, and write UTF-8. */
static int
strict_unicode_read(struct reader *r)
{
	int code = strict_hex4_read(r), low;
	char utf8[4];
	size_t n = 0;

	if (code < 0)
		return code;
	if (code >= 0xd800 && code < 0xdc00) {
		if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
			return strict_wrong(r, "half a character");
		r->at += 2;
		low = strict_hex4_read(r);
		if (low < 0xdc00 || low > 0xdfff)
			return strict_wrong(r, "half a character");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (code >= 0xdc00 && code < 0xe000) {
		return strict_wrong(r, "half a character");
	} else if (code == 0) {
		return strict_wrong(r, "NUL character");
	}
	if (code < 0x80) {
		utf8[n++] = (char)code;
	} else if (code < 0x800) {
		utf8[n++] = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		utf8[n++] = (char)(0xe0 | code >> 12);
		utf8[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	} else {
		utf8[n++] = (char)(0xf0 | code >> 18);
		utf8[n++] = (char)(0x80 | (code >> 12 & 0x3f));
		utf8[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	}
	if (code >= 0x80)
		utf8[n++] = (char)(0x80 | (code & 0x3f));
	strbuf_add(&r->escaped, utf8, n);
	return 0;
}

static int
strict_escape_read(struct reader *r)
{
	static const char names[] = "\"\\/bfnrt";
	static const char means[] = "\"\\/\b\f\n\r\t";
	const char *name;
	char c;

	if (r->at >= r->end)
		return strict_wrong(r, "unterminated string");
	c = *r->at++;
	if (c == 'u')
		return strict_unicode_read(r);
	name = c != '\0' ? strchr(names, c) : NULL;
	if (name == NULL)
		return strict_wrong(r, "invalid escape");
	strbuf_add(&r->escaped, means + (name - names), 1);
	return 0;
}

/* Behind the opening quote; ret lasts until the next string is read. */
static int
strict_string_read(struct reader *r, struct slice *ret)
{
	const char *from = r->at;
	unsigned char all = 0;
	int escapes = 0;

	r->escaped.len_bytes = 0;
	for (;;) {
		const char *p = r->at;

		while (p < r->end && *p != '"' && *p != '\\' &&
		    (unsigned char)*p >= 0x20)
			all |= (unsigned char)*p++;
		r->at = p;
		if (p == r->end)
			return strict_wrong(r, "unterminated string");
		if ((unsigned char)*p < 0x20)
			return strict_wrong(r, "control character in a string");
		if (escapes || *p == '\\')
			strbuf_add(&r->escaped, from, (size_t)(p - from));
		r->at++;
		if (*p == '"')
			break;
		escapes = 1;
		if (strict_escape_read(r) < 0)
			return -EPROTO;
		from = r->at;
	}
	ret->at = escapes ? r->escaped.text : from;
	ret->len = escapes ? r->escaped.len_bytes : (size_t)(r->at - 1 - from);
	ret->ascii = !escapes && all < 0x80;
	return 0;
}

static json_t *
strict_string_value(struct reader *r)
{
	struct slice s;
	json_t *v;

	r->at++;
	if (strict_string_read(r, &s) < 0)
		return NULL;
	v = s.ascii ? json_stringn_nocheck(s.at, s.len)
		    : json_stringn(s.at, s.len);
	if (v == NULL)
		strict_wrong(r, s.ascii ? "out of memory" : "not UTF-8");
	return v;
}

/* What decimal_read leaves to strtod, which wants an end. */
static double
strict_real_value(const char *from, size_t len)
{
	char digits[64], *copy = digits;
	double x;

	if (len >= sizeof(digits))
		copy = xcalloc(1, len + 1);
	memcpy(copy, from, len);
	copy[len] = '\0';
	x = strtod(copy, NULL);
	if (copy != digits)
		free(copy);
	return x;
}

/* Digits at r->at, added to the mantissa as far as that holds them; their
 * number. */
static int
strict_digits_read(struct reader *r, uint64_t *mantissa, int *exact)
{
	const char *at = r->at, *from = at;
	uint64_t m = *mantissa;

	for (; at < r->end && *at >= '0' && *at <= '9'; at++) {
		unsigned digit = (unsigned)(*at - '0');

		if (m > UINT64_MAX / 10 ||
		    (m == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
			*exact = 0;
		else
			m = m * 10 + digit;
	}
	*mantissa = m;
	r->at = at;
	return (int)(at - from);
}

/* Read [.digits][e[+-]digits]: return the power of ten, or -EPROTO with an
 * error. */
static int
strict_fraction_read(struct reader *r, uint64_t *mantissa, int *exact,
    int *ret_power)
{
	uint64_t e = 0;
	int minus = 0, e_exact = 1, power = 0;

	if (r->at < r->end && *r->at == '.') {
		r->at++;
		power = -strict_digits_read(r, mantissa, exact);
		if (power == 0)
			return strict_wrong(r, "invalid number");
	}
	if (r->at < r->end && (*r->at | 32) == 'e') {
		r->at++;
		if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
			minus = *r->at++ == '-';
		if (strict_digits_read(r, &e, &e_exact) == 0)
			return strict_wrong(r, "invalid number");
		if (!e_exact || e > 10000)
			*exact = 0;
		else
			power += minus ? -(int)e : (int)e;
	}
	*ret_power = power;
	return 0;
}

/* Two thirds of a record's values are buckets and counts of its histogram, most
 * of them small: equal values share one object. Values are never changed after
 * parsing, and one thread of a program parses. Like jansson's null they are not
 * reference-counted: each count would take the cache line from the thread that
 * writes these values to disk, a sixth of a record's cost. */
static json_t *
strict_integer_value(json_int_t n)
{
	static json_t *small[SMALL_MAX - SMALL_MIN + 1];
	json_t **v;

	if (n < SMALL_MIN || n > SMALL_MAX)
		return json_integer(n);
	v = &small[n - SMALL_MIN];
	if (*v == NULL && (*v = json_integer(n)) != NULL)
		(*v)->refcount = (size_t)-1;
	return *v;
}

static json_t *
strict_number_value(struct reader *r)
{
	const char *from = r->at;
	int minus = *from == '-', exact = 1, power, n;
	uint64_t mantissa = 0;
	double x;

	r->at += minus;
	n = strict_digits_read(r, &mantissa, &exact);
	if (n == 0 || (n > 1 && from[minus] == '0')) {
		strict_wrong(r, "invalid number");
		return NULL;
	}
	if (r->at == r->end || (*r->at != '.' && (*r->at | 32) != 'e')) {
		if (!exact ||
		    mantissa > (uint64_t)INT64_MAX + (unsigned)minus) {
			strict_wrong(r, "integer too large");
			return NULL;
		}
		return strict_integer_value(
		    minus ? (json_int_t)-mantissa : (json_int_t)mantissa);
	}
	if (strict_fraction_read(r, &mantissa, &exact, &power) < 0)
		return NULL;
	if (!exact || decimal_read(mantissa, power, &x) < 0)
		x = strict_real_value(from + minus,
		    (size_t)(r->at - from) - (size_t)minus);
	if (x > DBL_MAX) {
		strict_wrong(r, "real number overflow");
		return NULL;
	}
	return json_real(minus ? -x : x);
}

static json_t *
strict_word_value(struct reader *r)
{
	static const struct {
		const char *word;
		json_t *(*make)(void);
	} words[] = { { "null", json_null }, { "true", json_true },
		{ "false", json_false } };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i].word);

		if ((size_t)(r->end - r->at) >= n &&
		    memcmp(r->at, words[i].word, n) == 0) {
			r->at += n;
			return words[i].make();
		}
	}
	strict_wrong(r,
	    r->at == r->end ? "unexpected end of text" : "invalid token");
	return NULL;
}

static json_t *
strict_array_value(struct reader *r)
{
	json_t *array = json_array(), *v;
	char c;

	if (array == NULL)
		goto no_memory;
	r->at++;
	if (strict_next_char(r) == ']') {
		r->at++;
		return array;
	}
	do {
		v = strict_value_read(r);
		if (v == NULL)
			goto fail;
		if (json_array_append_new(array, v) < 0)
			goto no_memory;
		c = strict_next_char(r);
		r->at += c != '\0';
	} while (c == ',');
	if (c == ']')
		return array;
	strict_wrong(r, "']' expected");
fail:
	json_decref(array);
	return NULL;
no_memory:
	strict_wrong(r, "out of memory");
	goto fail;
}

/* An integer behind blanks, and the next character, which it must be. */
static int
strict_hist_number(struct reader *r, int64_t *ret, char next)
{
	const char *from;
	uint64_t mantissa = 0;
	int minus, exact = 1, n;

	minus = strict_next_char(r) == '-';
	r->at += minus;
	from = r->at;
	n = strict_digits_read(r, &mantissa, &exact);
	if (n == 0 || (n > 1 && *from == '0') || !exact ||
	    mantissa > INT64_MAX || strict_next_char(r) != next)
		return -EPROTO;
	r->at++;
	*ret = minus ? -(int64_t)mantissa : (int64_t)mantissa;
	return 0;
}

static void
strict_buckets_grow(struct strict_lines *all)
{
	all->bucket_cap = all->bucket_cap * 2 + 1024;
	all->buckets = xreallocarray(all->buckets, all->bucket_cap,
	    sizeof(*all->buckets));
}

/* [[index, count], ...] into the line; else nothing is read. */
static int
strict_hist_read(struct reader *r)
{
	struct strict_lines *all = r->lines;
	const char *from = r->at;
	size_t had = all->bucket_count;
	int64_t index, count;
	char c;

	if (all->buckets == NULL)
		strict_buckets_grow(all);
	if (strict_next_char(r) != '[')
		goto other;
	r->at++;
	c = strict_next_char(r) == ']' ? ']' : ',';
	r->at += c == ']';
	while (c == ',') {
		if (strict_next_char(r) != '[')
			goto other;
		r->at++;
		if (strict_hist_number(r, &index, ',') < 0 ||
		    strict_hist_number(r, &count, ']') < 0 || count < 0 ||
		    index < INT32_MIN || index > INT32_MAX)
			goto other;
		if (all->bucket_count == all->bucket_cap)
			strict_buckets_grow(all);
		all->buckets[all->bucket_count++] = (struct strict_bucket){
			(int32_t)index, (uint64_t)count
		};
		c = strict_next_char(r);
		if (c != ',' && c != ']')
			goto other;
		r->at++;
	}
	r->line->has_hist = 1;
	r->line->bucket = had;
	r->line->bucket_end = all->bucket_count;
	return 0;
other:
	all->bucket_count = had;
	r->at = from;
	return -EPROTO;
}

/* The member hist of a line, whose key has been read: 1, it is in the line. */
static int
strict_is_hist(struct reader *r, const json_t *object, const char *key)
{
	return r->line != NULL && r->depth == LINE_DEPTH &&
	    strcmp(key, "hist") == 0 && !r->line->has_hist &&
	    json_object_get(object, key) == NULL && strict_hist_read(r) == 0;
}

/* "key": value into object. 1: into the line instead. */
static int
strict_member_read(struct reader *r, json_t *object)
{
	size_t had = json_object_size(object);
	char small[KEY_BYTES], *key = small;
	struct slice s;
	json_t *v;
	int rc = 0;

	if (strict_next_char(r) != '"')
		return strict_wrong(r, "string or '}' expected");
	r->at++;
	if (strict_string_read(r, &s) < 0)
		return -EPROTO;
	if (s.len >= sizeof(small))
		key = xcalloc(1, s.len + 1);
	memcpy(key, s.at, s.len);
	key[s.len] = '\0';
	if (strict_next_char(r) != ':') {
		rc = strict_wrong(r, "':' expected");
		goto out;
	}
	r->at++;
	if (strict_is_hist(r, object, key)) {
		rc = 1;
		goto out;
	}
	if (r->line != NULL && r->line->has_hist && r->depth == LINE_DEPTH &&
	    strcmp(key, "hist") == 0) {
		rc = strict_wrong(r, "duplicate object key");
		goto out;
	}
	if (r->depth == 1)
		r->in_records = r->lines != NULL && strcmp(key, "records") == 0;
	v = strict_value_read(r);
	if (v == NULL)
		rc = -EPROTO;
	else if ((s.ascii ? json_object_set_new_nocheck(object, key, v)
			  : json_object_set_new(object, key, v)) < 0)
		rc = strict_wrong(r, "not UTF-8");
	else if (json_object_size(object) == had)
		rc = strict_wrong(r, "duplicate object key");
out:
	if (key != small)
		free(key);
	return rc;
}

/* The member that ends before end goes with the comma at sep, or with the next
 * one, at which the reader is, behind an opening brace. */
static void
strict_line_cut(struct reader *r, const char *sep, const char *end)
{
	const char *begin = r->lines->text + r->line->from;
	int first = *sep == '{';

	if (first && r->at < r->end && *r->at == ',')
		end = r->at + 1;
	r->line->cut_from = (size_t)(sep + first - begin);
	r->line->cut_to = (size_t)(end - begin);
}

static json_t *
strict_object_value(struct reader *r)
{
	const char *sep = r->at, *end;
	json_t *object = json_object();
	char c;
	int rc;

	if (object == NULL) {
		strict_wrong(r, "out of memory");
		return NULL;
	}
	r->at++;
	if (strict_next_char(r) == '}') {
		r->at++;
		return object;
	}
	do {
		rc = strict_member_read(r, object);
		if (rc < 0)
			goto fail;
		end = r->at;
		c = strict_next_char(r);
		if (rc == 1)
			strict_line_cut(r, sep, end);
		sep = r->at;
		r->at += c != '\0';
	} while (c == ',');
	if (c == '}')
		return object;
	strict_wrong(r, "'}' expected");
fail:
	json_decref(object);
	return NULL;
}

static void
strict_line_begin(struct reader *r)
{
	struct strict_lines *all = r->lines;

	if (all->count == all->cap) {
		all->cap = all->cap * 2 + 32;
		all->list = xreallocarray(all->list, all->cap,
		    sizeof(*all->list));
	}
	r->line = &all->list[all->count++];
	*r->line = (struct strict_line){ .from = (size_t)(r->at - all->text) };
}

static json_t *
strict_value_read(struct reader *r)
{
	char c = strict_next_char(r);
	int is_line;
	json_t *v;

	if (c == '"')
		return strict_string_value(r);
	if (c == '-' || (c >= '0' && c <= '9'))
		return strict_number_value(r);
	if (c != '{' && c != '[')
		return strict_word_value(r);
	if (r->depth == r->depth_max) {
		r->too_deep = 1;
		return NULL;
	}
	r->depth++;
	is_line = c == '{' && r->in_records && r->depth == LINE_DEPTH;
	if (is_line)
		strict_line_begin(r);
	v = c == '{' ? strict_object_value(r) : strict_array_value(r);
	if (is_line) {
		r->line->len_bytes = (size_t)(r->at - r->lines->text) -
		    r->line->from;
		r->line = NULL;
	}
	r->depth--;
	return v;
}

int
strict_object(const char *text, size_t len_bytes, int depth_max, json_t **ret,
    struct err *err)
{
	return strict_object_lines(text, len_bytes, depth_max, ret, NULL, err);
}

void
strict_lines_clear(struct strict_lines *lines)
{
	free(lines->list);
	free(lines->buckets);
	memset(lines, 0, sizeof(*lines));
}

int
strict_object_lines(const char *text, size_t len_bytes, int depth_max,
    json_t **ret, struct strict_lines *lines, struct err *err)
{
	struct reader r = { .at = text,
		.end = text + len_bytes,
		.depth_max = depth_max,
		.lines = lines };
	json_t *v;

	if (lines != NULL) {
		lines->text = text;
		lines->count = lines->bucket_count = 0;
	}
	v = strict_value_read(&r);

	if (v != NULL && (strict_next_char(&r) != '\0' || r.at < r.end)) {
		strict_wrong(&r, "end of file expected");
		json_decref(v);
		v = NULL;
	}
	strbuf_clear(&r.escaped);
	if (r.too_deep)
		return err_set(err, -EPROTO, "nested deeper than %d",
		    depth_max);
	if (v == NULL)
		return err_set(err, -EPROTO, "not JSON: %s at byte %zu",
		    r.wrong, (size_t)(r.at - text));
	if (!json_is_object(v)) {
		json_decref(v);
		return err_set(err, -EPROTO, "not a JSON object");
	}
	*ret = v; /* handed over */
	return 0;
}
