/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the newest numbers of records, as shown by /metrics: a family for
 * each metric of series_rows.h.
 *
 * Pure memory; filled from committed records, on start from the store's last
 * finished runs (series_warm).
 */
#ifndef DAEMON_SERIES_SERIES_H
#define DAEMON_SERIES_SERIES_H

#include <jansson.h>
#include <stddef.h>

#include "common/hist.h"

struct series;
struct store;

/* Return empty series, which the caller frees. */
struct series *series_new(void);
void series_free(struct series *s); /* NULL is allowed */
/* Add a numbered record once; class: the class of the run's campaign. line: the
 * record as received, or NULL. */
struct record_line;
void series_record(struct series *s, const char *class, const json_t *record,
    const struct record_line *line);
/* Add a record from before this start: newest numbers are used, counters do not
 * change. */
void series_record_old(struct series *s, const char *class,
    const json_t *record);

/* One sample of a metric. */
struct series_sample {
	char *labels; /* {name="value",...}, as in /metrics */
	double value; /* NAN: not shown */
	double bytes; /* SERIES_LARGEST: size in its record */
	char *run;
	int is_new;        /* 1: from a record since this start */
	struct hist *hist; /* SERIES_MERGED; NULL: none yet */
};
/* Return the samples of a row's family in *ret, in the order of their first
 * record, and their number. They are valid until the next record. Rows of one
 * family are adjacent and share their samples. */
size_t series_samples(const struct series *s, size_t row,
    const struct series_sample **ret);

/* Called for each record of a run of a campaign of that class, the oldest run
 * first. */
typedef void series_warm_cb(void *arg, const char *class, const json_t *record);

/* Load records of the last finished runs after a start, so that /metrics and
 * the page are not empty. The store delivers them on later turns of the loop.
 */
void series_warm(struct store *store, series_warm_cb *take, void *arg);

#endif
