/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.h - the expected cost of a campaign's runs, from its last run or else
 * from its deadline, and whether a run may start now.
 *
 * The newest cost is a setting, "cost/NAME" = "duration_s bytes_per_node", so
 * it survives a restart.
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

/* The limits of all runs. */
struct cost_rules {
	struct budget_limits limits;
	struct blackout blackout; /* times without exclusive runs */
};
/* Read the limits of section budget. Texts live as long as c. */
void cost_rules_read(const struct conf *c, struct cost_rules *ret);

struct costs *costs_new(struct store *store, const struct cost_rules *rules);
void costs_free(struct costs *cs); /* NULL is allowed */
/* Load the answer of STORE_SETTINGS. */
void costs_load(struct costs *cs, const json_t *settings);
/* Return the budget, which belongs to cs. */
struct budget *costs_budget(struct costs *cs);

/* Estimate the duration of a run of the campaign and the bytes that each node
 * sends. Without a measurement: the deadline and campaign.bytes. */
void costs_expect(const struct costs *cs, const char *campaign,
    const struct conf *conf, double *ret_duration_s,
    double *ret_bytes_per_node);
/* Return 1 if a blackout prevents a run of that conf at that time, with the
 * blackout's end and the reason; else 0. */
int costs_black(const struct costs *cs, const struct conf *conf,
    uint64_t at_unix_ns, double duration_s, uint64_t *ret_end_unix_ns,
    struct err *err);
/* Return the rate in bytes per second of the fastest link of a node; 0:
 * unknown. */
double costs_link(const struct node *n);

/* Add the usage of a run, and store it. */
void costs_use(struct costs *cs, double bytes, double node_s);
/* Store the cost of a run of the campaign as the estimate for the next one. */
void costs_learn(struct costs *cs, const char *campaign, double duration_s,
    double bytes_per_node);

#endif
