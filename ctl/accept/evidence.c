/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.c - neighbours in the order of ranks form a ring of pairs, so that
 * each node, and each leaf, meets two others. Two message sizes give the rate
 * without the cost of starting a message.
 */
#include "ctl/accept/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/accept/evidence_rails.h"
#include "schema/promise.h"

#define LARGE_S     0.2 /* of a large message at the promised rate */
#define LARGE_MIN   (1U << 20)
#define LARGE_MAX   (256U << 20)
#define BITS_PER_GB 8.0
#define CORE_LEAST  0.01 /* a rank with less is not distinguished */
#define START_S     5.0 /* estimate: from the order of a run to its first byte */

const char *const evidence_classes[EVIDENCE_CLASS_MAX] = {
	[EVIDENCE_NODES] = "nodes",
	[EVIDENCE_LEAVES] = "leaves",
	[EVIDENCE_MEMORY] = "memory",
	[EVIDENCE_RAILS] = "rails",
	[EVIDENCE_PLANES] = "planes",
	[EVIDENCE_LOAD + LOAD_COLLECTIVE] = "collective",
	[EVIDENCE_LOAD + LOAD_INCAST] = "incast",
	[EVIDENCE_LOAD + LOAD_CONGESTION] = "congestion",
	[EVIDENCE_LOAD + LOAD_SOAK] = "soak",
};

/* Bytes per second of a NIC. */
static double
evidence_nic_rate(const struct conf *promise)
{
	return conf_real(promise, "nic", "rate") / BITS_PER_GB * 1e9;
}

/* Compute the bytes of the small and the large message of a run of pairs. */
static void
evidence_sizes(const struct conf *promise, uint64_t ret[2])
{
	double large = evidence_nic_rate(promise) * LARGE_S;

	large = large < LARGE_MIN ? LARGE_MIN
	    : large > LARGE_MAX   ? LARGE_MAX
				  : large;
	ret[0] = (uint64_t)(large / LOAD_SIZE_TIMES) / 8 * 8;
	ret[1] = ret[0] * LOAD_SIZE_TIMES;
}

/* ---- parts and paths ---- */

static size_t
evidence_find(const struct hostlist *hl, const char *name)
{
	size_t i = 0;

	while (i < hl->count && strcmp(hl->names[i], name) != 0)
		i++;
	return i;
}

struct named {
	const char *node, *leaf;
};

static int
evidence_named_compare(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;

	return hostlist_compare(a->node, b->node);
}

static void
evidence_name_add(struct hostlist *hl, const char *name)
{
	hl->names[hl->count++] = xstrdup(name);
}

static void
evidence_places_set(struct evidence *e, const json_t *nodes)
{
	size_t n = json_array_size(nodes), i;
	struct named *all = xcalloc(n + 1, sizeof(*all));
	const json_t *o;

	json_array_foreach (nodes, i, o)
		all[i] = (struct named){ member_text(o, "node"),
			member_text(o, "leaf") };
	qsort(all, n, sizeof(*all), evidence_named_compare);
	e->nodes.names = xcalloc(n + 1, sizeof(*e->nodes.names));
	e->leaves.names = xcalloc(n + 1, sizeof(*e->leaves.names));
	e->leaf_of = xcalloc(n + 1, sizeof(*e->leaf_of));
	for (i = 0; i < n; i++) {
		e->leaf_of[i] = evidence_find(&e->leaves, all[i].leaf);
		if (e->leaf_of[i] == e->leaves.count)
			evidence_name_add(&e->leaves, all[i].leaf);
		else if (e->leaf_of[i] + 1 < e->leaves.count)
			e->leaves_why =
			    "the nodes in order of their names are not "
			    "grouped by leaf";
		evidence_name_add(&e->nodes, all[i].node);
	}
	free(all);
}

/* The number of pairs of neighbours of n units. */
static size_t
evidence_ring_count(size_t n)
{
	return n < 2 ? 0 : n == 2 ? 1 : n;
}

