/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - leaves, rails and switches: out of foreign files, as the
 * collector has them, and as a machine file.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "ctl/topology/formats.h"
#include "schema/names_verdict.h"

/* A rate that is less by no more than this is the same: InfiniBand's names
 * round. */
#define RATE_MARGIN 1.05
#define RATES_MAX   4096 /* links that the usual rate is taken from */

/* The files of the arguments as the options want them; 0 or an exit code. */
static int
topology_files_read(struct ctl *c, struct import *ret)
{
	const char *rails = opts_value(&c->opts, OPT_RAILS);
	const char *skip = opts_value(&c->opts, OPT_SKIP);
	struct import_order o = { .paths = c->args,
		.format = opts_value(&c->opts, OPT_FROM),
		.choice.strict = opts_given(&c->opts, OPT_STRICT) };
	char *skipped;
	struct err err;
	size_t count;
	int rc = 0;

	if (rails != NULL)
		o.choice.rails = str_list_parse(rails, &count);
	if (skip != NULL)
		o.choice.skip = str_list_parse(skip, &count);
	if (import_read(&o, ret, &err) < 0)
		rc = ctl_fail("%s", err.text);
	if (rc == 0) {
		skipped = fabric_skipped_text(ret->skipped);
		fputs(skipped, stderr);
		free(skipped);
	}
	str_list_free(o.choice.rails);
	str_list_free(o.choice.skip);
	return rc;
}

/* ---- what there is, in few words ---- */

struct summary {
	size_t by_tier[8]; /* switches; those above in the last */
	int rails, tiers;
	size_t pods;
};

static struct summary
topology_summary_of(const struct topology *t)
{
	struct summary s = { .rails = 0 };
	int *tier = topology_tiers(t);
	json_t *pods = json_object();

	for (size_t i = 0; i < t->switch_count; i++) {
		size_t at = (size_t)tier[i] < ARRAY_LEN(s.by_tier)
		    ? (size_t)tier[i]
		    : ARRAY_LEN(s.by_tier) - 1;

		s.by_tier[at]++;
		s.tiers = tier[i] > s.tiers ? tier[i] : s.tiers;
		if (t->switches[i].pod != NULL)
			json_object_set_new(pods, t->switches[i].pod,
			    json_true());
	}
	for (size_t i = 0; i < t->link_count; i++)
		if (t->links[i].rail >= s.rails)
			s.rails = t->links[i].rail + 1;
	s.pods = json_object_size(pods);
	json_decref(pods);
	free(tier);
	return s;
}

/* "500 nodes, 1 rail, 25 leaves, 20 spines, 4 switches of tier 3, 5 pods" */
static char *
topology_summary_text(const struct topology *t)
{
	struct summary s = topology_summary_of(t);
	struct strbuf sb = { 0 };

	strbuf_addf(&sb, "%zu node%s, %d rail%s, %zu lea%s", t->node_count,
	    t->node_count == 1 ? "" : "s", s.rails, s.rails == 1 ? "" : "s",
	    s.by_tier[1], s.by_tier[1] == 1 ? "f" : "ves");
	if (s.by_tier[2] > 0)
		strbuf_addf(&sb, ", %zu spine%s", s.by_tier[2],
		    s.by_tier[2] == 1 ? "" : "s");
	for (int i = 3; i < (int)ARRAY_LEN(s.by_tier); i++)
		if (s.by_tier[i] > 0)
			strbuf_addf(&sb, ", %zu of tier %d", s.by_tier[i], i);
	if (s.pods > 0)
		strbuf_addf(&sb, ", %zu pods", s.pods);
	return sb.text;
}

/* ---- import ---- */

