/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - one option in several values, the message size in several sizes,
 * and a probe for each of them.
 */
#include "probes/catalog/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/catalog/patterns.h"

static int
sweep_size_of(const char *text, uint64_t *ret)
{
	return str_to_bytes(text, ret) < 0 || *ret == 0 ? -EINVAL : 0;
}

int
sizes_parse(const char *text, uint64_t ret[SIZES_MAX], int *ret_count,
    struct err *err)
{
	char *copy = xstrdup(text), *dots = strstr(copy, ".."), *x, **words;
	uint64_t lo = 0, hi = 0;
	int64_t factor = 2;
	size_t count = 0;
	int rc = 0;

	if (dots != NULL) { /* "4K..64M x4"; without a factor it is 2 */
		*dots = '\0';
		x = strchr(dots + 2, 'x');
		if (x != NULL) {
			rc = str_to_int(x + 1, 2, 1024, &factor);
			while (x > dots + 2 && x[-1] == ' ')
				x--;
			*x = '\0';
		}
		if (rc < 0 || sweep_size_of(copy, &lo) < 0 ||
		    sweep_size_of(dots + 2, &hi) < 0 || lo > hi)
			rc = -EINVAL;
		for (; rc == 0 && lo <= hi; lo *= (uint64_t)factor) {
			if (count == SIZES_MAX)
				rc = -EINVAL;
			else
				ret[count++] = lo;
		}
	} else if (text[strspn(text, " ")] != '\0') {
		words = str_list_parse(copy, &count);
		rc = words == NULL || count > SIZES_MAX ? -EINVAL : 0;
		for (size_t i = 0; rc == 0 && i < count; i++)
			rc = sweep_size_of(words[i], &ret[i]);
		str_list_free(words);
	}
	free(copy);
	if (rc < 0)
		return err_set(err, -EINVAL,
		    "measure.sizes = %.80s: expected a list such as 4,64K or a "
		    "sweep such as 4K..64M x4",
		    text);
	*ret_count = (int)count;
	return 0;
}

/* The option that is a probe's message size; the others have none. */
static const struct {
	const char *section, *key;
} size_keys[] = {
	{ "group", "count" },
	{ "stripe", "bytes" },
	{ "self", "bytes" },
	{ "binding", "bytes" },
	{ "pairs", "bytes" },
	{ "collective", "count" },
	{ "neighbor", "bytes" },
	{ "multipath", "bytes" },
};

/* Set the message size of the probe of that section: bytes if it counts bytes,
 * elements of its type if it counts elements. Return -EINVAL and the reason. */
static int
sweep_sizes_set(struct conf *c, const char *section, uint64_t bytes,
    struct err *err)
{
	const char *key = NULL, *type = "byte";
	unsigned element = 1;
	char text[32];

	for (size_t i = 0; i < ARRAY_LEN(size_keys); i++)
		if (strcmp(size_keys[i].section, section) == 0)
			key = size_keys[i].key;
	if (strcmp(section, "stripe") == 0 && conf_int(c, section, "count") > 0)
		key = "count";
	if (key == NULL)
		return err_set(err, -EINVAL,
		    "%s: measure.sizes: [%s] has no option for a message size: "
		    "remove measure.sizes",
		    conf_where(c, "measure", "sizes"), section);
	if (strcmp(key, "count") == 0) {
		type = conf_string(c, section, "type");
		element = plan_types[STR_FIND(plan_types, type)].bytes;
	}
	if (bytes % element != 0)
		return err_set(err, -EINVAL,
		    "%s: measure.sizes: %llu bytes: expected whole elements of "
		    "%s (%u bytes)",
		    conf_where(c, "measure", "sizes"),
		    (unsigned long long)bytes, type, element);
	snprintf(text, sizeof(text), "%llu",
	    (unsigned long long)(bytes / element));
	return conf_set(c, section, key, text, "measure.sizes", err);
}

/* An option and at least one value, with blanks between, or an empty text.
 * -EINVAL and why, and *ret is empty. The caller ends *ret with vary_clear. */
static int
sweep_vary_parse(const char *text, struct vary *ret, struct err *err)
{
	struct vary v = { .text = xstrdup(text) };
	char *save = NULL, *word = strtok_r(v.text, " \t", &save);
	char *dot = word != NULL ? strchr(word, '.') : NULL;
	int rc = 0;

	v.key = word;
	if (dot != NULL) { /* "section.key" in two */
		*dot = '\0';
		v.section = word;
		v.key = dot + 1;
	}
	while (rc == 0 && word != NULL) {
		word = strtok_r(NULL, " \t", &save);
		if (word != NULL && v.count == VARY_MAX)
			rc = -EINVAL;
		else if (word != NULL)
			v.values[v.count++] = word;
	}
	if (rc < 0 || (v.key != NULL && v.count == 0)) {
		err_say(err,
		    "measure.vary = %.80s: expected an option and 1 to %d "
		    "values, separated by blanks, such as rsg 0.05 0.2 or "
		    "allreduce.form flat hierarchical",
		    text, VARY_MAX);
		vary_clear(&v);
		rc = -EINVAL;
	}
	*ret = v; /* handed over */
	return rc;
}

/* Is it an option of the probe with this section? */
static int
sweep_vary_is_of(const struct vary *v, const char *section)
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

/* In its own size, or in each of a sweep. */
static int
sweep_each_size(struct conf *c, const struct pattern *pt, sweep_cb use,
    void *arg, struct err *err)
{
	uint64_t sizes[SIZES_MAX];
	int count, rc;

	rc = sizes_parse(conf_string(c, "measure", "sizes"), sizes, &count,
	    err);
	if (rc == 0 && count == 0)
		use(pt, arg);
	for (int i = 0; rc == 0 && i < count; i++) {
		rc = sweep_sizes_set(c, pt->name, sizes[i], err);
		if (rc == 0)
			use(pt, arg);
	}
	return rc;
}

int
sweep_each(struct conf *c, const struct pattern *pt, sweep_cb use, void *arg,
    struct err *err)
{
	const char *text = conf_string(c, "measure", "vary");
	struct vary v;
	int rc = sweep_vary_parse(text, &v, err);

	if (rc == 0 && v.section != NULL && patterns_find(v.section) == NULL) {
		err_say(err, "measure.vary = %.80s: unknown probe %.40s", text,
		    v.section);
		rc = -EINVAL;
	}
	if (rc == 0 && !sweep_vary_is_of(&v, pt->name))
		rc = sweep_each_size(c, pt, use, arg, err);
	for (size_t i = 0;
	     rc == 0 && sweep_vary_is_of(&v, pt->name) && i < v.count; i++) {
		rc = conf_set(c, pt->name, v.key, v.values[i], "measure.vary",
		    err);
		if (rc == 0)
			rc = sweep_each_size(c, pt, use, arg, err);
	}
	vary_clear(&v);
	return rc;
}
