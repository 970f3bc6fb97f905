/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_reports.h - reports in heartbeats about the jobs of a node: measurements
 * that jobs made themselves, and the progress of their communicators. The
 * collector reads them once, when the heartbeat arrives.
 *
 * Texts live as long as the message. A count that the message lacks is 0, a
 * text "".
 */
#ifndef DAEMON_EVIDENCE_JOB_REPORTS_H
#define DAEMON_EVIDENCE_JOB_REPORTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_REPORTS_MAX 16 /* reports of a heartbeat; others are skipped */

/* The job of a report, and the user who wrote it. */
struct job_claim {
	const char *job;
	int has_uid;
	int64_t uid;
};

/* An element of "in_band". */
struct in_band_report {
	struct job_claim of;
	const json_t *rows; /* stored as they arrived; NULL: missing */
};

/* A rank that a communicator lists. */
struct ras_rank {
	int64_t rank, gpu;
	const char *addr;
	int is_absent; /* it has answered and has left */
};

struct ras_comm {
	const char *hash;
	int64_t size, answered, ending;
	int64_t most, least; /* operations launched by its ranks */
	/* The lists may have fewer ranks than the counts. */
	int64_t missing_count, behind_count;
	struct ras_rank *missing, *behind;
	size_t missing_listed, behind_listed;
};

/* An element of "ras", as agents/sensor/ras_read.h. */
struct ras_report {
	struct job_claim of;
	const char *error; /* "": none; then there is nothing else */
	const char *version;
	int64_t comms, launched;
	/* Addresses of the node in the namespace of the job. */
	const char **addrs;
	size_t addr_count;
	struct ras_comm *list;
	size_t count;
};

void in_band_report_read(const json_t *o, struct in_band_report *ret);
void ras_report_read(const json_t *o, struct ras_report *ret);
/* Free the lists of a report. */
void ras_report_clear(struct ras_report *r);

#endif
