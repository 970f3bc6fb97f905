/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.c - assumed changes as shares of nodes and leaves.
 */
#include "ctl/lib/change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/names_agent.h"

#define SHARE_LEAST 1e-3 /* as in coalmine-probe expect */

struct change {
	const json_t *facts;
	const struct topology *t;
	json_t *nodes, *leaves; /* rows by name; a leaf without one: {} */
	json_t *node_shares, *leaf_shares; /* assumed, by name */
	json_t *down, *drained;            /* nodes: true */
	json_t *cables;                    /* leaf: share of each cable */
};

struct change *
change_new(const json_t *facts, const struct topology *t)
{
	struct change *c = xcalloc(1, sizeof(*c));
	json_t *row;
	size_t i;

	*c = (struct change){ facts, t, json_object(), json_object(),
		json_object(), json_object(), json_object(), json_object(),
		json_object() };
	member_foreach (facts, "nodes", i, row) {
		const char *leaf = member_text(row, "leaf");

		json_object_set(c->nodes, member_text(row, "node"), row);
		if (leaf[0] != '\0')
			json_object_set_new(c->leaves, leaf, json_object());
	}
	member_foreach (facts, "leaves", i, row)
		json_object_set(c->leaves, member_text(row, "leaf"), row);
	return c;
}

void
change_free(struct change *c)
{
	json_decref(c->nodes);
	json_decref(c->leaves);
	json_decref(c->node_shares);
	json_decref(c->leaf_shares);
	json_decref(c->down);
	json_decref(c->drained);
	json_decref(c->cables);
	free(c);
}

/* ---- cables ---- */

struct cable {
	const char *upper;
	double gbps;
};

static int
change_cable_compare(const void *va, const void *vb)
{
	const struct cable *a = va, *b = vb;

	return hostlist_compare(a->upper, b->upper);
}

/* The uplinks of a leaf, one row for each cable, or NULL without any. The
 * caller frees. */
static struct cable *
change_cables_of(const struct change *c, const char *leaf, size_t *ret_count)
{
	uint32_t at = c->t == NULL ? TOPOLOGY_NONE
				   : topology_find_switch(c->t, leaf);
	struct cable *all = NULL;
	size_t n = 0;
	int rated = 1;

	for (size_t i = 0; at != TOPOLOGY_NONE && i < c->t->up_count; i++) {
		const struct topology_up *up = &c->t->ups[i];

		if (up->lower != at)
			continue;
		all = xreallocarray(all, n + up->count, sizeof(*all));
		for (uint32_t k = 0; k < up->count; k++)
			all[n++] = (struct cable){
				c->t->switches[up->upper].name, up->gbps
			};
		rated &= up->gbps > 0;
	}
	for (size_t i = 0; !rated && i < n; i++)
		all[i].gbps = 1;
	if (n > 0)
		qsort(all, n, sizeof(*all), change_cable_compare);
	*ret_count = n;
	return all;
}

/* Set the share of the cables of a leaf that lead to a switch, or of the one
 * with that number. Return how many there are. */
static size_t
change_cables_set(struct change *c, const char *leaf, const char *upper,
    size_t number, double share)
{
	size_t count, set = 0;
	struct cable *all = change_cables_of(c, leaf, &count);
	json_t *shares = json_object_get(c->cables, leaf);

	if (shares == NULL) {
		shares = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(shares, json_real(1));
		json_object_set_new(c->cables, leaf, shares);
	}
	for (size_t i = 0; i < count; i++)
		if (upper != NULL ? strcmp(all[i].upper, upper) == 0
				  : i + 1 == number) {
			json_array_set_new(shares, i, json_real(share));
			set++;
		}
	if (set == 0)
		json_object_del(c->cables, leaf);
	free(all);
	return set;
}

/* The rate that the cables of a leaf lose, as a share of all of them.
 * *ret_fixed is the share that remains if cables in use carry the same traffic,
 * and all wait for the slowest. */
