/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.h - the connection by which the agent of the node watches a rank.
 *
 * The rank connects to the unix socket that COALMINE_RANK_WATCH names, and
 * keeps the connection open until it exits. It writes "rank R pid P" first, and
 * "bye" after its last result. If a connection ends without bye, the agent
 * reports a lost rank. Without the variable nothing happens.
 */
#ifndef PROBES_JOB_RANK_WATCH_H
#define PROBES_JOB_RANK_WATCH_H

#include <stdint.h>

/* Connect and introduce this rank. */
void rank_watch_open(int rank);
/* Write bye. */
void rank_watch_bye(void);
/* A report "stuck RANK NODE WHAT SECONDS AT": this rank waits for that rank of
 * that node, in its exchange number AT. rank < 0: the peer is unknown. */
#define RANK_STUCK_BYTES 512
struct rank_stuck {
	int rank;
	const char *node, *what;
	double waited_s;
	uint64_t at;
};
/* Write a report. */
void rank_watch_stuck(const struct rank_stuck *s);
/* Write a report in two steps: make its line, and send it. The second step is
 * safe in a signal handler. */
void rank_watch_stuck_line(const struct rank_stuck *s,
    char ret[RANK_STUCK_BYTES]);
void rank_watch_send(const char *line);

#endif
