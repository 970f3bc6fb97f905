/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.c - coverage of pairs and links, and the error counters of ports;
 * the verdict on a link decides the exit code, not the counts.
 */
#include <string.h>

#include "common/table.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

static void
coverage_print_missing(const json_t *o, const char *key, const char *what)
{
	const json_t *list = json_object_get(o, key);
	const char *comma = "";
	json_t *v;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	printf("not measured, %s: ", what);
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
coverage_print_coverage(const json_t *o)
{
	static const char *const ofs[] = { "pairs", "leaves", "links",
		"uplinks" };
	struct table *t = table_new("what|>measured|>all|>share");

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
	coverage_print_missing(o, "links_missing", "links of");
	coverage_print_missing(o, "uplinks_missing", "uplinks of");
	coverage_print_missing(o, "leaves_missing", "leaves");
}

static void
coverage_print_alike(const json_t *o)
{
	const json_t *group, *link, *name;
	const char *of;
	size_t i, k;

	member_foreach (o, "alike", i, group) {
		json_array_foreach (group, k, link)
			json_object_foreach ((json_t *)(uintptr_t)link, of,
			    name)
				printf("%s%s of %s", k == 0 ? "" : " and ", of,
				    json_string_value(name));
		puts(": indistinguishable, since every measured path over one "
		     "also crossed the other");
	}
	member_foreach (o, "spines", i, group)
		printf("%s: switches %" JSON_INTEGER_FORMAT
		       ", links to them %" JSON_INTEGER_FORMAT
		       ", which cannot be distinguished; pairs of nodes "
		       "measured "
		       "over them: %" JSON_INTEGER_FORMAT "\n",
		    print_member(group, "switches", "?"),
		    member_int(group, "count"), member_int(group, "links"),
		    member_int(group, "pairs"));
	puts("All uplinks of a leaf and the switches above it count as "
	     "one link.");
}

static int
coverage(struct ctl *c)
{
	int alike = opts_given(&c->opts, OPT_IDENTIFIABLE);
	json_t *o;
	int rc = ctl_get(c, alike ? "coverage/identifiable" : "coverage", NULL,
	    &o);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(o);
	else if (alike)
		coverage_print_alike(o);
	else
		coverage_print_coverage(o);
	json_decref(o);
	return EXIT_CODE_OK;
}

static const char *
coverage_looks_text(const json_t *row, char *scratch)
{
	snprintf(scratch, PRINT_BYTES,
	    "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT,
	    member_int(row, "looks_with_errors"), member_int(row, "looks"));
	return scratch;
}

static const char *
coverage_usual_text(const json_t *row, char *scratch)
{
	snprintf(scratch, PRINT_BYTES, "%.2g %%",
	    100 * member_number(row, "usual"));
	return scratch;
}

static const char *
coverage_named_text(const json_t *row, char *scratch)
{
	(void)scratch;
	return member_bool(row, "named") ? "named" : "";
}

static const struct print_column link_columns[] = {
	{ "node", "node", "?", PRINT_TEXT, NULL },
	{ "leaf", "leaf", "?", PRINT_TEXT, NULL },
	{ "port", "port", "?", PRINT_TEXT, NULL },
	{ "counter", "counter", "?", PRINT_TEXT, NULL },
	{ ">errors", "errors", NULL, PRINT_COUNT, NULL },
	{ "in", "span_s", NULL, PRINT_SPAN, NULL },
	{ ">readings", NULL, NULL, PRINT_OF, coverage_looks_text },
	{ ">other ports", NULL, NULL, PRINT_OF, coverage_usual_text },
	{ "", NULL, NULL, PRINT_OF, coverage_named_text },
	{ 0 },
};

static int
coverage_link_list(struct ctl *c)
{
	int named = 0;
	json_t *list, *row;
	size_t i;
	int rc = ctl_get(c, "links", NULL, &list);

	if (rc != 0)
		return rc;
	json_array_foreach (list, i, row)
		named |= member_bool(row, "named");
	print_list(c, list, link_columns,
	    "no port has recently counted more errors than other ports");
	return named ? EXIT_CODE_WARN : EXIT_CODE_OK;
}

/* A row for every counter that has counted, or one for a port without. */
static json_t *
coverage_counters_flat(const json_t *ports)
{
	json_t *flat = json_array(), *port, *row, *o, *list;
	size_t i, k;

	json_array_foreach (ports, i, port) {
		const json_t *is = json_object_get(port, "is");

		list = json_object_get(port, "counters");
		for (k = 0; k == 0 || k < json_array_size(list); k++) {
			row = json_array_get(list, k);
			o = row != NULL ? json_copy(row) : json_object();
			json_object_set(o, "port",
			    json_object_get(port, "port"));
			json_object_update_missing(o, (json_t *)(uintptr_t)is);
			json_object_set_new(o, "gbps",
			    json_real(member_number(is, "speed_bps") / 1e9));
			json_array_append_new(flat, o);
		}
	}
	return flat;
}

/* As its slot was trained; where the card could do more, that too. */
static const char *
coverage_print_pcie(const json_t *row, char *scratch)
{
	const char *now = member_text(row, "pcie");
	const char *most = member_text(row, "pcie_max");
	int is_less = most[0] != '\0' && strcmp(now, most) != 0;

	snprintf(scratch, PRINT_BYTES, "%.20s%s%.20s", now,
	    is_less ? " of " : "", is_less ? most : "");
	return now[0] != '\0' ? scratch : "-";
}

static int
coverage_link_show(struct ctl *c)
{
	static const struct print_column columns[] = {
		{ "port", "port", "-", PRINT_TEXT, NULL },
		{ "state", "state", "-", PRINT_TEXT, NULL },
		{ ">Gbit/s", "gbps", "-", PRINT_NUMBER, NULL },
		{ "PCIe", "pcie", "-", PRINT_OF, coverage_print_pcie },
		{ "counter", "counter", "-", PRINT_TEXT, NULL },
		{ "kind", "kind", "-", PRINT_TEXT, NULL },
		{ ">last hour", "hour", "-", PRINT_COUNT, NULL },
		{ ">last day", "day", "-", PRINT_COUNT, NULL },
		{ ">in all", "total", "-", PRINT_COUNT, NULL },
		{ "named", "named", "-", PRINT_YES, NULL },
		{ 0 },
	};
	const char *want = c->args_count > 1 ? c->args[1] : NULL;
	json_t *o, *ports, *flat, *row;
	int named = 0;
	size_t i;
	int rc = ctl_get(c, "nodes/*/links", c->args[0], &o);

	if (rc != 0)
		return rc;
	ports = json_object_get(o, "ports");
	for (i = json_array_size(ports); want != NULL && i-- > 0;)
		if (strcmp(member_text(json_array_get(ports, i), "port"),
			want) != 0)
			json_array_remove(ports, i);
	if (json_array_size(ports) == 0 && want != NULL) {
		json_decref(o);
		return ctl_fail("%s has no port %s: coalctl link show %s lists "
				"all its ports",
		    c->args[0], want, c->args[0]);
	}
	flat = coverage_counters_flat(ports);
	if (ctl_arrange(c, flat) != 0) {
		json_decref(o);
		return EXIT_CODE_UNKNOWN;
	}
	json_array_foreach (flat, i, row)
		named |= member_bool(row, "named");
	print_list(c, flat, columns, NULL);
	if (!member_bool(o, "watched"))
		fprintf(stderr,
		    "coalctl: the agent of %s reports no counters\n",
		    c->args[0]);
	json_decref(o);
	return named ? EXIT_CODE_WARN : EXIT_CODE_OK;
}

const struct verb verbs_coverage[] = {
	{ "coverage", NULL, "", 0, 0, "json identifiable", "",
	    "Show which parts of the network were measured in the last "
	    "24 hours.",
	    "The rows are pairs of nodes, pairs of leaves (each leaf "
	    "with itself too), links of nodes (one for each NIC that "
	    "carries MPI) and uplinks of leaves. Each row has how many "
	    "were measured and how many exist; links and leaves that "
	    "were not measured are listed. --identifiable lists links "
	    "that cannot be distinguished, because every measured path "
	    "over one also crossed the other. If the topology file has "
	    "spines, it also lists groups of spines among which the "
	    "network selects by a hash, and how many pairs of nodes "
	    "were measured over them.",
	    coverage },
	{ "link", "list", "", 0, 0, "json where sort", "",
	    "List ports that have recently counted more errors than usual.",
	    "Columns: errors: errors counted; in: time since the first "
	    "of them; readings: counter readings with new errors, of "
	    "all readings; other ports: the share of readings with new "
	    "errors on other ports of this name; named: a verdict "
	    "names the port. The exit code is 1 if a verdict names one "
	    "of the listed ports.",
	    coverage_link_list },
	{ "link", "show", "NODE [PORT]", 1, 2, "json where sort", "nodes",
	    "Show the ports and GPUs of a node, with their counters.",
	    "The counters are of errors and of congestion, which is "
	    "not an error. Columns: last hour and last day: recent "
	    "counts, in which older ones fade; in all: since the first "
	    "count; named: a verdict names the port. A GPU is listed "
	    "as a port with its PCI address as name. The exit code is "
	    "1 if a verdict names one of the shown ports.",
	    coverage_link_show },
	{ 0 },
};
