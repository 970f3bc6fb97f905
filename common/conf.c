/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.c - inih splits lines; everything that has a meaning is checked here.
 *
 * inih's handler is not told its line, so the reader that feeds inih counts
 * them. The reader also sees section lines, which inih reports only through
 * their keys.
 */
#include "common/conf.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "common/conf_type.h"
#include "common/file.h"
#include "common/str.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#define FILE_BYTES_MAX (4 * 1024 * 1024)
#define LINE_BYTES_MAX (1024 * 1024) /* a hostlist of the largest cluster */

/* Most values are defaults, and a collector keeps the campaign of every run
 * that it remembers: they stand in their rows, and where is this. */
static char at_default[] = "default";

struct value {
	char *raw;   /* as written */
	char *where; /* "file:line" or at_default */
	int given;
	/* "file:line" of the section, at its first row; NULL: not in the file
	 */
	char *section_where;
	union conf_number as;
};

struct conf {
	const struct conf_row *rows;
	size_t count;
	struct value *values; /* one a row */
	char *path;
};

/* What one conf_parse needs while inih calls back. */
struct parse {
	struct conf *c;
	const char *path;
	const char *next; /* text not yet read */
	int line;         /* of the line that inih has now, from 1 */
	struct err *err;
	int failed;
};

/* Index of a row or -ENOENT. */
static long
conf_row_find(const struct conf_row *rows, const char *section, const char *key)
{
	for (size_t i = 0; rows[i].key != NULL; i++)
		if (strcmp(rows[i].section, section) == 0 &&
		    strcmp(rows[i].key, key) == 0)
			return (long)i;
	return -ENOENT;
}

/* The first row of a section, or NULL. */
static struct value *
conf_section_find(const struct conf *c, const char *section)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->rows[i].section, section) == 0)
			return &c->values[i];
	return NULL;
}

static void
conf_value_clear(struct value *v)
{
	if (v->where == at_default)
		return;
	free(v->raw);
	free(v->where);
}

static int
conf_value_set(struct conf *c, size_t at, const char *raw, const char *where,
    struct err *err)
{
	const struct conf_row *row = &c->rows[at];
	struct value *v = &c->values[at];
	union conf_number as = v->as;
	char want[CONF_WANT_BYTES];

	/* conf_render must reproduce the value on one line. In a file a blank
	 * and a ';' begin a comment, and every value follows a blank. Messages
	 * carry UTF-8 only. */
	if (raw[utf8_check(raw, strlen(raw))] != '\0')
		return err_set(err, -EILSEQ, "%s: %s.%s is not UTF-8", where,
		    row->section, row->key);
	for (const char *p = raw; *p != '\0'; p++)
		if (iscntrl((unsigned char)*p) ||
		    (*p == ';' && (p == raw || isspace((unsigned char)p[-1]))))
			return err_set(err, -EINVAL,
			    "%s: %s.%s contains a control character, or ';' "
			    "after a blank, which would start a comment",
			    where, row->section, row->key);
	if (conf_type_read(row, raw, &as, want) < 0) {
		err_say(err, "%s: %s.%s = %.80s: expected %s", where,
		    row->section, row->key, raw[0] == '\0' ? "(empty)" : raw,
		    want);
		return -EINVAL;
	}
	conf_value_clear(v);
	v->as = as;
	v->raw = where == at_default ? (char *)(uintptr_t)raw : xstrdup(raw);
	v->where = where == at_default ? at_default : xstrdup(where);
	return 0;
}

static struct conf *
conf_new(const struct conf_row *rows)
{
	struct conf *c = xcalloc(1, sizeof(*c));
	struct err err;

	c->rows = rows;
	while (rows[c->count].key != NULL)
		c->count++;
	c->values = xcalloc(c->count + 1, sizeof(*c->values));
	for (size_t i = 0; i < c->count; i++) {
		int rc = 0;

		if (rows[i].fallback != NULL)
			rc = conf_value_set(c, i, rows[i].fallback, at_default,
			    &err);
		assert(rc == 0); /* a row whose default it refuses */
	}
	return c;
}

void
conf_free(struct conf *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->count; i++) {
		conf_value_clear(&c->values[i]);
		free(c->values[i].section_where);
	}
	free(c->values);
	free(c->path);
	free(c);
}

