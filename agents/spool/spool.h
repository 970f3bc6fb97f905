/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - store records on disk until the collector has committed them.
 *
 * Each run has one append-only file. A record is written before it may be sent.
 * After an agent was killed, its successor recovers all records; after a power
 * failure, it recovers the synced ones: an incomplete entry or a hole is
 * skipped and counted as lost. The total size is limited. Over the limit,
 * acknowledged records are deleted first, then the oldest raw records, then the
 * oldest of all; deleted records that were not acknowledged are counted as
 * lost. While the disk is full, a limited number of records waits in memory,
 * and an alarm is active.
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
	uint64_t last_seq; /* last record that waits; 0: none */
};

/* Read what an earlier process left in dir, which is created if it is missing.
 * Return 0, or -errno after logging the reason. */
int spool_open(const char *dir, uint64_t max_bytes, struct spool **ret);
/* Sync and keep the files. sp can be NULL. */
void spool_free(struct spool *sp);

/* Append a record. seq must ascend within a run. It never fails: a record for
 * which there is no space is lost and counted. */
void spool_append(struct spool *sp, const char *run, uint64_t seq, int raw,
    const char *line, size_t len_bytes);
/* Sync: records that were appended so far survive a power failure. After an
 * error the next call retries, and an alarm is active until then. */
void spool_sync(struct spool *sp);
/* Return 1 if something has failed that spool_retry can do. */
int spool_can_retry(const struct spool *sp);
/* Retry what failed: open a file of an earlier process, write records that are
 * in memory, sync. Return 0, or -errno if it failed again. */
int spool_retry(struct spool *sp);
/* Note that the collector has committed the records of a run up to seq, which
 * may be deleted. */
void spool_ack(struct spool *sp, const char *run, uint64_t seq);
/* Note that no more records of this run follow: its file is deleted once all
 * are committed. */
void spool_finish(struct spool *sp, const char *run);

/* Begin again with the first record that is not acknowledged, in every run. */
void spool_rewind(struct spool *sp);
/* Get the next record of a run to send; the caller frees ret->line. Return 1,
 * or 0 at the end or if its line is longer than max_bytes. */
int spool_next(struct spool *sp, const char *run, size_t max_bytes,
    struct spool_entry *ret);
/* Call each for every run with records. The callback can use the functions
 * above. */
void spool_walk(struct spool *sp,
    void (*each)(const struct spool_run *sr, void *arg), void *arg);
/* Get the losses of a run since the last call. Return 1, or 0 if there are
 * none. */
int spool_lost(struct spool *sp, const char *run, uint64_t *ret_records,
    uint64_t *ret_bytes);

/* Return the size of all waiting records. */
uint64_t spool_bytes(const struct spool *sp);
/* Return the active alarm, or NULL. */
const char *spool_alarm(const struct spool *sp);

#endif
