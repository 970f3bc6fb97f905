/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_read.h - a thread that reads, with a separate connection.
 */
#ifndef DAEMON_STORE_STORE_READ_H
#define DAEMON_STORE_STORE_READ_H

#include <stdint.h>

#include "daemon/store/store_int.h"

struct store_reader;
/* Start a reader; a request takes at most limit_ns. Return 0, or -errno after
 * logging the reason. */
int store_reader_start(const struct store_options *o, uint64_t limit_ns,
    struct store_done *done, struct store_reader **ret);
/* Add a request; takes job. Return 0, or -EAGAIN if the queue is full and the
 * job stays the caller's. */
int store_reader_add(struct store_reader *r, struct store_job *job);
/* Abandon the requests of an owner: waiting ones end with -ECANCELED, the one
 * in progress is interrupted. */
void store_reader_abandon(struct store_reader *r, const void *owner);
/* End the thread. Requests that are still queued are passed to done with
 * -ECANCELED. */
void store_reader_stop(struct store_reader *r);

#endif
