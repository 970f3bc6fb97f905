/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/pattern/vary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"

/* "section.key" in two. */
static void
key_split(struct vary *v, char *word)
{
	char *dot = word != NULL ? strchr(word, '.') : NULL;

	v->key = word;
	if (dot == NULL)
		return;
	*dot = '\0';
	v->section = word;
	v->key = dot + 1;
}

int
vary_parse(const char *text, struct vary *ret, struct err *err)
{
	struct vary v = { .text = xstrdup(text) };
	char *save = NULL, *word = strtok_r(v.text, " \t", &save);
	int rc = 0;

	key_split(&v, word);
	while (rc == 0 && word != NULL) {
		word = strtok_r(NULL, " \t", &save);
		if (word != NULL && v.count == VARY_MAX)
			rc = -EINVAL;
		else if (word != NULL)
			v.values[v.count++] = word;
	}
	if (rc < 0 || (v.key != NULL && v.count == 0)) {
		err_say(err,
		    "measure.vary = %.80s: allowed is an option and 1 to %d "
		    "values, with blanks between, as rsg 0.05 0.2 or "
		    "allreduce.form flat hierarchical",
		    text, VARY_MAX);
		vary_clear(&v);
		rc = -EINVAL;
	}
	*ret = v; /* handed over */
	return rc;
}

int
vary_is_of(const struct vary *v, const char *section)
{
	return v->count > 0 &&
	    (v->section == NULL || strcmp(v->section, section) == 0);
}

void
vary_clear(struct vary *v)
{
	free(v->text);
	memset(v, 0, sizeof(*v));
}
