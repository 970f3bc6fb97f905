/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h - INI files whose keys are rows of a table.
 *
 * A row gives a key its type, range, default, unit and description. The parser,
 * the help text, the default file and the manual use the same rows. Unknown
 * sections and keys, keys that are set twice and values out of range are errors
 * of the form "FILE:LINE: the error and the expected value".
 */
#ifndef COMMON_CONF_H
#define COMMON_CONF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

/* The type of a value. min and max are the members of the row. */
enum conf_type {
	CONF_STRING,   /* min..max: length in bytes; "" only if min is 0 */
	CONF_BOOL,     /* yes no true false on off 1 0 */
	CONF_INT,      /* min..max; with unit "elements" also 4K and 1M */
	CONF_REAL,     /* min..max; "5%" is 0.05 */
	CONF_BYTES,    /* 4K 1M; min..max in bytes */
	CONF_SPAN,     /* 10s 5m 250ms; min..max in seconds */
	CONF_CHOICE,   /* one of allowed, "a|b|c" */
	CONF_CHOICES,  /* a list of words of allowed, in the given order */
	CONF_HOSTLIST, /* common/hostlist.h */
	/* host:port or [v6]:port; min 0: also ""; min 0 and max 1: also
	 * ":port", every address of the host; max 3: a list. */
	CONF_ADDRESS,
	CONF_URLS, /* a list of http:// and https:// addresses */
	CONF_NETS, /* a list of networks as 10.1.0.0/16 or fd00::/8 */
	CONF_TYPE_MAX
};

/* A key. */
struct conf_row {
	const char *section;
	const char *key;
	enum conf_type type;
	double min, max;     /* inclusive; both 0: no limit */
	const char *allowed; /* CONF_CHOICE and CONF_CHOICES, else NULL */
	/* Default, as a file would have it; NULL: the key is required. */
	const char *fallback;
	const char *unit; /* "s", "bytes", "1", ... or "" */
	const char *text; /* one sentence for people */
};

/* A table ends with a row whose key is NULL. If that row has a section, it and
 * the rows behind it, up to a row without a section, are options that were
 * removed: section is "section.key", and text names the replacement. */
struct conf;

/* Parse the file at path (conf_load), or a text; then path is only its name in
 * error messages. Return 0 and the configuration, which the caller frees with
 * conf_free; or -EINVAL or -errno with the reason in err. */
int conf_load(const struct conf_row *rows, const char *path, struct conf **ret,
    struct err *err);
int conf_parse(const struct conf_row *rows, const char *path, const char *text,
    struct conf **ret, struct err *err);
/* Override one value. from: name of the source, for error messages. Return 0,
 * or -EINVAL with the reason in err. */
int conf_set(struct conf *c, const char *section, const char *key,
    const char *value, const char *from, struct err *err);
/* Restore the default of a key, as if it had not been set. */
void conf_unset(struct conf *c, const char *section, const char *key);
/* Override one value as conf_set does, from one text "section.key=value" as in
 * option -o. */
int conf_override(struct conf *c, const char *text, const char *from,
    struct err *err);
/* Return a copy, which the caller frees. */
struct conf *conf_dup(const struct conf *c);
void conf_free(struct conf *c); /* c can be NULL */

/* Return a value. The row must exist and have the type of the function:
 * anything else is a bug (assert). Strings are valid as long as c. */
const char *conf_string(const struct conf *c, const char *section,
    const char *key); /* also for the text of every other type */
int conf_bool(const struct conf *c, const char *section, const char *key);
int64_t conf_int(const struct conf *c, const char *section, const char *key);
double conf_real(const struct conf *c, const char *section, const char *key);
uint64_t conf_bytes(const struct conf *c, const char *section, const char *key);
uint64_t conf_span_ns(const struct conf *c, const char *section,
    const char *key);
/* Return 1 if the value of a CONF_CHOICE is this word, 0 if not. */
int conf_is(const struct conf *c, const char *section, const char *key,
    const char *word);
/* Return the index in rows of the value of a CONF_CHOICE. rows: an array of
 * words, or of structures that begin with a word, indexed by an enum. It must
 * contain every valid word (assert), in any order. */
#define CONF_CHOICE_OF(c, section, key, rows)                                  \
	conf_choice(c, section, key, rows, sizeof(rows) / sizeof((rows)[0]),   \
	    sizeof((rows)[0]))
int conf_choice(const struct conf *c, const char *section, const char *key,
    const void *rows, size_t count, size_t row_bytes);
/* Return 1 if the file (or conf_set) has set the value, 0 if it is the
 * default. */
int conf_given(const struct conf *c, const char *section, const char *key);
/* Return "FILE:LINE" of the value, or "default", for error messages. */
const char *conf_where(const struct conf *c, const char *section,
    const char *key);
/* Return "FILE:LINE" of the section, or NULL if the file does not have it. */
const char *conf_section_where(const struct conf *c, const char *section);
/* Return the path of the file, or the name of the text. */
const char *conf_path(const struct conf *c);
/* Return 1 if the file has the section, 0 if not. */
int conf_has_section(const struct conf *c, const char *section);

/* Return the whole configuration as INI text, including defaults; the caller
 * frees it. */
char *conf_render(const struct conf *c);
/* Return the configuration as conf_render does, but without the sections that
 * the file does not have, and with keys that were not set as comments. Parsing
 * the text gives the same configuration. */
char *conf_render_given(const struct conf *c);

#endif
