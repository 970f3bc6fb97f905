/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_rows.c - the table of metrics that are made from records: one row for
 * each number. Rows of one family are adjacent, in the order of /metrics.
 */
#include "daemon/series/series_rows.h"
#include "common/str.h"
#include "schema/names_probe.h"

static const char *const patterns[] = { "rail", "asymmetric", "symmetric" };
static const char *const directions[] = { "out", "in", "bi", "omni" };
static const char *const statistics[] = { "mean", "p99" };
static const char *const orders[] = { "phased", "dataflow" };
static const char *const scopes[] = { "all", "intra", "inter" };

#define WORD(name, list)                                                       \
	{                                                                      \
		name, SERIES_WORD, name, list, ARRAY_LEN(list)                 \
	}
#define FIXED(name, value)                                                     \
	{                                                                      \
		name, SERIES_FIXED, value, NULL, 0                             \
	}
#define MEMBER(name, kind)                                                     \
	{                                                                      \
		name, kind, name, NULL, 0                                      \
	}
#define INT_FROM(name, min)                                                    \
	{                                                                      \
		name, SERIES_INT, name, NULL, min                              \
	}
/* Implementations: coalmine, and the baselines. */
#define IMPL_HERE FIXED("impl", "coalmine")
#define IMPL_BASELINE                                                          \
	{                                                                      \
		"impl", SERIES_WORD, "baseline_impl", names_impls + 1,         \
		    NAMES_IMPLS_MAX - 1                                        \
	}
/* The memory of messages, and their size if it is not the test's. */
#define MESSAGES MEMBER("device", SERIES_DEVICE), MEMBER("bytes", SERIES_BYTES)
#define TEST_AND_PHASE                                                         \
	MEMBER("test", SERIES_TEST),                                           \
	{                                                                      \
		"phase", SERIES_WORD, "phase", names_phases, PHASE_MAX         \
	}
#define COLLECTIVE                                                             \
	{                                                                      \
		"collective", SERIES_WORD, "collective", names_collectives,    \
		    NAMES_COLLECTIVES_MAX                                      \
	}
#define GROUP                                                                  \
	WORD("pattern", patterns), WORD("direction", directions),              \
	    INT_FROM("k", 1)

/* The type is summary, although sum and count are missing: only a summary may
 * have the label "quantile". */
#define CANARY(family_, unit_, what, quantile, member)                         \
	{                                                                      \
		.family = family_, .type = "summary",                          \
		.help = what " quantiles of the newest run, by test and "      \
			     "phase.",                                         \
		.board = "congestion", .probe = "canary", .unit = unit_,       \
		.labels = { TEST_AND_PHASE, FIXED("quantile", quantile),       \
			MEMBER("class", SERIES_CLASS), MESSAGES },             \
		.needs = "n p50", .value = member, .keep = SERIES_NEWEST       \
	}
#define LATENCY(quantile, member)                                              \
	CANARY("coalmine_canary_latency_seconds", "s", "Latency", quantile,    \
	    member)
#define BANDWIDTH(quantile, member)                                            \
	CANARY("coalmine_canary_bandwidth_bytes_per_second", "B/s",            \
	    "Bandwidth", quantile, member)
#define IMPACT(family_, help_, member)                                         \
	{                                                                      \
		.family = family_, .type = "gauge", .help = help_,             \
		.board = "congestion", .probe = "impact",                      \
		.labels = { MEMBER("test", SERIES_TEST),                       \
			WORD("of", statistics), MESSAGES },                    \
		.value = member, .keep = SERIES_NEWEST                         \
	}
#define THROUGHPUT(impl, member)                                               \
	{                                                                      \
		.family = "coalmine_collective_throughput_bytes_per_second",   \
		.type = "gauge",                                               \
		.help = "Throughput of a collective: bytes of a block for "    \
			"every rank, divided by the time; largest size of "    \
			"the newest run.",                                     \
		.board = "collectives", .probe = "speedup",                    \
		.of = "collective", .labels = { COLLECTIVE, impl },            \
		.needs = member, .value = member, .keep = SERIES_LARGEST       \
	}
