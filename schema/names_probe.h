/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_probe.h - the words of probes and campaigns: canary tests, congestors,
 * phases, collectives, partners, fabrics.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum value; words that records or the store contain must not
 * change.
 */
#ifndef SCHEMA_NAMES_PROBE_H
#define SCHEMA_NAMES_PROBE_H

#include <stddef.h>

/* The tests and congestors as texts for CONF_CHOICES rows. The tables below
 * must agree with them (tests/unit compares). */
#define NAMES_TESTS                                                            \
	"lat|get-lat|bw|put-bw|bw-sync|natural-bw|allreduce|alltoall|"         \
	"incast|command"
#define NAMES_CONGESTORS                                                       \
	"none|idle|alltoall|incast|put-incast|get-bcast|bcast|allreduce"

/* The network library that carries the bytes of the ranks: option mpi.fabric of
 * agents and campaigns. */
#define NAMES_FABRICS     "auto|tcp|ucx|ofi|psm|cray"
#define NAMES_FABRICS_MAX 6
extern const char *const names_fabrics[NAMES_FABRICS_MAX];

/* Canary tests: GPCNeT section 3.1, and network_test of its program suite. */
enum canary_test {
	CANARY_LAT,
	CANARY_GET_LAT,
	CANARY_BW,
	CANARY_PUT_BW,
	CANARY_BW_SYNC,
	CANARY_NATURAL_BW,
	CANARY_ALLREDUCE,
	CANARY_ALLTOALL,
	CANARY_INCAST,  /* not in GPCNeT: many to one, in turns */
	CANARY_COMMAND, /* not in GPCNeT: runs a program of the site */
	CANARY_MAX
};

/* In reports of ranks that are stuck in a plan, in place of a test. */
#define NAMES_PLAN "plan"
/* Return the static text of a word for the work of a stuck rank: the name of a
 * test, or NAMES_PLAN. NULL: the word is unknown. */
const char *names_stuck(const char *word);

/* The properties of one canary test. */
struct test_row {
	const char *name;  /* in campaigns and records */
	const char *title; /* in GPCNeT's table */
	/* "s": impact is congested / isolated; "B/s": isolated / congested. */
	const char *unit;
	size_t bytes;     /* size of a message */
	int window;       /* messages in flight to each neighbour */
	const char *text; /* a sentence for manuals and help */
	/* The counts of GPCNeT: random rings per measurement, operations on a
	 * ring, operations before them that are not counted, and
	 * measurements. */
	struct test_counts {
		int rings, iterations, warmup, measurements;
	} gpcnet;
	/* Partners other than a ring with which the test is valid. 1: match and
	 * pair; 2: these and one-way. 0: the ring only; an incast forms its own
	 * groups. */
	int may_stand_aside;
	int onesided; /* 1: uses MPI windows in memory of the host */
};
extern const struct test_row names_tests[CANARY_MAX];

/* Congestor kinds (GPCNeT section 3.2). idle is the null variant: its ranks
 * occupy their nodes and send nothing. */
enum congestor {
	CONGESTOR_NONE,
	CONGESTOR_IDLE,
	CONGESTOR_ALLTOALL,
	CONGESTOR_INCAST,
	CONGESTOR_PUT_INCAST,
	CONGESTOR_GET_BCAST,
	CONGESTOR_BCAST,
	CONGESTOR_ALLREDUCE,
	CONGESTOR_MAX
};
/* The properties of one congestor. */
struct congestor_row {
	const char *name;  /* in campaigns and records */
	const char *title; /* in GPCNeT's table */
	const char *text;  /* a sentence for manuals and help */
	int onesided;      /* 1: uses MPI windows */
};
extern const struct congestor_row names_congestors[CONGESTOR_MAX];

/* The condition of the network during a part of a run: no congestors, with
 * congestors, or the load that the jobs of the cluster cause. */
enum phase { PHASE_ISOLATED, PHASE_CONGESTED, PHASE_PRODUCTION, PHASE_MAX };
extern const char *const names_phases[PHASE_MAX];

/* The collectives that Coalmine composes from steps, in the order of option
 * collective.name, and the implementations that can carry them out. */
#define NAMES_COLLECTIVES                                                      \
	"broadcast|reduce|gather|scatter|allgather|reduce-scatter|"            \
	"allreduce|alltoall"
#define NAMES_COLLECTIVES_MAX 8
#define NAMES_IMPLS_MAX       4
extern const char *const names_collectives[NAMES_COLLECTIVES_MAX];
/* The implementations; the first is Coalmine's own. */
extern const char *const names_impls[NAMES_IMPLS_MAX];

/* The condition that ended a test: member stopped_by of its record. The
 * interval was narrow enough, the time limit was reached, the number of
 * operations was reached, or an operation timed out. */
enum stop { STOP_PRECISION, STOP_TIME, STOP_COUNT, STOP_TIMEOUT, STOP_MAX };
extern const char *const names_stops[STOP_MAX];

/* How ranks are paired: option canary.partners. */
enum partners {
	PARTNERS_RING,
	PARTNERS_MATCH,
	PARTNERS_PAIR,
	PARTNERS_ONE_WAY,
	PARTNERS_MAX
};
extern const char *const names_partners[PARTNERS_MAX];

#endif
