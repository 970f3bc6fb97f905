/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - records to a file or pipe, one JSON line each, numbered. Rank 0.
 *
 * Every line is one write, so a reader sees complete records even if the writer
 * dies. A line longer than the limit is a bug in the engine. Without a file
 * nothing is written, but records are still numbered.
 */
#ifndef PROBES_JOB_EMIT_H
#define PROBES_JOB_EMIT_H

#include <jansson.h>
#include <stdint.h>

/* Nine digits are more than a clock has, and half the bytes of seventeen. */
#define EMIT_JSON (JSON_COMPACT | JSON_REAL_PRECISION(9))

struct emit;

/* path: NULL for none, "-" for standard output. Opening a pipe waits for its
 * reader. -errno, logged. */
int emit_open(const char *path, const char *run, struct emit **ret);
/* Number and write; takes record. A progress record gets no number. */
void emit_put(struct emit *e, json_t *record);
/* From now on a part of every record whose kind has a member carried, for what
 * it does not say there itself. Takes the reference. */
void emit_carried(struct emit *e, json_t *carried);
uint64_t emit_count(const struct emit *e); /* numbers given so far */
void emit_close(struct emit *e);           /* NULL is allowed */

#endif