static void
evidence_class_add(struct evidence *e, enum evidence_class class, size_t parts,
    size_t paths)
{
	struct accept_path *p;

	e->parts_of[class] = (struct evidence_span){ e->part_count, parts };
	e->paths_of[class] = (struct evidence_span){ e->path_count, paths };
	for (size_t i = 0; i < paths; i++) {
		p = &e->paths[e->path_count + i];
		p->class = class;
		p->parts[p->part_count++] = (uint32_t)(e->part_count + i);
		if (class < EVIDENCE_MEMORY)
			p->parts[p->part_count++] = (uint32_t)(e->part_count +
			    (i + 1) % parts);
	}
	e->part_count += parts;
	e->path_count += paths;
}

static const struct load *
evidence_loads(const struct evidence *e, enum evidence_class class)
{
	return &e->loads[e->parts_of[class].first -
	    e->parts_of[EVIDENCE_LOAD].first];
}

static void
evidence_loads_add(struct evidence *e, const struct conf *promise)
{
	struct load *to = e->loads;

	for (int kind = 0; kind < LOAD_MAX; kind++) {
		size_t count = load_list(promise, (enum load_kind)kind,
		    e->nodes.count, e->leaves.count, to, &e->loads_why[kind]);

		evidence_class_add(e, EVIDENCE_LOAD + kind, count, count);
		to += count;
	}
}

struct evidence *
evidence_new(const struct conf *promise, const json_t *nodes)
{
	struct evidence *e = xcalloc(1, sizeof(*e));
	size_t rails = (size_t)conf_int(promise, "nic", "count");
	size_t n, leaves, most;

	evidence_places_set(e, nodes);
	n = e->nodes.count;
	leaves = e->leaves.count;
	if (!(conf_real(promise, "leaf", "oversubscription") > 0))
		e->leaves_why = "the promise has no oversubscription";
	else if (leaves < 2)
		e->leaves_why = "all nodes are on one leaf";
	leaves = e->leaves_why == NULL ? leaves : 0;
	/* The link of a node with one NIC is its rail. */
	e->rails = rails > 1 ? rails : 0;
	most = 2 * n + leaves + e->rails * (n + 1) + LOAD_PARTS_MAX;
	e->paths = xcalloc(most, sizeof(*e->paths));
	e->parts = xcalloc(most, sizeof(*e->parts));
	evidence_class_add(e, EVIDENCE_NODES, n, evidence_ring_count(n));
	evidence_class_add(e, EVIDENCE_LEAVES, leaves,
	    evidence_ring_count(leaves));
	evidence_class_add(e, EVIDENCE_MEMORY, n, n);
	evidence_class_add(e, EVIDENCE_RAILS, e->rails * n,
	    e->rails * evidence_ring_count(n));
	evidence_class_add(e, EVIDENCE_PLANES, e->rails, e->rails);
	evidence_rails_connect(e);
	evidence_loads_add(e, promise);
	e->efficiency = NAN;
	e->options = (struct accept_options){ conf_real(promise, "accept",
						  "share"),
		conf_real(promise, "accept", "error"), e->path_count };
	return e;
}

void
evidence_free(struct evidence *e)
{
	if (e == NULL)
		return;
	hostlist_clear(&e->nodes);
	hostlist_clear(&e->leaves);
	hostlist_clear(&e->rail_names);
	free(e->leaf_of);
	free(e->paths);
	free(e->parts);
	free(e);
}

const char *
evidence_part_name(const struct evidence *e, size_t part)
{
	size_t leaves = e->parts_of[EVIDENCE_LEAVES].first;
	size_t memory = e->parts_of[EVIDENCE_MEMORY].first;
	size_t rails = e->parts_of[EVIDENCE_RAILS].first;
	size_t loads = e->parts_of[EVIDENCE_LOAD].first;

	if (part >= loads)
		return e->loads[part - loads].name;
	if (part >= rails)
		return e->rail_names.names[part - rails];
	if (part >= memory)
		return e->nodes.names[part - memory];
	return part >= leaves ? e->leaves.names[part - leaves]
			      : e->nodes.names[part];
}

/* Return the nodes whose links hold their promise, which the caller frees.
 * is_even: the same number from each leaf, so that blocks of ranks are leaves.
 * ret_each: the largest number from a leaf; 0 without nodes. */
