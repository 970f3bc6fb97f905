/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/table.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/records.h"

static void
span_cell(struct table *t, const json_t *o, const char *key)
{
	char text[PRINT_BYTES];

	print_span(member_number(o, key), text);
	table_cell(t, "%s", text);
}

/* What was tried, measured ones first; * is the choice. */
static void
print_tuning(const json_t *r)
{
	struct table *t = table_new("|shape|>predicted|>measured");
	const char *choice = print_member(r, "choice", "");
	char size[PRINT_BYTES];
	json_t *o;
	size_t i;

	str_bytes_format(member_number(r, "bytes"), size, sizeof(size));
	printf("\n%s, %s in all, %.0f ranks on %s: %s\n",
	    print_member(r, "asked", "?"), size, member_number(r, "ranks"),
	    print_member(r, "machine", "?"), print_member(r, "why", "?"));
	json_array_foreach (json_object_get(r, "tried"), i, o) {
		const char *words = print_member(o, "words", "?");

		table_cell(t, "%s", strcmp(words, choice) == 0 ? "*" : "");
		table_cell(t, "%s", words);
		span_cell(t, o, "predicted");
		span_cell(t, o, "seconds");
	}
	table_print(t, stdout);
	table_free(t);
}

static int
tuning(struct ctl *c)
{
	json_t *records = NULL, *list = json_array(), *r;
	char *id = NULL;
	size_t i;
	int rc = runs_find(c, c->args[0], &id);

	if (rc == 0)
		rc = records_get(c, id, &records);
	json_array_foreach (records, i, r)
		if (strcmp(print_member(r, "probe", ""), "tuning") == 0)
			json_array_append(list, r);
	if (rc == 0 && opts_given(&c->opts, OPT_JSON))
		print_json(list);
	else if (rc == 0 && json_array_size(list) == 0)
		puts("nothing was tuned");
	else
		json_array_foreach (list, i, r)
			print_tuning(r);
	json_decref(list);
	json_decref(records);
	free(id);
	return rc;
}

const struct verb verbs_tuning[] = {
	{ "tuning", NULL, "RUN", 1, 1, "json", "runs",
	    "Show why the collectives of a run have their shapes.",
	    "What tune = auto has tried, with the time that was predicted and "
	    "what was measured; * is the choice. remembered: measured in an "
	    "earlier run, and kept in collective.table.",
	    tuning },
	{ 0 },
};
