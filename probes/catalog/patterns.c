/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patterns.c - the table of builders. No builder calls it.
 */
#include "probes/catalog/patterns.h"

#include <errno.h>
#include <string.h>

#include "probes/pattern/builders.h"

#define PATTERN_ROW(name) &pattern_##name,
const struct pattern *const patterns[] = { PATTERN_ROWS(PATTERN_ROW) NULL };

const struct pattern *
patterns_find(const char *name)
{
	for (size_t i = 0; patterns[i] != NULL; i++)
		if (strcmp(patterns[i]->name, name) == 0)
			return patterns[i];
	return NULL;
}

int
patterns_plan(const char *name, char *const *words, int count, uint32_t ranks,
    struct plan **ret, struct err *err)
{
	const struct pattern *pt = patterns_find(name);
	struct conf *c;
	int rc;

	if (pt == NULL)
		return err_set(err, -EINVAL,
		    "unknown probe %.80s; see coalmine-probe list", name);
	rc = pattern_options(pt, words, count, &c, err);
	if (rc < 0)
		return rc;
	rc = pattern_build(pt, c, &(struct pattern_site){ .ranks = ranks }, ret,
	    err);
	conf_free(c);
	return rc;
}
