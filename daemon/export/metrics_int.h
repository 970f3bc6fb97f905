/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_int.h - the parts of the metrics page. Each part appends whole
 * families.
 */
#ifndef DAEMON_EXPORT_METRICS_INT_H
#define DAEMON_EXPORT_METRICS_INT_H

#include "common/hist.h"
#include "common/str.h"
#include "daemon/export/metrics.h"

typedef void metrics_part(const struct metrics_in *in, struct strbuf *to);

/* metrics_cluster.c */
metrics_part metrics_nodes, metrics_certificates, metrics_verdicts,
    metrics_run_counts, metrics_live_runs, metrics_schedule, metrics_silence,
    metrics_mesh, metrics_coverage, metrics_budget, metrics_links, metrics_jobs,
    metrics_objectives;

#endif
