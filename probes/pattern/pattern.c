/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c - options from words, and what every plan gets after its builder.
 */
#include "probes/pattern/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/builders.h"
#include "schema/options.h"

static int
pattern_has_key(const char *section, const char *key)
{
	for (const struct conf_row *row = options_patterns; row->key != NULL;
	     row++)
		if (strcmp(row->section, section) == 0 &&
		    strcmp(row->key, key) == 0)
			return 1;
	return 0;
}

int
pattern_options(const struct pattern *pt, char *const *words, int count,
    struct conf **ret, struct err *err)
{
	struct conf *c = NULL;
	int rc = conf_parse(options_patterns, "command line", "", &c, err);

	/* "pattern=rail": an option of the probe, or of the measurement. */
	for (int i = 0; rc == 0 && i < count; i++) {
		size_t n = strcspn(words[i], "=");
		const char *section = pt->name;
		char *key;

		for (int k = 0; rc == 0 && k < i; k++)
			if (strcspn(words[k], "=") == n &&
			    strncmp(words[k], words[i], n) == 0)
				rc = err_set(err, -EINVAL,
				    "command line: %s.%.80s is given twice",
				    pt->name, words[i]);
		if (rc == 0 && (n == 0 || words[i][n] == '\0'))
			rc = err_set(err, -EINVAL,
			    "command line: %.80s: expected option=value",
			    words[i]);
		if (rc < 0)
			break;
		key = xstrndup(words[i], n);
		if (!pattern_has_key(section, key) &&
		    pattern_has_key("measure", key))
			section = "measure";
		rc = conf_set(c, section, key, words[i] + n + 1, "command line",
		    err);
		free(key);
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
pattern_size_option(const struct conf *c, const char *section)
{
	static const char *const keys[] = { "bytes", "count", "file" };
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!pattern_has_key(section, keys[i]))
			continue;
		if (conf_given(c, section, keys[i]))
			return keys[i];
		if (first == NULL)
			first = keys[i];
	}
	return first;
}

int
pattern_build(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct plan **ret, struct err *err)
{
	uint64_t left = INT64_MAX;
	struct plan *p;
	int rc = pt->build(c, site, &p, err);

	if (rc < 0)
		return rc;
	/* each buffer is within its own bound; all transfers together are
	 * counted in 64 bits too, and in JSON, whose numbers have a sign */
	for (size_t i = 0; i < p->transfers_count; i++) {
		if (p->transfers[i].bytes > left) {
			plan_free(p);
			return pattern_refuse(c, pt->name,
			    pattern_size_option(c, pt->name), err,
			    "less than 8 EiB in all transfers together");
		}
		left -= p->transfers[i].bytes;
	}
	p->piece_bytes = conf_bytes(c, pt->name, "piece");
	if (!site->keep_auto)
		plan_choose_vias(p, NULL, PLAN_VIA_MPI, PLAN_VIA_MPI);
	*ret = p; /* handed over */
	return 0;
}
