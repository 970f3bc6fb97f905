/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_join.h - join a job with the verdicts and events of its nodes.
 */
#ifndef DAEMON_JOBS_JOB_JOIN_H
#define DAEMON_JOBS_JOB_JOIN_H

#include <jansson.h>
#include <stdint.h>

#include "common/clk.h"

/* Answers of the store for the time around a job: arrays, newest first. */
struct job_around {
	const json_t *verdicts, *events, *impacts, *shares, *in_band;
	int64_t now_unix_ns;
};
/* The time before and after a job: as long as the job, within these limits. */
#define JOB_AROUND_MIN_NS (600 * CLK_NS_PER_S)
#define JOB_AROUND_MAX_NS (6 * 3600 * CLK_NS_PER_S)
int64_t job_around_ns(const json_t *job, int64_t now_unix_ns);
/* Add to a job: exposed_node_s, the sum over its nodes of the seconds in which
 * a part of it was slow; verdicts and events of its nodes and leaves, each with
 * when (before, during, after); impacts [{test of before during after}];
 * expectation {before during after}, each {at_unix_ns share slow unknown}, at
 * the worst; in_band [{source op ranks nodes bytes calls seconds least_s node}]
 * over its nodes, where node has the rank that waited least. */
void job_join(json_t *job, const struct job_around *around);
/* Return the jobs with exposed_node_s above 0, the worst first, as a new array.
 * jobs is not changed. */
json_t *job_worst(const json_t *jobs, const struct job_around *around);

#endif
