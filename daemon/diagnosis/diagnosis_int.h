/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis_int.h - the state of the diagnosis; no other folder includes it.
 *
 * tests/lint/calls.sh checks that its files call each other in one direction:
 *
 *   node series spines       state of nodes, series and switches
 *   rounds                   a record as a round of a series
 *   incident_show incident   cases, of any kind
 *   fault_*                  one family of faults each
 *   follow_up confirm_run    further rounds, and confirmation runs
 *   learned recent           stored state, and baselines
 *   faults                   the table of all kinds
 *   diagnosis                dispatches all input
 */
#ifndef DAEMON_DIAGNOSIS_DIAGNOSIS_INT_H
#define DAEMON_DIAGNOSIS_DIAGNOSIS_INT_H

#include "common/queue.h"
#include "common/rng.h"
#include "daemon/cluster/roster.h"
#include "daemon/cluster/topo.h"
#include "daemon/diagnosis/confirm_run.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/diagnosis/incident.h"
#include "daemon/diagnosis/stats/link_errors.h"
#include "daemon/diagnosis/stats/loss.h"
#include "daemon/diagnosis/stats/stuck.h"
#include "daemon/diagnosis/node.h"
#include "daemon/diagnosis/series.h"
#include "daemon/evidence/round.h"
#include "schema/stages.h"

#define SHARES_ROUNDS 3 /* rounds from which today's share is determined */

/* The newest values of a subject, newest first. */
struct newest {
	double x[SHARES_ROUNDS];
	int known;
};

/* How much farther a leaf is than other leaves, and the logarithm of its rate
 * to the nearest of them in B/s. */
struct crossings {
	struct newest effect, log_rate;
};

TAILQ_HEAD(prediction_runs, prediction_run); /* fault_prediction.c */

/* The state of the diagnosis. */
struct diagnosis {
	struct roster *roster;
	struct store *store;
	struct diagnosis_options o;
	const struct diagnosis_ops *ops;
	void *ctx;
	const struct fault_kind *const *faults; /* faults.c */
	struct diagnosis_series series[SERIES_MAX];
	size_t series_count;
	struct diagnosis_node *nodes;
	size_t node_count;
	json_t *leaf_index; /* name: number */
	char (*leaves)[TOPO_LEAF_MAX];
	uint32_t leaf_count;
	struct crossings *crossings; /* by leaf number */
	uint32_t crossings_count;
	struct newest *log_rates; /* of bandwidth in B/s, by node id */
	size_t log_rates_count;
	/* Switches above leaves (spines.c); NULL: not determined yet. */
	struct stages *stages;
	uint32_t *stage_of;    /* by leaf number */
	uint32_t staged;       /* number of leaves in stage_of */
	struct score_obs *obs; /* scratch */
	uint8_t *busy;
	size_t obs_cap;
	struct incidents incidents;
	struct incidents follows;           /* follow_up.c */
	struct prediction_runs predictions; /* of live runs */
	struct loss_watch loss;
	struct link_watch links;
	struct diagnosis_link_class link_classes[DIAGNOSIS_LINK_CLASSES];
	size_t link_class_count;
	struct stuck_watch stuck;
	struct confirm_run pass;
	json_t *pinned;      /* body of the baseline, or NULL */
	struct score *score; /* for processing its records */
	uint64_t kept_ns;    /* time when the recent weeks were last stored */
	int learned;         /* 1: something was learned since kept_ns */
	size_t round_nodes;  /* nodes measured by the newest canary */
	struct rng rng;
	/* How the newest canary was launched; "": no canary yet. */
	char mpi[32], launcher[32];
	json_t *slurm;
	json_t *kinds; /* kinds of nodes: name to number */
	/* Consecutive epochs with unexplained holes, and with dead paths. */
	int hole_epochs, dead_epochs;
	int stage_epochs[2]; /* over spines without a name: large, dead */
	int ports_new;       /* of any node, since the last check of ports */
	uint64_t ports_ns;   /* earliest time of the next check of ports */
};

#endif
