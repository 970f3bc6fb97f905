/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm_run.h - confirmation runs: measure an outlier again, among normal
 * nodes. One run at a time; follow-up runs (follow_up.h) use the same code.
 */
#ifndef DAEMON_DIAGNOSIS_CONFIRM_RUN_H
#define DAEMON_DIAGNOSIS_CONFIRM_RUN_H

#include "daemon/diagnosis/stats/confirm.h"

struct diagnosis;
struct incident;
struct round;

/* The confirmation run or follow-up run in progress; one at a time. */
struct confirm_run {
	struct incident *of; /* incident that is measured; NULL: no run */
	char run[64];
	char *names[CONFIRM_NODES_MAX]; /* the outlier first */
	uint32_t leaves[CONFIRM_NODES_MAX];
	size_t count;
	int is_rate;   /* 1: it measures bandwidths */
	int heard;     /* 1: its result was processed */
	int disturbed; /* 1: another run of the collector used the network */
	uint64_t window_ns;               /* start of the current hour */
	int in_window, follows_in_window; /* runs ordered in this hour */
	int is_follow; /* 1: a follow-up run: `of` is in diagnosis.follows */
};

/* Order the next confirmation run or follow-up run if one is due; call it about
 * once a second. */
void confirm_run_tick(struct diagnosis *d);
/* Process a record of a run, if it is the confirmation run. */
void confirm_run_record(struct diagnosis *d, const char *run,
    const struct round *round);
/* Note that a run has ended; if it was the confirmation run and gave no result,
 * it is retried later. */
void confirm_run_over(struct diagnosis *d, const char *run);
/* Free the names, and forget the run. */
void confirm_run_clear(struct confirm_run *p);
/* Retry the confirmation run of an incident later, because it gave no result.
 */
void confirm_run_again_later(const struct diagnosis *d, struct incident *k);

#endif
