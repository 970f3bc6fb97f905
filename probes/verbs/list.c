/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/verbs/list.h"

#include <string.h>

#include "common/table.h"
#include "schema/names.h"
#include "schema/options.h"

static void
print_tests(FILE *to)
{
	struct table *t = table_new("canary test|unit|>bytes|>window|what");

	for (int i = 0; i < CANARY_MAX; i++) {
		const struct test_row *row = &names_tests[i];

		table_cell(t, "%s", row->name);
		table_cell(t, "%s", row->unit);
		table_cell(t, "%zu", row->bytes);
		table_cell(t, "%d", row->window);
		table_cell(t, "%s", row->text);
	}
	table_print(t, to);
	table_free(t);
}

static void
print_congestors(FILE *to)
{
	struct table *t = table_new("congestor|what");

	for (int i = 0; i < CONGESTOR_MAX; i++) {
		table_cell(t, "%s", names_congestors[i].name);
		table_cell(t, "%s", names_congestors[i].text);
	}
	table_print(t, to);
	table_free(t);
}

/* Sections that the engine reads; the others are the collector's. */
static int
is_ours(const char *section)
{
	return strcmp(section, "canary") == 0 ||
	    strcmp(section, "congestor") == 0 || strcmp(section, "phases") == 0;
}

static void
print_options(FILE *to)
{
	struct table *t = table_new("option|default|unit|what");

	for (const struct conf_row *row = options_campaign; row->key != NULL;
	     row++) {
		if (!is_ours(row->section) && strcmp(row->key, "seed") != 0)
			continue;
		table_cell(t, "%s.%s", row->section, row->key);
		table_cell(t, "%s", row->fallback);
		table_cell(t, "%s", row->unit);
		table_cell(t, "%s", row->text);
	}
	table_print(t, to);
	table_free(t);
}

void
list_print(FILE *to)
{
	print_tests(to);
	fputc('\n', to);
	print_congestors(to);
	fputc('\n', to);
	print_options(to);
}
