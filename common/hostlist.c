/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostlist.c - lists are expanded into names, duplicates removed by a hash set,
 * and folded again by comparing neighbours.
 */
#include "common/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"

#define DIGITS_MAX 18 /* fit an int64 */
/* In one name. Each has two numbers or more, so HOSTLIST_MAX hosts never fold
 * into more of them. */
#define BRACKETS_MAX 16

/* A list under construction. The set finds duplicates: open addressing,
 * indices into names plus 1, 0 is free. */
struct build {
	struct hostlist hl;
	uint32_t *set;
	size_t set_slots; /* a power of two, at least twice the names */
	size_t made;      /* names expanded so far, duplicates too */
	size_t max;       /* of made */
	const char *text; /* whole input, for positions */
	struct err *err;
};

static int __attribute__((format(printf, 4, 5)))
hostlist_refuse(struct build *b, int rc, const char *at, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (at == NULL)
		err_say(b->err, "%s", what);
	else
		err_say(b->err, "%s at character %zu", what,
		    (size_t)(at - b->text) + 1);
	return rc;
}

/* The slot where a name is, or would go. */
static uint32_t *
hostlist_set_slot(struct build *b, const char *name)
{
	/* FNV-1a: short names, and no one gains by colliding them. */
	uint64_t hash = 14695981039346656037ULL;
	size_t at;

	for (const char *p = name; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ULL;
	at = (size_t)hash & (b->set_slots - 1);
	while (
	    b->set[at] != 0 && strcmp(b->hl.names[b->set[at] - 1], name) != 0)
		at = (at + 1) & (b->set_slots - 1);
	return &b->set[at];
}

static void
hostlist_set_grow(struct build *b)
{
	free(b->set);
	b->set_slots = b->set_slots == 0 ? 64 : b->set_slots * 2;
	b->set = xcalloc(b->set_slots, sizeof(*b->set));
	b->hl.names = xreallocarray(b->hl.names, b->set_slots / 2,
	    sizeof(*b->hl.names));
	for (size_t i = 0; i < b->hl.count; i++)
		*hostlist_set_slot(b, b->hl.names[i]) = (uint32_t)(i + 1);
}

int
hostlist_name_check(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > HOSTLIST_NAME_MAX)
		return -EINVAL;
	/* A leading '-' would be an option to some program, a leading '.'
	 * a hidden file. */
	if (name[0] == '-' || name[0] == '.')
		return -EINVAL;
	for (; *name != '\0'; name++)
		if (!isascii((unsigned char)*name) ||
		    (!isalnum((unsigned char)*name) && *name != '.' &&
			*name != '-' && *name != '_'))
			return -EINVAL;
	return 0;
}

static int
hostlist_add_name(struct build *b, const char *name, const char *at)
{
	uint32_t *slot;

	if (hostlist_name_check(name) < 0)
		return hostlist_refuse(b, -EINVAL, at,
		    "invalid host name \"%.40s\": expected letters, digits, . "
		    "- _",
		    name);
	if (++b->made > b->max)
		return hostlist_refuse(b, -E2BIG, NULL, "more than %zu hosts",
		    b->max);
	if (b->hl.count >= b->set_slots / 2)
		hostlist_set_grow(b);
	slot = hostlist_set_slot(b, name);
	if (*slot != 0)
		return 0;
	b->hl.names[b->hl.count++] = xstrdup(name);
	*slot = (uint32_t)b->hl.count;
	return 0;
}

/* "007" or "007-012" at *p; moves *p behind it. */
static int
hostlist_parse_range(struct build *b, const char **p, long long *ret_lo,
    long long *ret_hi, int *ret_width)
{
	const char *from = *p;
	size_t n = strspn(from, "0123456789");

	if (n == 0 || n > DIGITS_MAX)
		return hostlist_refuse(b, -EINVAL, from,
		    "expected a number of at most %d digits", DIGITS_MAX);
	*ret_lo = *ret_hi = strtoll(from, NULL, 10);
	*ret_width = from[0] == '0' ? (int)n : 0;
	*p = from + n;
	if (**p != '-')
		return 0;
	from = *p + 1;
	n = strspn(from, "0123456789");
	if (n == 0 || n > DIGITS_MAX)
		return hostlist_refuse(b, -EINVAL, from,
		    "expected a number of at most %d digits", DIGITS_MAX);
	*ret_hi = strtoll(from, NULL, 10);
	*p = from + n;
	if (*ret_hi < *ret_lo)
		return hostlist_refuse(b, -EINVAL, from,
		    "the range is descending");
	if ((unsigned long long)(*ret_hi - *ret_lo) >= b->max)
		return hostlist_refuse(b, -E2BIG, from, "more than %zu hosts",
		    b->max);
	return 0;
}

