/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spines.c - the stage of switches above each leaf, by the current topology.
 */
#include "daemon/diagnosis/spines.h"

#include <string.h>

#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"

const struct stages *
spines_map(struct diagnosis *d)
{
	const struct topo *topo = roster_topo(d->roster);
	const struct topology *t = topo != NULL ? topo_file(topo) : NULL;
	struct topology *none = t == NULL ? topology_new() : NULL;

	if (t == NULL)
		t = none;
	if (d->stages == NULL) {
		d->stages = stages_new(t);
		d->staged = 0;
	}
	if (d->staged < d->leaf_count)
		d->stage_of = xreallocarray(d->stage_of, d->leaf_count,
		    sizeof(*d->stage_of));
	for (; d->staged < d->leaf_count; d->staged++) {
		uint32_t at = topology_find_switch(t, d->leaves[d->staged]);

		d->stage_of[d->staged] = !stages_are_named(d->stages) ? 0
		    : at == TOPOLOGY_NONE ? STAGE_NONE
					  : d->stages->of_switch[at];
	}
	topology_free(none);
	return d->stages;
}

uint32_t
spines_find_switches(const struct stages *all, const char *switches)
{
	for (uint32_t k = 0; k < all->count; k++)
		if (strcmp(all->list[k].switches != NULL ? all->list[k].switches
							 : "",
			switches) == 0)
			return k;
	return STAGE_NONE;
}

uint32_t
spines_find(struct diagnosis *d, const char *switches)
{
	return spines_find_switches(spines_map(d), switches);
}

uint32_t
spines_leaves(const struct diagnosis *d, uint32_t stage)
{
	uint32_t n = 0;

	for (uint32_t l = 0; l < d->staged; l++)
		n += (uint32_t)stages_lead(d->stages, d->stage_of[l], stage);
	return n;
}

void
spines_room(struct diagnosis *d, struct diagnosis_series *s)
{
	const struct stages *all = spines_map(d);

	if (s->stages_count >= all->count)
		return;
	s->stages = xreallocarray(s->stages, all->count, sizeof(*s->stages));
	while (s->stages_count < all->count) {
		drift_clear(&s->stages[s->stages_count]);
		s->stages[s->stages_count++].k = STAGE_K;
	}
}