static int
topology_import(struct ctl *c)
{
	struct import im;
	struct strbuf sb = { 0 };
	char *lines, *about;
	int rc = topology_files_read(c, &im);

	if (rc != 0)
		return rc;
	about = topology_summary_text(im.t);
	lines = topology_write(im.t);
	strbuf_addf(&sb, "# coalctl topology import: %s\n%s", about, lines);
	rc = ctl_write(opts_value(&c->opts, OPT_OUT), sb.text);
	if (rc == 0) {
		fprintf(stderr, "%s", about);
		if (im.left_out > 0)
			fprintf(stderr, "; skipped links of hosts: %zu",
			    im.left_out);
		if (im.lone > 0)
			fprintf(stderr, "; skipped switches without hosts: %zu",
			    im.lone);
		if (im.sideward > 0)
			fprintf(stderr, "; skipped links within a tier: %zu",
			    im.sideward);
		if (im.stations > 0)
			fprintf(stderr,
			    "; LLDP neighbours other than switches: %zu",
			    im.stations);
		fputs("\n", stderr);
	}
	if (rc == 0 && opts_given(&c->opts, OPT_OUT))
		fprintf(stderr,
		    "next: set topology.leaves = %s in coalmined.conf, then "
		    "systemctl restart coalmined; if it was set before, "
		    "reload is enough\n",
		    opts_value(&c->opts, OPT_OUT));
	free(about);
	free(lines);
	strbuf_clear(&sb);
	import_clear(&im);
	return rc;
}

/* ---- show ---- */

/* Get the collector's topology, now or at the time of --at. */
static int
topology_collector_read(struct ctl *c, struct import *ret)
{
	const int is_ago = opts_given(&c->opts, OPT_AT);
	const char *said;
	char at[24], *text;
	struct err err;
	json_t *list;
	int rc;

	snprintf(at, sizeof(at), "%" PRIu64,
	    clk_unix_ns() - opts_span_ns(&c->opts, OPT_AT, 0));
	rc = ctl_list(c, &list, "topology", "at_unix_ns", is_ago ? at : NULL,
	    NULL);
	if (rc != 0)
		return rc;
	said = member_text(json_array_get(list, 0), "text");
	text = xstrdup(said);
	json_decref(list);
	if (text[0] == '\0')
		rc = ctl_fail("the collector %s no topology file; set "
			      "topology.leaves and restart the collector, see "
			      "coalmine.conf(5)",
		    is_ago ? "had" : "has");
	else if (topology_read(text, "the collector's", &ret->t, &err) < 0)
		rc = ctl_fail("%s", err.text);
	free(text);
	return rc;
}

/* Out of files, or with none the collector's. */
static int
topology_any_read(struct ctl *c, struct import *ret)
{
	*ret = (struct import){ .t = NULL };
	return c->args_count > 0 ? topology_files_read(c, ret)
				 : topology_collector_read(c, ret);
}

/* One line a switch and rail. */
static json_t *
topology_rows_make(const struct topology *t)
{
	json_t *rows = json_array(), *row;
	int *tier = topology_tiers(t);
	double *up = xcalloc(t->switch_count + 1, sizeof(*up));
	json_t **nodes = xcalloc(t->switch_count + 1, sizeof(json_t *));
	json_t **ups = xcalloc(t->switch_count + 1, sizeof(json_t *));

	for (size_t i = 0; i < t->switch_count; i++) {
		nodes[i] = json_array();
		ups[i] = json_object();
	}
	for (size_t i = 0; i < t->link_count; i++) {
		const struct topology_link *l = &t->links[i];

		json_array_append_new(nodes[l->leaf],
		    json_pack("{s:s, s:i, s:f}", "node", t->nodes[l->node].name,
			"rail", l->rail, "gbps", l->gbps));
	}
	for (size_t i = 0; i < t->up_count; i++) {
		const struct topology_up *u = &t->ups[i];
		const char *name = t->switches[u->upper].name;

		up[u->lower] += u->count * u->gbps;
		json_object_set_new(ups[u->lower], name,
		    json_integer((json_int_t)u->count +
			member_int(ups[u->lower], name)));
	}
	for (size_t i = 0; i < t->switch_count; i++) {
		row = json_pack("{s:s, s:i, s:o, s:o, s:f}", "switch",
		    t->switches[i].name, "tier", tier[i], "nodes", nodes[i],
		    "up", ups[i], "up_gbps", up[i]);
		if (t->switches[i].pod != NULL)
			json_object_set_new(row, "pod",
			    json_string(t->switches[i].pod));
		json_array_append_new(rows, row);
	}
	free(tier);
	free(up);
	free(nodes);
	free(ups);
	return rows;
}