static int hostlist_expand(struct build *b, const char *head, const char *item,
    const char *end, int depth);

/* Every number of one bracket, each followed by the rest of the item. */
static int
hostlist_expand_bracket(struct build *b, const char *head, const char *open,
    const char *end, int depth)
{
	const char *close = memchr(open, ']', (size_t)(end - open));
	const char *p = open + 1;
	char name[2 * HOSTLIST_NAME_MAX];
	long long lo = 0, hi = 0;
	int rc = 0, width = 0;

	if (close == NULL)
		return hostlist_refuse(b, -EINVAL, open, "[ without ]");
	if (depth >= BRACKETS_MAX)
		return hostlist_refuse(b, -EINVAL, open,
		    "more than %d brackets", BRACKETS_MAX);
	for (;;) {
		rc = hostlist_parse_range(b, &p, &lo, &hi, &width);
		for (; rc == 0 && lo <= hi; lo++) {
			if (snprintf(name, sizeof(name), "%s%0*lld", head,
				width, lo) > HOSTLIST_NAME_MAX)
				return hostlist_refuse(b, -EINVAL, open,
				    "the name is longer than %d bytes",
				    HOSTLIST_NAME_MAX);
			rc = hostlist_expand(b, name, close + 1, end,
			    depth + 1);
		}
		if (rc < 0 || p == close)
			return rc;
		if (*p != ',')
			return hostlist_refuse(b, -EINVAL, p,
			    "expected a digit, '-', ',' or ']'");
		p++;
	}
}

/* head is done; item to end may hold more brackets. */
static int
hostlist_expand(struct build *b, const char *head, const char *item,
    const char *end, int depth)
{
	const char *open = memchr(item, '[', (size_t)(end - item));
	size_t plain = (size_t)((open == NULL ? end : open) - item);
	char name[2 * HOSTLIST_NAME_MAX];

	if (strlen(head) + plain > HOSTLIST_NAME_MAX)
		return hostlist_refuse(b, -EINVAL, item,
		    "the name is longer than %d bytes", HOSTLIST_NAME_MAX);
	snprintf(name, sizeof(name), "%s%.*s", head, (int)plain, item);
	if (open == NULL)
		return hostlist_add_name(b, name, item);
	return hostlist_expand_bracket(b, name, open, end, depth);
}

int
hostlist_parse(const char *text, struct hostlist *ret, struct err *err)
{
	return hostlist_parse_max(text, HOSTLIST_MAX, ret, err);
}

int
hostlist_parse_max(const char *text, size_t max, struct hostlist *ret,
    struct err *err)
{
	struct build b = { .text = text,
		.max = max < HOSTLIST_MAX ? max : HOSTLIST_MAX,
		.err = err };
	const char *p = text, *next, *end;
	int rc = 0;

	hostlist_set_grow(&b);
	do {
		int inside = 0;

		/* The comma that ends an item, or the end of the text. */
		for (next = p; *next != '\0' && (inside || *next != ',');
		     next++)
			inside = *next == '[' || (inside && *next != ']');
		p += strspn(p, " \t");
		end = next;
		while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		if (p >= end)
			rc = hostlist_refuse(&b, -EINVAL, next,
			    "missing host name");
		else
			rc = hostlist_expand(&b, "", p, end, 0);
		p = next + 1;
	} while (rc == 0 && *next != '\0');
	free(b.set);
	if (rc < 0) {
		hostlist_clear(&b.hl);
		return rc;
	}
	*ret = b.hl; /* handed over */
	return 0;
}

int
hostlist_has(const struct hostlist *hl, const char *name)
{
	for (size_t i = 0; i < hl->count; i++)
		if (strcmp(hl->names[i], name) == 0)
			return 1;
	return 0;
}

void
hostlist_clear(struct hostlist *hl)
{
	for (size_t i = 0; i < hl->count; i++)
		free(hl->names[i]);
	free(hl->names);
	*hl = (struct hostlist){ 0 };
}

/* Where names differ in one number: prefix and suffix are equal. */
struct fold {
	size_t prefix_bytes;
	const char *suffix;
};

static int
hostlist_is_number(const char *from, size_t n)
{
	return n > 0 && n <= DIGITS_MAX && strspn(from, "0123456789") >= n;
}

/* 1 when a and b fit into one bracket, and how. It is left of all brackets that
 * they have: expanded, the names are in the same order again. */
