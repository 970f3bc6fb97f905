/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - results as records (schema/record.h), without the members run and
 * seq, which emit.h adds.
 */
#ifndef PROBES_CONGESTION_REPORT_H
#define PROBES_CONGESTION_REPORT_H

#include <jansson.h>
#include <stdint.h>

#include "common/conf.h"
#include "probes/congestion/canary_loop.h"
#include "probes/congestion/congestor.h"
#include "probes/job/settings.h"
#include "probes/job/world.h"
#include "schema/names_run.h"
#include "schema/scores.h"

/* Largest number of rows of nodes; with more nodes, the worst. */
#define REPORT_NODES_MAX RECORD_ROWS_MAX

/* Return the begin record of a campaign: a new reference. */
json_t *report_begin(const struct world *w, const struct settings *s,
    const struct conf *c);
/* Return every option that the file sets, as an object with members
 * "section.key": a new reference. */
json_t *report_options(const struct conf *c, const struct conf_row *rows);
/* Return the end record: a new reference. records: how many were written
 * before. */
json_t *report_end(uint64_t records, enum cause cause, const char *text);

/* Compute the results. Collective over the canaries. The root relays canary and
 * impact records. */
void report_canaries(struct canary_loop *m);
/* Compute the results of one kind of congestor. Collective over its ranks; its
 * root relays the records. */
void report_load(struct congestor_load *l);

#endif
