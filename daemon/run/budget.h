/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - what measuring may cost the cluster in an hour: bytes,
 * node-seconds, and the share of a node's link.
 *
 * A run reserves what it is expected to cost when it is admitted; at its end
 * the reservation gives way to what it did cost. Used is what the last hour
 * has seen, in slices of five minutes, so a little more than an hour counts.
 * The setting "budget" has the slices, so a restart forgets none.
 * Pure: times come in (monotonic). A limit of 0 is none.
 */
#ifndef DAEMON_RUN_BUDGET_H
#define DAEMON_RUN_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/str.h"

struct conf;
struct budget;

struct budget_limits {
	double bytes_per_h;
	double node_s_per_h;
	double link_share; /* of a node's link, averaged over an hour */
};

/* Of one run. */
struct budget_cost {
	double duration_s;
	double nodes;
	double bytes_per_node;
	double link_bytes_per_s; /* of the slowest link; 0: unknown */
};

struct budget_use {
	double bytes, node_s; /* used in the last hour */
	double bytes_reserved, node_s_reserved;
	double link_share;                /* of the node that was used most */
	double bytes_total, node_s_total; /* since start */
	uint64_t refused; /* runs that were missed for want of budget */
};

struct budget *budget_new(const struct budget_limits *limits);
void budget_free(struct budget *b); /* NULL is allowed */
const struct budget_limits *budget_limits(const struct budget *b);

enum budget_answer {
	BUDGET_FITS,
	BUDGET_LATER, /* what others have used must pass first */
	BUDGET_NEVER  /* more than a whole hour's budget */
};
/* Is there room for it? The reason in words in why unless it fits. */
enum budget_answer budget_ask(struct budget *b, uint64_t now_ns,
    const struct budget_cost *c, struct err *err);
void budget_reserve(struct budget *b, const struct budget_cost *c);
/* Back, whole; then say what was used. */
void budget_release(struct budget *b, const struct budget_cost *c);
void budget_use(struct budget *b, uint64_t now_ns, double bytes, double node_s);
/* A node's part of the bytes. */
void budget_use_link(struct budget *b, uint64_t now_ns, size_t node,
    double bytes, double link_bytes_per_s);
void budget_refused(struct budget *b);
/* What was used as a text, and back after a restart: of links that of the most
 * used one, which then counts for all. */
void budget_save(struct budget *b, uint64_t now_ns, uint64_t now_unix_ns,
    struct strbuf *ret);
void budget_restore(struct budget *b, uint64_t now_ns, uint64_t now_unix_ns,
    const char *text);
void budget_look(struct budget *b, uint64_t now_ns, struct budget_use *ret);

#endif
