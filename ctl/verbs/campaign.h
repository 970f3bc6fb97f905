/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign.h - order runs of a campaign.
 */
#ifndef CTL_VERBS_CAMPAIGN_H
#define CTL_VERBS_CAMPAIGN_H

#include <jansson.h>

#include "common/conf.h"
#include "ctl/lib/ctl.h"

/* Check an override KEY=VALUE, which changes conf, and set it in overrides.
 * from: the option or verb that a message names. Return 0 or an exit code. */
int campaign_override_add(const char *text, const char *from, struct conf *conf,
    json_t *overrides);
/* Set all --override in overrides. The collector checks them. */
void campaign_overrides_put(const struct ctl *c, json_t *overrides);
/* Order a run; order: the body of the request. *ret_run: its id, which the
 * caller frees. Return 0 or an exit code. */
int campaign_order_post(struct ctl *c, const char *campaign,
    const json_t *order, char **ret_run);

#endif