static char *
evidence_sound_nodes(const struct evidence *e, int is_even, size_t *ret_each)
{
	size_t *count = xcalloc(e->leaves.count + 1, sizeof(*count));
	const char **names = xcalloc(e->nodes.count + 1, sizeof(*names));
	size_t each = SIZE_MAX, n = 0;
	char *ret;

	for (size_t i = 0; i < e->nodes.count; i++)
		count[e->leaf_of[i]] += e->parts[i].state == ACCEPT_HOLDS;
	for (size_t i = 0; i < e->leaves.count; i++)
		each = count[i] < each ? count[i] : each;
	if (!is_even)
		each = e->nodes.count;
	memset(count, 0, (e->leaves.count + 1) * sizeof(*count));
	for (size_t i = 0; i < e->nodes.count; i++)
		if (e->parts[i].state == ACCEPT_HOLDS &&
		    count[e->leaf_of[i]]++ < each)
			names[n++] = e->nodes.names[i];
	ret = hostlist_format(names, n);
	*ret_each = n == 0 ? 0 : each;
	free(count);
	free(names);
	return ret;
}

/* ---- records ---- */

/* By node: how much slower than the typical node its ranks' waiting for cores
 * may have made it, as a logarithm; 0 if unknown. A rank that has a core for a
 * quarter of the time is at most four times as slow. *ret_typical, if given:
 * the same of the typical node, compared with ranks that never wait. */
static double *
evidence_doubts(const struct evidence *e, const json_t *records,
    double *ret_typical)
{
	double *ret = xcalloc(e->nodes.count + 1, sizeof(*ret)), typical;
	double *known = xcalloc(e->nodes.count + 1, sizeof(*known));
	const json_t *record, *o;
	size_t n = 0, i, k, at;

	for (i = 0; i < e->nodes.count; i++)
		ret[i] = NAN;
	json_array_foreach (records, i, record)
		member_foreach (record, "nodes", k, o) {
			double wait = member_number(o, "wait_ratio");

			at = evidence_find(&e->nodes, member_text(o, "node"));
			if (at < e->nodes.count && isfinite(wait))
				ret[at] = fmin(ret[at],
				    fmax(CORE_LEAST, 1 - wait));
		}
	for (i = 0; i < e->nodes.count; i++)
		if (isfinite(ret[i]))
			known[n++] = ret[i];
	typical = n > 0 ? robust_median(known, n) : 1;
	if (ret_typical != NULL)
		*ret_typical = -log(typical);
	for (i = 0; i < e->nodes.count; i++)
		ret[i] = isfinite(ret[i]) ? fmax(0, log(typical / ret[i])) : 0;
	free(known);
	return ret;
}

/* The promised rate of one rank, when each of that many nodes of a leaf sends
 * to another leaf. */
static double
evidence_leaf_rate(const struct evidence *e, const struct conf *promise,
    size_t path, size_t each)
{
	double least = INFINITY, rate = evidence_nic_rate(promise);

	for (size_t k = 0; k < e->paths[path].part_count; k++) {
		size_t leaf = e->paths[path].parts[k] -
		    e->parts_of[EVIDENCE_LEAVES].first;
		size_t size = 0;

		for (size_t i = 0; i < e->nodes.count; i++)
			size += e->leaf_of[i] == leaf;
		least = fmin(least, (double)size / (double)each);
	}
	return rate *
	    fmin(1, least / conf_real(promise, "leaf", "oversubscription"));
}

/* The units of the two ends: nodes, or leaves. */
static size_t
evidence_path_of(const struct evidence *e, enum evidence_class class,
    const char *a, const char *b)
{
	size_t i = evidence_find(&e->nodes, a), k = evidence_find(&e->nodes, b);
	size_t n = e->parts_of[class].count, at;

	if (i == e->nodes.count || k == e->nodes.count)
		return EVIDENCE_NO_PATH;
	if (class == EVIDENCE_LEAVES) {
		i = e->leaf_of[i];
		k = e->leaf_of[k];
	}
	at = i == k ? EVIDENCE_NO_PATH : evidence_ring_path(n, i, k);
	return at == EVIDENCE_NO_PATH ? EVIDENCE_NO_PATH
				      : e->paths_of[class].first + at;
}

