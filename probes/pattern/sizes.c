/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/pattern/sizes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/plan/plan.h"

#define ALLOWED "allowed is a list as 4,64K or a sweep as 4K..64M x4"

static int
refuse(const char *text, struct err *err)
{
	return err_set(err, -EINVAL, "measure.sizes = %.80s: " ALLOWED, text);
}

static int
size_of(const char *text, uint64_t *ret)
{
	return str_to_bytes(text, ret) < 0 || *ret == 0 ? -EINVAL : 0;
}

/* "4K..64M x4", cut into its three parts; without a factor it is 2. */
static int
sweep(char *text, uint64_t ret[SIZES_MAX], int *ret_count)
{
	char *dots = strstr(text, ".."), *x = strchr(dots, 'x');
	uint64_t lo, hi;
	int64_t factor = 2;

	*dots = '\0';
	if (x != NULL) {
		if (str_to_int(x + 1, 2, 1024, &factor) < 0)
			return -EINVAL;
		while (x > dots + 2 && x[-1] == ' ')
			x--;
		*x = '\0';
	}
	if (size_of(text, &lo) < 0 || size_of(dots + 2, &hi) < 0 || lo > hi)
		return -EINVAL;
	for (*ret_count = 0; lo <= hi; lo *= (uint64_t)factor) {
		if (*ret_count == SIZES_MAX)
			return -EINVAL;
		ret[(*ret_count)++] = lo;
	}
	return 0;
}

static int
list(const char *text, uint64_t ret[SIZES_MAX], int *ret_count)
{
	size_t count = 0;
	char **words = str_list_parse(text, &count);
	int rc = words == NULL || count > SIZES_MAX ? -EINVAL : 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = size_of(words[i], &ret[i]);
	str_list_free(words);
	*ret_count = (int)count;
	return rc;
}

int
sizes_parse(const char *text, uint64_t ret[SIZES_MAX], int *ret_count,
    struct err *err)
{
	char *copy = xstrdup(text);
	int rc = 0;

	*ret_count = 0;
	if (strstr(copy, "..") != NULL)
		rc = sweep(copy, ret, ret_count);
	else if (text[strspn(text, " ")] != '\0')
		rc = list(copy, ret, ret_count);
	free(copy);
	return rc < 0 ? refuse(text, err) : 0;
}

/* The option that is a probe's message size; the others have none. */
static const struct {
	const char *section, *key;
} keys[] = {
	{ "group", "count" },
	{ "stripe", "bytes" },
	{ "self", "bytes" },
	{ "binding", "bytes" },
	{ "pairs", "bytes" },
	{ "collective", "count" },
	{ "neighbor", "bytes" },
	{ "multipath", "bytes" },
};

static const char *
key_of(const struct conf *c, const char *section)
{
	if (strcmp(section, "stripe") == 0 &&
	    conf_int(c, "stripe", "count") > 0)
		return "count";
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(keys[i].section, section) == 0)
			return keys[i].key;
	return NULL;
}

int
sizes_set(struct conf *c, const char *section, uint64_t bytes, struct err *err)
{
	const char *key = key_of(c, section), *type = "byte";
	unsigned element = 1;
	char text[32];

	if (key == NULL)
		return err_set(err, -EINVAL,
		    "%s: measure.sizes: %s has no message size: allowed is "
		    "measure.sizes without it",
		    conf_where(c, "measure", "sizes"), section);
	if (strcmp(key, "count") == 0) {
		type = conf_string(c, section, "type");
		element = plan_types[plan_type_find(type)].bytes;
	}
	if (bytes % element != 0)
		return err_set(err, -EINVAL,
		    "%s: measure.sizes: %llu bytes: allowed are whole elements "
		    "of %s, %u bytes each",
		    conf_where(c, "measure", "sizes"),
		    (unsigned long long)bytes, type, element);
	snprintf(text, sizeof(text), "%llu",
	    (unsigned long long)(bytes / element));
	return conf_set(c, section, key, text, "measure.sizes", err);
}
