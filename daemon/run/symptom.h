/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symptom.h - out of several signs that a run has failed, the one that caused
 * the others, and what a launcher printed of it. Pure.
 */
#ifndef DAEMON_RUN_SYMPTOM_H
#define DAEMON_RUN_SYMPTOM_H

#include <stddef.h>
#include <stdint.h>

#include "schema/names_run.h"

/* A dead node takes ranks of other nodes with it, a dead rank takes the
 * launcher: so the earliest sign counts, and among those that began at the same
 * time, as well as that can be told, the most specific. When an agent went
 * silent is known only to a heartbeat, hence SYMPTOM_TOGETHER_NS. */
#define SYMPTOM_TOGETHER_NS (2 * 1000000000ULL)
#define SYMPTOM_TEXT_MAX    400
#define SYMPTOM_NODE_MAX    256

/* Ascending: what tells more about the guilty part. */
enum symptom_weight {
	SYMPTOM_DEADLINE, /* it took too long */
	SYMPTOM_NO_END,   /* the launcher is content, but no end record came */
	SYMPTOM_LAUNCHER, /* the launcher failed */
	SYMPTOM_EXITED,   /* a rank ended itself: often, for another's death */
	SYMPTOM_STUCK,    /* a rank waits for another one in vain */
	SYMPTOM_RANK,     /* a rank died */
	SYMPTOM_KILLED,   /* the launcher was killed, and its ranks with it */
	SYMPTOM_AGENT     /* a node's agent went away */
};

struct symptom {
	enum symptom_weight weight;
	enum run_state state; /* what the run becomes */
	enum cause cause;
	uint64_t onset_ns;
	char text[SYMPTOM_TEXT_MAX]; /* names the node */
	/* of SYMPTOM_RANK and SYMPTOM_EXITED */
	int64_t rank, pid;
	char node[SYMPTOM_NODE_MAX];
};

/* NULL when count is 0. */
const struct symptom *symptom_choose(const struct symptom *signs, size_t count);

/* What a launcher printed, without noise, as one line: the last lines that
 * say something, at most cap_bytes. "" when there is none. */
void symptom_stderr(const char *tail, char *ret, size_t cap_bytes);
/* 1 when those words are of a GPU that is at fault; ret: which. */
int symptom_device(const char *tail, char *ret, size_t cap_bytes);

#endif
