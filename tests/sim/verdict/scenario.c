/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.c - the keys of a scenario; README.md describes their use. The texts
 * assume knowledge of the fault, not of the code.
 */
#include "tests/sim/verdict/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"

#define KINDS                                                                  \
	"none|node|one-way|leaf|uplink|spine|core|fleet|host|port|rail|"       \
	"uplink-one-way|loss|uplink-loss|mtu|uplink-mtu|spine-mtu|spine-dead"

#define FAULT(s, none)                                                         \
	{ s, "kind", CONF_CHOICE, 0, 0, KINDS, none, "", "What breaks." },     \
	    { s, "count", CONF_INT, 0, 1e6, NULL, "1", "1",                    \
		    "How many nodes or leaves." },                             \
	    { s, "share", CONF_REAL, 0, 1, NULL, "0", "1",                     \
		    "Or which share of them." },                               \
	    { s, "effect", CONF_REAL, 0, 100, NULL, "20%", "1",                \
		    "How much slower; of a loss the share that is lost, of a " \
		    "port the share of its rate that is gone." },              \
	    { s, "flows", CONF_REAL, 0, 1, NULL, "1", "1",                     \
		    "Share of the connections that it affects." },             \
	    { s, "ramp", CONF_INT, 0, 1e6, NULL, "0", "rounds",                \
		    "Rounds until its full size." },                           \
	    { s, "pairs", CONF_INT, 0, 1e6, NULL, "0", "1",                    \
		    "Effective only with this many concurrent pairs." },       \
	    { s, "on", CONF_SPAN, 0, 1e6, NULL, "0", "s",                      \
		    "Duration of the fault" },                                 \
	    { s, "every", CONF_SPAN, 0, 1e7, NULL, "0", "s",                   \
		    "in each such period; 0: always." },                       \
	{                                                                      \
		s, "tests", CONF_CHOICES, 0, 0, "lat|bw|incast", "lat,bw", "", \
		    "Affected tests."                                          \
	}

