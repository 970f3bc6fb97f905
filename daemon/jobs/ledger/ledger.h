/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - what jobs cost those beside them, by natural experiments.
 *
 * When a job begins or ends, or its traffic does, that is a step. Canaries that
 * share uplinks with the job are compared with those that do not, after the
 * step with before it: what happens to all of them cancels. A job's effect is
 * the mean over its steps, a kind's the mean over its jobs, which are the units
 * of its interval. The same look at moments without a step, placebos, tells how
 * large an effect is by chance: a kind is blamed only for more.
 *
 * All of it is logarithms of seconds. Sets are sorted. Threads: any.
 */
#ifndef DAEMON_JOBS_LEDGER_LEDGER_H
#define DAEMON_JOBS_LEDGER_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#define LEDGER_NONE UINT32_MAX

/* Where a job or a canary is. On two leaves or more it uses their uplinks. */
struct ledger_place {
	const uint32_t *leaves, *nodes;
	size_t leaf_count, node_count;
};

/* A canary over time, whose values may be compared with one another. */
struct ledger_series {
	uint32_t test;
	struct ledger_place place; /* nodes may be none: samples have them */
};

struct ledger_sample {
	int64_t at_ns; /* when it was over */
	uint32_t series;
	uint32_t a, b; /* the nodes of this one, or LEDGER_NONE */
	double log_s;
};

struct ledger_step {
	int64_t at_ns;
	uint32_t job;
	int sign; /* 1: more traffic from here on; -1: less */
	struct ledger_place place;
};

/* What is looked at; samples and steps in the order of time. */
struct ledger_world {
	const struct ledger_series *series;
	const struct ledger_sample *samples;
	const struct ledger_step *steps;
	size_t series_count, sample_count, step_count;
	size_t leaf_count, node_count; /* ids are below */
	int64_t span_ns;               /* looked at on each side of a step */
	int64_t guard_ns; /* how long a sample takes: so late it has begun
			     before */
	int64_t lead_ns;  /* so late at most an end is told of */
};

/* What those lost that share a link with it, on average, also where a rival's
 * step on their uplinks keeps them from being compared: an echo between two of
 * the job's leaves waits twice. */
struct ledger_effect {
	double log_ratio;
	double
	    seconds; /* longer: as certain where a ratio is of next to none */
	double quiet_s; /* what took so much longer then took without it */
	size_t shared, others; /* series on each side of the comparison */
	size_t confounded;     /* that another job's step touches as well */
	uint32_t rival;        /* one such job, or LEDGER_NONE */
};

/* Of the place of a step, at its own time, or at another, as a placebo.
 * -ENODATA: nobody shares a link with it, or nobody else is left to compare
 * with; -EBUSY: whoever does also shares one with a rival that made a step at
 * the same time; ret is written all the same. */
int ledger_look(const struct ledger_world *w, uint32_t test,
    const struct ledger_step *of, int64_t at_ns, struct ledger_effect *ret);
/* The first of the samples that is not before. */
size_t ledger_sample_from(const struct ledger_world *w, int64_t at_ns);

#endif
