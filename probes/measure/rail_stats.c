/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_stats.c - which node and which rail carried a transfer, how long each
 * took, and what of a node's capacity that is.
 */
#include "probes/measure/rail_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"
#include "probes/congestion/report.h"
#include "probes/execute/trial.h"
#include "probes/job/nic.h"
#include "probes/job/world.h"
#include "probes/measure/plan_report.h"
#include "probes/topology/local.h"

static void
rail_stats_place_meet(struct place *node, int with)
{
	node->partner = node->partner == RAIL_STATS_NOBODY ||
		node->partner == with
	    ? with
	    : RAIL_STATS_MANY;
}

static void
rail_stats_longer(double *s, double other_s)
{
	if (!(*s >= other_s))
		*s = other_s;
}

/* Nodes that take part, each by its own clock. */
static void
rail_stats_time_nodes(struct rail_stats *p, const struct trial *t)
{
	const struct subject *r = p->subject;

	for (int i = 0; i < r->team->ranks; i++) {
		struct place *n = &p->nodes[r->team->nodes[i]];

		if (r->memory_rank_per_s != NULL)
			n->memory_per_s = r->memory_rank_per_s[i] +
			    (isfinite(n->memory_per_s) ? n->memory_per_s : 0);
		if (r->team->rated_per_s != NULL)
			n->rated_per_s += r->team->rated_per_s[i];
		if (n->sent + n->received + n->own == 0)
			continue;
		rail_stats_longer(&n->s, t->rank_s[i]);
		n->wait_ratio = fmax(n->wait_ratio, t->rank_wait_ratio[i]);
		if (r->predicted_rank_s != NULL)
			rail_stats_longer(&n->predicted_s,
			    r->predicted_rank_s[i]);
	}
	for (int i = 0; i < r->world->nodes; i++) {
		struct place *n = &p->nodes[i];

		n->ratio = n->predicted_s / n->s;
		if (n->own > 0 && n->s > 0)
			n->per_s = (double)n->own / n->s;
	}
}

/* A rail is as good as at its worst node. */
static void
rail_stats_rate_lanes(struct rail_stats *p)
{
	int ranks = p->subject->team->ranks;
	double *sorted = xcalloc((size_t)ranks, sizeof(*sorted)), sound;
	size_t n = 0;

	for (int i = 0; i < ranks; i++) {
		struct place *lane = &p->lanes[i];
		uint64_t most = lane->sent > lane->received ? lane->sent
							    : lane->received;

		if (most > 0 && lane->s > 0)
			lane->per_s = (double)most / lane->s;
		if (isfinite(lane->per_s))
			sorted[n++] = lane->per_s;
	}
	/* Ranks that share a NIC slow each other, so their rates say nothing
	 * about a rail. */
	if (!rail_stats_separate(p->rails_count))
		n = 0;
	/* The upper quartile; NAN where no lane carried anything. */
	robust_sort(sorted, n);
	sound = n > 0 ? sorted[n - 1 - (n - 1) / 4] : NAN;
	free(sorted);
	for (int i = 0; i < ranks; i++) {
		struct place *lane = &p->lanes[i], *rail;

		if (!isfinite(lane->per_s) || !isfinite(sound))
			continue;
		lane->ratio = lane->per_s / sound;
		rail = &p->rails[p->rail[i]];
		if (!(rail->ratio <= lane->ratio)) {
			rail->ratio = lane->ratio;
			rail->per_s = lane->per_s;
			rail->s = lane->s;
		}
	}
}

static struct place *
rail_stats_places_new(size_t count)
{
	struct place *list = xcalloc(count, sizeof(*list));

	for (size_t i = 0; i < count; i++) {
		list[i].partner = RAIL_STATS_NOBODY;
		list[i].s = list[i].predicted_s = list[i].per_s =
		    list[i].ratio = list[i].memory_per_s = list[i].wait_ratio =
			NAN;
	}
	return list;
}

void
rail_stats_count(const struct subject *r, const struct trial *t, int step,
    struct rail_stats *ret)
{
	size_t ranks = (size_t)r->team->ranks;
	const int *node = r->team->nodes;
	const struct plan *plan = r->plan;
	int *seen = xcalloc((size_t)r->world->nodes, sizeof(*seen));