static double
change_cables_lost(const struct change *c, const char *leaf, double *ret_fixed)
{
	const json_t *shares = json_object_get(c->cables, leaf);
	double all = 0, lost = 0, used = 0, slowest = 1;
	size_t count;
	struct cable *cables;

	*ret_fixed = 1;
	if (shares == NULL)
		return 0;
	cables = change_cables_of(c, leaf, &count);
	for (size_t i = 0; i < count; i++) {
		double share = json_number_value(json_array_get(shares, i));

		all += cables[i].gbps;
		lost += cables[i].gbps * (1 - share);
		if (share > 0) {
			used += cables[i].gbps;
			slowest = fmin(slowest, share);
		}
	}
	free(cables);
	*ret_fixed = used / all * slowest;
	return lost / all;
}

/* ---- parts ---- */

static void
change_node_set(struct change *c, enum change_kind kind, const char *name,
    double share)
{
	if (kind == CHANGE_SLOW)
		json_object_set_new(c->node_shares, name, json_real(share));
	else
		json_object_set_new(kind == CHANGE_DOWN ? c->down : c->drained,
		    name, json_true());
}

static void
change_leaf_set(struct change *c, enum change_kind kind, const char *name,
    double share)
{
	const char *node;
	json_t *row;

	if (kind == CHANGE_SLOW) {
		json_object_set_new(c->leaf_shares, name, json_real(share));
		return;
	}
	json_object_foreach (c->nodes, node, row)
		if (strcmp(member_text(row, "leaf"), name) == 0)
			change_node_set(c, kind, node, share);
}

/* All cables between leaves and a switch. Return how many there are. */
static size_t
change_switch_set(struct change *c, const char *name, double share)
{
	const char *leaf;
	json_t *row;
	size_t set = 0;

	json_object_foreach (c->leaves, leaf, row)
		set += change_cables_set(c, leaf, name, 0, share);
	return set;
}

/* "LEAF.uplinkN" or "LEAF.SWITCH", whose names may have dots as well. Return
 * how many cables there are. */
static size_t
change_uplink_set(struct change *c, const char *word, double share)
{
	for (const char *dot = strchr(word, '.'); dot != NULL;
	     dot = strchr(dot + 1, '.')) {
		char *leaf = xstrndup(word, (size_t)(dot - word));
		const char *rest = dot + 1;
		size_t set = 0;

		if (json_object_get(c->leaves, leaf) != NULL) {
			if (strncmp(rest, "uplink", 6) == 0 &&
			    strspn(rest + 6, "0123456789") == strlen(rest + 6))
				set = change_cables_set(c, leaf, NULL,
				    strtoul(rest + 6, NULL, 10), share);
			if (set == 0)
				set = change_cables_set(c, leaf, rest, 0,
				    share);
		}
		free(leaf);
		if (set > 0)
			return set;
	}
	return 0;
}

/* 1 when all names of a list are nodes; they are set. */
static int
change_nodes_set(struct change *c, enum change_kind kind, const char *word,
    double share)
{
	struct hostlist hl = { 0 };
	int known = hostlist_parse(word, &hl, NULL) == 0;

	for (size_t i = 0; known && i < hl.count; i++)
		known = json_object_get(c->nodes, hl.names[i]) != NULL;
	for (size_t i = 0; known && i < hl.count; i++)
		change_node_set(c, kind, hl.names[i], share);
	hostlist_clear(&hl);
	return known;
}

static int
change_part_set(struct change *c, enum change_kind kind, const char *part,
    double share, struct err *err)
{
	if (change_nodes_set(c, kind, part, share))
		return 0;
	if (json_object_get(c->leaves, part) != NULL) {
		change_leaf_set(c, kind, part, share);
		return 0;
	}
	if (change_uplink_set(c, part, share) == 0 &&
	    change_switch_set(c, part, share) == 0)
		return err_set(err, -ENOENT,
		    "%.80s: unknown part: expected nodes, a leaf, or a cable "
		    "or switch of topology.leaves as LEAF.uplinkN, LEAF.SWITCH "
		    "or SWITCH",
		    part);
	return kind != CHANGE_DRAIN
	    ? 0
	    : err_set(err, -EINVAL, "--drain %.80s: expected nodes or a leaf",
		  part);
}

