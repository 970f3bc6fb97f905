/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_outlier.h - a node, rail or leaf that its judge names: slower than its
 * peers in several rounds.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_OUTLIER_H
#define DAEMON_DIAGNOSIS_FAULT_OUTLIER_H

#include "daemon/diagnosis/incident.h"
#include "daemon/diagnosis/judge/host_trouble.h"

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
/* A judge names it: open an incident, or update the open one. */
void fault_outlier_open(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from);
/* Another user takes its cores, or no longer does. */
void fault_outlier_taken(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t node, const struct diagnosis_source *from);
/* A confirmation run, or losses, have found this. */
void fault_outlier_found(struct diagnosis *d, struct incident *k,
    enum confirm_finding finding);
/* Calls of cases with a judge. */
double fault_outlier_effect(const struct diagnosis *d,
    const struct incident *k);
int fault_outlier_restore(struct diagnosis *d, struct incident *k,
    const json_t *o);
void fault_outlier_still(struct diagnosis *d, struct incident *k);

#endif
