/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - the cost of jobs to others that share links, by natural
 * experiments (difference in differences).
 *
 * A step is a moment when a job or its traffic begins or ends. Canaries that
 * share uplinks with the job are compared with canaries that do not, after the
 * step and before it: effects on all of them cancel. A job's effect is the mean
 * over its steps. The effect of a kind of jobs is the mean over its jobs, which
 * are the units of its confidence interval. The same evaluation at moments
 * without a step (placebos) shows how large an effect is by chance: a kind is
 * blamed only for a larger one.
 *
 * All values are logarithms of seconds. Sets are sorted. Threads: any.
 */
#ifndef DAEMON_JOBS_LEDGER_LEDGER_H
#define DAEMON_JOBS_LEDGER_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#define LEDGER_NONE UINT32_MAX

/* The place of a job or a canary. If it has two or more leaves, it uses their
 * uplinks. */
struct ledger_place {
	const uint32_t *leaves, *nodes;
	size_t leaf_count, node_count;
};

/* A canary over time. Its values are comparable with each other. */
struct ledger_series {
	uint32_t test;             /* a number for the test */
	struct ledger_place place; /* without nodes if samples have them */
};

/* A result of a canary. */
struct ledger_sample {
	int64_t at_ns; /* time of its end */
	uint32_t series;
	uint32_t a, b; /* the nodes of this one, or LEDGER_NONE */
	double log_s;  /* logarithm of its seconds */
};

/* A step of a job. */
struct ledger_step {
	int64_t at_ns;
	uint32_t job; /* the number of the job */
	int sign;     /* 1: more traffic from here on; -1: less */
	struct ledger_place place;
};

/* All input; samples and steps are in the order of time. */
struct ledger_world {
	const struct ledger_series *series;
	const struct ledger_sample *samples;
	const struct ledger_step *steps;
	size_t series_count, sample_count, step_count;
	/* All numbers of leaves and nodes are below. */
	size_t leaf_count, node_count;
	/* Time that is evaluated on each side of a step. */
	int64_t span_ns;
	int64_t guard_ns; /* duration of a sample: one that ends this long
			     after a step may have begun before it */
	int64_t lead_ns;  /* maximum delay of the report of an end */
};

/* The mean loss of the series that share a link with the job. It includes
 * series that cannot be compared because of a rival's step on their uplinks. An
 * echo between two of the job's leaves waits twice. */
struct ledger_effect {
	double log_ratio;
	double seconds; /* the effect as a time: certain for short times, too */
	double quiet_s; /* time of the operation without the job */
	size_t shared, others; /* series on each side of the comparison */
	size_t confounded;     /* series that another job's step affects, too */
	uint32_t rival;        /* one such job, or LEDGER_NONE */
};

/* Compute the effect for the place of a step, at its own time, or at another
 * time as a placebo. Return -ENODATA if no series shares a link with it, or
 * none remains to compare with; -EBUSY if each series that does also shares a
 * link with a rival that had a step at the same time. *ret is written in every
 * case. */
int ledger_look(const struct ledger_world *w, uint32_t test,
    const struct ledger_step *of, int64_t at_ns, struct ledger_effect *ret);
/* Return the index of the first sample at or after at_ns. */
size_t ledger_sample_from(const struct ledger_world *w, int64_t at_ns);

#endif
