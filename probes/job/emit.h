/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - write records to a file or pipe, one numbered JSON line each. Only
 * rank 0 writes.
 *
 * Every line is one write, so that a reader sees complete records even if the
 * writer dies. A line longer than the limit is a bug in the engine. Without a
 * file nothing is written, but records are still numbered.
 */
#ifndef PROBES_JOB_EMIT_H
#define PROBES_JOB_EMIT_H

#include <jansson.h>
#include <stdint.h>

/* Flags for json_dumps. Nine digits are more than the precision of a clock, and
 * take half the bytes of seventeen. */
#define EMIT_JSON (JSON_COMPACT | JSON_REAL_PRECISION(9))

struct emit;

/* Open the output. path: NULL: no file; "-": standard output. Opening a pipe
 * waits for its reader. run: the run's id, a member of every record. Return 0,
 * or -errno, which is logged. */
int emit_open(const char *path, const char *run, struct emit **ret);
/* Number a record and write it; takes record. A progress record gets no
 * number. */
void emit_put(struct emit *e, json_t *record);
/* Add these members, from now on, to every record whose kind has a member
 * "carried", unless the record has its own value. Takes the reference. */
void emit_carried(struct emit *e, json_t *carried);
/* Number of numbered records so far. */
uint64_t emit_count(const struct emit *e);
void emit_close(struct emit *e); /* e can be NULL */

#endif
