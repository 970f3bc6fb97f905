/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - results as records (schema/record.h), without run and number.
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

#define REPORT_NODES_MAX RECORD_ROWS_MAX /* of more, the worst */

json_t *report_begin(const struct world *w, const struct settings *s,
    const struct conf *c);
/* Every option that the file gave, as section.key. */
json_t *report_options(const struct conf *c, const struct conf_row *rows);
json_t *report_end(uint64_t records, enum cause cause, const char *text);

/* Collective over the canaries; the root relays canary and impact records. */
void report_canaries(struct canary_loop *m);
/* Collective over one kind of congestor; its root relays its records. */
void report_load(struct congestor_load *l);

#endif
