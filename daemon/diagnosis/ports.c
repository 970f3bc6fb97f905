/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.c - ports that have trained to less than their rate: less than they
 * have shown before, or than most of their leaf's ports of that name run at.
 * Nothing is measured for it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"

#define LOOK_NS  (5 * CLK_NS_PER_S) /* hellos come in crowds */
#define MOST_MIN 4                  /* fewer ports have no usual rate */
#define SAME     0.95

/* Ports of one name on one leaf: how many run at which rate. */
static json_t *
count_leaves(const struct diagnosis *d)
{
	json_t *all = json_object();

	for (size_t i = 0; i < roster_count(d->roster); i++) {
		const struct node *n = roster_by_id(d->roster, i);
		const json_t *nic;
		size_t k;

		json_array_foreach (json_object_get(n->inventory, "nics"), k,
		    nic) {
			char key[TOPO_LEAF_MAX + 40], rate[32];
			double bps = member_number(nic, "speed_bps");
			json_t *rates, *old;

			if (!(bps > 0) || n->leaf[0] == '\0')
				continue;
			snprintf(key, sizeof(key), "%s %.32s", n->leaf,
			    member_text(nic, "name"));
			snprintf(rate, sizeof(rate), "%.0f", bps);
			rates = json_object_get(all, key);
			if (rates == NULL) {
				rates = json_object();
				json_object_set_new(all, key, rates);
			}
			old = json_object_get(rates, rate);
			json_object_set_new(rates, rate,
			    json_integer(json_integer_value(old) + 1));
		}
	}
	return all;
}

/* The rate of more than half of them; 0: there is none. */
static double
usual_rate(const json_t *leaves, const struct node *n, const char *name)
{
	char key[TOPO_LEAF_MAX + 40];
	json_int_t all = 0, most = 0;
	const char *rate;
	double bps = 0;
	json_t *count;

	snprintf(key, sizeof(key), "%s %.32s", n->leaf, name);
	json_object_foreach (json_object_get(leaves, key), rate, count) {
		all += json_integer_value(count);
		if (json_integer_value(count) > most) {
			most = json_integer_value(count);
			bps = atof(rate);
		}
	}
	return all >= MOST_MIN && 2 * most > all ? bps : 0;
}

static void
look(struct diagnosis *d, const struct node *n, const json_t *leaves)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);
	struct port_shortfall worst = { "", 0, 0 };
	const json_t *nic;
	size_t i;

	if (cn->ports == NULL)
		cn->ports = json_object();
	json_array_foreach (json_object_get(n->inventory, "nics"), i, nic) {
		const char *name = member_text(nic, "name");
		double now = member_number(nic, "speed_bps"), rated;

		if (!(now > 0))
			continue; /* down, or it does not say */
		rated = fmax(now,
		    json_number_value(json_object_get(cn->ports, name)));
		json_object_set_new(cn->ports, name, json_real(rated));
		rated = fmax(rated, usual_rate(leaves, n, name));
		cn->rated_bps = fmax(cn->rated_bps, rated);
		if (now >= SAME * rated ||
		    (worst.rated_bps > 0 &&
			now / rated >= worst.now_bps / worst.rated_bps))
			continue;
		snprintf(worst.name, sizeof(worst.name), "%s", name);
		worst.now_bps = now;
		worst.rated_bps = rated;
	}
	incident_port(d, (uint32_t)n->id, worst.rated_bps > 0 ? &worst : NULL);
}

void
ports_tick(struct diagnosis *d)
{
	uint64_t now_ns = clk_ns();
	json_t *leaves;

	for (size_t i = 0; i < roster_count(d->roster); i++) {
		const struct node *n = roster_by_id(d->roster, i);
		struct diagnosis_node *cn = diagnosis_node(d, n);

		d->ports_new |= cn->serial != n->serial;
		cn->serial = n->serial;
	}
	if (!d->ports_new || now_ns - d->ports_ns < LOOK_NS)
		return;
	d->ports_new = 0;
	d->ports_ns = now_ns;
	leaves = count_leaves(d);
	for (size_t i = 0; i < roster_count(d->roster); i++)
		look(d, roster_by_id(d->roster, i), leaves);
	json_decref(leaves);
}