/* List the names of all sections, or all keys of one, for an error text. */
static void
conf_names_list(const struct conf_row *rows, const char *section, char *ret,
    size_t cap_bytes)
{
	const char *last = NULL;
	size_t len = 0;

	ret[0] = '\0';
	for (; rows->key != NULL && len < cap_bytes; rows++) {
		const char *name = section == NULL ? rows->section : rows->key;

		if (section != NULL && strcmp(rows->section, section) != 0)
			continue;
		if (section == NULL && last != NULL && strcmp(last, name) == 0)
			continue;
		len += (size_t)snprintf(ret + len, cap_bytes - len, "%s%s",
		    last == NULL ? "" : " ", name);
		last = name;
	}
}

/* 1 when name is "section.key". */
static int
conf_removed_is(const char *name, const char *section, const char *key)
{
	size_t len = strlen(section);

	return strncmp(name, section, len) == 0 && name[len] == '.' &&
	    strcmp(name + len + 1, key) == 0;
}

/* Say why a section, or a key of it, is not one of ours. */
static void
conf_unknown(const struct conf_row *rows, const char *where,
    const char *section, const char *key, struct err *err)
{
	char names[512];
	int known = 0;
	const struct conf_row *r;

	for (r = rows; r->key != NULL; r++)
		known |= strcmp(r->section, section) == 0;
	for (; r->section != NULL; r++)
		if (conf_removed_is(r->section, section, key)) {
			err_say(err, "%s: %s was removed: %s", where,
			    r->section, r->text);
			return;
		}
	if (known) {
		conf_names_list(rows, section, names, sizeof(names));
		err_say(err, "%s: unknown key %.80s in [%s]: expected %s",
		    where, key, section, names);
		return;
	}
	conf_names_list(rows, NULL, names, sizeof(names));
	if (section[0] == '\0')
		err_say(err, "%s: key %.80s before any section: expected %s",
		    where, key, names);
	else
		err_say(err, "%s: unknown section [%.80s]: expected %s", where,
		    section, names);
}

static int
conf_handler_cb(void *arg, const char *section, const char *key,
    const char *raw)
{
	struct parse *p = arg;
	char *where;
	long at;

	if (p->failed)
		return 0;
	where = xasprintf("%s:%d", p->path, p->line);
	at = conf_row_find(p->c->rows, section, key);
	p->failed = 1;
	if (at < 0)
		conf_unknown(p->c->rows, where, section, key, p->err);
	else if (p->c->values[at].given)
		err_say(p->err, "%s: %s.%s is given twice, first at %s", where,
		    section, key, p->c->values[at].where);
	else if (conf_value_set(p->c, (size_t)at, raw, where, p->err) == 0)
		p->failed = 0;
	if (!p->failed)
		p->c->values[at].given = 1;
	free(where);
	return !p->failed;
}

/* A section line marks its rows, so that an empty section counts too. */
static void
conf_see_section(struct parse *p, const char *line, size_t len_bytes)
{
	char name[64], where[PATH_MAX];
	const char *from = line, *end;
	struct value *first;

	while (from < line + len_bytes && (*from == ' ' || *from == '\t'))
		from++;
	if (from == line + len_bytes || *from != '[')
		return;
	end = memchr(from, ']', (size_t)(line + len_bytes - from));
	if (end == NULL)
		return; /* inih refuses it */
	snprintf(name, sizeof(name), "%.*s", (int)(end - from - 1), from + 1);
	first = conf_section_find(p->c, name);
	snprintf(where, sizeof(where), "%s:%d", p->path, p->line);
	if (first != NULL) {
		if (first->section_where == NULL)
			first->section_where = xstrdup(where);
		return;
	}
	p->failed = 1;
	conf_unknown(p->c->rows, where, name, "", p->err);
}

/* inih's reader, like fgets on the text. */
static char *
conf_reader_cb(char *line, int cap, void *arg)
{
	struct parse *p = arg;
	size_t n = strcspn(p->next, "\n");

	if (p->failed || *p->next == '\0')
		return NULL;
	p->line++;
	if (n + 2 > (size_t)cap) {
		err_say(p->err, "%s:%d: the line is longer than %d characters",
		    p->path, p->line, cap - 2);
		p->failed = 1;
		return NULL;
	}
	conf_see_section(p, p->next, n);
	if (p->failed)
		return NULL;
	memcpy(line, p->next, n);
	line[n] = '\n';
	line[n + 1] = '\0';
	p->next += n + (p->next[n] == '\n');
	return line;
}

/* Comments too: the whole text is stored, and sent to a head. */
static int
conf_encoding_check(const char *path, const char *text, struct err *err)
{
	const char *bad = text + utf8_check(text, strlen(text)), *begin = text;
	int line = 1, column = 1;

	if (*bad == '\0')
		return 0;
	for (const char *p = text; p < bad; p++)
		if (*p == '\n') {
			line++;
			begin = p + 1;
		}
	for (const char *p = begin; p < bad; p++)
		column += ((unsigned char)*p & 0xc0) != 0x80;
	return err_set(err, -EILSEQ,
	    "%s:%d:%d: byte 0x%02x is not UTF-8: save the file in that "
	    "encoding",
	    path, line, column, (unsigned char)*bad);
}