static const struct conf_row rows[] = {
	{ "scenario", "about", CONF_STRING, 1, 200, NULL, NULL, "",
	    "One line for the table." },
	{ "scenario", "trials", CONF_INT, 1, 1e6, NULL, "200", "1",
	    "Clusters, each with its own seed." },
	{ "scenario", "quick_trials", CONF_INT, 0, 1e6, NULL, "10", "1",
	    "Of them in the quick test." },
	{ "scenario", "rounds", CONF_INT, 1, 1e6, NULL, "12", "1",
	    "Rounds of 5 minutes with the fault." },
	{ "scenario", "quick_rounds", CONF_INT, 0, 1e6, NULL, "0", "1",
	    "In the quick test; 0: as many." },
	{ "scenario", "calm", CONF_INT, 0, 1e6, NULL, "8", "1",
	    "Rounds before it." },
	{ "scenario", "heal", CONF_INT, 0, 1e6, NULL, "12", "1",
	    "Rounds after it." },
	{ "scenario", "every", CONF_SPAN, 60, 86400, NULL, "5m", "s",
	    "Time between rounds." },
	{ "scenario", "between", CONF_BOOL, 0, 0, NULL, "no", "",
	    "It breaks and heals at any time, not just before a round." },
	{ "scenario", "restart", CONF_INT, -1e6, 1e6, NULL, "0", "round",
	    "The collector restarts with the state in its store before "
	    "that round with the fault; below 0: rounds before the fault; "
	    "0: never." },
	{ "cluster", "nodes", CONF_INT, 2, 20000, NULL, "256", "1", "Nodes." },
	{ "cluster", "leaf", CONF_INT, 2, 250, NULL, "32", "nodes",
	    "Nodes on a leaf." },
	{ "cluster", "leaf_max", CONF_INT, 0, 250, NULL, "0", "nodes",
	    "Upper limit, if leaves differ in size; 0: equal sizes." },
	{ "cluster", "leaves_known", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Does the collector know them?" },
	{ "cluster", "uplinks", CONF_INT, 1, 64, NULL, "1", "1",
	    "Of a leaf; each connection takes one by a hash." },
	{ "cluster", "rails", CONF_INT, 1, 16, NULL, "1", "1",
	    "NICs of a node; each round uses the next one." },
	{ "cluster", "spines", CONF_INT, 1, 64, NULL, "4", "1",
	    "Spines of each pod." },
	{ "cluster", "pods", CONF_INT, 1, 64, NULL, "1", "1",
	    "Of leaves, side by side; as many switches as a pod has spines are "
	    "above them." },
	{ "cluster", "topology", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Does the collector have a topology file?" },
	{ "cluster", "partners", CONF_INT, 1, 32, NULL, "16", "1",
	    "Of a node in a round." },
	{ "cluster", "bw_partners", CONF_INT, 0, 32, NULL, "0", "1",
	    "For large messages; 0: as many." },
	{ "cluster", "mesh", CONF_BOOL, 0, 0, NULL, "no", "",
	    "With epochs of echoes." },
	{ "cluster", "bw", CONF_BOOL, 0, 0, NULL, "no", "",
	    "With rounds of large messages too." },
	{ "cluster", "incast", CONF_BOOL, 0, 0, NULL, "no", "",
	    "With rounds of incasts too." },
	{ "cluster", "noise", CONF_REAL, 0, 1, NULL, "5%", "1",
	    "Of a pair in a round." },
	{ "cluster", "odd_share", CONF_REAL, 0, 1, NULL, "5%", "1",
	    "Pairs of a round that are delayed by much more," },
	{ "cluster", "odd_mean", CONF_REAL, 0, 100, NULL, "50%", "1",
	    "exponentially, with this mean." },
	{ "cluster", "node_sd", CONF_REAL, 0, 1, NULL, "1%", "1",
	    "Standard deviation of healthy nodes." },
	{ "cluster", "leaf_sd", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Standard deviation of healthy leaves." },
	{ "cluster", "inside", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Pairs inside a leaf are faster by this." },
	{ "cluster", "wander", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Healthy nodes drift by this for some time." },
	{ "cluster", "leaf_wander", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Healthy leaves drift by this for some time." },
	{ "cluster", "keep", CONF_REAL, 0, 1, NULL, "95%", "1",
	    "Part of the drift that remains in the next round." },
	{ "cluster", "day", CONF_REAL, 0, 1, NULL, "0", "1",
	    "All pairs are slower and faster by this over a day." },
	{ "cluster", "kind_share", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Share of the nodes that are of another kind," },
	{ "cluster", "kind_effect", CONF_REAL, 0, 10, NULL, "15%", "1",
	    "slower by this," },
	{ "cluster", "kind_known", CONF_BOOL, 0, 0, NULL, "no", "",
	    "and report it in their inventory." },
	{ "cluster", "loss", CONF_REAL, 0, 1, NULL, "0.0001", "1",
	    "Share of echoes that is always lost." },
	{ "cluster", "waits", CONF_REAL, 0, 0.99, NULL, "0", "1",
	    "Share of the time in which ranks want a core and have none; "
	    "the nodes that it slows change every few rounds." },
	{ "jobs", "share", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Nodes whose links are busy with jobs." },
	{ "jobs", "effect", CONF_REAL, 0, 100, NULL, "50%", "1",
	    "How much slower their pairs are." },
	{ "jobs", "hours", CONF_REAL, 0.1, 1000, NULL, "3", "h",
	    "How long a job takes, on the average." },
	{ "jobs", "fill", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Jobs take the nodes of a leaf together." },
	{ "jobs", "crossing", CONF_REAL, 0, 100, NULL, "0", "1",
	    "Pairs that leave a leaf are slower by this, with the probability "
	    "that its nodes are busy." },
	{ "jobs", "crossing_share", CONF_REAL, 0, 1, NULL, "1", "1",
	    "Share of jobs that load uplinks." },
	FAULT("fault1", "none"),
	FAULT("fault2", "none"),
	{ "expect", "detected", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Share of trials in which all faulty parts are reported" },
	{ "expect", "detected_within", CONF_INT, 0, 1e6, NULL, "0", "rounds",
	    "within this many rounds; 0: while the fault lasts." },
	{ "expect", "named", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Share of trials in which all have the right kind" },
	{ "expect", "named_within", CONF_INT, 0, 1e6, NULL, "0", "rounds",
	    "within this many rounds; 0: while the fault lasts." },
	{ "expect", "alarms", CONF_REAL, 0, 1e6, NULL, "0", "1",
	    "Healthy parts that are bad, in a trial, at most." },
	{ "expect", "warned", CONF_REAL, 0, 1e6, NULL, "1000000", "1",
	    "Healthy parts with a warning, in a trial, at most." },
	{ "expect", "runs", CONF_REAL, 0, 1e6, NULL, "1000000", "1",
	    "Confirmation runs an hour at most." },
	{ "expect", "kept", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Share of trials in which it is still reported when it ends." },
	{ "expect", "green", CONF_REAL, 0, 1, NULL, "1", "1",
	    "Share of trials in which a faulty node is ok during the fault." },
	{ "expect", "cleared", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Share of trials that end without a finding." },
	{ "expect", "told_minutes", CONF_REAL, 0, 1e6, NULL, "0", "min",
	    "Longest median time until all are reported; 0: no limit," },
	{ "expect", "named_minutes", CONF_REAL, 0, 1e6, NULL, "0", "min",
	    "until they have the right kind," },
	{ "expect", "clear_minutes", CONF_REAL, 0, 1e6, NULL, "0", "min",
	    "and from the end of the fault until no finding is open." },
	{ NULL, NULL, CONF_STRING, 0, 0, NULL, NULL, NULL, NULL },
};

static const char *const kinds[FAULT_MAX] = { "none", "node", "one-way", "leaf",
	"uplink", "spine", "core", "fleet", "host", "port", "rail",
	"uplink-one-way", "loss", "uplink-loss", "mtu", "uplink-mtu",
	"spine-mtu", "spine-dead" };

static void
fault_read(const struct scenario *s, const char *section, struct fault *ret)
{
	const struct conf *c = s->conf;
	const char *tests = conf_string(c, section, "tests");
	double share = conf_real(c, section, "share");
	double effect = conf_real(c, section, "effect");
	uint32_t leaves = s->cluster.nodes / s->cluster.leaf_min;

	ret->kind = (enum fault_kind)CONF_CHOICE_OF(c, section, "kind", kinds);
	ret->count = (uint32_t)conf_int(c, section, "count");
	if (share > 0)
		ret->count = (uint32_t)(share *
		    (ret->kind == FAULT_LEAF || ret->kind == FAULT_UPLINK
			    ? leaves
			    : s->cluster.nodes));
	ret->effect = ret->kind == FAULT_LOSS ||
		ret->kind == FAULT_UPLINK_LOSS || ret->kind == FAULT_PORT
	    ? effect
	    : log1p(effect);
	ret->flows = conf_real(c, section, "flows");
	ret->pairs = (size_t)conf_int(c, section, "pairs");
	ret->ramp = (double)conf_int(c, section, "ramp");
	ret->on_ns = conf_span_ns(c, section, "on");
	ret->every_ns = conf_span_ns(c, section, "every");
	ret->lat = strstr(tests, "lat") != NULL;
	ret->bw = strstr(tests, "bw") != NULL;
	ret->incast = strstr(tests, "incast") != NULL;
}

void
scenario_load(const char *path, struct scenario *ret)
{
	const char *slash = strrchr(path, '/');
	struct conf *c;
	struct err err;

	memset(ret, 0, sizeof(*ret));
	if (conf_load(rows, path, &c, &err) < 0)
		fatalx("%s", err.text);
	ret->conf = c;
	ret->name = slash == NULL ? path : slash + 1;
	ret->about = conf_string(c, "scenario", "about");
	ret->trials = (int)conf_int(c, "scenario", "trials");
	ret->quick_trials = (int)conf_int(c, "scenario", "quick_trials");
	ret->rounds = (int)conf_int(c, "scenario", "rounds");
	ret->quick_rounds = (int)conf_int(c, "scenario", "quick_rounds");
	ret->calm = (int)conf_int(c, "scenario", "calm");
	ret->heal = (int)conf_int(c, "scenario", "heal");
	ret->restart = (int)conf_int(c, "scenario", "restart");
	ret->every_ns = conf_span_ns(c, "scenario", "every");
	ret->between = conf_bool(c, "scenario", "between");
	ret->cluster.nodes = (uint32_t)conf_int(c, "cluster", "nodes");
	ret->cluster.leaf_min = (uint32_t)conf_int(c, "cluster", "leaf");
	ret->cluster.leaf_max = (uint32_t)conf_int(c, "cluster", "leaf_max");
	if (ret->cluster.leaf_max < ret->cluster.leaf_min)
		ret->cluster.leaf_max = ret->cluster.leaf_min;
	ret->cluster.leaves_known = conf_bool(c, "cluster", "leaves_known");
	ret->cluster.uplinks = (int)conf_int(c, "cluster", "uplinks");
	ret->cluster.rails = (int)conf_int(c, "cluster", "rails");
	ret->cluster.spines = (int)conf_int(c, "cluster", "spines");
	ret->cluster.pods = (int)conf_int(c, "cluster", "pods");
	ret->cluster.topology = conf_bool(c, "cluster", "topology");
	ret->cluster.partners = (int)conf_int(c, "cluster", "partners");
	ret->cluster.bw_partners = (int)conf_int(c, "cluster", "bw_partners");
	if (ret->cluster.bw_partners == 0)
		ret->cluster.bw_partners = ret->cluster.partners;
	ret->cluster.mesh = conf_bool(c, "cluster", "mesh");
	ret->cluster.bw = conf_bool(c, "cluster", "bw");
	ret->cluster.incast = conf_bool(c, "cluster", "incast");
	ret->cluster.noise = conf_real(c, "cluster", "noise");
	ret->cluster.odd_share = conf_real(c, "cluster", "odd_share");
	ret->cluster.odd_mean = conf_real(c, "cluster", "odd_mean");
	ret->cluster.node_sd = conf_real(c, "cluster", "node_sd");
	ret->cluster.leaf_sd = conf_real(c, "cluster", "leaf_sd");
	ret->cluster.inside = conf_real(c, "cluster", "inside");
	ret->cluster.wander = conf_real(c, "cluster", "wander");
	ret->cluster.leaf_wander = conf_real(c, "cluster", "leaf_wander");
	ret->cluster.keep = conf_real(c, "cluster", "keep");
	ret->cluster.day = conf_real(c, "cluster", "day");
	ret->cluster.kind_share = conf_real(c, "cluster", "kind_share");
	ret->cluster.kind_effect = log1p(
	    conf_real(c, "cluster", "kind_effect"));
	ret->cluster.kind_known = conf_bool(c, "cluster", "kind_known");
	ret->cluster.loss = conf_real(c, "cluster", "loss");
	ret->cluster.waits = conf_real(c, "cluster", "waits");
	ret->jobs.share = conf_real(c, "jobs", "share");
	ret->jobs.effect = log1p(conf_real(c, "jobs", "effect"));
	ret->jobs.crossing = log1p(conf_real(c, "jobs", "crossing"));
	ret->jobs.crossing_share = conf_real(c, "jobs", "crossing_share");
	ret->jobs.hours = conf_real(c, "jobs", "hours");
	ret->jobs.fill = conf_bool(c, "jobs", "fill");
	fault_read(ret, "fault1", &ret->faults[0]);
	fault_read(ret, "fault2", &ret->faults[1]);
	ret->expect.detected = conf_real(c, "expect", "detected");
	ret->expect.detected_within = (int)conf_int(c, "expect",
	    "detected_within");
	ret->expect.named = conf_real(c, "expect", "named");
	ret->expect.named_within = (int)conf_int(c, "expect", "named_within");
	ret->expect.alarms = conf_real(c, "expect", "alarms");
	ret->expect.warned = conf_real(c, "expect", "warned");
	ret->expect.runs = conf_real(c, "expect", "runs");
	ret->expect.kept = conf_real(c, "expect", "kept");
	ret->expect.green = conf_real(c, "expect", "green");
	ret->expect.cleared = conf_real(c, "expect", "cleared");
	ret->expect.minutes[0] = conf_real(c, "expect", "told_minutes");
	ret->expect.minutes[1] = conf_real(c, "expect", "named_minutes");
	ret->expect.minutes[2] = conf_real(c, "expect", "clear_minutes");
}

void
scenario_free(struct scenario *s)
{
	conf_free(s->conf);
}
