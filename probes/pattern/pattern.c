/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/pattern/pattern.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/builders.h"
#include "schema/patterns.h"

#define PATTERN_ROW(name) &pattern_##name,
const struct pattern *const patterns[] = { PATTERN_ROWS(PATTERN_ROW) NULL };

const struct pattern *
pattern_find(const char *name)
{
	for (size_t i = 0; patterns[i] != NULL; i++)
		if (strcmp(patterns[i]->name, name) == 0)
			return patterns[i];
	return NULL;
}

static int
has_key(const char *section, const char *key)
{
	for (const struct conf_row *row = options_patterns; row->key != NULL;
	     row++)
		if (strcmp(row->section, section) == 0 &&
		    strcmp(row->key, key) == 0)
			return 1;
	return 0;
}

/* Words are the probe's options, or what the engine is asked to do with it. */
static const char *
section_of(const char *section, const char *key)
{
	if (!has_key(section, key) && has_key("measure", key))
		return "measure";
	return section;
}

/* "rail" of "pattern=rail" into c. */
static int
set_word(struct conf *c, const char *section, const char *word, struct err *err)
{
	const char *eq = strchr(word, '=');
	char *key;
	int rc;

	if (eq == NULL || eq == word)
		return err_set(err, -EINVAL,
		    "command line: %.80s: allowed is option=value", word);
	key = xstrndup(word, (size_t)(eq - word));
	rc = conf_set(c, section_of(section, key), key, eq + 1, "command line",
	    err);
	free(key);
	return rc;
}

/* The word before i that sets the same key, or NULL. */
static const char *
word_again(char *const *words, int i)
{
	size_t n = strcspn(words[i], "=");

	for (int k = 0; k < i; k++)
		if (strcspn(words[k], "=") == n &&
		    strncmp(words[k], words[i], n) == 0)
			return words[k];
	return NULL;
}

int
pattern_options(const struct pattern *pt, char *const *words, int count,
    struct conf **ret, struct err *err)
{
	struct conf *c = NULL;
	int rc;

	rc = conf_parse(options_patterns, "command line", "", &c, err);
	for (int i = 0; rc == 0 && i < count; i++) {
		if (word_again(words, i) != NULL) {
			err_say(err,
			    "command line: %s.%.80s: an option is given once",
			    pt->name, words[i]);
			rc = -EINVAL;
		} else {
			rc = set_word(c, pt->name, words[i], err);
		}
	}
	if (rc < 0) {
		conf_free(c);
		return rc;
	}
	*ret = c; /* handed over */
	return 0;
}

/* The option that says how much is sent: the one that was given, or else the
 * first that there is. */
static const char *
size_option(const struct conf *c, const char *section)
{
	static const char *const keys[] = { "bytes", "count", "file" };
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!has_key(section, keys[i]))
			continue;
		if (conf_given(c, section, keys[i]))
			return keys[i];
		if (first == NULL)
			first = keys[i];
	}
	return first;
}

/* Each buffer is within its own bound; all transfers together are counted in
 * 64 bits too, and in JSON, whose numbers have a sign. */
static int
check_volume(const struct conf *c, const struct plan *p, const char *section,
    struct err *err)
{
	uint64_t left = INT64_MAX;

	for (size_t i = 0; i < p->transfers_count; i++) {
		if (p->transfers[i].bytes > left)
			return pattern_refuse(c, section,
			    size_option(c, section), err,
			    "less than 8 EiB in all transfers together");
		left -= p->transfers[i].bytes;
	}
	return 0;
}

int
pattern_build(const struct pattern *pt, const struct conf *c, uint32_t ranks,
    struct plan **ret, struct err *err)
{
	struct plan *p;
	int rc = pt->build(c, ranks, &p, err);

	if (rc < 0)
		return rc;
	rc = check_volume(c, p, pt->name, err);
	if (rc < 0) {
		plan_free(p);
		return rc;
	}
	p->piece_bytes = conf_bytes(c, pt->name, "piece");
	*ret = p; /* handed over */
	return 0;
}

int
pattern_plan(const char *name, char *const *words, int count, uint32_t ranks,
    struct plan **ret, struct err *err)
{
	const struct pattern *pt = pattern_find(name);
	struct conf *c;
	int rc;

	if (pt == NULL)
		return err_set(err, -EINVAL, "%.80s: no such probe", name);
	rc = pattern_options(pt, words, count, &c, err);
	if (rc < 0)
		return rc;
	rc = pattern_build(pt, c, ranks, ret, err);
	conf_free(c);
	return rc;
}

int
pattern_refuse(const struct conf *c, const char *section, const char *key,
    struct err *err, const char *fmt, ...)
{
	va_list ap;
	struct err what;

	va_start(ap, fmt);
	err_vsay(&what, fmt, ap);
	va_end(ap);
	return err_set(err, -EINVAL, "%s: %s.%s = %.80s: allowed is %s",
	    conf_where(c, section, key), section, key,
	    conf_string(c, section, key), what.text);
}

int
pattern_ranks(const struct conf *c, const char *section, const char *key,
    uint64_t need, uint32_t *ranks, struct err *err)
{
	if (*ranks != 0 && need > *ranks)
		return pattern_refuse(c, section, key, err,
		    "what %u ranks can do, but this takes %llu", *ranks,
		    (unsigned long long)need);
	if (need > PLAN_RANKS_MAX)
		return pattern_refuse(c, section, key, err,
		    "what %d ranks can do, but this takes %llu", PLAN_RANKS_MAX,
		    (unsigned long long)need);
	if (*ranks == 0)
		*ranks = (uint32_t)need;
	return 0;
}

int
pattern_vias(const struct conf *c, const char *section, uint32_t count,
    uint8_t *ret, struct err *err)
{
	size_t given = 0;
	char **words = str_list_parse(conf_string(c, section, "via"), &given);

	if (given != 1 && given != count) {
		str_list_free(words);
		return pattern_refuse(c, section, "via", err,
		    "one transport, or %u with commas", count);
	}
	for (uint32_t i = 0; i < count; i++)
		ret[i] = (uint8_t)plan_via_find(words[given == 1 ? 0 : i]);
	str_list_free(words);
	return 0;
}

char *
pattern_title(const struct conf *c, const char *section)
{
	struct strbuf sb = { 0 };

	strbuf_addf(&sb, "%s", section);
	for (const struct conf_row *row = options_patterns; row->key != NULL;
	     row++)
		if (strcmp(row->section, section) == 0 &&
		    strcmp(conf_where(c, section, row->key), "default") != 0)
			strbuf_addf(&sb, " %s=%s", row->key,
			    conf_string(c, section, row->key));
	return sb.text; /* handed over */
}