/* The longest time of a path's nodes, and their largest doubt, by path; seconds
 * and doubt have a place for each. */
static void
evidence_times(const struct evidence *e, enum evidence_class class,
    const json_t *record, const double *doubts, double *seconds, double *doubt)
{
	const json_t *o;
	size_t i, at;

	member_foreach (record, "nodes", i, o) {
		double s = member_number(o, "seconds");

		at = evidence_path_of(e, class, member_text(o, "node"),
		    member_text(o, "partner"));
		if (at == EVIDENCE_NO_PATH || !isfinite(s))
			continue;
		seconds[at] = fmax(seconds[at], s);
		doubt[at] = fmax(doubt[at],
		    doubts[evidence_find(&e->nodes, member_text(o, "node"))]);
	}
}

/* Of a kind of plan, whole, the record with the fewest or the most bytes. */
static const json_t *
evidence_record(const json_t *records, const char *probe, int sign)
{
	const json_t *best = NULL, *o;
	size_t i;

	json_array_foreach (records, i, o)
		if (strcmp(member_text(o, "probe"), probe) == 0 &&
		    strcmp(member_text(o, "of"), "whole") == 0 &&
		    (best == NULL ||
			sign * member_number(o, "bytes") >
			    sign * member_number(best, "bytes")))
			best = o;
	return best;
}

static size_t
evidence_pairs_add(struct evidence *e, const struct conf *promise,
    const json_t *run, const json_t *records)
{
	enum evidence_class class = STR_FIND(evidence_classes,
					member_text(run, "class")) ==
		EVIDENCE_NODES
	    ? EVIDENCE_NODES
	    : EVIDENCE_LEAVES;
	const json_t *sizes = json_object_get(run, "sizes");
	double bytes = json_number_value(json_array_get(sizes, 1)) -
	    json_number_value(json_array_get(sizes, 0));
	double *small = xcalloc(e->path_count + 1, sizeof(*small));
	double *large = xcalloc(e->path_count + 1, sizeof(*large));
	double *doubt = xcalloc(e->path_count + 1, sizeof(*doubt));
	double *doubts = evidence_doubts(e, records, NULL);
	const json_t *two[] = { evidence_record(records, "pairs", -1),
		evidence_record(records, "pairs", 1) };
	json_int_t each = member_int(run, "each");
	size_t count = 0;

	evidence_times(e, class, two[0], doubts, small, doubt);
	evidence_times(e, class, two[1], doubts, large, doubt);
	for (size_t i = 0; i < e->path_count; i++) {
		double rate = evidence_nic_rate(promise);

		if (e->paths[i].class != class || !(small[i] > 0) ||
		    !(large[i] > small[i]))
			continue;
		if (class == EVIDENCE_LEAVES)
			rate = evidence_leaf_rate(e, promise, i,
			    each > 0 ? (size_t)each : 1);
		accept_path_add(&e->paths[i],
		    log(bytes / (large[i] - small[i]) / rate), doubt[i],
		    &count);
	}
	if (class == EVIDENCE_NODES && e->rails > 0)
		evidence_rails_add(e, evidence_nic_rate(promise), sizes, two,
		    doubt);
	free(doubts);
	free(doubt);
	free(small);
	free(large);
	return count;
}