static int
topology_show(struct ctl *c)
{
	struct import im;
	char *text;
	json_t *rows;
	int rc = topology_any_read(c, &im);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON)) {
		rows = topology_rows_make(im.t);
		print_json(rows);
		json_decref(rows);
	} else {
		text = topology_summary_text(im.t);
		puts(text);
		free(text);
		text = topology_write(im.t);
		fputs(text, stdout);
		free(text);
	}
	import_clear(&im);
	return EXIT_CODE_OK;
}

/* ---- check ---- */

struct check {
	const struct import *im;
	json_t *seen;               /* nodes that have an agent */
	json_t *ports;              /* identifiers that nodes report */
	json_t *tell;               /* nodes that report any */
	json_t *list;               /* [{node text}] */
	struct hostname_set *hosts; /* the names of the nodes */
};

static void __attribute__((format(printf, 3, 4)))
topology_differs(struct check *k, const char *node, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(k->list,
	    json_pack("{s:o, s:o}", "node", text_json(node), "text",
		text_json(text)));
}

/* Check a node's report on its ports: an identifier that the file has at
 * another place, and the fastest rate. */
static double
topology_ports_check(struct check *k, const char *node, const char *leaf,
    const json_t *nics)
{
	double gbps = 0, rate;
	json_t *nic;
	size_t i;

	json_array_foreach (nics, i, nic) {
		const json_t *at = json_object_get(k->im->guids,
		    member_text(nic, "guid"));
		const char *host = json_string_value(json_array_get(at, 0));
		const char *guid = member_text_or(nic, "guid", NULL);
		const char *state = print_member(nic, "state", "?");

		if (guid != NULL) {
			json_object_set_new(k->ports, guid, json_true());
			json_object_set_new(k->tell, node, json_true());
		}

		rate = member_number(nic, "speed_bps") / 1e9;
		if (rate > gbps)
			gbps = rate;
		if (host != NULL && strcmp(host, node) != 0)
			topology_differs(k, node,
			    "the file says leaf %s, but port %s of this node "
			    "is on leaf %s, described as \"%s %s\"",
			    leaf, print_member(nic, "name", "?"),
			    json_string_value(json_array_get(at, 1)), host,
			    json_string_value(json_array_get(at, 2)));
		else if (host != NULL && strcmp(state, "ACTIVE") != 0)
			topology_differs(k, node,
			    "the file says leaf %s for port %s of this node, "
			    "but that "
			    "port is %s",
			    json_string_value(json_array_get(at, 1)),
			    print_member(nic, "name", "?"), state);
	}
	return gbps;
}

static void
topology_node_check(struct check *k, const json_t *o)
{
	const struct topology *t = k->im->t;
	const char *node = print_member(o, "node", "?");
	const char *has = print_member(o, "leaf", "no leaf"), *leaf;
	uint32_t at = hostname_set_is_alone(k->hosts, node)
	    ? topology_find_host(t, node)
	    : topology_find_node(t, node);
	const struct topology_link *l;
	double gbps;

	json_object_set_new(k->seen,
	    at == TOPOLOGY_NONE ? node : t->nodes[at].name, json_true());
	if (at == TOPOLOGY_NONE) {
		topology_differs(k, node,
		    "the file has no leaf for this node, the collector has %s",
		    has);
		return;
	}
	l = topology_first_link(t, at);
	leaf = t->switches[l->leaf].name;
	if (strcmp(leaf, has) != 0)
		topology_differs(k, node,
		    "the file says leaf %s, the collector has %s", leaf, has);
	gbps = topology_ports_check(k, t->nodes[at].name, leaf,
	    json_object_get(json_object_get(o, "inventory"), "nics"));
	if (gbps > 0 && l->gbps > gbps * RATE_MARGIN)
		topology_differs(k, node,
		    "the file says %g Gbit/s to leaf %s, but the fastest port "
		    "that the node reports has %g Gbit/s",
		    l->gbps, leaf, gbps);
}

/* Find entries of the file that are not reported: ports of nodes that report
 * theirs, and nodes. */
