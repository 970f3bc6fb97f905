/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans_bounds.c - what two nodes exchange and what each node's link gives,
 * as probes of their own before the collectives.
 */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/compare/plans_part.h"
#include "probes/pattern/sizes.h"

#define BOUND_WORDS_MAX 16

/* Blocks of the largest size, and how the outermost level moves them. */
static char *
bound_words(struct plans *ps, enum bounds_probe which, uint64_t *ret_bytes)
{
	const char *vias = conf_string(ps->conf, PLANS_COLLECTIVE, "via");
	uint64_t sizes[SIZES_MAX], block;
	char *via, *text;
	struct err err;
	int count;

	block = (uint64_t)conf_int(ps->conf, PLANS_COLLECTIVE, "count") *
	    plan_types[plan_type_find(
			   conf_string(ps->conf, PLANS_COLLECTIVE, "type"))]
		.bytes;
	if (sizes_parse(conf_string(ps->conf, "measure", "sizes"), sizes,
		&count, &err) == 0)
		for (int i = 0; i < count; i++)
			block = i == 0 || sizes[i] > block ? sizes[i] : block;
	*ret_bytes = bounds_bytes(&ps->bounds, block);
	via = xstrndup(vias, strcspn(vias, ","));
	text = bounds_words(&ps->bounds, which, *ret_bytes, via);
	free(via);
	return text;
}

/* Do consecutive ranks share a node? Else two groups are not two nodes. */
int
plans_in_blocks(const struct plans *ps, uint32_t g)
{
	const struct transport_team *tm = ps->team;

	for (int i = 0; i < tm->ranks; i++)
		if (tm->nodes[i] != tm->nodes[i - i % (int)g])
			return 0;
	return 1;
}

static void
run_bound(struct plans *ps, enum bounds_probe which)
{
	char *words[BOUND_WORDS_MAX], *save = NULL;
	struct err err;
	const char *probe;
	struct plan *p;
	uint64_t bytes;
	int n = 0;
	char *text = bound_words(ps, which, &bytes);

	probe = strtok_r(text, " ", &save);
	while (n < BOUND_WORDS_MAX &&
	    (words[n] = strtok_r(NULL, " ", &save)) != NULL)
		n++;
	ps->fastest_s = 0;
	/* Too few nodes for the other neighbour is no fault. */
	if (pattern_plan(probe, words, n, (uint32_t)ps->world->size, &p,
		&err) == 0 &&
	    plans_prove(ps, probe, p) == 0)
		plans_send(ps, pattern_find(probe)->name, p);
	if (ps->fastest_s > 0 && plans_in_blocks(ps, ps->bounds.per_node))
		bounds_learn(&ps->bounds, which, bytes, ps->fastest_s);
	free(text);
}

void
plans_bounds(struct plans *ps)
{
	struct world *w = ps->world;

	if (!conf_bool(ps->conf, "measure", "bounds") || w->nodes < 2 ||
	    w->size % w->nodes != 0)
		return;
	ps->bounds.ranks = (uint32_t)w->size;
	ps->bounds.per_node = (uint32_t)(w->size / w->nodes);
	for (int i = 0; i < BOUNDS_PROBES; i++)
		run_bound(ps, (enum bounds_probe)i);
	if (ps->bounds.each_way_per_s == 0)
		log_warnx("no bounds: ranks are not in blocks on their nodes");
}
