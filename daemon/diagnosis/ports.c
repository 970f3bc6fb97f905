/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.c - what ports say of themselves, without a measurement: that they have
 * trained to less than their rate, which is what they have shown before or what
 * most of their leaf's ports of that name run at; and what errors they count.
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
#include "schema/names.h"

#define LOOK_NS  (5 * CLK_NS_PER_S) /* hellos come in crowds */
#define MOST_MIN 4                  /* fewer ports have no usual rate */
#define SAME     0.95
/* Of one node's look; more is no machine. */
#define PORTS_MAX  256
#define ERRORS_MAX (1LL << 40)

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

/* A port's largest counter of each kind. */
static struct link_port
read_port(const json_t *row)
{
	struct link_port port = { .name = member_text(row, "port") };
	const struct link_counter *c;
	const char *name;
	json_t *more;

	json_object_foreach (json_object_get(row, "counters"), name, more) {
		json_int_t errors = json_integer_value(more);

		c = names_link_counter_find(name);
		if (c == NULL || errors <= 0 || errors > ERRORS_MAX ||
		    (uint64_t)errors <= port.of[c->kind].errors)
			continue; /* of another version, or of nothing sane */
		port.of[c->kind].errors = (uint64_t)errors;
		port.of[c->kind].counter = c->name;
	}
	return port;
}

static void
take_links(struct diagnosis *d, struct node *n)
{
	const json_t *rows = json_object_get(n->links, "ports"), *row;
	struct link_port *ports = xcalloc(PORTS_MAX, sizeof(*ports));
	json_int_t span_s = member_int(n->links, "span_s");
	size_t count = 0, i;

	json_array_foreach (rows, i, row)
		if (count < PORTS_MAX && member_text(row, "port")[0] != '\0')
			ports[count++] = read_port(row);
	if (span_s >= 0 && span_s <= UINT32_MAX) {
		link_look(&d->links, (uint32_t)n->id, (uint64_t)span_s, ports,
		    count);
		incident_links(d, (uint32_t)n->id);
	}
	free(ports);
	json_decref(n->links);
	n->links = NULL;
}

void
ports_tick(struct diagnosis *d)
{
	uint64_t now_ns = clk_ns();
	json_t *leaves;

	for (size_t i = 0; i < roster_count(d->roster); i++) {
		struct node *n = roster_by_id(d->roster, i);
		struct diagnosis_node *cn = diagnosis_node(d, n);

		d->ports_new |= cn->nics_serial != n->nics_serial;
		cn->nics_serial = n->nics_serial;
		if (n->links != NULL)
			take_links(d, n);
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
