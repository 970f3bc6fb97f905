/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_write.h - the thread that writes.
 */
#ifndef DAEMON_STORE_STORE_WRITE_H
#define DAEMON_STORE_STORE_WRITE_H

#include <stdint.h>

#include "daemon/store/store_int.h"

struct store_writer;
/* Start the writer. Return 0, or -errno after logging the reason. */
int store_writer_start(const struct store_options *o, struct store_done *done,
    struct store_writer **ret);
/* Add a write. Takes job, except with -EAGAIN: the queue is full and the job
 * stays the caller's. */
int store_writer_add(struct store_writer *w, struct store_job *job);
/* Return 1 if the queue is half full. was: the last result; after a 1, the
 * result stays 1 until the queue is at most a quarter full. */
int store_writer_is_behind(struct store_writer *w, int was);
/* Commit all queued rows, pass them to done and end the thread. */
void store_writer_stop(struct store_writer *w);
/* Read the state of the writer, for store_health. */
void store_writer_health(struct store_writer *w, struct store_health *ret);
/* Return the time by clk_ns until which no other collector can be active, and
 * the term. */
uint64_t store_writer_leads_until(struct store_writer *w, uint64_t *ret_term);

#endif
