/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - the tables of all verbs.
 */
#ifndef CTL_VERBS_VERBS_H
#define CTL_VERBS_VERBS_H

#include "ctl/lib/verb.h"

/* Each table ends with a row without noun. */
extern const struct verb verbs_accept[], verbs_advice[], verbs_baseline[],
    verbs_campaign[], verbs_cluster[], verbs_compare[], verbs_db[],
    verbs_check[], verbs_coverage[], verbs_objective[], verbs_diags[],
    verbs_diff[], verbs_events[], verbs_expect[], verbs_import[], verbs_init[],
    verbs_job[], verbs_matrix[], verbs_node[], verbs_pki[], verbs_preflight[],
    verbs_promise[], verbs_report[], verbs_run[], verbs_schedule[],
    verbs_stop[], verbs_status[], verbs_sweep[], verbs_top[], verbs_topology[],
    verbs_tuning[], verbs_verdict[], verbs_version[], verbs_whatif[];
extern const struct verb_table verbs_all[]; /* ends with a row without verbs */

#endif