int
change_share_parse(const char *word, double *ret)
{
	const char *sign = strrchr(word, '=');

	return sign == NULL || sign == word
	    ? -EINVAL
	    : str_to_double(sign + 1, SHARE_LEAST, 1, ret);
}

int
change_add(struct change *c, enum change_kind kind, const char *word,
    struct err *err)
{
	double share = 0;
	char *part;
	int rc;

	if (kind == CHANGE_SLOW && change_share_parse(word, &share) < 0)
		return err_set(err, -EINVAL, "%.80s: expected PART=SHARE",
		    word);
	part = xstrndup(word,
	    kind == CHANGE_SLOW ? (size_t)(strrchr(word, '=') - word)
				: strlen(word));
	rc = change_part_set(c, kind, part, share, err);
	free(part);
	return rc;
}

/* ---- the rates of then ---- */

static double
change_now(const json_t *row)
{
	double share = member_number(row, "share");

	return share > 0 ? fmin(share, 1) : 1;
}

/* Return the share of a leaf, and write 1 to *ret_is_cut without any uplink. */
static double
change_leaf_share(const struct change *c, const char *leaf,
    enum change_routing routing, int *ret_is_cut)
{
	const json_t *assumed = json_object_get(c->leaf_shares, leaf);
	double fixed, lost = change_cables_lost(c, leaf, &fixed);
	double now = assumed != NULL
	    ? json_number_value(assumed)
	    : change_now(json_object_get(c->leaves, leaf));
	double share = now * (1 - lost);

	if (routing == CHANGE_BEST)
		share = fmin(now, 1 - lost);
	else if (routing == CHANGE_WORST)
		share = fmin(share, now * fixed);
	*ret_is_cut = lost > 1 - 1e-9;
	return fmax(share, SHARE_LEAST);
}

static void
change_row_set(json_t *row, double share)
{
	/* An assumed rate has no error of measurement. */
	json_object_set_new(row, "share", json_real(share));
	json_object_set_new(row, "spread", json_real(0));
}

static void
change_nodes_put(const struct change *c, json_t *nodes, int drains, int sound)
{
	json_t *row;
	size_t i;

	json_array_foreach (nodes, i, row) {
		const char *name = member_text(row, "node");
		const json_t *assumed = json_object_get(c->node_shares, name);
		int drained = json_object_get(c->drained, name) != NULL;
		int is_cut;

		(void)change_leaf_share(c, member_text(row, "leaf"),
		    CHANGE_EVEN, &is_cut);
		if (assumed != NULL)
			change_row_set(row, json_number_value(assumed));
		if (drained && sound)
			change_row_set(row, 1);
		if (json_object_get(c->down, name) != NULL || is_cut ||
		    (drained && drains))
			json_object_update_new(row,
			    json_pack("{s:s, s:b}", "state",
				names_agent_states[AGENT_LOST], "gone", 1));
	}
}

/* 1 when all nodes of a leaf are drained, and it has some. */
static int
change_leaf_is_drained(const struct change *c, const char *leaf)
{
	const char *name;
	json_t *row;
	int some = 0;

	json_object_foreach (c->nodes, name, row) {
		if (strcmp(member_text(row, "leaf"), leaf) != 0)
			continue;
		if (json_object_get(c->drained, name) == NULL)
			return 0;
		some = 1;
	}
	return some;
}

