/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_rates.h - recent rates of the error counters of ports and GPUs.
 */
#ifndef DAEMON_DIAGNOSIS_LINK_RATES_H
#define DAEMON_DIAGNOSIS_LINK_RATES_H

#include <jansson.h>

struct diagnosis;
struct node;

/* Update the rates from the newest counters of a node; span_s: the time since
 * the counters before. */
void link_rates_take(struct diagnosis *d, const struct node *n, double span_s);

#endif
