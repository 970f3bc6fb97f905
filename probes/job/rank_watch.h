/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.h - the line by which the node's agent sees a rank live and die.
 *
 * A unix socket named by COALMINE_TETHER, held open for the life of the rank.
 * It says "rank R pid P" at first and "bye" once all results are out; its end
 * without a bye is a lost rank. Without the variable nothing happens.
 */
#ifndef PROBES_JOB_RANK_WATCH_H
#define PROBES_JOB_RANK_WATCH_H

void rank_watch_open(int rank);
void rank_watch_bye(void);

#endif
