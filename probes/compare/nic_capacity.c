/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/nic_capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/topology/local.h"

static double
described(const struct machine *m)
{
	double one = m->out_per_s;

	if (one == 0 || (m->in_per_s > 0 && m->in_per_s < one))
		one = m->in_per_s;
	return one > 0 && m->nics > 0 && !m->unrated ? one * m->nics : NAN;
}

/* All that are as fast as the fastest. */
static double
read_kernel(const struct local *l)
{
	double best = 0, sum = 0;

	for (int i = 0; i < l->nics_count; i++) {
		const struct local_nic *n = &l->nics[i];

		if (n->bytes_per_s > best) {
			best = n->bytes_per_s;
			sum = 0;
		}
		if (n->bytes_per_s == best)
			sum += best;
	}
	return sum > 0 ? sum : NAN;
}

double
nic_capacity_node_per_s(const struct machine *m, const char *root)
{
	struct local *l;
	double per_s;

	if (m != NULL)
		return described(m);
	l = xcalloc(1, sizeof(*l));
	local_read(root, l);
	per_s = read_kernel(l);
	free(l);
	return per_s;
}

void
nic_capacity_put(const struct rail_stats *p, double seconds, double rated_per_s,
    json_t *record)
{
	uint64_t most = 0;

	for (int i = 0; i < p->report->world->nodes; i++) {
		const struct place *n = &p->nodes[i];

		most = n->sent > most ? n->sent : most;
		most = n->received > most ? n->received : most;
	}
	if (most == 0 || !(seconds > 0))
		return;
	json_object_set_new(record, "node_bandwidth",
	    json_real((double)most / seconds));
	if (!isfinite(rated_per_s))
		return;
	json_object_set_new(record, "rated", json_real(rated_per_s));
	json_object_set_new(record, "rated_ratio",
	    json_real((double)most / seconds / rated_per_s));
}
