/* SPDX-License-Identifier: Apache-2.0 */
#include "common/table.h"
#include "ctl/ctl.h"
#include "ctl/print.h"

static void
print_missing(const json_t *o, const char *key, const char *what)
{
	const json_t *list = json_object_get(o, key);
	const char *comma = "";
	json_t *v;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	printf("not exercised, %s: ", what);
	json_array_foreach (list, i, v) {
		if (json_is_array(v))
			printf("%s%s to %s", comma,
			    json_string_value(json_array_get(v, 0)),
			    json_string_value(json_array_get(v, 1)));
		else
			printf("%s%s", comma, json_string_value(v));
		comma = ", ";
	}
	puts("");
}

static void
print_coverage(const json_t *o)
{
	static const char *const ofs[] = { "pairs", "leaves", "links",
		"uplinks" };
	struct table *t = table_new("of|>exercised|>all|>share");

	for (size_t i = 0; i < ARRAY_LEN(ofs); i++) {
		const json_t *row = json_object_get(o, ofs[i]);
		double did = member_number(row, "exercised");
		double all = member_number(row, "all");

		table_cell(t, "%s", ofs[i]);
		table_cell(t, "%.0f", did);
		table_cell(t, "%.0f", all);
		if (all > 0)
			table_cell(t, "%.1f %%", 100 * did / all);
		else
			table_cell(t, "-");
	}
	table_print(t, stdout);
	table_free(t);
	print_missing(o, "links_missing", "links of");
	print_missing(o, "uplinks_missing", "uplinks of");
	print_missing(o, "leaves_missing", "leaves");
}

static int
coverage(struct ctl *c)
{
	json_t *o;
	int rc = ctl_get(c, "coverage", NULL, &o);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(o);
	else
		print_coverage(o);
	json_decref(o);
	return EXIT_CODE_OK;
}

const struct verb verbs_coverage[] = {
	{ "coverage", NULL, "", 0, 0, "json", "",
	    "Show what of the network was exercised in the last 24 hours.",
	    "Pairs of nodes, pairs of leaves (one with itself included), links "
	    "of nodes and uplinks of leaves; and which were not.",
	    coverage },
	{ 0 },
};
