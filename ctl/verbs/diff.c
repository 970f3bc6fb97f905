/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - the collector compares the settings of all nodes; nodes are filtered
 * here.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"

static const char *
diff_have_text(const json_t *row, char *scratch)
{
	snprintf(scratch, PRINT_BYTES,
	    "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT,
	    member_int(row, "have"), member_int(row, "of"));
	return scratch;
}

static const struct print_column diff_columns[] = {
	{ "node", "node", "?", PRINT_TEXT, NULL },
	{ "leaf", "leaf", "?", PRINT_TEXT, NULL },
	{ "setting", "setting", "?", PRINT_TEXT, NULL },
	{ "value", "value", "?", PRINT_TEXT, NULL },
	{ "most nodes", "usual", "?", PRINT_TEXT, NULL },
	{ ">nodes", NULL, NULL, PRINT_OF, diff_have_text },
	{ 0 },
};

/* Print what was compared, and which settings could not be judged. */
static void
diff_print_scope(const json_t *o)
{
	size_t kinds = json_array_size(json_object_get(o, "kinds"));
	const json_t *row;
	size_t i;

	printf("compared: %" JSON_INTEGER_FORMAT " node%s of %zu kind%s\n",
	    member_int(o, "nodes"), member_int(o, "nodes") == 1 ? "" : "s",
	    kinds, kinds == 1 ? "" : "s");
	member_foreach (o, "open", i, row)
		printf("not judged, no value has a majority: %s "
		       "(%" JSON_INTEGER_FORMAT " values, %s)\n",
		    print_member(row, "setting", "?"),
		    member_int(row, "values"), print_member(row, "kind", "?"));
}

static int
diff_run(struct ctl *c)
{
	struct hostlist hl = { 0 };
	struct err err;
	json_t *o, *list;
	int rc;

	if (c->args_count > 0 && hostlist_parse(c->args[0], &hl, &err) < 0)
		return ctl_fail("%s: %s", c->args[0], err.text);
	rc = ctl_get(c, "differences", NULL, &o);
	if (rc != 0) {
		hostlist_clear(&hl);
		return rc;
	}
	list = json_object_get(o, "differences");
	for (size_t i = json_array_size(list); hl.count > 0 && i-- > 0;)
		if (!hostlist_has(&hl,
			print_member(json_array_get(list, i), "node", "")))
			json_array_remove(list, i);
	hostlist_clear(&hl);
	json_incref(list);
	if (ctl_arrange(c, list) != 0) {
		json_decref(o);
		return EXIT_CODE_UNKNOWN;
	}
	rc = json_array_size(list) > 0 ? EXIT_CODE_WARN : EXIT_CODE_OK;
	print_list(c, list, diff_columns,
	    "no setting differs from most nodes of a kind");
	if (!opts_given(&c->opts, OPT_JSON))
		diff_print_scope(o);
	json_decref(o);
	return rc;
}

const struct verb verbs_diff[] = {
	{ "diff", NULL, "[HOSTS]", 0, 1, "json where sort", "nodes",
	    "List settings and versions that differ from those of most nodes "
	    "of the same kind.",
	    "Nodes are of one kind if they have the same processor, the same "
	    "models of NICs, and the same model and number of GPUs. A value "
	    "is listed if at least three nodes of the kind report the "
	    "setting and more than half of them have another value. Settings "
	    "without such a majority are named below the table. Columns: "
	    "value: the value of the node; most nodes: the value of the "
	    "majority; nodes: how many nodes have it, of all that report the "
	    "setting. Compared are the kernel and its boot options, cores, "
	    "NUMA balancing, zone reclaim, clock source, transparent and "
	    "reserved huge pages, CPU governor, SMT and turbo, IOMMU, TCP "
	    "settings, versions of drivers, NCCL, RCCL, UCX and MPIs, and for "
	    "each NIC MTU, driver, firmware, priorities with flow control "
	    "(PFC) and with congestion notification (ECN), and the kinds of "
	    "the first 16 GIDs. A change of a setting is an event of kind "
	    "setting. The exit code is 1 if a difference is listed.",
	    diff_run },
	{ 0 },
};