#define BOUND(impl, member)                                                    \
	{                                                                      \
		.family = "coalmine_collective_bound_ratio", .type = "gauge",  \
		.help = "Throughput of a collective divided by the "           \
			"throughput that the measured exchange of two nodes "  \
			"allows; largest size of the newest run.",             \
		.board = "collectives", .probe = "speedup",                    \
		.of = "collective", .labels = { COLLECTIVE, impl },            \
		.needs = member, .value = member, .over = "bound",             \
		.keep = SERIES_LARGEST                                         \
	}
#define RAIL(probe_, of_, baseline_)                                           \
	{                                                                      \
		.family = "coalmine_rail_bandwidth_ratio", .type = "gauge",    \
		.help = "Bandwidth of a rail of a node divided by that of a "  \
			"normal rail (the upper quartile of all rails), "      \
			"newest run.",                                         \
		.board = "striping", .probe = probe_, .of = of_,               \
		.baseline = baseline_, .each = "rails.nodes",                  \
		.labels = { MEMBER("node", SERIES_NODE),                       \
			INT_FROM("rail", 0) },                                 \
		.value = "ratio", .keep = SERIES_LAST                          \
	}

const struct series_row series_rows[] = {
	LATENCY("0.5", "p50"),
	LATENCY("0.9", "p90"),
	LATENCY("0.99", "p99"),
	LATENCY("0.999", "p999"),
	CANARY("coalmine_canary_latency_by_time_seconds", "s",
	    "Latency weighted by its duration,", "0.99", "p99_time"),
	CANARY("coalmine_canary_bandwidth_by_time_bytes_per_second", "B/s",
	    "Bandwidth weighted by its duration,", "0.01", "p01_time"),
	BANDWIDTH("0.5", "p50"),
	BANDWIDTH("0.9", "p90"),
	BANDWIDTH("0.99", "p99"),
	BANDWIDTH("0.999", "p999"),
	{ .family = "coalmine_canary_tests_total",
	    .type = "counter",
	    .help = "Completed canary tests, with or without a result.",
	    .board = "congestion",
	    .probe = "canary",
	    .labels = { TEST_AND_PHASE, MEMBER("class", SERIES_CLASS),
		MESSAGES },
	    .keep = SERIES_COUNT },
	{ .family = "coalmine_canary_test_failures_total",
	    .type = "counter",
	    .help = "Canary tests without a result.",
	    .board = "congestion",
	    .probe = "canary",
	    .labels = { TEST_AND_PHASE, MEMBER("class", SERIES_CLASS),
		MESSAGES },
	    .needs = "n p50",
	    .keep = SERIES_LACKING },
	{ .family = "coalmine_canary_latency_distribution_seconds",
	    .type = "histogram",
	    .help = "Latencies of all canaries since the start of the "
		    "collector, by class of campaign.",
	    .board = "congestion",
	    .probe = "canary",
	    .unit = "s",
	    .labels = { TEST_AND_PHASE, MEMBER("class", SERIES_CLASS),
		MESSAGES },
	    .needs = "n p50",
	    .keep = SERIES_MERGED },
	IMPACT("coalmine_congestion_impact",
	    "Impact of congestion: how many times worse a result is with "
	    "congestors than without (isolated), newest run; 1: no impact.",
	    "value"),
	IMPACT("coalmine_congestion_impact_low",
	    "Lower end of the confidence interval of the impact of congestion.",
	    "interval.lo"),
	IMPACT("coalmine_congestion_impact_high",
	    "Upper end of the confidence interval of the impact of congestion.",
	    "interval.hi"),
	{ .family = "coalmine_neighbor_speedup_ratio",
	    .type = "gauge",
	    .help = "Speed-up of a neighborhood collective through leader "
		    "ranks over MPI's own one, newest run; 1: no gain.",
	    .board = "collectives",
	    .probe = "speedup",
	    .of = "neighbor",
	    .labels = { WORD("order", orders),
		MEMBER("baseline", SERIES_NAME) },
	    .value = "value",
	    .keep = SERIES_NEWEST },
	{ .family = "coalmine_multipath_speedup_ratio",
	    .type = "gauge",
	    .help = "Speed-up of a message over several paths compared with "
		    "the direct path alone, newest record; 1: no gain.",
	    .board = "striping",
	    .probe = "speedup",
	    .of = "multipath",
	    .labels = { MEMBER("pair_class", SERIES_NAME) },
	    .value = "value",
	    .keep = SERIES_NEWEST },
	THROUGHPUT(IMPL_HERE, "throughput"),
	THROUGHPUT(IMPL_BASELINE, "baseline_throughput"),
	BOUND(IMPL_HERE, "throughput"),
	BOUND(IMPL_BASELINE, "baseline_throughput"),
	{ .family = "coalmine_group_bandwidth_bytes_per_second",
	    .type = "gauge",
	    .help = "Bandwidth of a group of devices, largest message of the "
		    "newest run.",
	    .board = "striping",
	    .probe = "group",
	    .of = "whole",
	    .labels = { GROUP },
	    .needs = "bandwidth.median_middle",
	    .value = "bandwidth.median_middle",
	    .keep = SERIES_LARGEST },
	{ .family = "coalmine_stripe_efficiency_ratio",
	    .type = "gauge",
	    .help = "Speed-up of a striped message over a direct one, divided "
		    "by the number of rails, newest run; 1: all rails together "
		    "are as fast as each alone.",
	    .board = "striping",
	    .probe = "speedup",
	    .of = "stripe",
	    .baseline = "direct",
	    .labels = { MEMBER("via", SERIES_NAME), INT_FROM("g", 1) },
	    .needs = "efficiency",
	    .value = "efficiency",
	    .keep = SERIES_LARGEST },
	{ .family = "coalmine_node_bandwidth_bytes_per_second",
	    .type = "gauge",
	    .help =
		"Bandwidth of the busiest node of groups of devices in the "
		"direction with more bytes, largest message of the newest run.",
	    .board = "striping",
	    .probe = "group",
	    .of = "whole",
	    .labels = { GROUP, INT_FROM("groups", 2) },
	    .needs = "node_bandwidth",
	    .value = "node_bandwidth",
	    .keep = SERIES_LARGEST },
	{ .family = "coalmine_node_bandwidth_ratio",
	    .type = "gauge",
	    .help = "Bandwidth of the busiest node "
		    "(coalmine_node_bandwidth_bytes_per_second) as a share of "
		    "the rated bandwidth of its interfaces, from the machine "
		    "file or the kernel.",
	    .board = "striping",
	    .probe = "group",
	    .of = "whole",
	    .labels = { GROUP, INT_FROM("groups", 2) },
	    .needs = "node_bandwidth",
	    .value = "rated_ratio",
	    .keep = SERIES_LARGEST },
	{ .family = "coalmine_sparse_speedup_ratio",
	    .type = "gauge",
	    .help = "Speed-up of an application's pattern over "
		    "MPI_Alltoallv, newest run.",
	    .board = "collectives",
	    .probe = "speedup",
	    .of = "sparse",
	    .labels = { MEMBER("pattern", SERIES_NAME), WORD("scope", scopes),
		INT_FROM("stripes", 0) },
	    .needs = "value",
	    .value = "value",
	    .keep = SERIES_LARGEST },
	{ .family = "coalmine_self_bandwidth_ratio",
	    .type = "gauge",
	    .help = "Bandwidth of copies within devices as a share of the "
		    "node's measured memory bandwidth, newest run.",
	    .board = "striping",
	    .probe = "self",
	    .of = "whole",
	    .each = "nodes",
	    .labels = { MEMBER("node", SERIES_NODE) },
	    .value = "memory_ratio",
	    .keep = SERIES_LAST },
	RAIL("fit", NULL, NULL),
	RAIL("speedup", "stripe", "direct"),
	{ .family = NULL },
};
