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
/* "stuck RANK NODE WHAT SECONDS AT": it waits for that rank, in its exchange
 * number AT; rank < 0: nobody knows for whom. */
#define RANK_STUCK_BYTES 512
struct rank_stuck {
	int rank;
	const char *node, *what;
	double waited_s;
	uint64_t at;
};
void rank_watch_stuck(const struct rank_stuck *s);
/* In two steps, the second of which a signal's handler may take. */
void rank_watch_stuck_line(const struct rank_stuck *s,
    char ret[RANK_STUCK_BYTES]);
void rank_watch_send(const char *line);

#endif