int
conf_parse(const struct conf_row *rows, const char *path, const char *text,
    struct conf **ret, struct err *err)
{
	static const char mark[] = "\xef\xbb\xbf"; /* inih skips it too */
	size_t skip = strncmp(text, mark, 3) == 0 ? 3 : 0;
	struct parse p = { .path = path, .next = text + skip, .err = err };
	int rc = conf_encoding_check(path, text + skip, err);

	if (rc < 0)
		return rc;
	p.c = conf_new(rows);
	p.c->path = xstrdup(path);
	/* inih's settings are globals; every caller sets the same ones. */
	ini_use_stack = false;
	ini_max_line = LINE_BYTES_MAX;
	ini_initial_alloc = LINE_BYTES_MAX;
	ini_allow_multiline = false;
	ini_stop_on_first_error = true;
	rc = ini_parse_stream(conf_reader_cb, &p, conf_handler_cb, &p);
	if (rc > 0 && !p.failed) {
		err_say(err,
		    "%s:%d: expected [section], key = value or a comment", path,
		    rc);
		p.failed = 1;
	}
	if (rc < 0 && !p.failed) {
		err_say(err, "%s: out of memory", path);
		p.failed = 1;
	}
	rc = p.failed ? -EINVAL : 0;
	for (size_t i = 0; rc == 0 && i < p.c->count; i++)
		if (p.c->values[i].raw == NULL)
			rc = err_set(err, -EINVAL, "%s: %s.%s is missing: %s",
			    path, rows[i].section, rows[i].key, rows[i].text);
	if (rc < 0) {
		conf_free(p.c);
		return rc;
	}
	*ret = p.c; /* handed over */
	return 0;
}

int
conf_load(const struct conf_row *rows, const char *path, struct conf **ret,
    struct err *err)
{
	char *text;
	size_t len;
	int rc = file_read(path, FILE_BYTES_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	if (strlen(text) < len) {
		int line = 1;

		for (const char *p = text; *p != '\0'; p++)
			line += *p == '\n';
		err_say(err, "%s:%d: file contains a NUL byte", path, line);
		free(text);
		return -EILSEQ;
	}
	rc = conf_parse(rows, path, text, ret, err);
	free(text);
	return rc;
}

int
conf_set(struct conf *c, const char *section, const char *key,
    const char *value, const char *from, struct err *err)
{
	long at = conf_row_find(c->rows, section, key);
	struct value *first;
	int rc;

	if (at < 0) {
		conf_unknown(c->rows, from, section, key, err);
		return -EINVAL;
	}
	rc = conf_value_set(c, (size_t)at, value, from, err);
	if (rc < 0)
		return rc;
	c->values[at].given = 1;
	first = conf_section_find(c, section);
	if (first->section_where == NULL)
		first->section_where = xstrdup(from);
	return 0;
}

void
conf_unset(struct conf *c, const char *section, const char *key)
{
	long at = conf_row_find(c->rows, section, key);
	struct err err;

	assert(at >= 0 && c->rows[at].fallback != NULL);
	if (conf_value_set(c, (size_t)at, c->rows[at].fallback, at_default,
		&err) == 0)
		c->values[at].given = 0;
}

int
conf_override(struct conf *c, const char *text, const char *from,
    struct err *err)
{
	const char *dot = strchr(text, '.');
	const char *equal = strchr(text, '=');
	char *section, *key;
	int rc;

	if (dot == NULL || equal == NULL || dot == text || equal <= dot + 1)
		return err_set(err, -EINVAL,
		    "%s: %.80s: expected section.key=value", from, text);
	section = xstrndup(text, (size_t)(dot - text));
	key = xstrndup(dot + 1, (size_t)(equal - dot - 1));
	rc = conf_set(c, section, key, equal + 1, from, err);
	free(section);
	free(key);
	return rc;
}

struct conf *
conf_dup(const struct conf *c)
{
	struct conf *copy = xcalloc(1, sizeof(*copy));

	*copy = *c;
	copy->path = xstrdup(c->path);
	copy->values = xcalloc(c->count + 1, sizeof(*copy->values));
	for (size_t i = 0; i < c->count; i++) {
		copy->values[i] = c->values[i];
		if (c->values[i].section_where != NULL)
			copy->values[i].section_where = xstrdup(
			    c->values[i].section_where);
		if (c->values[i].where == at_default)
			continue;
		copy->values[i].raw = xstrdup(c->values[i].raw);
		copy->values[i].where = xstrdup(c->values[i].where);
	}
	return copy;
}

/* The value of a row that must exist; type CONF_TYPE_MAX: any. */
static const struct value *
conf_value_get(const struct conf *c, const char *section, const char *key,
    enum conf_type type)
{
	long at = conf_row_find(c->rows, section, key);