static size_t
evidence_memory_add(struct evidence *e, const struct conf *promise,
    const json_t *records)
{
	const json_t *record = evidence_record(records, "self", 1), *o;
	double *x = xcalloc(e->nodes.count + 1, sizeof(*x)), *sorted, usual;
	double common, *doubts = evidence_doubts(e, records, &common);
	size_t first = e->paths_of[EVIDENCE_MEMORY].first, n = 0, count = 0, i;

	sorted = xcalloc(e->nodes.count + 1, sizeof(*sorted));
	for (i = 0; i < e->nodes.count; i++)
		x[i] = NAN;
	member_foreach (record, "nodes", i, o) {
		size_t at = evidence_find(&e->nodes, member_text(o, "node"));

		if (at < e->nodes.count)
			x[at] = log(member_number(o, "bandwidth"));
	}
	for (i = 0; i < e->nodes.count; i++)
		if (isfinite(x[i]))
			sorted[n++] = x[i];
	usual = conf_real(promise, "memory", "rate") > 0
	    ? log(conf_real(promise, "memory", "rate") * 1e9)
	    : robust_median(sorted, n);
	/* Waiting that all nodes have in common explains at most what the
	 * typical node lacks. */
	common = n > 0 ? fmin(common, fmax(0, usual - robust_median(sorted, n)))
		       : 0;
	for (i = 0; i < e->nodes.count; i++)
		accept_path_add(&e->paths[first + i], x[i] - usual,
		    doubts[i] + common, &count);
	free(doubts);
	free(x);
	free(sorted);
	return count;
}

/* The nodes of a run of loads. The uplinks of a leaf carry what its nodes send
 * to the nodes of other leaves. */
static struct load_nodes
evidence_load_nodes(const struct evidence *e, const struct conf *promise,
    const char *list)
{
	double over = conf_real(promise, "leaf", "oversubscription");
	size_t *used = xcalloc(2 * e->leaves.count + 1, sizeof(*used));
	size_t *size = used + e->leaves.count;
	struct load_nodes ret = { .rails = (size_t)conf_int(promise, "nic",
				      "count") };
	struct hostlist hl = { 0 };

	(void)hostlist_parse(list, &hl, NULL);
	for (size_t i = 0; i < e->nodes.count; i++) {
		int is_used = hostlist_has(&hl, e->nodes.names[i]);

		size[e->leaf_of[i]]++;
		used[e->leaf_of[i]] += (size_t)is_used;
		ret.nodes += (size_t)is_used;
	}
	ret.blocks = (double)ret.nodes - 1;
	for (size_t k = 0; k < e->leaves.count; k++)
		ret.blocks = fmax(ret.blocks,
		    over * (double)used[k] * (double)(ret.nodes - used[k]) /
			(double)size[k]);
	ret.blocks *= (double)ret.rails;
	hostlist_clear(&hl);
	free(used);
	return ret;
}

static size_t
evidence_load_add(struct evidence *e, enum evidence_class class,
    const struct conf *promise, const json_t *run, const json_t *records)
{
	struct load_nodes n = evidence_load_nodes(e, promise,
	    member_text(run, "nodes"));
	const struct load *loads = evidence_loads(e, class);
	double *doubts = evidence_doubts(e, records, NULL), most = 0;
	size_t count = 0;

	/* All wait for the node that waits most. */
	for (size_t i = 0; i < e->nodes.count; i++)
		most = fmax(most, doubts[i]);
	for (size_t i = 0; i < e->paths_of[class].count; i++)
		accept_path_add(&e->paths[e->paths_of[class].first + i],
		    load_value(promise, &loads[i], &n, run, records), most,
		    &count);
	free(doubts);
	return count;
}

size_t
evidence_add(struct evidence *e, const struct conf *promise, const json_t *run,
    const json_t *records)
{
	int class = STR_FIND(evidence_classes, member_text(run, "class"));

	if (class >= EVIDENCE_LOAD)
		return evidence_load_add(e, (enum evidence_class) class,
		    promise, run, records);
	if (class == EVIDENCE_MEMORY)
		return evidence_memory_add(e, promise, records);
	return evidence_pairs_add(e, promise, run, records);
}

/* While it is undetermined whether a plane is slow on all nodes, no node holds
 * that would not if the plane is, and no node fails for that. */
static void
evidence_nodes_doubt(struct evidence *e, double by)
{
	const struct evidence_span *s = &e->paths_of[EVIDENCE_NODES];

	accept_shift(e->paths, e->path_count, EVIDENCE_NODES, -by);
	for (size_t i = s->first; i < s->first + s->count; i++)
		e->paths[i].doubt -= by * (double)e->paths[i].n;
}