static json_t *
change_leaves_make(const struct change *c, enum change_routing routing,
    int sound)
{
	json_t *ret = json_array(), *was;
	const char *leaf;
	int is_cut;

	json_object_foreach (c->leaves, leaf, was) {
		json_t *row = json_copy(was);

		json_object_set_new(row, "leaf", json_string(leaf));
		if (json_object_get(row, "share") == NULL)
			change_row_set(row, 1);
		if (json_object_get(c->leaf_shares, leaf) != NULL)
			change_row_set(row, 1);
		json_object_set_new(row, "share",
		    json_real(change_leaf_share(c, leaf, routing, &is_cut)));
		if (sound && change_leaf_is_drained(c, leaf))
			change_row_set(row, 1);
		json_array_append_new(ret, row);
	}
	return ret;
}

static json_t *
change_facts_make(const struct change *c, enum change_routing routing,
    int drains, int sound)
{
	json_t *ret = json_deep_copy(c->facts);

	change_nodes_put(c, json_object_get(ret, "nodes"), drains, sound);
	json_object_set_new(ret, "leaves",
	    change_leaves_make(c, routing, sound));
	return ret;
}

json_t *
change_facts(const struct change *c, enum change_routing routing)
{
	return change_facts_make(c, routing, 1, 0);
}

json_t *
change_facts_waiting(const struct change *c, int sound)
{
	return change_facts_make(c, CHANGE_EVEN, 0, sound);
}

int
change_has_routing(const struct change *c)
{
	const char *leaf;
	json_t *row;
	int is_cut;

	json_object_foreach (c->cables, leaf, row)
		if (change_leaf_share(c, leaf, CHANGE_BEST, &is_cut) >
		    change_leaf_share(c, leaf, CHANGE_WORST, &is_cut) + 1e-9)
			return 1;
	return 0;
}

enum change_fate
change_fate(const struct change *c, const char *nodes)
{
	struct hostlist hl = { 0 };
	const char *first = NULL;
	int down = 0, drained = 0, across = 0, cut = 0, is_cut;

	(void)hostlist_parse(nodes, &hl, NULL);
	for (size_t i = 0; i < hl.count; i++) {
		const char *leaf = member_text(json_object_get(c->nodes,
						   hl.names[i]),
		    "leaf");

		down |= json_object_get(c->down, hl.names[i]) != NULL;
		drained |= json_object_get(c->drained, hl.names[i]) != NULL;
		first = first == NULL ? leaf : first;
		across |= strcmp(first, leaf) != 0;
		(void)change_leaf_share(c, leaf, CHANGE_EVEN, &is_cut);
		cut |= is_cut;
	}
	hostlist_clear(&hl);
	return down || (across && cut) ? CHANGE_STOPS
	    : drained                  ? CHANGE_IS_DRAINED
				       : CHANGE_RUNS;
}

size_t
change_drained(const struct change *c)
{
	return json_object_size(c->drained);
}

json_t *
change_list(const struct change *c)
{
	json_t *ret = json_array(), *row;
	const char *name;
	int is_cut;

	json_object_foreach (c->node_shares, name, row)
		json_array_append_new(ret,
		    json_pack("{s:s, s:s, s:f, s:f}", "kind", "node", "subject",
			name, "now",
			change_now(json_object_get(c->nodes, name)), "share",
			json_number_value(row)));
	json_object_foreach (c->leaves, name, row) {
		double share, worst;

		if (json_object_get(c->leaf_shares, name) == NULL &&
		    json_object_get(c->cables, name) == NULL)
			continue;
		share = change_leaf_share(c, name, CHANGE_EVEN, &is_cut);
		worst = change_leaf_share(c, name, CHANGE_WORST, &is_cut);
		json_array_append_new(ret,
		    json_pack("{s:s, s:s, s:f, s:f, s:o*}", "kind", "leaf",
			"subject", name, "now", change_now(row), "share",
			is_cut ? 0 : share, "worst",
			is_cut || worst >= share ? NULL : json_real(worst)));
	}
	return ret;
}
