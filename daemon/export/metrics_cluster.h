/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_cluster.h - the parts of the metrics page about the cluster. Each
 * part appends whole families.
 */
#ifndef DAEMON_EXPORT_METRICS_CLUSTER_H
#define DAEMON_EXPORT_METRICS_CLUSTER_H

#include "common/hist.h"
#include "common/str.h"
#include "daemon/export/metrics.h"

typedef void metrics_part(const struct metrics_in *in, struct strbuf *to);

metrics_part metrics_nodes, metrics_certificates, metrics_verdicts,
    metrics_run_counts, metrics_live_runs, metrics_schedule, metrics_silence,
    metrics_mesh, metrics_coverage, metrics_budget, metrics_links, metrics_jobs,
    metrics_objectives;

#endif
