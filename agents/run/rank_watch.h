/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.h - the connections that the ranks of a run hold to this agent.
 *
 * A rank connects, writes "rank R pid P", and "bye" once its results are out;
 * between them "stuck RANK NODE WHAT SECONDS AT" where it waits for another
 * rank in vain, at most for two; RANK -1: it does not know for which. A
 * connection that ends without bye is a rank that died, whatever its launcher
 * reports; a rank that ended itself, as its MPI does when another rank is gone,
 * could still write "exit".
 */
#ifndef AGENTS_RUN_RANK_WATCH_H
#define AGENTS_RUN_RANK_WATCH_H

#include <event2/event.h>
#include <jansson.h>
#include <stdint.h>

struct rank_watch;

/* exited: it ended itself. */
typedef void rank_watch_lost_cb(int64_t rank, int64_t pid, int exited,
    void *arg);
/* with: {rank node what waited_s at}, taken; the node's name may be any, or ""
 * with rank -1. */
typedef void rank_watch_stuck_cb(int64_t rank, int64_t pid, json_t *with,
    void *arg);
typedef void rank_watch_bye_cb(int64_t rank, void *arg);
struct rank_watch_ops {
	rank_watch_lost_cb *lost;
	rank_watch_stuck_cb *stuck;
	rank_watch_bye_cb *bye; /* or NULL */
};

/* On failure log the reason and return NULL. */
struct rank_watch *rank_watch_open(struct event_base *base, const char *path,
    int64_t gid, const struct rank_watch_ops *ops, void *arg);
/* Close all connections without calling lost. NULL is allowed. */
void rank_watch_close(struct rank_watch *w);
unsigned rank_watch_count(const struct rank_watch *w); /* ranks seen so far */

#endif
