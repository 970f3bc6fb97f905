/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_rows.c - rows of one kind are grouped by result and reason.
 */
#include "ctl/accept/accept_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/accept/accept_judge.h"

/* Return the names of an array, folded; of objects their member key. The caller
 * frees it. */
static char *
accept_rows_names(const json_t *list, const char *key)
{
	const char **names = xcalloc(json_array_size(list) + 1, sizeof(*names));
	size_t n = 0, i;
	const json_t *o;
	char *ret;

	json_array_foreach (list, i, o)
		names[n++] = json_is_string(o) ? json_string_value(o)
					       : member_text(o, key);
	hostlist_sort(names, n);
	ret = hostlist_format(names, n);
	free(names);
	return ret;
}

char *
accept_rows_counts(const json_t *report)
{
	const json_t *summary = json_object_get(report, "summary");
	const json_t *away = json_object_get(report, "away");
	long long open = member_int(summary, accept_states[ACCEPT_OPEN]);
	long long holds = member_int(summary, accept_states[ACCEPT_HOLDS]);
	long long fails = member_int(summary, accept_states[ACCEPT_FAILS]);
	size_t count = json_array_size(away);
	char *names = accept_rows_names(away, ""), *ret;
	struct strbuf sb = { 0 };

	strbuf_addf(&sb, "%lld promise%s, %lld fail%s, %lld %s undetermined",
	    holds, holds == 1 ? " holds" : "s hold", fails,
	    fails == 1 ? "s" : "", open, open == 1 ? "is" : "are");
	if (count > 0)
		strbuf_addf(&sb, "; %zu node%s not measured: %s", count,
		    count == 1 ? " is" : "s are", names);
	ret = sb.text;
	free(names);
	return ret;
}

static json_t *
accept_rows_one(const json_t *group)
{
	json_t *ret = json_copy(json_array_get(group, 0));
	char *names = accept_rows_names(group, "part");

	json_object_set_new(ret, "part",
	    json_sprintf("%zu parts: %s", json_array_size(group), names));
	free(names);
	return ret;
}

json_t *
accept_rows_fold(const json_t *rows)
{
	json_t *groups = json_object(), *ret = json_array(), *group, *row;
	size_t i;

	for (int pass = 0; pass < 2; pass++)
		json_array_foreach ((json_t *)(uintptr_t)rows, i, row) {
			char *key = xasprintf("%s %s %s",
			    member_text(row, "state"), member_text(row, "kind"),
			    member_text(row, "missing"));

			group = json_object_get(groups, key);
			if (group == NULL) {
				group = json_array();
				json_object_set_new(groups, key, group);
			}
			free(key);
			if (pass == 0)
				json_array_append(group, row);
			else if (json_array_size(group) <= ACCEPT_ROWS_EACH ||
			    strcmp(member_text(row, "state"),
				accept_states[ACCEPT_FAILS]) == 0)
				json_array_append(ret, row);
			else if (json_array_get(group, 0) == row)
				json_array_append_new(ret,
				    accept_rows_one(group));
		}
	json_decref(groups);
	return ret;
}
