/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - records to a file or pipe, one JSON line each, numbered. Rank 0.
 *
 * Every line leaves in one write, so a reader sees whole records whatever
 * becomes of the writer. A line longer than the contract allows is a bug of
 * ours. Nothing is written when there is no file, but numbers are given.
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

/* The rank watch, by which the node's agent notices that a rank ends: a
 * connection to the unix socket that COALMINE_RANK_WATCH names, open until the
 * rank exits. The rank writes "rank R pid P" first and "bye" once all results
 * are out; a connection that ends without bye is a lost rank. Without the
 * variable nothing happens. */
void rank_watch_open(int rank);
void rank_watch_bye(void);
/* "stuck RANK NODE WHAT SECONDS AT": it waits for that rank, in its exchange
 * number AT; rank < 0: nobody knows for whom. */
#define RANK_STUCK_BYTES 512
struct rank_stuck {
	int rank;
	const char *node, *what;
	double waited_s;
	uint64_t at;
};
void rank_watch_stuck(const struct rank_stuck *s);
/* In two steps, the second of which a signal's handler may take. */
void rank_watch_stuck_line(const struct rank_stuck *s,
    char ret[RANK_STUCK_BYTES]);
void rank_watch_send(const char *line);

#endif
