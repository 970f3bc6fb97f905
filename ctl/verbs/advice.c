/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.c - the nodes that a scheduler should allocate last, and the savings
 * for jobs. The output is for people; coalctl applies nothing.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/hostname.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/expectation.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

#define WEIGHT          1000 /* above those of nodes that are as they should be */
#define ADVICE_SINCE    "7d"
#define ADVICE_SINCE_NS (7 * 86400 * CLK_NS_PER_S)
#define JOBS_MAX        "10000"
#define REMARK_BYTES    600

/* What an agent or a user says, behind a #: another line would be a command. */
static const char *
advice_remark(const char *text, char ret[REMARK_BYTES])
{
	snprintf(ret, REMARK_BYTES, "%s", text);
	for (char *c = ret; *c != '\0'; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	return ret;
}

/* {node: {share verdict text}} of nodes that are better left for last: slow
 * themselves, or below uplinks that are; and the names of all nodes. */
static int
advice_advised_get(struct ctl *c, json_t **ret, json_t **ret_names)
{
	json_t *names = json_object();
	json_t *shares, *verdicts, *nodes = json_object(), *by = json_object();
	json_t *row, *verdict;
	size_t i;
	int rc = ctl_get(c, "shares", NULL, &shares);

	if (rc == 0 && (rc = ctl_get(c, "verdicts", NULL, &verdicts)) != 0)
		json_decref(shares);
	if (rc != 0) {
		json_decref(nodes);
		json_decref(names);
		json_decref(by);
		return rc;
	}
	member_foreach (shares, "leaves", i, row)
		json_object_set(by, member_text(row, "leaf"), row);
	/* A leaf's own is in its share. */
	json_array_foreach (verdicts, i, row)
		if (strcmp(member_text(row, "kind"), "leaf") != 0 &&
		    strcmp(member_text(row, "verdict"),
			names_verdicts[VERDICT_UNKNOWN]) != 0)
			json_object_set(by, member_text(row, "subject"), row);
	member_foreach (shares, "nodes", i, row) {
		const char *leaf = member_text(row, "leaf");
		double share = fmin(member_number(row, "share"),
		    member_number(json_object_get(by, leaf), "share"));

		json_object_set_new(names, member_text(row, "node"),
		    json_null());
		verdict = json_object_get(by, member_text(row, "node"));
		/* The file is for a shell. */
		if ((verdict == NULL && !(share < EXPECTATION_SOUND)) ||
		    hostlist_name_check(member_text(row, "node")) < 0)
			continue;
		json_object_set_new(nodes, member_text(row, "node"),
		    json_pack("{s:f, s:s, s:s}", "share",
			isfinite(share) ? share : 1, "verdict",
			member_text(verdict, "verdict"), "text",
			member_text(verdict, "text")));
	}
	json_decref(shares);
	json_decref(verdicts);
	json_decref(by);
	*ret = nodes;
	*ret_names = names;
	return 0;
}

/* The names of an object's members, each with its index. */
static struct hostname_set *
advice_hosts_of(json_t *names)
{
	struct hostname_set *set = hostname_set_new();
	const char *name;
	size_t i = 0;
	json_t *value;

	json_object_foreach (names, name, value)
		hostname_set_add(set, name, i++);
	return set;
}

/* The scheduler may use names with another domain, or none: use the names in
 * its jobs. Takes advised. */
static json_t *
advice_scheduler_names(json_t *advised, json_t *ours, const json_t *jobs)
{
	json_t *theirs = json_object(), *renamed = json_object(), *job, *row;
	struct hostname_set *our_set, *their_set;
	struct hostlist hl;
	const char *name, **list;
	size_t i, at;

	json_array_foreach (jobs, i, job) {
		if (hostlist_parse(member_text(job, "nodes"), &hl, NULL) < 0)
			continue;
		for (size_t k = 0; k < hl.count; k++)
			json_object_set_new(theirs, hl.names[k], json_null());
		hostlist_clear(&hl);
	}
	our_set = advice_hosts_of(ours);
	their_set = advice_hosts_of(theirs);
	list = xcalloc(json_object_size(theirs) + 1, sizeof(*list));
	at = 0;
	json_object_foreach (theirs, name, row)
		list[at++] = name;
	json_object_foreach (advised, name, row) {
		at = hostname_set_is_alone(our_set, name)
		    ? hostname_set_find(their_set, name)
		    : HOSTNAME_NONE;
		json_object_set(renamed, at == HOSTNAME_NONE ? name : list[at],
		    row);
	}
	free(list);
	hostname_set_free(our_set);
	hostname_set_free(their_set);
	json_decref(theirs);
	json_decref(advised);
	return renamed;
}

/* Sum up jobs on these nodes: their number, the time that a part of them was
 * slow, and an upper bound of the savings, if all of a job waits for its
 * slowest node. */
static void
advice_gain_add(const json_t *jobs, const json_t *advised, json_t *told)
{
	double slow_h = 0, gained_h = 0, share;
	json_int_t count = 0;
	struct hostlist hl;
	json_t *job;
	size_t i;

	json_array_foreach (jobs, i, job) {
		double job_h = member_number(job, "exposed_node_s") / 3600;

		if (hostlist_parse(member_text(job, "nodes"), &hl, NULL) < 0)
			continue;
		share = INFINITY;
		for (size_t k = 0; k < hl.count; k++)
			share = fmin(share,
			    member_number(json_object_get(advised, hl.names[k]),
				"share"));
		hostlist_clear(&hl);
		if (!isfinite(share))
			continue;
		count++;
		slow_h += job_h;
		gained_h += job_h * (1 - share);
	}
	json_object_set_new(told, "jobs", json_integer(count));
	json_object_set_new(told, "slow_node_h", json_real(slow_h));
	json_object_set_new(told, "gained_node_h", json_real(gained_h));
}

/* As a file for Slurm: lines of scontrol, the rest in comments. */
static void
advice_write(const json_t *told, const char *since, struct strbuf *sb)
{
	char name_text[REMARK_BYTES], test_text[REMARK_BYTES];
	const char **exclude =
	    xcalloc(json_object_size(json_object_get(told, "nodes")) + 1,
		sizeof(*exclude));
	char at[PRINT_BYTES], *list;
	const char *name;
	size_t count = 0, i;
	json_t *row;

	clk_unix_format(clk_unix_ns(), at, sizeof(at));
	strbuf_addf(sb,
	    "# Advice of coalctl, %s. It is not applied automatically: read "
	    "it, then run sh FILE.\n",
	    at);
	if (json_object_size(json_object_get(told, "nodes")) == 0)
		strbuf_addf(sb,
		    "# No node is slow, and no leaf has slow uplinks: no "
		    "weight changes.\n");
	else if (json_object_get(told, "jobs") != NULL)
		strbuf_addf(sb,
		    "# In the last %s, %" JSON_INTEGER_FORMAT
		    " jobs on these nodes had slow nodes or leaves for %.1f "
		    "node-hours;\n# on other nodes they would have saved at "
		    "most %.1f of these node-hours.\n",
		    since, member_int(told, "jobs"),
		    member_number(told, "slow_node_h"),
		    member_number(told, "gained_node_h"));
	member_foreach (told, "apart", i, row)
		strbuf_addf(sb,
		    "# If jobs named %s ran on separate leaves, other jobs on "
		    "the same links would have\n# saved at most %.1f "
		    "node-hours (%.1f to %.1f), as measured by test %s.\n",
		    advice_remark(member_text(row, "name"), name_text),
		    member_number(row, "node_h"), member_number(row, "lo"),
		    member_number(row, "hi"),
		    advice_remark(member_text(row, "test"), test_text));
	json_object_foreach (json_object_get(told, "nodes"), name, row) {
		if (strcmp(member_text(row, "verdict"),
			names_verdicts[VERDICT_BAD]) == 0)
			exclude[count++] = name;
		strbuf_addf(sb,
		    "# bandwidth: %.0f %% of the bandwidth of normal "
		    "nodes%s%s\nscontrol update nodename=%s "
		    "weight=%" JSON_INTEGER_FORMAT "\n",
		    100 * member_number(row, "share"),
		    member_text(row, "text")[0] == '\0' ? "" : "; ",
		    advice_remark(member_text(row, "text"), name_text), name,
		    member_int(row, "weight"));
	}
	list = hostlist_format(exclude, count);
	if (count > 0)
		strbuf_addf(sb,
		    "# Nodes with verdict bad; to exclude them from a job:\n# "
		    "sbatch --exclude=%s\n",
		    list);
	free(list);
	free(exclude);
}

static int
advice(struct ctl *c)
{
	const char *since = opts_value(&c->opts, OPT_SINCE), *from, *name;
	json_t *advised, *names, *jobs = NULL, *costs = NULL, *told, *row,
				 *apart;
	struct strbuf sb = { 0 };
	char text[32];
	size_t i;
	int rc = advice_advised_get(c, &advised, &names);

	if (rc != 0)
		return rc;
	from = ctl_since(c, ADVICE_SINCE_NS, text);
	/* Without jobs, weights are the only result. */
	if (ctl_list(c, &jobs, "jobs/worst", "from_unix_ns", from, "limit",
		JOBS_MAX, NULL) == 0 &&
	    ctl_list(c, &costs, "jobs/costs", "from_unix_ns", from, NULL) != 0)
		costs = NULL;
	advised = advice_scheduler_names(advised, names, jobs);
	json_decref(names);
	json_object_foreach (advised, name, row)
		json_object_set_new(row, "weight",
		    json_integer(WEIGHT +
			lround(1000 * (1 - member_number(row, "share"))) +
			(strcmp(member_text(row, "verdict"),
			     names_verdicts[VERDICT_BAD]) == 0
				? WEIGHT
				: 0)));
	apart = json_array();
	told = json_pack("{s:o, s:o}", "nodes", advised, "apart", apart);
	json_array_foreach (costs, i, row) {
		static const char *const of[] = { "cost", "lo", "hi" };
		double h = member_number(row, "beside_node_s") / 3600;
		json_t *one;

		if (!member_bool(row, "blamed") ||
		    !(member_number(row, "lo") > 0))
			continue;
		one = json_pack("{s:O, s:O}", "name",
		    json_object_get(row, "name"), "test",
		    json_object_get(row, "test"));
		/* What took 8 % longer would have taken 1/1.08 of it. */
		for (size_t k = 0; k < ARRAY_LEN(of); k++) {
			double x = member_number(row, of[k]);

			json_object_set_new(one, k == 0 ? "node_h" : of[k],
			    json_real(h * x / (1 + x)));
		}
		json_array_append_new(apart, one);
	}
	if (jobs != NULL)
		advice_gain_add(jobs, advised, told);
	if (opts_given(&c->opts, OPT_JSON)) {
		print_json_line(told);
	} else {
		advice_write(told, since == NULL ? ADVICE_SINCE : since, &sb);
		rc = ctl_write(opts_value(&c->opts, OPT_OUT), sb.text);
	}
	strbuf_clear(&sb);
	json_decref(told);
	json_decref(jobs);
	json_decref(costs);
	return rc;
}

const struct verb verbs_advice[] = {
	{ "advice", NULL, "", 0, 0, "json out since", "",
	    "Write node weights and exclusions for Slurm, without "
	    "applying them.",
	    "The output is a script of scontrol commands. Nodes that "
	    "are slow, or whose leaf has slow uplinks, get a weight by "
	    "which Slurm allocates them last. Nodes with verdict bad "
	    "are listed for sbatch --exclude. Comments estimate how "
	    "many node-hours these weights would have saved for the "
	    "jobs of the last 7 days (--since), at most. They also "
	    "estimate the savings if the jobs that slow down others "
	    "(job cost) ran on separate leaves.",
	    advice },
	{ 0 },
};