	*ret = (struct rail_stats){ .subject = r,
		.nodes = rail_stats_places_new((size_t)r->world->nodes),
		.rails = rail_stats_places_new(ranks),
		.lanes = rail_stats_places_new(ranks),
		.rail = xcalloc(ranks, sizeof(int)) };
	for (size_t i = 0; i < ranks; i++) {
		ret->rail[i] = seen[node[i]]++;
		if (ret->rail[i] >= ret->rails_count)
			ret->rails_count = ret->rail[i] + 1;
	}
	free(seen);
	for (size_t i = 0; i < plan->transfers_count; i++) {
		const struct plan_transfer *tr = &plan->transfers[i];
		int from, to;
		double s;

		if (step >= 0 && tr->step != (uint32_t)step)
			continue;
		from = node[tr->src];
		to = node[tr->dst];
		if (tr->src == tr->dst)
			ret->nodes[from].own += tr->bytes;
		if (from == to)
			continue;
		rail_stats_place_meet(&ret->nodes[from], to);
		rail_stats_place_meet(&ret->nodes[to], from);
		ret->nodes[from].sent += tr->bytes;
		ret->rails[ret->rail[tr->src]].sent += tr->bytes;
		ret->lanes[tr->src].sent += tr->bytes;
		ret->nodes[to].received += tr->bytes;
		ret->rails[ret->rail[tr->dst]].received += tr->bytes;
		ret->lanes[tr->dst].received += tr->bytes;
		if (t->rank_best_s == NULL)
			continue;
		s = fmax(t->rank_best_s[tr->src], t->rank_best_s[tr->dst]);
		rail_stats_longer(&ret->lanes[tr->src].s, s);
		rail_stats_longer(&ret->lanes[tr->dst].s, s);
	}
	for (size_t i = 0; i < t->count; i++) {
		int rank = t->samples[i].rank;

		ret->nodes[node[rank]].slowest++;
		ret->rails[ret->rail[rank]].slowest++;
	}
	rail_stats_rate_lanes(ret);
	if (t->rank_s != NULL && step == SUBJECT_WHOLE)
		rail_stats_time_nodes(ret, t);
}

void
rail_stats_clear(struct rail_stats *p)
{
	free(p->nodes);
	free(p->rails);
	free(p->lanes);
	free(p->rail);
	*p = (struct rail_stats){ 0 };
}

const char *
rail_stats_nic(int rail)
{
	static char name[NIC_NAME_BYTES];
	const char *list = getenv("COALMINE_NICS");

	return list != NULL && nic_choose(list, rail, name) == 0 ? name : NULL;
}

int
rail_stats_separate(int rails)
{
	char name[NIC_NAME_BYTES], other[NIC_NAME_BYTES];
	const char *list = getenv("COALMINE_NICS");

	if (rails < 2)
		return 1;
	for (int i = 0; i < rails; i++) {
		if (list == NULL || nic_choose(list, i, name) < 0)
			return 0;
		for (int k = 0; k < i; k++)
			if (nic_choose(list, k, other) == 0 &&
			    strcmp(name, other) == 0)
				return 0;
	}
	return 1;
}

static void
rail_stats_put_known(json_t *o, const char *name, double x)
{
	if (isfinite(x))
		json_object_set_new(o, name, json_real(x));
}

static json_t *
rail_stats_place_json(const struct place *pl)
{
	json_t *o = json_pack("{s:I, s:I, s:i}", "sent_bytes",
	    (json_int_t)pl->sent, "received_bytes", (json_int_t)pl->received,
	    "slowest", pl->slowest);

	rail_stats_put_known(o, "seconds", pl->s);
	rail_stats_put_known(o, "predicted", pl->predicted_s);
	rail_stats_put_known(o, "bandwidth", pl->per_s);
	rail_stats_put_known(o, "ratio", pl->ratio);
	rail_stats_put_known(o, "wait_ratio", pl->wait_ratio);
	if (pl->own > 0)
		rail_stats_put_known(o, "memory_ratio",
		    pl->per_s / pl->memory_per_s);
	if (pl->own > 0 && pl->rated_per_s > 0)
		rail_stats_put_known(o, "rated_ratio",
		    pl->per_s / pl->rated_per_s);
	return o;
}

/* The ratio up to which lanes are listed: of more than there are rows for, the
 * worst. */
static double
rail_stats_lanes_worst(const struct rail_stats *p)
{
	size_t count = 0, ranks = (size_t)p->subject->team->ranks;
	double *ratios, at = INFINITY;

	ratios = xcalloc(ranks, sizeof(*ratios));
	for (size_t k = 0; k < ranks; k++)
		if (isfinite(p->lanes[k].ratio))
			ratios[count++] = p->lanes[k].ratio;
	if (count > REPORT_NODES_MAX)
		at = robust_quantile(ratios, count,
		    (double)RECORD_ROWS_WORST / (double)count);
	free(ratios);
	return at;
}

