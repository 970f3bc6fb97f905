/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builders.c - what all builders do alike with their options: transports, ranks
 * that suffice, the title, and the refusal of a value.
 */
#include "probes/pattern/builders.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "schema/options.h"

#define TRANSFERS_MAX (1ULL << 25) /* 1.5 GiB of them */

int
pattern_refuse(const struct conf *c, const char *section, const char *key,
    struct err *err, const char *fmt, ...)
{
	va_list ap;
	struct err what;

	va_start(ap, fmt);
	err_vsay(&what, fmt, ap);
	va_end(ap);
	return err_set(err, -EINVAL, "%s: %s.%s = %.80s: expected %s",
	    conf_where(c, section, key), section, key,
	    conf_string(c, section, key), what.text);
}

int
pattern_ranks(const struct conf *c, const char *section, const char *key,
    uint64_t need, uint32_t *ranks, struct err *err)
{
	if (*ranks != 0 && need > *ranks)
		return pattern_refuse(c, section, key, err,
		    "a value for %u ranks; this one needs %llu", *ranks,
		    (unsigned long long)need);
	if (*ranks > PLAN_RANKS_MAX)
		return err_set(err, -EINVAL,
		    "%u ranks: expected at most %d; use fewer nodes, or fewer "
		    "ranks per node",
		    *ranks, PLAN_RANKS_MAX);
	if (need > PLAN_RANKS_MAX)
		return pattern_refuse(c, section, key, err,
		    "a value for at most %d ranks; this one needs %llu",
		    PLAN_RANKS_MAX, (unsigned long long)need);
	if (*ranks == 0)
		*ranks = (uint32_t)need;
	return 0;
}

int
pattern_transfers(const struct conf *c, const char *section, const char *key,
    uint64_t transfers, struct err *err)
{
	if (transfers <= TRANSFERS_MAX)
		return 0;
	return pattern_refuse(c, section, key, err,
	    "at most %llu transfers; with this many ranks the plan has %llu",
	    TRANSFERS_MAX, (unsigned long long)transfers);
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
		    "one transport, or %u separated by commas", count);
	}
	for (uint32_t i = 0; i < count; i++)
		ret[i] = (uint8_t)STR_FIND(plan_vias,
		    words[given == 1 ? 0 : i]);
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

struct plan *
pattern_begin(const struct conf *c, const char *section, uint32_t ranks)
{
	char *title = pattern_title(c, section);
	struct plan *p = plan_new(ranks, title);

	free(title);
	return p;
}
