/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_spine.h - a stage of switches whose leaves have all worsened by
 * the same amount.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_SPINE_H
#define DAEMON_DIAGNOSIS_FAULT_SPINE_H

#include "daemon/diagnosis/incident.h"

struct hole_place;

/* Sums over the nodes of a leaf in a round. */
struct path_sum {
	double pairs, slow;
	double nodes, busy;
};

/* Update the stages after the topology may have changed; remaining stages keep
 * their learned values. */
void fault_spine_renew(struct diagnosis *d);
/* Process a round whose slow pairs are evidence about leaves; out: share of its
 * nodes that are slow themselves. */
void fault_spine_hear(struct diagnosis *d, struct diagnosis_series *s,
    const struct path_sum *of, double out, const struct diagnosis_source *from);
/* Return 1 if a stage has an open case in this series. */
int fault_spine_is_open(const struct diagnosis *d,
    const struct diagnosis_series *s);
/* Return 1 if most leaves below the same spines have worsened as much. */
int fault_spine_share(const struct diagnosis *d,
    const struct diagnosis_series *s, const struct path_sum *of, uint32_t leaf);
/* Append the text of a stage with holes, or (all 0) with slow pairs. */
void fault_spine_add(const struct diagnosis *d, const struct incident *k,
    const struct hole_place *h, char *text);

#endif
