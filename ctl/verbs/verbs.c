/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c - the nouns in the order of the help.
 */
#include "ctl/verbs/verbs.h"

#include <stddef.h>

#include "common/str.h"

const struct verb *const verbs_all[] = { verbs_status, verbs_verdict,
	verbs_node, verbs_top, verbs_diags, verbs_diff, verbs_check,
	verbs_events, verbs_coverage, verbs_objective, verbs_campaign,
	verbs_run, verbs_stop, verbs_schedule, verbs_sweep, verbs_promise,
	verbs_accept, verbs_report, verbs_compare, verbs_baseline, verbs_matrix,
	verbs_tuning, verbs_import, verbs_expect, verbs_whatif, verbs_job,
	verbs_preflight, verbs_advice, verbs_init, verbs_topology, verbs_pki,
	verbs_db, verbs_cluster, verbs_version, NULL };

const char *const verbs_groups[ARRAY_LEN(verbs_all)] = {
	[0] = "How is the cluster",
	[10] = "Measure",
	[17] = "Results",
	[25] = "Jobs",
	[28] = "Set up and maintain",
};
