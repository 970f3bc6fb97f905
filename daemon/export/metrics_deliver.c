/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_deliver.c - groups, stripes, patterns, copies within nodes, and
 * rails.
 */
#include <math.h>
#include <stdio.h>

#include "daemon/series/deliver.h"
#include "daemon/export/metrics_int.h"

static void
groups(const struct deliver *d, struct strbuf *to)
{
	static const char name[] = "coalmine_group_bandwidth_bytes_per_second";

	exposition_family(to, name, "gauge",
	    "Bandwidth of a group of devices, largest message of the newest "
	    "run.");
	for (size_t i = 0; i < d->groups.count; i++) {
		const struct deliver_group *g = &d->groups.rows[i];
		char k[16];

		snprintf(k, sizeof(k), "%d", g->k);
		exposition_sample(to, name,
		    EXPOSITION_LABELS({ "pattern", g->pattern },
			{ "direction", g->direction }, { "k", k }),
		    g->per_s);
	}
}

static void
stripes(const struct deliver *d, struct strbuf *to)
{
	static const char name[] = "coalmine_stripe_efficiency_ratio";

	exposition_family(to, name, "gauge",
	    "Speed-up of a striped message over the direct one for each rail, "
	    "newest run; 1 when all rails give what one gives alone.");
	for (size_t i = 0; i < d->stripes_count; i++) {
		const struct deliver_stripe *s = &d->stripes[i];
		char g[16];

		snprintf(g, sizeof(g), "%d", s->g);
		exposition_sample(to, name,
		    EXPOSITION_LABELS({ "via", s->via }, { "g", g }),
		    s->efficiency);
	}
}

static void
scale(const struct deliver_group *g, const char *name, double value,
    struct strbuf *to)
{
	char k[16], groups[16];

	if (!isfinite(value))
		return;
	snprintf(k, sizeof(k), "%d", g->k);
	snprintf(groups, sizeof(groups), "%d", g->groups);
	exposition_sample(to, name,
	    EXPOSITION_LABELS({ "pattern", g->pattern },
		{ "direction", g->direction }, { "k", k },
		{ "groups", groups }),
	    value);
}

static void
scales(const struct deliver *d, struct strbuf *to)
{
	static const char per_s[] = "coalmine_node_bandwidth_bytes_per_second";
	static const char share[] = "coalmine_node_bandwidth_ratio";
	const struct deliver_groups *of = &d->scales;

	exposition_family(to, per_s, "gauge",
	    "Each way through the busiest node of groups of devices, largest "
	    "message of the newest run.");
	for (size_t i = 0; i < of->count; i++)
		scale(&of->rows[i], per_s, of->rows[i].per_s, to);
	exposition_family(to, share, "gauge",
	    "The same as a share of what the node's interfaces are rated or "
	    "described for.");
	for (size_t i = 0; i < of->count; i++)
		scale(&of->rows[i], share, of->rows[i].share, to);
}

static void
sparse(const struct deliver *d, struct strbuf *to)
{
	static const char name[] = "coalmine_sparse_speedup_ratio";

	exposition_family(to, name, "gauge",
	    "Speed-up of an application's pattern over MPI_Alltoallv, newest "
	    "run.");
	for (size_t i = 0; i < d->sparse_count; i++) {
		const struct deliver_sparse *s = &d->sparse[i];
		char stripes[16];

		snprintf(stripes, sizeof(stripes), "%d", s->stripes);
		exposition_sample(to, name,
		    EXPOSITION_LABELS({ "pattern", s->pattern },
			{ "scope", s->scope }, { "stripes", stripes }),
		    s->speedup);
	}
}

static void
places(const struct deliver *d, struct strbuf *to)
{
	static const char self[] = "coalmine_self_bandwidth_ratio";
	static const char rails[] = "coalmine_rail_bandwidth_ratio";

	exposition_family(to, self, "gauge",
	    "Copies within devices against the node's measured memory "
	    "bandwidth, newest run.");
	for (size_t i = 0; i < d->places_count; i++)
		if (d->places[i].rail == DELIVER_SELF)
			exposition_sample(to, self,
			    EXPOSITION_LABELS({ "node", d->places[i].node }),
			    d->places[i].ratio);
	exposition_family(to, rails, "gauge",
	    "Bandwidth of a rail of a node against what a sound one gives, "
	    "newest run.");
	for (size_t i = 0; i < d->places_count; i++) {
		const struct deliver_place *p = &d->places[i];
		char rail[16];

		if (p->rail == DELIVER_SELF)
			continue;
		snprintf(rail, sizeof(rail), "%d", p->rail);
		exposition_sample(to, rails,
		    EXPOSITION_LABELS({ "node", p->node }, { "rail", rail }),
		    p->ratio);
	}
}

void
metrics_deliver(const struct metrics_in *in, struct strbuf *to)
{
	const struct deliver *d = latest_deliver(in->latest);

	groups(d, to);
	stripes(d, to);
	scales(d, to);
	sparse(d, to);
	places(d, to);
}
