/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - records on disk until the collector has committed them.
 *
 * One append-only file per run; a record is written before it may be sent, and
 * an agent that was killed recovers all of them, after a power failure the
 * synced ones: an incomplete entry or a hole is skipped and counted as lost.
 * The total size is bounded. Over the limit, acknowledged records are deleted
 * first, then the oldest raw records, then the oldest of all; deleted records
 * that were not acknowledged are counted. While the disk is full, a limited
 * number of records waits in memory and an alarm is active.
 */
#ifndef AGENTS_SPOOL_SPOOL_H
#define AGENTS_SPOOL_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "agents/spool/spool_entry.h"

struct spool;

/* The state of one run for spool_walk. */
struct spool_run {
	const char *run;
	uint64_t last_seq; /* of those that wait; 0: none */
};

/* Read what an earlier life left in dir, which is made when it is missing.
 * -errno after a line in the log. */
int spool_open(const char *dir, uint64_t max_bytes, struct spool **ret);
/* Sync and keep the files; NULL is allowed. */
void spool_free(struct spool *sp);

/* seq ascends within a run. Never fails: a record without space is lost and
 * counted. */
void spool_append(struct spool *sp, const char *run, uint64_t seq, int raw,
    const char *line, size_t len_bytes);
/* Sync: appended records survive a power failure from now on. After an error
 * the next call retries, and an alarm is active until then. */
void spool_sync(struct spool *sp);
/* Records up to seq are committed. */
void spool_ack(struct spool *sp, const char *run, uint64_t seq);
/* No more records of run follow: drop it once all are committed. */
void spool_finish(struct spool *sp, const char *run);

/* Send everything again that is not acknowledged. */
void spool_rewind(struct spool *sp);
/* Get the next record of run to send. Return 1, or 0 at the end or if its line
 * is longer than max_bytes. */
int spool_next(struct spool *sp, const char *run, size_t max_bytes,
    struct spool_entry *ret);
/* Call for every run with records; the callback may use the calls above. */
void spool_walk(struct spool *sp,
    void (*each)(const struct spool_run *sr, void *arg), void *arg);
/* Get losses of run since the last call. Return 1, or 0 for none. */
int spool_lost(struct spool *sp, const char *run, uint64_t *ret_records,
    uint64_t *ret_bytes);

uint64_t spool_bytes(const struct spool *sp);
/* Return the active alarm, or NULL. */
const char *spool_alarm(const struct spool *sp);

#endif
