/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - the hourly limits of measurements: bytes, node-seconds, and the
 * share of a node's link.
 *
 * A run reserves its expected cost when it is admitted; at its end the real
 * cost replaces the reservation. Usage covers the last hour in slices of five
 * minutes, so a little more than an hour counts. The setting "budget" stores
 * the slices, so they survive a restart.
 * Pure: times are arguments (monotonic). A limit of 0 means no limit.
 */
#ifndef DAEMON_RUN_BUDGET_H
#define DAEMON_RUN_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/str.h"

struct conf;
struct budget;

/* The limits. */
struct budget_limits {
	double bytes_per_h;
	double node_s_per_h;
	double link_share; /* share of a node's link, averaged over an hour */
};

/* The cost of one run. */
struct budget_cost {
	double duration_s;
	double nodes;
	double bytes_per_node;
	double link_bytes_per_s; /* rate of the slowest link; 0: unknown */
};

/* The amounts that are used and reserved now. */
struct budget_use {
	double bytes, node_s; /* used in the last hour */
	double bytes_reserved, node_s_reserved;
	double link_share;                /* share of the busiest node's link */
	double bytes_total, node_s_total; /* since start */
	uint64_t refused; /* runs that were missed for lack of budget */
};

/* Return a budget with nothing used, which the caller frees. limits is copied.
 */
struct budget *budget_new(const struct budget_limits *limits);
void budget_free(struct budget *b); /* NULL is allowed */
const struct budget_limits *budget_limits(const struct budget *b);

enum budget_answer {
	BUDGET_FITS,
	BUDGET_LATER, /* fits when earlier usage has expired */
	BUDGET_NEVER  /* more than a whole hour's budget */
};
/* Return whether the cost fits now; err has the reason if it does not. */
enum budget_answer budget_ask(struct budget *b, uint64_t now_ns,
    const struct budget_cost *c, struct err *err);
/* Reserve the cost of a run that is admitted. */
void budget_reserve(struct budget *b, const struct budget_cost *c);
/* Release a whole reservation; then call budget_use with the real cost. */
void budget_release(struct budget *b, const struct budget_cost *c);
/* Add the real cost of a run. */
void budget_use(struct budget *b, uint64_t now_ns, double bytes, double node_s);
/* Add a node's part of the bytes. */
void budget_use_link(struct budget *b, uint64_t now_ns, size_t node,
    double bytes, double link_bytes_per_s);
/* Count a run that was missed for lack of budget. */
void budget_refused(struct budget *b);
/* Write the usage as text, and read it back after a restart. Of links only the
 * busiest one is saved; it then counts for all. */
void budget_save(struct budget *b, uint64_t now_ns, uint64_t now_unix_ns,
    struct strbuf *ret);
void budget_restore(struct budget *b, uint64_t now_ns, uint64_t now_unix_ns,
    const char *text);
/* Read the usage. */
void budget_look(struct budget *b, uint64_t now_ns, struct budget_use *ret);

#endif
