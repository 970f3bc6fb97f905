/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - the state of each node in the diagnosis, and the numbers of leaves.
 */
#ifndef DAEMON_DIAGNOSIS_NODE_H
#define DAEMON_DIAGNOSIS_NODE_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/stats/link_errors.h"
#include "schema/names_probe.h"

struct diagnosis;

/* A leaf and its uplinks are not judged while a larger share of its nodes is
 * busy. */
#define BUSY_LEAF_MAX 0.25
/* This many runs that did not measure a node make it unknown. */
#define MISSED_MANY 2
/* This many dismissals of a suspicion are remembered. */
#define DISPELLED_MANY 4

/* Classes of nodes, by their GPUs, and the errors of each kind since the
 * collector started. */
#define DIAGNOSIS_LINK_CLASSES 16
struct diagnosis_link_class {
	char name[LINK_PORT_MAX];
	uint64_t errors[LINK_KIND_MAX];
};

/* State of every node, by its id. */
struct diagnosis_node {
	char *boot;        /* boot of the agent process that was measured */
	uint64_t heard_ns; /* time of its last round; 0: none since a restart */
	char run[64];      /* the run of its counters */
	char nic[16];      /* the NIC with the most traffic; "": none */
	int64_t drops, drops_first;
	uint32_t partners, slow_partners; /* in its last round */
	uint64_t nics_serial;    /* nics_serial of the node at the last call of
				    hear_node; UINT64_MAX: the call is due */
	uint64_t fastest_serial; /* ports_serial of fastest_bps */
	double fastest_bps;      /* from its inventory */
	/* The node's kind by NIC, CPU and GPUs, and its kind only by the NIC's
	 * rate: numbers in diagnosis.kinds, from 1. */
	uint32_t kind, rate_kind;
	double kind_bps;     /* rated_bps when the kinds were found */
	json_t *ports;       /* best value ever seen, by "NAME MEMBER" */
	double rated_bps;    /* rate of its fastest port, bit/s */
	char canary_run[64]; /* the newest run of MPI that measured it */
	/* Later runs that should have measured it: [1] of campaigns whose
	 * rounds are rings, [0] of others. A ring ends only [1]. */
	unsigned missed[2];
	/* Times of the newest suspicions that a confirmation run dismissed. */
	uint64_t dispelled_ns[DISPELLED_MANY];
	uint8_t link_busy; /* 1: its link carried a job's traffic in its last
			      round */
	uint8_t leaf_busy; /* 1: more nodes of its leaf are busy than of other
			      leaves */
	double wait_ratio; /* share of its ranks' time without a core in its
			      last round; NAN: unknown */
	char *trouble;     /* its last host contention, or NULL */
	/* Another user takes the node's cores (host_trouble.h): the start by
	 * clk_ns(), the number of rounds with this contention, and the number
	 * of rounds in a row without it. */
	uint64_t taken_ns;
	uint16_t taken, untaken;
	struct link_rate *rates; /* rates of its error counters: link_rates.c */
	size_t rate_count;
	uint8_t link_class; /* in link_classes, from 1; 0: no link counters */
	/* The newest z of each test; NAN: not measured. A round of rings counts
	 * only if no other round of the test has measured the node lately: in
	 * a ring all nodes have the pace of the slowest. */
	float z[CANARY_MAX];
	uint64_t z_ns[CANARY_MAX];
	uint8_t z_is_ring[CANARY_MAX];
	/* Last value passed to diagnosis_ops.changed; VERDICT_MAX: none yet. */
	uint8_t reported;
	/* Time of the last round that compared it with enough peers, or with
	 * its own past. */
	uint64_t judged_ns;
};

/* Return the state of a node, or the number of a leaf; both are created if they
 * do not exist. */
struct diagnosis_node *diagnosis_node(struct diagnosis *d,
    const struct node *n);
uint32_t diagnosis_leaf(struct diagnosis *d, const char *leaf);
/* Return the number of runs that missed a node since it was measured. */
unsigned node_missed(const struct diagnosis_node *cn);
/* Return the state of a node, or NULL if it was not created yet. */
const struct diagnosis_node *node_known(const struct diagnosis *d,
    const struct node *n);
/* Return 1 if the agent of a node was restarted after the node was measured. */
int diagnosis_is_new_boot(const struct node *n,
    const struct diagnosis_node *cn);
/* Note that a node was measured now. */
void diagnosis_heard(struct diagnosis *d, const struct node *n);
void diagnosis_node_free(struct diagnosis *d);

#endif
