/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_pipe.h - the pipe to which an engine (coalmine-probe) writes its
 * records.
 *
 * The engine is not trusted: a line that is not a record of this run, is too
 * long or is out of order ends the run.
 */
#ifndef AGENTS_RUN_RECORD_PIPE_H
#define AGENTS_RUN_RECORD_PIPE_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/record.h"

struct record_pipe;

/* Calls of the owner. */
struct record_pipe_ops {
	/* A valid line, without newline; pointers are valid during the call. */
	void (*record)(const struct record_head *head, const char *line,
	    size_t len_bytes, void *arg);
	void (*bad)(const char *why, void *arg); /* no more calls after it */
};

/* Create the FIFO at path for group gid and read it. Return NULL after logging
 * the reason if that fails. */
struct record_pipe *record_pipe_open(struct event_base *base, const char *path,
    const char *run, int64_t gid, const struct record_pipe_ops *ops, void *arg);
/* Read the rest of the pipe after the writing process has ended. */
void record_pipe_drain(struct record_pipe *r);
void record_pipe_close(struct record_pipe *r); /* NULL is allowed */

#endif
