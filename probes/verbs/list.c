/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c - every canary test, congestor and option of them, from the tables of
 * schema/.
 */
#include <stdio.h>
#include <string.h>

#include "common/table.h"
#include "probes/verbs/verbs.h"
#include "schema/names_probe.h"
#include "schema/options.h"

int
list_main(int argc, char **argv)
{
	struct table *t;

	(void)argv;
	if (argc != 1)
		return verbs_wrong_usage("list: unexpected argument");
	t = table_new("canary test|unit|>bytes|>window|what");
	for (int i = 0; i < CANARY_MAX; i++) {
		const struct test_row *row = &names_tests[i];

		table_cell(t, "%s", row->name);
		table_cell(t, "%s", row->unit);
		table_cell(t, "%zu", row->bytes);
		table_cell(t, "%d", row->window);
		table_cell(t, "%s", row->text);
	}
	table_print(t, stdout);
	table_free(t);
	putchar('\n');
	t = table_new("congestor|what");
	for (int i = 0; i < CONGESTOR_MAX; i++) {
		table_cell(t, "%s", names_congestors[i].name);
		table_cell(t, "%s", names_congestors[i].text);
	}
	table_print(t, stdout);
	table_free(t);
	putchar('\n');
	t = table_new("option|default|unit|what");
	for (const struct conf_row *row = options_campaign; row->key != NULL;
	     row++) {
		/* The engine reads these; others are the collector's. */
		if (strcmp(row->section, "canary") != 0 &&
		    strcmp(row->section, "congestor") != 0 &&
		    strcmp(row->section, "phases") != 0 &&
		    strcmp(row->key, "seed") != 0)
			continue;
		table_cell(t, "%s.%s", row->section, row->key);
		table_cell(t, "%s", row->fallback);
		table_cell(t, "%s", row->unit);
		table_cell(t, "%s", row->text);
	}
	table_print(t, stdout);
	table_free(t);
	return 0;
}
