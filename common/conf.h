/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h - INI files whose keys are rows of a table.
 *
 * A row gives a key its type, range, default, unit and sentence; the parser,
 * the help text, the default file and the manual read the same rows. Unknown
 * sections and keys, keys given twice and values out of range are errors of the
 * form "file:line: the error and the expected value".
 */
#ifndef COMMON_CONF_H
#define COMMON_CONF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

enum conf_type {
	CONF_STRING,   /* min..max: length in bytes; "" only when min is 0 */
	CONF_BOOL,     /* yes no true false on off 1 0 */
	CONF_INT,      /* min..max; with unit "elements" 4K and 1M too */
	CONF_REAL,     /* min..max; "5%" is 0.05 */
	CONF_BYTES,    /* 4K 1M; min..max in bytes */
	CONF_SPAN,     /* 10s 5m 250ms; min..max in seconds */
	CONF_CHOICE,   /* one of allowed, "a|b|c" */
	CONF_CHOICES,  /* a list of some of allowed, order kept */
	CONF_HOSTLIST, /* common/hostlist.h */
	CONF_ADDRESS,  /* host:port, [v6]:port; min 0: or ""; 0 and 1: or
			  ":port", every address of the host; 3: a list */
	CONF_URLS,     /* a list of http:// and https:// addresses */
	CONF_NETS,     /* a list of networks as 10.1.0.0/16 or fd00::/8 */
	CONF_TYPE_MAX
};

struct conf_row {
	const char *section;
	const char *key;
	enum conf_type type;
	double min, max;      /* inclusive; both 0: no limit */
	const char *allowed;  /* CONF_CHOICE and CONF_CHOICES, else NULL */
	const char *fallback; /* default as written in a file; NULL: must be
				 given */
	const char *unit;     /* "s", "bytes", "1", ... or "" */
	const char *text;     /* one sentence for people */
};

/* A table ends with a row whose key is NULL. If that row has a section, it and
 * those behind it, up to one without a section, are options that were removed:
 * section is "section.key", text names the replacement. */
struct conf;

/* Read path, or text (then path is only its name in messages). On failure
 * -EINVAL or -errno, and why holds the message, without newline. The caller
 * ends *ret with conf_free. */
int conf_load(const struct conf_row *rows, const char *path, struct conf **ret,
    struct err *err);
int conf_parse(const struct conf_row *rows, const char *path, const char *text,
    struct conf **ret, struct err *err);
/* Override one value; from names the source in messages. */
int conf_set(struct conf *c, const char *section, const char *key,
    const char *value, const char *from, struct err *err);
/* As if it had never been given. */
void conf_unset(struct conf *c, const char *section, const char *key);
/* The same from one text, "section.key=value", as "-o" takes it. */
int conf_override(struct conf *c, const char *text, const char *from,
    struct err *err);
struct conf *conf_dup(const struct conf *c);
void conf_free(struct conf *c); /* NULL is allowed */

/* The row must exist and have the getter's type: anything else is a bug of
 * ours (assert). Strings live as long as c. */
const char *conf_string(const struct conf *c, const char *section,
    const char *key); /* also the raw text of every other type */
int conf_bool(const struct conf *c, const char *section, const char *key);
int64_t conf_int(const struct conf *c, const char *section, const char *key);
double conf_real(const struct conf *c, const char *section, const char *key);
uint64_t conf_bytes(const struct conf *c, const char *section, const char *key);
uint64_t conf_span_ns(const struct conf *c, const char *section,
    const char *key);
/* 1 when a CONF_CHOICE has this one of its words. */
int conf_is(const struct conf *c, const char *section, const char *key,
    const char *word);
/* The index in rows of the word of a CONF_CHOICE: an array of words, or of
 * structures that begin with one, indexed by an enum. It has every word that is
 * allowed (assert), in any order. */
#define CONF_CHOICE_OF(c, section, key, rows)                                  \
	conf_choice(c, section, key, rows, sizeof(rows) / sizeof((rows)[0]),   \
	    sizeof((rows)[0]))
int conf_choice(const struct conf *c, const char *section, const char *key,
    const void *rows, size_t count, size_t row_bytes);
/* 1 when the file (or conf_set) gave the value, 0 when it is the default. */
int conf_given(const struct conf *c, const char *section, const char *key);
/* Return "file:line" of the value, or "default"; for later error texts. */
const char *conf_where(const struct conf *c, const char *section,
    const char *key);
/* Return "file:line" of the section, or NULL if the file does not have it. */
const char *conf_section_where(const struct conf *c, const char *section);
/* 1 when the file has the section at all. */
int conf_has_section(const struct conf *c, const char *section);

/* The whole configuration as INI text, defaults included; caller frees. */
char *conf_render(const struct conf *c);
/* Like conf_render, but without the sections that the file does not have; keys
 * that were not given are comments. Parsing the text gives the same
 * configuration. */
char *conf_render_given(const struct conf *c);
/* Every row commented and equal to its default: the shipped file. */
void conf_print_defaults(const struct conf_row *rows, FILE *to);
/* The rows as an mdoc list, for the manual. */
void conf_print_mdoc(const struct conf_row *rows, FILE *to);

#endif