void
rail_stats_put(const struct rail_stats *p, json_t *record)
{
	const struct subject *r = p->subject;
	const struct world *w = r->world;
	json_t *nodes = json_array(), *rails = json_array();
	double worst = rail_stats_lanes_worst(p);

	for (int i = 0; i < w->nodes && i < REPORT_NODES_MAX; i++) {
		json_t *one = rail_stats_place_json(&p->nodes[i]);
		int with = p->nodes[i].partner;

		json_object_set_new(one, "node", json_string(w->names[i]));
		/* Two nodes that exchanged data with each other only. */
		if (with >= 0 && p->nodes[with].partner == i)
			json_object_set_new(one, "partner",
			    json_string(w->names[with]));
		json_array_append_new(nodes, one);
	}
	json_object_set_new(record, "nodes", nodes);
	for (int i = 0; i < p->rails_count; i++) {
		const char *nic = rail_stats_nic(i);
		json_t *lanes, *one;

		if (p->rails[i].sent + p->rails[i].received == 0)
			continue;
		one = rail_stats_place_json(&p->rails[i]);
		json_object_set_new(one, "rail", json_integer(i));
		if (nic != NULL)
			json_object_set_new(one, "nic", json_string(nic));
		/* At each node that carried something on it. */
		lanes = json_array();
		for (int k = 0; k < r->team->ranks; k++) {
			const struct place *lane = &p->lanes[k];

			if (p->rail[k] == i && isfinite(lane->ratio) &&
			    lane->ratio <= worst)
				json_array_append_new(lanes,
				    json_pack("{s:s, s:f, s:f}", "node",
					w->names[r->team->nodes[k]],
					"bandwidth", lane->per_s, "ratio",
					lane->ratio));
		}
		json_object_set_new(one, "nodes", lanes);
		json_array_append_new(rails, one);
	}
	json_object_set_new(record, "rails", rails);
}

int
rail_stats_weak(const struct rail_stats *p, double share, struct strbuf *text)
{
	int count = 0;

	for (int i = 0; i < p->rails_count; i++) {
		const char *nic = rail_stats_nic(i);

		if (!(p->rails[i].ratio < share))
			continue;
		strbuf_addf(text,
		    "%srail %d%s%s%s has %.2f of the other rails' rate",
		    count++ > 0 ? "; " : "", i, nic != NULL ? " (" : "",
		    nic != NULL ? nic : "", nic != NULL ? ")" : "",
		    p->rails[i].ratio);
	}
	return count;
}

/* ---- capacity of a node ---- */

double
rail_stats_capacity_per_s(const struct machine *m, const char *root)
{
	double best = 0, sum = 0;
	struct local *l;

	if (m != NULL) {
		double one = m->out_per_s;

		if (one == 0 || (m->in_per_s > 0 && m->in_per_s < one))
			one = m->in_per_s;
		return one > 0 && m->nics > 0 && !m->unrated ? one * m->nics
							     : NAN;
	}
	/* All that are as fast as the fastest. */
	l = xcalloc(1, sizeof(*l));
	local_read(root, l);
	for (int i = 0; i < l->nics_count; i++) {
		double per_s = l->nics[i].bytes_per_s;

		if (per_s > best) {
			best = per_s;
			sum = 0;
		}
		if (per_s == best)
			sum += best;
	}
	free(l);
	return sum > 0 ? sum : NAN;
}

void
rail_stats_put_capacity(const struct rail_stats *p, double seconds,
    json_t *record)
{
	double capacity_per_s = p->subject->capacity_per_s;
	uint64_t most = 0;

	for (int i = 0; i < p->subject->world->nodes; i++) {
		const struct place *n = &p->nodes[i];

		most = n->sent > most ? n->sent : most;
		most = n->received > most ? n->received : most;
	}
	if (most == 0 || !(seconds > 0))
		return;
	json_object_set_new(record, "node_bandwidth",
	    json_real((double)most / seconds));
	if (!isfinite(capacity_per_s))
		return;
	json_object_set_new(record, "rated", json_real(capacity_per_s));
	json_object_set_new(record, "rated_ratio",
	    json_real((double)most / seconds / capacity_per_s));
}