	assert(at >= 0);
	assert(type == CONF_TYPE_MAX || c->rows[at].type == type);
	return &c->values[at];
}

const char *
conf_string(const struct conf *c, const char *section, const char *key)
{
	return conf_value_get(c, section, key, CONF_TYPE_MAX)->raw;
}

int
conf_bool(const struct conf *c, const char *section, const char *key)
{
	return (int)conf_value_get(c, section, key, CONF_BOOL)->as.i;
}

int64_t
conf_int(const struct conf *c, const char *section, const char *key)
{
	return conf_value_get(c, section, key, CONF_INT)->as.i;
}

double
conf_real(const struct conf *c, const char *section, const char *key)
{
	return conf_value_get(c, section, key, CONF_REAL)->as.r;
}

uint64_t
conf_bytes(const struct conf *c, const char *section, const char *key)
{
	return conf_value_get(c, section, key, CONF_BYTES)->as.u;
}

uint64_t
conf_span_ns(const struct conf *c, const char *section, const char *key)
{
	return conf_value_get(c, section, key, CONF_SPAN)->as.u;
}

int
conf_is(const struct conf *c, const char *section, const char *key,
    const char *word)
{
	const struct value *v = conf_value_get(c, section, key, CONF_CHOICE);
	char want[CONF_WANT_BYTES];
	union conf_number as;

	/* A word that the option does not have is a bug of ours. */
	assert(conf_type_read(&c->rows[v - c->values], word, &as, want) == 0);
	return strcmp(v->raw, word) == 0;
}

int
conf_choice(const struct conf *c, const char *section, const char *key,
    const void *rows, size_t count, size_t row_bytes)
{
	const struct value *v = conf_value_get(c, section, key, CONF_CHOICE);
	const char *allowed = c->rows[v - c->values].allowed;
	char word[64];

	while (*allowed != '\0') {
		size_t bytes = strcspn(allowed, "|");

		snprintf(word, sizeof(word), "%.*s", (int)bytes, allowed);
		assert(str_find(rows, count, row_bytes, word) >= 0);
		allowed += bytes + (allowed[bytes] == '|');
	}
	return str_find(rows, count, row_bytes, v->raw);
}

int
conf_given(const struct conf *c, const char *section, const char *key)
{
	return conf_value_get(c, section, key, CONF_TYPE_MAX)->given;
}

const char *
conf_where(const struct conf *c, const char *section, const char *key)
{
	return conf_value_get(c, section, key, CONF_TYPE_MAX)->where;
}

const char *
conf_section_where(const struct conf *c, const char *section)
{
	const struct value *first = conf_section_find(c, section);

	return first != NULL ? first->section_where : NULL;
}

const char *
conf_path(const struct conf *c)
{
	return c->path;
}

int
conf_has_section(const struct conf *c, const char *section)
{
	return conf_section_where(c, section) != NULL;
}

char *
conf_render(const struct conf *c)
{
	struct strbuf sb = { 0 };

	strbuf_add(&sb, "", 0);
	for (size_t i = 0; i < c->count; i++) {
		if (conf_section_starts(c->rows, i))
			strbuf_addf(&sb, "%s[%s]\n", i == 0 ? "" : "\n",
			    c->rows[i].section);
		strbuf_addf(&sb, "%s = %s\n", c->rows[i].key, c->values[i].raw);
	}
	return sb.text;
}

char *
conf_render_given(const struct conf *c)
{
	struct strbuf sb = { 0 };

	strbuf_add(&sb, "", 0);
	for (size_t i = 0; i < c->count; i++) {
		const struct value *v = &c->values[i];

		if (!conf_has_section(c, c->rows[i].section))
			continue;
		if (conf_section_starts(c->rows, i))
			strbuf_addf(&sb, "%s[%s]\n",
			    sb.len_bytes == 0 ? "" : "\n", c->rows[i].section);
		strbuf_addf(&sb, "%s%s = %s\n", v->given ? "" : "# ",
		    c->rows[i].key, v->raw);
	}
	return sb.text;
}
