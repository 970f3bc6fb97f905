/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.h - the lines that the ranks of a run hold here.
 *
 * A rank connects, writes "rank R pid P", and "bye" once its results are out.
 * A line that breaks without bye is a rank that died, whatever its launcher
 * thinks of it; one that ended itself, as its MPI does when another rank is
 * gone, could still say "exit".
 */
#ifndef AGENTS_RUN_RANK_WATCH_H
#define AGENTS_RUN_RANK_WATCH_H

#include <event2/event.h>
#include <stdint.h>

struct rank_watch;

/* exited: it ended itself. */
typedef void rank_watch_lost_cb(int64_t rank, int64_t pid, int exited,
    void *arg);

/* NULL after a line in the log. */
struct rank_watch *rank_watch_open(struct event_base *base, const char *path,
    int64_t gid, rank_watch_lost_cb *lost, void *arg);
/* Closes all lines, without lost. NULL is allowed. */
void rank_watch_close(struct rank_watch *t);
unsigned rank_watch_count(const struct rank_watch *t); /* ranks seen so far */

#endif
