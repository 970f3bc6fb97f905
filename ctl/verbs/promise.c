/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.c - a promise file of the cluster, from the collector's topology and
 * the inventories of nodes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "ctl/accept/promise.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/nic.h"
#include "ctl/verbs/verbs.h"

/* NULL without topology.leaves. */
static int
promise_topology_get(struct ctl *c, struct topology **ret)
{
	struct err err;
	json_t *list;
	char *text;
	int rc = ctl_list(c, &list, "topology", NULL);

	*ret = NULL;
	if (rc != 0)
		return rc;
	text = xstrdup(member_text(json_array_get(list, 0), "text"));
	json_decref(list);
	if (text[0] != '\0' &&
	    topology_read(text, "the collector's topology", ret, &err) < 0)
		rc = ctl_fail("%s", err.text);
	free(text);
	return rc;
}

static int
promise_init(struct ctl *c)
{
	struct promise_known known = { .gbps = ctl_gbps(c) };
	const char *out = opts_value(&c->opts, OPT_OUT);
	struct topology *t = NULL;
	json_t *nodes, *o, *rows;
	struct err err;
	char *text;
	size_t i;
	int rc;

	/* A promise is edited by hand. */
	if (out != NULL && strcmp(out, "-") != 0 && access(out, F_OK) == 0)
		return ctl_fail("%s exists: choose another name, or remove "
				"that promise first",
		    out);
	rows = json_array();
	rc = promise_topology_get(c, &t);
	if (rc == 0)
		rc = ctl_get(c, "nodes", NULL, &nodes);
	if (rc == 0) {
		json_array_foreach (nodes, i, o) {
			double bps = member_number(nic_of_mpi(o), "speed_bps");

			json_array_append_new(rows,
			    json_pack("{s:I, s:f}", "mtu", nic_mtu(o), "gbps",
				fmax(0, bps) / 1e9));
		}
		json_decref(nodes);
		known.topology = t;
		known.nodes = rows;
		text = promise_write(&known, &err);
		rc = text == NULL ? ctl_fail("%s", err.text)
				  : ctl_write(out, text);
		free(text);
	}
	json_decref(rows);
	topology_free(t);
	return rc;
}

const struct verb verbs_promise[] = {
	{ "promise", "init", "", 0, 0, "gbps out", "",
	    "Write a promise file, see coalmine-promise(5).",
	    "Rails, rates and oversubscription come from the collector's "
	    "topology. Without it, the rate is what most nodes report, and "
	    "count and oversubscription are 1. Each value that is neither from "
	    "the topology nor from --gbps is marked as guessed.",
	    promise_init },
	{ 0 },
};
