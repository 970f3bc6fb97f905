/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.c - --where and --sort of every list: over the members of its JSON
 * rows, so that they mean the same in tables and in --json.
 */
#include "ctl/lib/arrange.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"

/* A member of a row, or of an object in it: "load", "inventory.cores". */
static const json_t *
arrange_member_of(const json_t *row, const char *name, size_t bytes)
{
	const json_t *v = row;
	char part[OPTS_MEMBER_MAX];

	while (v != NULL && bytes > 0) {
		const char *dot = memchr(name, '.', bytes);
		size_t n = dot != NULL ? (size_t)(dot - name) : bytes;

		snprintf(part, sizeof(part), "%.*s", (int)n, name);
		v = json_object_get(v, part);
		name += n + (dot != NULL);
		bytes -= n + (dot != NULL);
	}
	return v;
}

/* As it is written: a number without more digits than it needs. */
static const char *
arrange_text_of(const json_t *v, char ret[32])
{
	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_boolean(v))
		return json_is_true(v) ? "yes" : "no";
	if (!json_is_number(v))
		return "";
	snprintf(ret, 32, "%.10g", json_number_value(v));
	return ret;
}

/* Members that not every row has. */
static const char *const rare[] = { "what", "text", "pending", "clean_rounds",
	"run", "busy", "alarm", "cause", "error", "leaf" };

/* Return an error that lists the known members unless a row has this member. */
static int
arrange_name_check(const json_t *list, const char *option, const char *name,
    size_t bytes, struct err *err)
{
	struct strbuf names = { 0 };
	const char *key;
	json_t *row, *v;
	size_t i;

	json_array_foreach (list, i, row)
		if (arrange_member_of(row, name, bytes) != NULL)
			return 0;
	for (i = 0; i < ARRAY_LEN(rare); i++)
		if (strncmp(rare[i], name, bytes) == 0 &&
		    rare[i][bytes] == '\0')
			return 0;
	strbuf_add(&names, "", 0);
	json_object_foreach (json_array_get(list, 0), key, v)
		strbuf_addf(&names, "%s%s", names.len_bytes > 0 ? ", " : "",
		    key);
	if (names.len_bytes > 0)
		err_say(err, "--%s: unknown member %.*s: expected one of %s",
		    option, (int)bytes, name, names.text);
	i = names.len_bytes;
	strbuf_clear(&names);
	return i > 0 ? -EINVAL : 0; /* the list is empty */
}

/* Does the member compare with what stands behind "=", "!=", "<" or ">"? */
static int
arrange_fits(const json_t *v, const char *how)
{
	char text[32];
	double than;

	if (*how == '=')
		return fnmatch(how + 1, arrange_text_of(v, text), 0) == 0;
	if (*how == '!')
		return fnmatch(how + 2, arrange_text_of(v, text), 0) != 0;
	than = atof(how + 1);
	if (!json_is_number(v))
		return 0;
	return *how == '<' ? json_number_value(v) < than
			   : json_number_value(v) > than;
}

/* The sort key, and whether the largest comes first; qsort has no argument for
 * it. */
static const char *arrange_by;
static int arrange_down;

/* Numbers by size, texts so that node2 is before node10; without one, last. */
static int
arrange_compare(const void *pa, const void *pb)
{
	const json_t *a = arrange_member_of(*(json_t *const *)pa, arrange_by,
	    strlen(arrange_by));
	const json_t *b = arrange_member_of(*(json_t *const *)pb, arrange_by,
	    strlen(arrange_by));
	char ta[32], tb[32];
	int order;

	if ((a == NULL) != (b == NULL))
		return (a == NULL) - (b == NULL);
	if (json_is_number(a) && json_is_number(b))
		order = (json_number_value(a) > json_number_value(b)) -
		    (json_number_value(a) < json_number_value(b));
	else
		order = strverscmp(arrange_text_of(a, ta),
		    arrange_text_of(b, tb));
	return arrange_down ? -order : order;
}

int
arrange_list(const struct opts *opts, json_t *list, struct err *err)
{
	const struct opt_values *clauses = &opts->of[OPT_WHERE];
	const char *by = opts_value(opts, OPT_SORT);
	json_t **rows;
	size_t count;
	int rc = 0;

	if (!json_is_array(list))
		return 0;
	/* Check against all rows: the rows left by one clause may lack the
	 * member of the next. */
	for (size_t i = 0; rc == 0 && i < clauses->count; i++)
		rc = arrange_name_check(list, "where", clauses->values[i],
		    strcspn(clauses->values[i], "=!<>"), err);
	if (rc == 0 && by != NULL) {
		arrange_down = *by == '-';
		arrange_by = by + arrange_down;
		rc = arrange_name_check(list, "sort", arrange_by,
		    strlen(arrange_by), err);
	}
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < clauses->count; i++) {
		const char *name = clauses->values[i];
		size_t bytes = strcspn(name, "=!<>");

		for (size_t k = json_array_size(list); k-- > 0;)
			if (!arrange_fits(arrange_member_of(json_array_get(list,
								k),
					      name, bytes),
				name + bytes))
				json_array_remove(list, k);
	}
	if (by == NULL)
		return 0;
	count = json_array_size(list);
	rows = xcalloc(count + 1, sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[i] = json_incref(json_array_get(list, i));
	qsort(rows, count, sizeof(*rows), arrange_compare);
	json_array_clear(list);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, rows[i]);
	free(rows);
	return 0;
}
