/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_int.h - the parts of the metrics page. Each appends whole families.
 */
#ifndef DAEMON_EXPORT_METRICS_INT_H
#define DAEMON_EXPORT_METRICS_INT_H

#include "daemon/export/exposition.h"
#include "daemon/export/metrics.h"

typedef void metrics_part(const struct metrics_in *in, struct strbuf *to);

/* metrics_nodes.c */
metrics_part metrics_nodes;
/* metrics_canary.c */
metrics_part metrics_canaries, metrics_canary_counts, metrics_histograms,
    metrics_impacts, metrics_speedups, metrics_multipaths;
/* metrics_collective.c */
metrics_part metrics_collectives;
/* metrics_deliver.c */
metrics_part metrics_deliver;
/* metrics_runs.c */
metrics_part metrics_run_counts, metrics_live_runs, metrics_schedule;
/* metrics_always.c */
metrics_part metrics_mesh, metrics_budget, metrics_coverage, metrics_silence;
/* metrics_verdicts.c */
metrics_part metrics_verdicts;
/* metrics_process.c */
metrics_part metrics_process;

#endif
