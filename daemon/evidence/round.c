/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round.c - read the members of a record that diagnosis and jobs use.
 */
#include "daemon/evidence/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "schema/mesh.h"
#include "schema/record.h"
#include "schema/scores.h"

/* Return the node, or NULL if it is unknown or in maintenance: such a node
 * gives no evidence. */
static struct node *
round_node(const struct roster *roster, const char *name)
{
	struct node *n = roster_find(roster, name);

	return n != NULL && n->state == AGENT_MAINTENANCE ? NULL : n;
}

static void
round_rows_read(const struct roster *roster, const json_t *record,
    struct round *r)
{
	const json_t *o;
	size_t i;

	r->rows = xcalloc(json_array_size(json_object_get(record, "nodes")) + 1,
	    sizeof(*r->rows));
	member_foreach (record, "nodes", i, o) {
		const struct node *n = round_node(roster,
		    member_text(o, "node"));

		if (n == NULL)
			continue;
		r->rows[r->row_count++] = (struct round_row){
			.node = n,
			.wait_ratio = member_number(o, "wait_ratio"),
			.partners = (uint32_t)member_int(o, "partners"),
			.slow_partners = (uint32_t)member_int(o,
			    "slow_partners"),
			.n = member_number(o, "n"),
			.lost = member_number(o, "lost"),
			.good_lost = member_number(o, "good_lost"),
			.good_sent = member_number(o, "good_sent"),
			.partner = round_node(roster,
			    member_text(o, "partner")),
			.ratio = member_number(o, "ratio"),
			.rounds = json_is_integer(json_object_get(o, "rounds"))
			    ? member_number(o, "rounds")
			    : 1,
		};
	}
}

static void
round_scores_read(const struct roster *roster, const json_t *record,
    struct round *r)
{
	int is_rate = r->canary >= 0 &&
	    strcmp(names_tests[r->canary].unit, "s") != 0;
	struct record_scores all;

	record_scores_read(record, is_rate ? "q75" : "q25", &all);
	r->scores = xcalloc(all.count + 1, sizeof(*r->scores));
	for (size_t i = 0; i < all.count; i++) {
		const struct node *n = round_node(roster, all.list[i].node);

		if (n != NULL)
			r->scores[r->score_count++] = (struct round_score){ n,
				all.list[i].q };
	}
	record_scores_clear(&all);
}

static void
round_pairs_read(const struct roster *roster, const json_t *record,
    struct round *r)
{
	const json_t *o;
	size_t i;

	r->pairs = xcalloc(json_array_size(json_object_get(record, "pairs")) +
		1,
	    sizeof(*r->pairs));
	member_foreach (record, "pairs", i, o) {
		const struct node *a = round_node(roster, member_text(o, "a"));
		const struct node *b = round_node(roster, member_text(o, "b"));

		if (a == NULL || b == NULL || a == b)
			continue;
		r->pairs[r->pair_count++] = (struct round_pair){ a, b,
			member_number(o, "p50"), member_number(o, "forth"),
			member_number(o, "back"), member_number(o, "lost") };
	}
}

static void
round_grid_read(const struct roster *roster, const json_t *record,
    struct round *r)
{
	const json_t *grid = json_object_get(record, "grid");
	const json_t *names = json_object_get(grid, "nodes"), *row, *v;
	size_t count = json_array_size(names), i, k;

	if (count > RECORD_GRID_MAX)
		return;
	r->grid_count = count;
	r->grid_nodes = xcalloc(count + 1, sizeof(struct node *));
	r->grid = xcalloc(count * count + 1, sizeof(*r->grid));
	for (i = 0; i < count * count; i++)
		r->grid[i] = NAN;
	json_array_foreach (names, i, v)
		r->grid_nodes[i] = json_is_string(v)
		    ? round_node(roster, json_string_value(v))
		    : NULL;
	member_foreach (grid, "p50", i, row)
		json_array_foreach (row, k, v)
			if (k < i && i < count && json_number_value(v) > 0)
				r->grid[i * count + k] = json_number_value(v);
}

/* Records of plans have their total here. */
static uint32_t
round_bytes(const json_t *record)
{
	uint64_t bytes = member_unsigned(record, "bytes");

	return strcmp(member_text(record, "probe"), "canary") == 0 &&
		bytes <= UINT32_MAX
	    ? (uint32_t)bytes
	    : 0;
}

void
round_read(const struct roster *roster, const json_t *record, struct round *ret)
{
	int partners = STR_FIND(names_partners,
	    member_text(record, "partners"));

	*ret = (struct round){
		.run = member_text(record, "run"),
		.test = member_text(record, "test"),
		.phase = member_text(record, "phase"),
		.machine = member_text(record, "machine"),
		.device = member_text(record, "device"),
		.bytes = round_bytes(record),
		.is_canary = strcmp(member_text(record, "probe"), "canary") ==
		    0,
		.canary = STR_FIND(names_tests, member_text(record, "test")),
		.mesh = mesh_class_find(member_text(record, "test")),
		.is_congested = strcmp(member_text(record, "phase"),
				    names_phases[PHASE_CONGESTED]) == 0,
		.is_whole = strcmp(member_text(record, "of"), "whole") == 0,
		.is_rate = strcmp(member_text(record, "unit"), "B/s") == 0,
		.is_unplaced = json_is_false(json_object_get(record, "placed")),
		.partners = partners < 0 ? PARTNERS_RING
					 : (enum partners)partners,
		.p50 = member_number(record, "p50"),
		.mean = member_number(record, "mean"),
	};
	round_rows_read(roster, record, ret);
	round_scores_read(roster, record, ret);
	round_pairs_read(roster, record, ret);
	round_grid_read(roster, record, ret);
}

int
round_is_ring(const struct round *r)
{
	return r->partners == PARTNERS_RING && r->canary != CANARY_INCAST;
}

void
round_clear(struct round *r)
{
	free(r->rows);
	free(r->scores);
	free(r->pairs);
	free(r->grid_nodes);
	free(r->grid);
	*r = (struct round){ 0 };
}
