/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_lines.h - parse the lines that the scheduler prints.
 */
#ifndef DAEMON_JOBS_JOB_LINES_H
#define DAEMON_JOBS_JOB_LINES_H

#include <stddef.h>
#include <stdint.h>

/* A line: JOB|OWNER|STATE|START|END|NODES, and |NAME or not. Times are seconds
 * since 1970 or YYYY-MM-DDTHH:MM:SS in UTC; what is not one is not known. NODES
 * is a hostlist. NAME may hold any character. STATE: a waiting one, a running
 * one, or, any other word, how it ended; END counts for these only. */
struct job_line {
	const char *job, *owner, *state, *nodes; /* into the text */
	const char *name;                        /* NULL: not in the line */
	int64_t start_unix_s, end_unix_s;        /* 0: not known */
	int runs;                                /* else it has ended */
};

/* 1: a job that has begun, with nodes; 0: none of it to keep; -EINVAL: no
 * such line. Cuts the line. */
int job_line_parse(char *line, struct job_line *ret);

/* Cut the next line off *rest, "" at its end. name_bytes > 0: behind the sixth
 * '|' of a line are this many bytes, and then its end, for a name may contain
 * line ends. NULL: there is no line left, or *rest is not of this form and then
 * not at its end. */
char *job_line_next(char **rest, size_t name_bytes);

#endif
