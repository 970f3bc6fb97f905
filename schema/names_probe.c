/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_probe.c - the rows: tests, congestors and other words of campaigns.
 */
#include "schema/names_probe.h"

#include <string.h>

#include "common/str.h"

/* Counts are of section 3.1 of the paper; get-lat, put-bw, natural-bw and
 * alltoall as the suite's network test. */
const struct test_row names_tests[CANARY_MAX] = {
	[CANARY_LAT] = { "lat", "RR Two-sided Lat", "s", 8, 1,
	    "random ring, two-sided latency to both neighbours",
	    { 30, 200, 200, 10000 }, 1 },
	[CANARY_GET_LAT] = { "get-lat", "RR Get Lat", "s", 8, 1,
	    "random ring, one-sided Get latency from both neighbours",
	    { 30, 200, 200, 10000 }, 1, 1 },
	[CANARY_BW] = { "bw", "RR Two-sided BW", "B/s", 131072, 8,
	    "random ring, two-sided bandwidth with both neighbours",
	    { 30, 8, 1, 10000 }, 2 },
	[CANARY_PUT_BW] = { "put-bw", "RR Put BW", "B/s", 131072, 8,
	    "random ring, one-sided Put bandwidth to both neighbours",
	    { 30, 8, 1, 10000 }, 1, 1 },
	[CANARY_BW_SYNC] = { "bw-sync", "RR Two-sided BW+Sync", "B/s", 131072,
	    8, "random ring, two-sided bandwidth, then a barrier",
	    { 30, 8, 1, 10000 }, 0 },
	[CANARY_NATURAL_BW] = { "natural-bw", "Nat Two-sided BW", "B/s", 131072,
	    8, "natural ring, two-sided bandwidth with both neighbours",
	    { 30, 8, 1, 10000 }, 0 },
	[CANARY_ALLREDUCE] = { "allreduce", "Multiple Allreduce", "s", 8, 1,
	    "small allreduce on every sub-communicator at once",
	    { 1, 200, 1, 100000 }, 0 },
	[CANARY_ALLTOALL] = { "alltoall", "Multiple Alltoall", "B/s", 4096, 1,
	    "all-to-all on every sub-communicator at once", { 1, 64, 1, 10000 },
	    0 },
	[CANARY_INCAST] = { "incast", "Incast", "B/s", 131072, 2,
	    "bandwidth from eight or more senders at once into one "
	    "rank; each rank receives in turn",
	    { 30, 8, 1, 10000 }, 2 },
	[CANARY_COMMAND] = { "command", "Application", "s", 0, 0,
	    "the run time of a program, of section [command]", { 0 }, 0 },
};

const struct congestor_row names_congestors[CONGESTOR_MAX] = {
	[CONGESTOR_NONE] = { "none", "none", "no congestors at all" },
	[CONGESTOR_IDLE] = { "idle", "Idle",
	    "occupies its nodes and sends nothing, for comparison" },
	[CONGESTOR_ALLTOALL] = { "alltoall", "Alltoall",
	    "pairwise-exchange all-to-all" },
	[CONGESTOR_INCAST] = { "incast", "Two-sided Incast",
	    "every rank sends to one" },
	[CONGESTOR_PUT_INCAST] = { "put-incast", "Put Incast",
	    "every rank puts into one", 1 },
	[CONGESTOR_GET_BCAST] = { "get-bcast", "Get Bcast",
	    "every rank gets from one", 1 },
	[CONGESTOR_BCAST] = { "bcast", "Two-sided Bcast",
	    "one rank sends to every other" },
	[CONGESTOR_ALLREDUCE] = { "allreduce", "Large Allreduce",
	    "large allreduce" },
};

const char *const names_fabrics[NAMES_FABRICS_MAX] = { "auto", "tcp", "ucx",
	"ofi", "psm", "cray" };

/* The last is PHASE_PRODUCTION: records and stores of all versions have this
 * word for it. */
const char *const names_phases[PHASE_MAX] = { "isolated", "congested", "wild" };

const char *const names_collectives[NAMES_COLLECTIVES_MAX] = { "broadcast",
	"reduce", "gather", "scatter", "allgather", "reduce-scatter",
	"allreduce", "alltoall" };

const char *const names_impls[NAMES_IMPLS_MAX] = { "coalmine", "mpi", "nccl",
	"rccl" };

const char *const names_partners[PARTNERS_MAX] = { "ring", "match", "pair",
	"one-way" };

const char *const names_stops[STOP_MAX] = { "precision", "time", "count",
	"timeout" };

const char *
names_stuck(const char *word)
{
	int test = STR_FIND(names_tests, word);

	if (test >= 0)
		return names_tests[test].name;
	return strcmp(word, NAMES_PLAN) == 0 ? NAMES_PLAN : NULL;
}
