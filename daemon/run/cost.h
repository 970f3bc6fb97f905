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
#include "daemon/run/blackout.h"
#include "daemon/run/budget.h"

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