static void
topology_missing_check(struct check *k)
{
	const struct topology *t = k->im->t;
	const char *guid, *host;
	json_t *at;

	json_object_foreach (k->im->guids, guid, at) {
		host = json_string_value(json_array_get(at, 0));
		if (json_object_get(k->ports, guid) == NULL &&
		    json_object_get(k->tell, host) != NULL)
			topology_differs(k, host,
			    "the file says leaf %s for port %s of this node, "
			    "but the "
			    "node does not report that port",
			    json_string_value(json_array_get(at, 1)),
			    json_string_value(json_array_get(at, 2)));
	}
	for (size_t i = 0; i < t->node_count; i++)
		if (json_object_get(k->seen, t->nodes[i].name) == NULL)
			topology_differs(k, t->nodes[i].name,
			    "the node is in the file, but has never had an "
			    "agent");
}

static int
topology_check(struct ctl *c)
{
	struct import im;
	struct check k = { .im = &im };
	json_t *nodes, *o;
	size_t i, bad;
	int rc = topology_any_read(c, &im);

	if (rc != 0)
		return rc;
	rc = ctl_get(c, "nodes", NULL, &nodes);
	if (rc != 0) {
		import_clear(&im);
		return rc;
	}
	k.seen = json_object();
	k.ports = json_object();
	k.tell = json_object();
	k.list = json_array();
	k.hosts = hostname_set_new();
	json_array_foreach (nodes, i, o)
		hostname_set_add(k.hosts, print_member(o, "node", "?"), i);
	json_array_foreach (nodes, i, o)
		topology_node_check(&k, o);
	topology_missing_check(&k);
	hostname_set_free(k.hosts);
	bad = json_array_size(k.list);
	if (opts_given(&c->opts, OPT_JSON))
		print_json(k.list);
	else
		json_array_foreach (k.list, i, o)
			printf("%s: %s\n", print_member(o, "node", "?"),
			    print_member(o, "text", "?"));
	if (bad == 0 && !opts_given(&c->opts, OPT_JSON))
		printf("ok: %zu nodes are on the leaves of the file\n",
		    im.t->node_count);
	json_decref(k.seen);
	json_decref(k.ports);
	json_decref(k.tell);
	json_decref(k.list);
	json_decref(nodes);
	import_clear(&im);
	return bad == 0 ? EXIT_CODE_OK : EXIT_CODE_WARN;
}

/* ---- machine ---- */

/* What most leaves or nodes have. */
static double
topology_most_common(double *values, size_t count)
{
	double best = 0;
	size_t times = 0;

	for (size_t i = 0; i < count; i++) {
		size_t n = 0;

		for (size_t k = 0; k < count; k++)
			n += values[k] == values[i];
		if (n > times) {
			times = n;
			best = values[i];
		}
	}
	return best;
}

/* Return the rate of all links of one tier upward, divided by the groups of
 * nodes with the same leaves: the minimum of all tiers is the rate of a group
 * while all groups send to others. 0: none, or unknown. */
static double
topology_uplink_gbps(const struct topology *t, int tiers, double groups,
    double gbps)
{
	double least = 0, sum;
	int *tier = topology_tiers(t);

	for (int k = 1; k < tiers; k++) {
		sum = 0;
		for (size_t i = 0; i < t->up_count; i++)
			if (tier[t->ups[i].lower] == k)
				sum += t->ups[i].count *
				    (t->ups[i].gbps > 0 ? t->ups[i].gbps
							: gbps);
		sum /= groups;
		if (k == 1 || sum < least)
			least = sum;
	}
	free(tier);
	return least;
}

/* Nodes of most leaves. */
static double
topology_leaf_nodes(const struct topology *t)
{
	double *nodes = xcalloc(t->switch_count + 1, sizeof(*nodes)), ret;
	size_t count = 0;

	for (size_t i = 0; i < t->link_count; i++) {
		uint32_t k = t->links[i].previous;

		/* a node by all its rails counts once */
		while (
		    k != TOPOLOGY_NONE && t->links[k].leaf != t->links[i].leaf)
			k = t->links[k].previous;
		nodes[t->links[i].leaf] += k == TOPOLOGY_NONE;
	}
	for (size_t i = 0; i < t->switch_count; i++)
		if (nodes[i] > 0)
			nodes[count++] = nodes[i];
	ret = topology_most_common(nodes, count);
	free(nodes);
	return ret;
}

