/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect.c - the performance to expect of nodes today, for users who start a
 * job on them or have one there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/member.h"
#include "ctl/lib/expectation.h"
#include "ctl/lib/print.h"
#include "ctl/lib/reference.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

static void
expect_print_limit(const json_t *o)
{
	const char *limit = member_text(o, "limit");
	double share = member_number(o, "limit_share");
	char rate[PRINT_BYTES];

	if (limit[0] == '\0')
		return;
	print_quantity(member_number(o, "rate_bytes_per_s"), "B/s", rate);
	printf("limit     %s is the bottleneck: busy %.0f %% of the time "
	       "at %s",
	    limit, 100 * member_number(o, "busy"), rate);
	if (share < 1)
		printf(", %.0f %% of its rate in the machine file",
		    100 * share);
	putchar('\n');
}

/* The expected bus bandwidth, where published ones are compared with it. */
static void
expect_print_bus(const struct expectation_spec *spec, const json_t *o)
{
	struct bench_series here = { .op = bench_op_find(spec->op),
		.ranks = (int)member_int(o, "ranks") };

	if (json_object_get(o, "published") == NULL)
		return;
	printf("          %.4g GB/s of bus bandwidth\n",
	    member_number(o, "throughput_bytes_per_s") *
		bench_bus_factor(&here) / 1e9);
}

static void
expect_print_expectation(const struct expectation_spec *spec, const json_t *o)
{
	const json_t *best = json_object_get(o, "best"), *row;
	const json_t *slow = json_object_get(o, "slow");
	const json_t *unknown = json_object_get(o, "unknown");
	char bytes[PRINT_BYTES], text[PRINT_BYTES];
	char *list;
	size_t i;

	if (spec->op != NULL) {
		str_bytes_format((double)spec->bytes, bytes, sizeof(bytes));
		printf("%s of %s", spec->op, bytes);
	} else {
		printf("%s", spec->plan);
	}
	printf(" on %s, %lld ranks, machine %s\n", member_text(o, "nodes"),
	    (long long)member_int(o, "ranks"), spec->machine);
	printf("expected  ");
	expectation_print(o);
	if (json_object_get(o, "mpi") != NULL) {
		printf("MPI's own ");
		expectation_print(json_object_get(o, "mpi"));
	}
	if (spec->op != NULL) {
		print_quantity(member_number(o, "throughput_bytes_per_s"),
		    "B/s", text);
		printf("rate      %s of data\n", text);
	}
	if (spec->op != NULL)
		expect_print_bus(spec, o);
	expectation_print_published(o);
	expect_print_limit(o);
	if (best != NULL) {
		print_quantity(member_number(best, "seconds"), "s", text);
		printf("best      %s on %s, the fastest nodes: %.0f %% of the "
		       "expected time\n",
		    text, member_text(best, "nodes"),
		    100 * member_number(best, "seconds") /
			member_number(o, "seconds"));
	}
	json_array_foreach (slow, i, row)
		printf("slow      %s has %.0f %% of the bandwidth of its "
		       "peers\n",
		    member_text_or(row, "node", member_text(row, "leaf")),
		    100 * member_number(row, "share"));
	if (json_array_size(unknown) == 0)
		return;
	list = print_hostlist(unknown, NULL);
	printf("unknown   %s: no recent measurement; assumed to have "
	       "normal bandwidth\n",
	    list);
	free(list);
}

static int
expect(struct ctl *c)
{
	struct expectation_spec spec;
	json_t *facts, *told, *reference;
	struct err err;
	int rc = expectation_options(c, &spec);

	if (rc == 0 && reference_read(&reference, &err) < 0)
		rc = ctl_fail("%s", err.text);
	if (rc != 0)
		return rc;
	spec.reference = reference;
	rc = expectation_facts(c, &facts);
	if (rc != 0) {
		json_decref(reference);
		return rc;
	}
	rc = expectation_make(&spec, facts, c->args[0], &told, &err);
	json_decref(facts);
	json_decref(reference);
	if (rc < 0)
		return ctl_fail("%s", err.text);
	if (opts_given(&c->opts, OPT_JSON))
		print_json_line(told);
	else
		expect_print_expectation(&spec, told);
	json_decref(told);
	return EXIT_CODE_OK;
}

const struct verb verbs_expect[] = {
	{ "expect", NULL, "NODES", 1, 1,
	    "json machine op bytes ranks-per-node plan", "nodes",
	    "Predict the time of a collective or a plan on these nodes today.",
	    "The links have the rates of the machine file (--machine), "
	    "reduced for nodes and leaf uplinks whose newest "
	    "measurements are slower than normal. The prediction is "
	    "then corrected by the collector's earlier runs of that "
	    "collective. The output has the time with its interval, "
	    "the link that is the bottleneck, slow nodes, the time "
	    "on the same number of the fastest nodes, and published "
	    "results of this class of machine. --op selects the "
	    "collective and --bytes its size: the bytes of the buffer "
	    "that has a block for every rank. The default is an "
	    "allreduce of 1 GiB. Ranks are placed on the nodes in "
	    "natural order of the node names. The time of a plan "
	    "(--plan) is simulated.",
	    expect },
	{ 0 },
};