void
evidence_judge(struct evidence *e)
{
	/* The classes whose promise is a share of nic.rate. */
	static const size_t of_nics[] = { EVIDENCE_NODES, EVIDENCE_LEAVES,
		EVIDENCE_LOAD + LOAD_COLLECTIVE, EVIDENCE_LOAD + LOAD_INCAST,
		EVIDENCE_LOAD + LOAD_SOAK };
	/* A plane that is slow on all nodes is not to become the rate that is
	 * expected of nodes. */
	struct evidence_slow slow = evidence_rails_judge(e);
	double typical = accept_typical(e->paths, e->path_count, EVIDENCE_NODES,
	    PROMISE_EXPECTED);
	double log_share = fmin(0, typical - slow.fails);

	if (isfinite(typical)) {
		e->efficiency = exp(log_share);
		for (size_t i = 0; i < ARRAY_LEN(of_nics); i++)
			accept_shift(e->paths, e->path_count, of_nics[i],
			    log_share);
	}
	evidence_nodes_doubt(e, slow.open);
	accept_judge(&e->options, e->paths, e->path_count, e->parts,
	    e->part_count);
	evidence_rails_finish(e);
}

/* ---- runs ---- */

/* More runs would change no result, or none that matters. */
static int
evidence_settled(const struct evidence *e, enum evidence_class class)
{
	const struct evidence_span *parts = &e->parts_of[class];
	const struct evidence_span *paths = &e->paths_of[class];
	size_t parts_open = 0, paths_open = 0;

	for (size_t i = 0; i < parts->count; i++)
		parts_open += e->parts[parts->first + i].state == ACCEPT_OPEN;
	for (size_t i = 0; i < paths->count; i++)
		paths_open += e->paths[paths->first + i].state == ACCEPT_OPEN;
	return (parts_open == 0 || paths_open == 0) &&
	    (class != EVIDENCE_NODES || evidence_rails_settled(e));
}

/* In a round of pairs each unit meets the one before and the one after it. Of
 * an odd number one is without a partner in each run. */
static size_t
evidence_round_size(const struct evidence *e, enum evidence_class class)
{
	size_t paths = e->paths_of[class].count, n = e->parts_of[class].count;

	if (class >= EVIDENCE_LOAD)
		return load_turns(evidence_loads(e, class), paths);
	/* The runs of nodes measure rails and planes. */
	if (paths == 0 || class == EVIDENCE_RAILS || class == EVIDENCE_PLANES)
		return 0;
	if (class == EVIDENCE_MEMORY || n == 2)
		return 1;
	return n % 2 == 0 ? 2 : 3;
}

/* The number of rounds before a class is judged, and how often it is. */
static size_t
evidence_rounds(const struct conf *promise, enum evidence_class class,
    size_t rounds, size_t *ret_looks)
{
	enum load_kind kind = (enum load_kind)(class - EVIDENCE_LOAD);

	*ret_looks = class < EVIDENCE_LOAD ? ACCEPT_LOOKS : load_looks(kind);
	return class < EVIDENCE_LOAD ? rounds : load_rounds(promise, kind);
}

static char *
evidence_nodes_all(const struct evidence *e)
{
	return hostlist_format((const char *const *)e->nodes.names,
	    e->nodes.count);
}

/* Return whether the nodes are enough. */
static int
evidence_run_nodes_set(const struct evidence *e, enum evidence_class class,
    json_t *run)
{
	size_t each = 1;
	char *nodes = class == EVIDENCE_NODES || class == EVIDENCE_MEMORY
	    ? evidence_nodes_all(e)
	    : evidence_sound_nodes(e, class == EVIDENCE_LEAVES, &each);

	json_object_set_new(run, "nodes", json_string(nodes));
	json_object_set_new(run, "each", json_integer((json_int_t)each));
	free(nodes);
	return each > 0;
}

