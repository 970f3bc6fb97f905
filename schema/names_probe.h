/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_probe.h - words of probes and campaigns: canary tests, congestors,
 * phases, collectives, partners, fabrics.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum; stored words do not change.
 */
#ifndef SCHEMA_NAMES_PROBE_H
#define SCHEMA_NAMES_PROBE_H

#include <stddef.h>

/* For CONF_CHOICES rows; the tables below must agree (tests/unit). */
#define NAMES_TESTS                                                            \
	"lat|get-lat|bw|put-bw|bw-sync|natural-bw|allreduce|alltoall|"         \
	"incast|command"
#define NAMES_CONGESTORS                                                       \
	"none|idle|alltoall|incast|put-incast|get-bcast|bcast|allreduce"

/* What carries the bytes of ranks: mpi.fabric of agents and campaigns. */
#define NAMES_FABRICS     "auto|tcp|ucx|ofi|psm|cray"
#define NAMES_FABRICS_MAX 6
extern const char *const names_fabrics[NAMES_FABRICS_MAX];

/* Canary tests (GPCNeT section 3.1; network_test of the suite). */
enum canary_test {
	CANARY_LAT,
	CANARY_GET_LAT,
	CANARY_BW,
	CANARY_PUT_BW,
	CANARY_BW_SYNC,
	CANARY_NATURAL_BW,
	CANARY_ALLREDUCE,
	CANARY_ALLTOALL,
	CANARY_INCAST,  /* not of the suite: many to one, in turns */
	CANARY_COMMAND, /* nor this: a program of the site */
	CANARY_MAX
};

struct test_row {
	const char *name;  /* in campaigns and records */
	const char *title; /* in GPCNeT's table */
	const char *unit;  /* "s" or "B/s": which way impact is taken */
	size_t bytes;      /* message size */
	int window;        /* messages in flight to a neighbour */
	const char *text;
	/* GPCNeT's counts: rings in a measurement, operations on a ring and
	 * before it, measurements. */
	struct test_counts {
		int rings, iterations, warmup, measurements;
	} gpcnet;
	int may_stand_aside; /* 1: valid with partners match and pair; 2: with
				one-way too; an incast forms its own groups */
	int onesided;        /* through windows in memory of the host */
};
extern const struct test_row names_tests[CANARY_MAX];

/* Congestor kinds (GPCNeT section 3.2). idle is the null variant: it holds
 * its nodes and does nothing. */
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
struct congestor_row {
	const char *name;
	const char *title;
	const char *text;
	int onesided;
};
extern const struct congestor_row names_congestors[CONGESTOR_MAX];

enum phase { PHASE_ISOLATED, PHASE_CONGESTED, PHASE_PRODUCTION, PHASE_MAX };
extern const char *const names_phases[PHASE_MAX];

/* Composed collectives, in the order of option collective.name, and the
 * implementations of one. */
#define NAMES_COLLECTIVES                                                      \
	"broadcast|reduce|gather|scatter|allgather|reduce-scatter|"            \
	"allreduce|alltoall"
#define NAMES_COLLECTIVES_MAX 8
#define NAMES_IMPLS_MAX       4
extern const char *const names_collectives[NAMES_COLLECTIVES_MAX];
extern const char *const names_impls[NAMES_IMPLS_MAX]; /* first: this one */

/* What ended a test: stopped_by in its record. */
enum stop { STOP_PRECISION, STOP_TIME, STOP_COUNT, STOP_TIMEOUT, STOP_MAX };
extern const char *const names_stops[STOP_MAX];

/* Pairing of ranks, as canary.partners. */
enum partners {
	PARTNERS_RING,
	PARTNERS_MATCH,
	PARTNERS_PAIR,
	PARTNERS_ONE_WAY,
	PARTNERS_MAX
};
extern const char *const names_partners[PARTNERS_MAX];

#endif
