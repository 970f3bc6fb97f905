/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.h - what runs of a campaign cost: expected from what the last one did,
 * else from its deadline; and what may start now.
 *
 * The newest cost is a setting, "cost/NAME" = "duration_s bytes_per_node", so
 * it outlives the collector.
 */
#ifndef DAEMON_RUN_COST_H
#define DAEMON_RUN_COST_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "common/str.h"

/* ---- budget.c: what measuring may cost the cluster in an hour: bytes,
 * node-seconds, and the share of a node's link ----
 *
 * A run reserves what it is expected to cost when it is admitted; at its end
 * the reservation gives way to what it did cost. Used is what the last hour
 * has seen, in slices of five minutes, so a little more than an hour counts.
 * The setting "budget" has the slices, so a restart forgets none.
 * Pure: times come in (monotonic). A limit of 0 is none.
 */

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

/* ---- blackout.c: when nothing may run: spans of every day, "22:00-06:00", and
 * of dates, "2026-12-24..2026-12-26" (both days included). UTC. Pure ---- */

#define BLACKOUT_MAX 64

struct blackout {
	size_t count;
	struct blackout_span {
		int daily;        /* then from and to are within a day */
		uint64_t from_ns; /* to <= from: over midnight */
		uint64_t to_ns;
	} span[BLACKOUT_MAX];
};

/* A list with commas; "" is none. -EINVAL and the item in why. */
int blackout_parse(const char *text, struct blackout *ret, struct err *err);
/* 1 when any of it lies in the span from a time on; *ret_end_unix_ns is then
 * when the earliest such blackout ends. */
int blackout_hits(const struct blackout *b, uint64_t from_unix_ns,
    uint64_t span_ns, uint64_t *ret_end_unix_ns);

/* ---- cost.c ---- */

struct costs;
struct node;
struct store;

struct cost_rules {
	struct budget_limits limits;
	struct blackout blackout; /* of exclusive runs */
};
/* Read the limits of section budget. Texts live as long as c. */
void cost_rules_read(const struct conf *c, struct cost_rules *ret);

struct costs *costs_new(struct store *store, const struct cost_rules *rules);
void costs_free(struct costs *cs); /* NULL is allowed */
/* What STORE_SETTINGS answered. */
void costs_load(struct costs *cs, const json_t *settings);
struct budget *costs_budget(struct costs *cs);

/* How long a run of the campaign takes and what a node of it sends. What was
 * never measured: the deadline, and campaign.bytes. */
void costs_expect(const struct costs *cs, const char *campaign,
    const struct conf *conf, double *ret_duration_s,
    double *ret_bytes_per_node);
/* May a run of that conf start at a time, as far as blackouts go? 0, or 1
 * with when it ends and why. */
int costs_black(const struct costs *cs, const struct conf *conf,
    uint64_t at_unix_ns, double duration_s, uint64_t *ret_end_unix_ns,
    struct err *err);
/* Bytes a second of the fastest link of a node; 0: unknown. */
double costs_link(const struct node *n);

/* What a run has used, kept. */
void costs_use(struct costs *cs, double bytes, double node_s);
/* What a run of the campaign took, for the next one. */
void costs_learn(struct costs *cs, const char *campaign, double duration_s,
    double bytes_per_node);

#endif
