/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latest.h - the newest numbers of every test and node, for /metrics and the
 * first page. Pure memory; filled from committed records, on start from the
 * store's last finished runs (warm.h).
 */
#ifndef DAEMON_SERIES_LATEST_H
#define DAEMON_SERIES_LATEST_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hist.h"
#include "daemon/series/collectives.h"
#include "daemon/series/deliver.h"
#include "schema/names.h"

struct latest;

struct latest *latest_new(void);
void latest_free(struct latest *l); /* NULL is allowed */
/* Any numbered record of a run of that campaign, once. */
void latest_record(struct latest *l, const char *campaign, const char *class,
    const json_t *record);
/* The same for a record of before this start: newest numbers and scores are
 * taken, but what counts up (histograms, failures) is not. */
void latest_record_old(struct latest *l, const char *campaign,
    const char *class, const json_t *record);
/* Robust z of a node against the peers of its newest round, worst test;
 * positive is worse. NAN when unknown. */
double latest_node_score(const struct latest *l, const char *node);

/* One test in one phase, in campaigns of one class. */
struct latest_test {
	char class[16];
	enum canary_test test;
	enum phase phase;
	int known;                        /* the numbers below are there */
	double p50, p90, p99, p999, mean; /* in the test's unit */
	double at_unix_s;
	struct hist *hist; /* of all records since start; NULL: none yet */
	uint64_t records;  /* since start */
	uint64_t failures; /* of them without a number */
};
struct latest_impact {
	enum canary_test test;
	char of[8];           /* "mean" or "p99" */
	double value, lo, hi; /* NAN: unknown */
	double at_unix_s;
};
/* A neighborhood collective through leaders against MPI's own. */
struct latest_speedup {
	char order[16];    /* "phased" or "dataflow" */
	char baseline[32]; /* the MPI function */
	double value;      /* NAN: unknown */
	double at_unix_s;
};
/* One message over several ways against the direct one, newest size. */
struct latest_multipath {
	char pair_class[32]; /* what joins the two devices */
	double value;        /* NAN: unknown */
	double at_unix_s;
};
/* In the order of their first record; they live until the next record. */
size_t latest_tests(const struct latest *l, const struct latest_test **ret);
size_t latest_impacts(const struct latest *l, const struct latest_impact **ret);
size_t latest_speedups(const struct latest *l,
    const struct latest_speedup **ret);
size_t latest_multipaths(const struct latest *l,
    const struct latest_multipath **ret);
const struct collectives *latest_collectives(const struct latest *l);
const struct deliver *latest_deliver(const struct latest *l);

#endif
