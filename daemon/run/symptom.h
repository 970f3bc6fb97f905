/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symptom.h - select, from several signs that a run has failed, the one that
 * caused the others; and parse the launcher's output. Pure.
 */
#ifndef DAEMON_RUN_SYMPTOM_H
#define DAEMON_RUN_SYMPTOM_H

#include <stddef.h>
#include <stdint.h>

#include "schema/names_run.h"

/* A dead node ends ranks of other nodes, and a dead rank ends the launcher. So
 * the cause is among the earliest signs: those that began at most
 * SYMPTOM_TOGETHER_NS after the first one. Of these the most specific sign
 * counts. The tolerance is necessary because the time when an agent stopped is
 * known only to within a heartbeat. */
#define SYMPTOM_TOGETHER_NS (2 * 1000000000ULL)
#define SYMPTOM_TEXT_MAX    400
#define SYMPTOM_NODE_MAX    256

/* The kinds of symptoms, in increasing order of specificity. */
enum symptom_weight {
	SYMPTOM_DEADLINE, /* the run exceeded its deadline */
	SYMPTOM_NO_END,   /* the launcher succeeded without an end record */
	SYMPTOM_LAUNCHER, /* the launcher failed */
	SYMPTOM_EXITED,   /* a rank exited, often after another died */
	SYMPTOM_STUCK,    /* a rank still waits for another rank */
	SYMPTOM_RANK,     /* a rank died */
	SYMPTOM_KILLED,   /* the launcher was killed, and its ranks with it */
	SYMPTOM_AGENT     /* a node's agent disconnected */
};

/* A sign that a run has failed. */
struct symptom {
	enum symptom_weight weight;
	enum run_state state; /* the run's final state */
	enum cause cause;
	uint64_t onset_ns;
	char text[SYMPTOM_TEXT_MAX]; /* names the node */
	/* The rank that died or ended itself; only for SYMPTOM_RANK and
	 * SYMPTOM_EXITED. */
	int64_t rank, pid;
	char node[SYMPTOM_NODE_MAX];
};

/* Return the sign that counts; NULL if count is 0. */
const struct symptom *symptom_choose(const struct symptom *signs, size_t count);

/* Write the last informative lines of a launcher's output as one line of at
 * most cap_bytes; "" if all are noise. */
void symptom_stderr(const char *tail, char *ret, size_t cap_bytes);
/* Return 1 if the output reports a faulty GPU, and write its name. */
int symptom_device(const char *tail, char *ret, size_t cap_bytes);

#endif
