/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_lines.h - parse the lines that the scheduler prints.
 */
#ifndef DAEMON_JOBS_JOB_LINES_H
#define DAEMON_JOBS_JOB_LINES_H

#include <stddef.h>
#include <stdint.h>

/* A line: JOB|OWNER|STATE|START|END|NODES, and |NAME or not. Times are seconds
 * since 1970 or YYYY-MM-DDTHH:MM:SS in UTC; any other text is an unknown time.
 * NODES is a hostlist. NAME may contain any character. STATE is a waiting or a
 * running state; any other word means that the job has ended, and only then END
 * is used. OWNER may be NAME:UID, and JOB may be NAME:RAW with the number in
 * the environment of its programs. */
struct job_line {
	const char *job, *owner, *state, *nodes; /* into the text */
	const char *raw;                         /* NULL: unknown */
	const char *name;                        /* NULL: not in the line */
	int64_t uid;                             /* -1: unknown */
	int64_t start_unix_s, end_unix_s;        /* 0: unknown */
	int runs; /* 1: the job runs; 0: it has ended */
};

/* Parse a line, and modify it. Return 1 for a job that has started and has
 * nodes; 0 for another job, which is skipped; -EINVAL for a malformed line. */
int job_line_parse(char *line, struct job_line *ret);

/* Cut the next line off *rest and return it. name_bytes > 0: after the sixth
 * '|' a line has a name of exactly this many bytes, which may contain line
 * ends, and then ends. NULL: *rest is "", the end, or malformed; it does not
 * change. */
char *job_line_next(char **rest, size_t name_bytes);

#endif
