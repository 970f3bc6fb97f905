/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.c - the switches of each tier that share something below them, and
 * which of these stages a path crosses.
 */
#include "schema/stages.h"

#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/xalloc.h"

/* Sets of switches: the root of a set is its own parent. */
static uint32_t
stages_root_of(uint32_t *parent, uint32_t at)
{
	while (parent[at] != at) {
		parent[at] = parent[parent[at]];
		at = parent[at];
	}
	return at;
}

/* Tier by tier, what hangs on the same switch, or on switches of one stage, is
 * joined. first: of a leaf or of a stage's root, one switch above it. */
static void
stages_join(const struct topology *t, const int *tier, uint32_t *parent,
    uint32_t *first)
{
	int highest = 0;

	for (size_t i = 0; i < t->switch_count; i++)
		highest = tier[i] > highest ? tier[i] : highest;
	for (int at = 1; at < highest; at++)
		for (size_t i = 0; i < t->up_count; i++) {
			uint32_t low = t->ups[i].lower, up = t->ups[i].upper;

			if (tier[low] != at || tier[up] <= at)
				continue;
			low = stages_root_of(parent, low);
			if (first[low] == TOPOLOGY_NONE)
				first[low] = up;
			else
				parent[stages_root_of(parent, up)] =
				    stages_root_of(parent, first[low]);
		}
}

static char *
stages_names_of(const struct topology *t, const uint32_t *stage_of,
    uint32_t stage, size_t count)
{
	const char **names = xcalloc(count + 1, sizeof(*names));
	size_t n = 0;
	char *ret;

	for (size_t i = 0; i < t->switch_count; i++)
		if (stage_of[i] == stage)
			names[n++] = t->switches[i].name;
	hostlist_sort(names, n);
	ret = hostlist_format(names, n);
	free(names);
	return ret;
}

struct stages *
stages_new(const struct topology *t)
{
	struct stages *s = xcalloc(1, sizeof(*s));
	size_t n = t->switch_count;
	uint32_t *parent = xcalloc(n + 1, sizeof(*parent));
	uint32_t *first = xcalloc(n + 1, sizeof(*first));
	uint32_t *stage_of = xcalloc(n + 1, sizeof(*stage_of));
	int *tier = topology_tiers(t);

	s->list = xcalloc(n + 1, sizeof(*s->list));
	s->of_switch = xcalloc(n + 1, sizeof(*s->of_switch));
	for (uint32_t i = 0; i < n; i++) {
		parent[i] = i;
		first[i] = stage_of[i] = s->of_switch[i] = STAGE_NONE;
	}
	stages_join(t, tier, parent, first);
	for (uint32_t i = 0; i < n; i++)
		if (tier[i] > 1 && parent[i] == i)
			stage_of[i] = (uint32_t)s->count++;
	for (uint32_t i = 0; i < n; i++) {
		struct stage *x;

		if (tier[i] == 1)
			continue;
		stage_of[i] = stage_of[stages_root_of(parent, i)];
		x = &s->list[stage_of[i]];
		x->switch_count++;
		x->tier = tier[i];
		x->above = STAGE_NONE;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t up = first[i] == TOPOLOGY_NONE ? STAGE_NONE
							: stage_of[first[i]];

		if (tier[i] == 1)
			s->of_switch[i] = up;
		else if (parent[i] == i)
			s->list[stage_of[i]].above = up;
	}
	for (size_t i = 0; i < t->up_count; i++)
		if (stage_of[t->ups[i].upper] != STAGE_NONE)
			s->list[stage_of[t->ups[i].upper]].links +=
			    t->ups[i].count;
	for (uint32_t k = 0; k < s->count; k++)
		s->list[k].switches = stages_names_of(t, stage_of, k,
		    s->list[k].switch_count);
	if (s->count == 0)
		s->list[s->count++].above = STAGE_NONE;
	free(parent);
	free(first);
	free(stage_of);
	free(tier);
	return s;
}

void
stages_free(struct stages *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i].switches);
	free(s->list);
	free(s->of_switch);
	free(s);
}

int
stages_are_named(const struct stages *s)
{
	return s->list[0].switches != NULL;
}

/* A file may have made a ring of them: no way up is longer than that. */
int
stages_lead(const struct stages *s, uint32_t from, uint32_t stage)
{
	for (size_t n = 0; from != STAGE_NONE && n < s->count; n++) {
		if (from == stage)
			return 1;
		from = s->list[from].above;
	}
	return 0;
}

int
stages_cross(const struct stages *s, uint32_t stage, uint32_t a, uint32_t b)
{
	uint32_t top = a;
	size_t n = 0;

	/* The stage where both paths up meet; stages above it are not
	 * crossed. */
	while (top != STAGE_NONE && n++ < s->count && !stages_lead(s, b, top))
		top = s->list[top].above;
	if (top == STAGE_NONE || !stages_lead(s, b, top))
		return 0;
	return (stages_lead(s, a, stage) || stages_lead(s, b, stage)) &&
	    stages_lead(s, stage, top);
}
