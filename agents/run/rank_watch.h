/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.h - the connections that the ranks of a run keep to this agent.
 *
 * A rank connects, writes "rank R pid P", and writes "bye" after its results.
 * Before "bye" it can write "stuck RANK NODE WHAT SECONDS AT", at most twice,
 * if it waits in vain for another rank; RANK -1 means that it does not know for
 * which. A connection that ends without "bye" belongs to a rank that died,
 * whatever its launcher reports. A rank that ends itself, as its MPI does when
 * another rank is gone, can still write "exit".
 */
#ifndef AGENTS_RUN_RANK_WATCH_H
#define AGENTS_RUN_RANK_WATCH_H

#include <event2/event.h>
#include <jansson.h>
#include <stdint.h>

struct rank_watch;

/* Called when a rank died. exited: it reported its exit before. */
typedef void rank_watch_lost_cb(int64_t rank, int64_t pid, int exited,
    void *arg);
/* Called when a rank is stuck. with: {rank node what waited_s at}, taken. The
 * node's name is not checked; it is "" with rank -1. */
typedef void rank_watch_stuck_cb(int64_t rank, int64_t pid, json_t *with,
    void *arg);
/* Called when a rank wrote "bye". */
typedef void rank_watch_bye_cb(int64_t rank, void *arg);
/* Calls of the owner. */
struct rank_watch_ops {
	rank_watch_lost_cb *lost;
	rank_watch_stuck_cb *stuck;
	rank_watch_bye_cb *bye; /* or NULL */
};

/* Listen at path for group gid. Return NULL after logging the reason if that
 * fails. */
struct rank_watch *rank_watch_open(struct event_base *base, const char *path,
    int64_t gid, const struct rank_watch_ops *ops, void *arg);
/* Close all connections without calling lost. w can be NULL. */
void rank_watch_close(struct rank_watch *w);
unsigned rank_watch_count(const struct rank_watch *w); /* ranks seen so far */

#endif