/* Set the options of a run of pairs, or of copies of memory. */
static double
evidence_run_pairs_set(const struct conf *promise, enum evidence_class class,
    size_t turn, json_t *run)
{
	json_int_t rails = conf_int(promise, "nic", "count");
	json_int_t g = rails * member_int(run, "each");
	json_t *options = json_object();
	uint64_t sizes[2];

	evidence_sizes(promise, sizes);
	json_object_set_new(run, "campaign",
	    json_string(class == EVIDENCE_MEMORY ? "self" : "accept"));
	json_object_set_new(run, "options", options);
	json_object_set_new(run, "sizes",
	    json_pack("[I, I]", (json_int_t)sizes[0], (json_int_t)sizes[1]));
	json_object_set_new(options, "measure.time",
	    json_string(conf_string(promise, "accept", "time")));
	if (class != EVIDENCE_MEMORY)
		json_object_update_new(options,
		    json_pack("{s:o, s:o, s:o, s:o}", "campaign.ranks_per_node",
			json_sprintf("%lld", (long long)rails), "pairs.g",
			json_sprintf("%lld", (long long)g), "pairs.shift",
			json_sprintf("%zu", turn), "measure.sizes",
			json_sprintf("%llu,%llu", (unsigned long long)sizes[0],
			    (unsigned long long)sizes[1])));
	/* Two sizes; a round of the small one is shorter. */
	return 2 * (double)conf_span_ns(promise, "accept", "time") /
	    CLK_NS_PER_S;
}

/* Set the options of a run, and return its estimated time in seconds without
 * its start; 0: its nodes are too few. */
static double
evidence_run_set(const struct evidence *e, const struct conf *promise,
    enum evidence_class class, size_t turn, json_t *run)
{
	struct load_nodes n;
	uint64_t sizes[2];

	if (class < EVIDENCE_LOAD)
		return evidence_run_pairs_set(promise, class, turn, run);
	evidence_sizes(promise, sizes);
	n = evidence_load_nodes(e, promise, member_text(run, "nodes"));
	return n.nodes < 2
	    ? 0
	    : load_run_set(promise, evidence_loads(e, class),
		  e->paths_of[class].count, (unsigned)turn, &n, sizes[1], run);
}

static json_t *
evidence_run_make(const struct evidence *e, const struct conf *promise,
    enum evidence_class class, size_t made)
{
	size_t size = evidence_round_size(e, class);
	json_t *run = json_pack("{s:s, s:i, s:i}", "class",
	    evidence_classes[class], "round", (int)(made / size), "shift",
	    (int)(made % size));

	if (evidence_run_nodes_set(e, class, run) &&
	    evidence_run_set(e, promise, class, made % size, run) > 0)
		return run;
	json_decref(run);
	return NULL;
}

json_t *
evidence_next(const struct evidence *e, const struct conf *promise,
    const json_t *runs, size_t rounds)
{
	for (int class = 0; class < EVIDENCE_CLASS_MAX; class ++) {
		size_t size = evidence_round_size(e, class), made = 0, i, looks;
		size_t judged = evidence_rounds(promise, class, rounds,
				    &looks) *
		    size;
		const json_t *run;
		json_t *next;

		json_array_foreach (runs, i, run)
			made += strcmp(member_text(run, "class"),
				    evidence_classes[class]) == 0;
		if (made >= looks * judged ||
		    (made > 0 && made % judged == 0 &&
			evidence_settled(e, class)))
			continue;
		next = evidence_run_make(e, promise, class, made);
		if (next != NULL)
			return next;
	}
	return NULL;
}

struct evidence_cost
evidence_cost(const struct evidence *e, const struct conf *promise,
    size_t rounds)
{
	struct evidence_cost ret = { 0 };
	char *nodes = evidence_nodes_all(e);

	for (int class = 0; class < EVIDENCE_CLASS_MAX; class ++) {
		size_t looks,
		    each = evidence_rounds(promise, class, rounds, &looks);
		size_t turns = evidence_round_size(e, class);
		json_t *run = json_pack("{s:s}", "nodes", nodes);
		double s = turns == 0
		    ? 0
		    : evidence_run_set(e, promise, class, 0, run);

		ret.fewest += each * turns;
		ret.most += looks * each * turns;
		if (each * turns > 0)
			ret.longest_s = fmax(ret.longest_s, START_S + s);
		ret.sending_s += s * (double)(each * turns);
		ret.fewest_s += (START_S + s) * (double)(each * turns);
		ret.most_s += (START_S + s) * (double)(looks * each * turns);
		json_decref(run);
	}
	free(nodes);
	return ret;
}
