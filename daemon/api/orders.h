/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.h - orders of users: start and end runs, issue enrolment tokens,
 * enable schedules, pin baselines. Each is recorded in the event log.
 */
#ifndef DAEMON_API_ORDERS_H
#define DAEMON_API_ORDERS_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"

struct api;

/* Submit a run. by: the user, for the event log. overrides: {"section.key":
 * "value"}, or NULL. text: a campaign's INI text that is not in campaign_dir,
 * or NULL. *ret_unseen: the host list of the campaign's nodes that never had an
 * agent, which the caller frees; NULL: none. Return 0, or -errno with err. */
int orders_submit(struct api *api, const char *campaign, const char *text,
    const json_t *overrides, const char *by, char ret_run[64],
    char **ret_unseen, struct err *err);
/* Cancel a run. Return 0, or -errno with err. */
int orders_cancel(struct api *api, const char *run, const char *by,
    struct err *err);
/* End all live runs now. Return how many it ended. */
int orders_stop_all(struct api *api, const char *by);
/* Issue a token for nodes to enrol with, ret_token of PKI_TOKEN_TEXT bytes.
 * uses 0: one for each name. */
int orders_token(struct api *api, const char *names, int uses, uint64_t span_ns,
    const char *by, char *ret_token, struct err *err);
/* Enable or disable the schedule of a campaign. Return 0, or -errno with
 * err. */
int orders_schedule_enable(struct api *api, const char *campaign, int enabled,
    const char *by, struct err *err);
/* Begin, extend or (span_ns 0) end the maintenance of a node; reason: for
 * people. */
int orders_node_maintain(struct api *api, const char *node, uint64_t span_ns,
    const char *reason, const char *by, struct err *err);
/* Remove a node whose agent is not connected. Return 0, or -errno with err. */
int orders_node_forget(struct api *api, const char *node, const char *by,
    struct err *err);
/* Return -EINVAL unless the name of a baseline follows the rules for names of
 * campaigns; -EBUSY for API_RECENT. */
int orders_pin_check(const char *name);
/* Pin a baseline or, with body NULL, remove it: store it, write it to the event
 * log, and use it for comparisons from now on. */
void orders_pin(struct api *api, const char *name, const json_t *body,
    const char *by);

#endif
