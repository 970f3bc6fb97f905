/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_outlier.h - a node, rail or leaf that its judge has found to be an
 * outlier: slower than its peers in several rounds.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_OUTLIER_H
#define DAEMON_DIAGNOSIS_FAULT_OUTLIER_H

#include "daemon/diagnosis/incident.h"
#include "daemon/diagnosis/stats/host_trouble.h"

/* The words of an outlier besides WHAT_NODE; member others of its kinds. */
#define FAULT_OUTLIER_OTHERS                                                   \
	(1u << WHAT_LEAF | 1u << WHAT_LINK | 1u << WHAT_HOST |                 \
	    1u << WHAT_UNDETERMINED | 1u << WHAT_RAIL)

/* The data of an outlier. */
struct fault_outlier_data {
	char host[HOST_TROUBLE_TEXT_MAX]; /* the contention of the host */
	int taken; /* 1: other processes take the cores of the host */
};

/* Create a suspect for a follow-up, without a case; the caller lists and frees
 * it. */
struct incident *fault_outlier_suspect(struct diagnosis *d,
    struct diagnosis_series *s, enum judge_kind kind, uint32_t index,
    const struct diagnosis_source *from);
/* Open an incident, or update the open one, because a judge has found a node or
 * leaf to be an outlier. */
void fault_outlier_open(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from);
/* Open an incident if other processes take the cores of a node (WHAT_HOST), or
 * note that they no longer do. */
void fault_outlier_taken(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t node, const struct diagnosis_source *from);
/* Process the finding of a confirmation run, or of losses. */
void fault_outlier_found(struct diagnosis *d, struct incident *k,
    enum confirm_finding finding);
/* Implement effect, restore and still of struct fault_kind, for kinds with a
 * judge. */
double fault_outlier_effect(const struct diagnosis *d,
    const struct incident *k);
int fault_outlier_restore(struct diagnosis *d, struct incident *k,
    const json_t *o);
void fault_outlier_still(struct diagnosis *d, struct incident *k);

#endif
