/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.h - the connection by which the agent of the node watches a rank.
 *
 * A connection to the unix socket that COALMINE_RANK_WATCH names, open until
 * the rank exits. The rank writes "rank R pid P" first and "bye" once all
 * results are out; a connection that ends without bye is a lost rank. Without
 * the variable nothing happens.
 */
#ifndef PROBES_JOB_RANK_WATCH_H
#define PROBES_JOB_RANK_WATCH_H

#include <stdint.h>

void rank_watch_open(int rank);
void rank_watch_bye(void);
/* "stuck RANK NODE WHAT SECONDS AT": the rank waits for that rank, in its
 * exchange number AT; rank < 0: unknown peer. */
#define RANK_STUCK_BYTES 512
struct rank_stuck {
	int rank;
	const char *node, *what;
	double waited_s;
	uint64_t at;
};
void rank_watch_stuck(const struct rank_stuck *s);
/* Report in two steps; the second one is safe in a signal handler. */
void rank_watch_stuck_line(const struct rank_stuck *s,
    char ret[RANK_STUCK_BYTES]);
void rank_watch_send(const char *line);

#endif