static int
hostlist_fold_pair(const char *a, const char *b, struct fold *ret)
{
	size_t at = 0, na, nb;

	if (strcspn(a, "[") < strlen(a) && strncmp(a, b, strcspn(a, "[")) == 0)
		return 0;

	while (a[at] != '\0' && a[at] == b[at])
		at++;
	while (at > 0 && isdigit((unsigned char)a[at - 1]))
		at--;
	na = strspn(a + at, "0123456789");
	nb = strspn(b + at, "0123456789");
	if (!hostlist_is_number(a + at, na) || !hostlist_is_number(b + at, nb))
		return 0;
	if (strcmp(a + at + na, b + at + nb) != 0)
		return 0;
	/* A padded number sets the width of all that follow. */
	if (na > 1 && a[at] == '0' ? na != nb : nb > 1 && b[at] == '0')
		return 0;
	ret->prefix_bytes = at;
	ret->suffix = a + at + na;
	return 1;
}

/* names[0..n) share a fold: print them as one bracket. */
static void
hostlist_format_fold(struct strbuf *sb, const char *const *names, size_t n,
    const struct fold *f)
{
	size_t pre = f->prefix_bytes;

	strbuf_addf(sb, "%.*s[", (int)pre, names[0]);
	for (size_t i = 0; i < n;) {
		size_t last = i;
		long long at = strtoll(names[i] + pre, NULL, 10);

		while (last + 1 < n &&
		    strtoll(names[last + 1] + pre, NULL, 10) ==
			at + (long long)(last + 1 - i))
			last++;
		strbuf_addf(sb, "%s%.*s", i == 0 ? "" : ",",
		    (int)strspn(names[i] + pre, "0123456789"), names[i] + pre);
		if (last > i)
			strbuf_addf(sb, "-%.*s",
			    (int)strspn(names[last] + pre, "0123456789"),
			    names[last] + pre);
		i = last + 1;
	}
	strbuf_addf(sb, "]%s", f->suffix);
}

/* Fold neighbours that differ in one number: the new items. */
static size_t
hostlist_fold_once(const char *const *names, size_t count, char **ret)
{
	size_t made = 0;

	for (size_t i = 0; i < count;) {
		struct strbuf sb = { 0 };
		struct fold f, other;
		size_t n = 1;

		if (i + 1 < count &&
		    hostlist_fold_pair(names[i], names[i + 1], &f))
			for (n = 2; i + n < count &&
			     hostlist_fold_pair(names[i], names[i + n],
				 &other) &&
			     other.prefix_bytes == f.prefix_bytes;)
				n++;
		if (n == 1)
			strbuf_addf(&sb, "%s", names[i]);
		else
			hostlist_format_fold(&sb, names + i, n, &f);
		ret[made++] = sb.text;
		i += n;
	}
	return made;
}

char *
hostlist_format(const char *const *names, size_t count)
{
	char **items = xcalloc(count + 1, sizeof(*items));
	size_t made = hostlist_fold_once(names, count, items), before = count;
	struct strbuf sb = { 0 };

	/* Of names with several numbers the last one first. */
	while (made > 1 && made < before) {
		char **folded = xcalloc(made + 1, sizeof(*folded));

		before = made;
		made = hostlist_fold_once((const char *const *)items, made,
		    folded);
		str_list_free(items);
		items = folded;
	}
	strbuf_add(&sb, "", 0);
	for (size_t i = 0; i < made; i++)
		strbuf_addf(&sb, "%s%s", i > 0 ? "," : "", items[i]);
	str_list_free(items);
	return sb.text;
}

int
hostlist_compare(const char *a, const char *b)
{
	const char *x = a, *y = b;

	while (*x != '\0' && *y != '\0') {
		size_t nx, ny;

		if (!isdigit((unsigned char)*x) ||
		    !isdigit((unsigned char)*y)) {
			if (*x != *y)
				return (unsigned char)*x - (unsigned char)*y;
			x++;
			y++;
			continue;
		}
		x += strspn(x, "0");
		y += strspn(y, "0");
		nx = strspn(x, "0123456789");
		ny = strspn(y, "0123456789");
		if (nx != ny)
			return nx < ny ? -1 : 1;
		if (strncmp(x, y, nx) != 0)
			return strncmp(x, y, nx);
		x += nx;
		y += ny;
	}
	if (*x != *y)
		return (unsigned char)*x - (unsigned char)*y;
	return strcmp(a, b); /* n1 and n01 differ, in some fixed order */
}

static int
hostlist_compare_cb(const void *a, const void *b)
{
	return hostlist_compare(*(const char *const *)a,
	    *(const char *const *)b);
}

void
hostlist_sort(const char **names, size_t count)
{
	qsort(names, count, sizeof(*names), hostlist_compare_cb);
}
