/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_cause.h - compare NCCL's report on a job's ranks with the state of their
 * nodes, to find the class of the cause and a sentence about it.
 */
#ifndef DAEMON_JOBS_JOB_CAUSE_H
#define DAEMON_JOBS_JOB_CAUSE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/names_job.h"
#include "schema/names_verdict.h"

struct node;

/* A rank of a finding. */
struct job_rank {
	int64_t rank, gpu;       /* gpu: its index, -1 unknown */
	const char *addr;        /* "" unknown; borrowed */
	const struct node *node; /* NULL unknown */
};

/* A finding on a job. */
struct job_finding {
	enum job_finding_kind kind;
	const char *hash; /* hash of the communicator; "" none */
	int64_t size;     /* number of the communicator's ranks */
	int64_t gap;      /* operations that the ranks are behind; 0 none */
	/* Ranks that the finding concerns; list may have fewer. */
	int64_t total;
	const struct job_rank *list;
	size_t count;
	int64_t since_unix_ns;
};

/* The state of the job's nodes. */
struct job_facts {
	/* Nodes of the job, borrowed. */
	const struct node *const *nodes;
	size_t node_count;
	int64_t start_unix_ns; /* earlier link errors are not the job's */
	const json_t *cases;   /* open cases, as diagnosis_json */
	enum verdict (*verdict)(void *arg, const struct node *n);
	void *arg;
};

#define JOB_TEXT_BYTES 480
/* Return the class of the cause, and the sentence, which names ranks, node and
 * evidence. */
enum job_cause job_cause_find(const struct job_finding *f,
    const struct job_facts *facts, char ret_text[JOB_TEXT_BYTES]);
/* Return the open case of a node or leaf, or NULL. It is borrowed from
 * facts. */
const json_t *job_cause_case(const struct job_facts *facts, const char *kind,
    const char *subject);

#endif
