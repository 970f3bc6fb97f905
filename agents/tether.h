/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tether.h - the lines that the ranks of a run hold here.
 *
 * A rank connects, writes "rank R pid P", and "bye" once its results are out.
 * A line that breaks without bye is a rank that died, whatever its launcher
 * thinks of it; one that ended itself, as its MPI does when another rank is
 * gone, could still say "exit".
 */
#ifndef AGENTS_TETHER_H
#define AGENTS_TETHER_H

#include <event2/event.h>
#include <stdint.h>

struct tether;

/* exited: it ended itself. */
typedef void tether_lost_cb(int64_t rank, int64_t pid, int exited, void *arg);

/* NULL after a line in the log. */
struct tether *tether_open(struct event_base *base, const char *path,
    int64_t gid, tether_lost_cb *lost, void *arg);
/* Closes all lines, without lost. NULL is allowed. */
void tether_close(struct tether *t);
unsigned tether_count(const struct tether *t); /* ranks seen so far */

#endif