/* Of most links of nodes; 0: not known. */
static double
topology_link_gbps(const struct topology *t)
{
	size_t count = t->link_count < RATES_MAX ? t->link_count : RATES_MAX;
	double *values = xcalloc(count + 1, sizeof(*values)), ret;

	for (size_t i = 0; i < count; i++)
		values[i] = t->links[i].gbps;
	ret = topology_most_common(values, count);
	free(values);
	return ret;
}

static int
topology_machine(struct ctl *c)
{
	double gbps = ctl_gbps(c), rate, up, leaf;
	struct strbuf sb = { 0 };
	struct summary s;
	struct import im;
	char *about;
	int rc;

	rc = topology_any_read(c, &im);
	if (rc != 0)
		return rc;
	s = topology_summary_of(im.t);
	rate = topology_link_gbps(im.t);
	rate = rate > 0 ? rate : gbps;
	leaf = topology_leaf_nodes(im.t);
	up = topology_uplink_gbps(im.t, s.tiers,
	    fmax(1, (double)im.t->node_count / fmax(1, leaf)), gbps);
	about = topology_summary_text(im.t);
	strbuf_addf(&sb,
	    "# A machine from a topology. Devices, memory and "
	    "latencies are not in it:\n"
	    "# add [memory], [mpi] and network.latency, as in "
	    "coalmine-machine(5).\n"
	    "[machine]\nabout = %s\nsource = coalctl topology machine\n\n"
	    "[node]\nnodes = %zu\n\n[nic]\ncount = %d\nout = %.4g\n\n"
	    "[network]\nleaf = %.0f\n",
	    about, im.t->node_count, s.rails, rate / 8, leaf);
	if (up > 0)
		strbuf_addf(&sb, "uplink = %.4g\n", up / 8);
	if (rate > 0)
		rc = ctl_write(opts_value(&c->opts, OPT_OUT), sb.text);
	else
		rc = ctl_fail(
		    "the rate of the nodes' links is in none of the files: "
		    "specify it with --gbps");
	strbuf_clear(&sb);
	free(about);
	import_clear(&im);
	return rc;
}

#define FILES "from rails skip strict"

const struct verb verbs_topology[] = {
	{ "topology", "import", "FILE...", 1, -1, "out " FILES, "file",
	    "Create the topology file of the collector from the files of a "
	    "fabric or a scheduler.",
	    "FILE is the output of ibnetdiscover(8), Slurm's topology.conf or "
	    "topology.yaml, the output of scontrol show topology, JSON of "
	    "Topograph's graph engine, the output of lldpctl -f json in a file "
	    "NODE.json for each node, or a table of NODE LEAF [RAIL]. Several "
	    "files are merged. Unknown lines, keys and members are skipped, "
	    "counted and printed with file and line on the standard error; "
	    "with --strict the import fails. coalctl(8) describes leaves, "
	    "rails and names.",
	    topology_import },
	{ "topology", "show", "[FILE...]", 0, -1, "json at " FILES, "file",
	    "Show leaves, rails and switches: of the given files, or without "
	    "files of the collector's topology, now or at an earlier time "
	    "(--at).",
	    NULL, topology_show },
	{ "topology", "check", "[FILE...]", 0, -1, "json " FILES, "file",
	    "Compare a topology with the nodes that the collector sees.",
	    "The topology is read from the files, or from the "
	    "collector. The output lists nodes that the collector has "
	    "on another leaf or on none, and nodes without an agent; "
	    "ports that ibnetdiscover has found under the name of "
	    "another host, that are not active, or that the node does "
	    "not report; and links that are slower than in the "
	    "topology. The exit code is 1 if there is a difference.",
	    topology_check },
	{ "topology", "machine", "[FILE...]", 0, -1, "gbps out " FILES, "file",
	    "Write a machine file for predictions, see coalmine-machine(5).",
	    "The file has the number of nodes, of NICs and of nodes "
	    "per leaf, the rate of a NIC, and the uplink bandwidth "
	    "that each leaf has when all leaves send to other leaves "
	    "(the minimum over the tiers of switches).",
	    topology_machine },
	{ 0 },
};
