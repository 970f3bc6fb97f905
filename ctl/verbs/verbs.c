/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c - the nouns in the order of the help.
 */
#include "ctl/verbs/verbs.h"

#include <stddef.h>

const struct verb *const verbs_all[] = { verbs_init, verbs_node, verbs_campaign,
	verbs_run, verbs_report, verbs_compare, verbs_import, verbs_matrix,
	verbs_baseline, verbs_schedule, verbs_stop, verbs_pki, verbs_db,
	verbs_cluster, verbs_verdict, verbs_job, verbs_advice, verbs_diags,
	verbs_coverage, verbs_topology, verbs_check, verbs_events, verbs_expect,
	verbs_preflight, verbs_top, verbs_tuning, verbs_version, NULL };
