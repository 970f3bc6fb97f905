/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c - the nouns in the order of the help.
 */
#include "ctl/verbs/verbs.h"

#include <stddef.h>

const struct verb_table verbs_all[] = {
	{ verbs_status, "How is the cluster" },
	{ verbs_verdict, NULL },
	{ verbs_node, NULL },
	{ verbs_top, NULL },
	{ verbs_diags, NULL },
	{ verbs_diff, NULL },
	{ verbs_check, NULL },
	{ verbs_events, NULL },
	{ verbs_coverage, NULL },
	{ verbs_objective, NULL },
	{ verbs_campaign, "Measure" },
	{ verbs_run, NULL },
	{ verbs_stop, NULL },
	{ verbs_schedule, NULL },
	{ verbs_sweep, NULL },
	{ verbs_promise, NULL },
	{ verbs_accept, NULL },
	{ verbs_report, "Results" },
	{ verbs_compare, NULL },
	{ verbs_baseline, NULL },
	{ verbs_matrix, NULL },
	{ verbs_tuning, NULL },
	{ verbs_import, NULL },
	{ verbs_expect, NULL },
	{ verbs_whatif, NULL },
	{ verbs_job, "Jobs" },
	{ verbs_preflight, NULL },
	{ verbs_advice, NULL },
	{ verbs_init, "Set up and maintain" },
	{ verbs_topology, NULL },
	{ verbs_pki, NULL },
	{ verbs_db, NULL },
	{ verbs_cluster, NULL },
	{ verbs_version, NULL },
	{ NULL, NULL },
};
