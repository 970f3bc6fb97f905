/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.c - facts about ports that need no measurement: values below those that
 * the port has shown before, or below those of most ports of this name on its
 * leaf, such as the negotiated rate; and error counters.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/cluster/port_look.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"

/* Hellos come in bursts; checks of all nodes take at most 1 / LOOK_OF of the
 * time. */
#define LOOK_NS  (5 * CLK_NS_PER_S)
#define LOOK_OF  100
#define MOST_MIN 4 /* fewer ports have no usual rate */
#define SAME     0.95

/* "PORT MEMBER LEAF": ports of one name on one leaf, and their values. */
#define KEY_BYTES (TOPO_LEAF_MAX + PORT_KEY_BYTES)

static void
ports_leaf_key(const struct node *n, const json_t *nic, enum port_fact fact,
    char ret[KEY_BYTES])
{
	char key[PORT_KEY_BYTES];

	port_key(member_text(nic, "name"), fact, key);
	snprintf(ret, KEY_BYTES, "%s %s", key, n->leaf);
}

/* Return the value of a port; NAN: not comparable. A port that is down has no
 * rate, and a bridge or tunnel may have any MTU. */
static double
ports_have_of(const json_t *nic, enum port_fact fact)
{
	if (fact == PORT_MTU &&
	    (strcmp(member_text(nic, "kind"), "virtual") == 0 ||
		strcmp(member_text(nic, "state"), "up") != 0))
		return NAN;
	return member_number(nic, verdict_text_ports[fact].member);
}

/* Count ports by key and value. */
static void
ports_count_leaves(const struct node *n, enum port_fact fact, json_t *all)
{
	char key[KEY_BYTES], value[32];
	json_t *nic, *values;
	size_t i;

	member_foreach (n->inventory, "nics", i, nic) {
		double x = ports_have_of(nic, fact);

		if (!(x >= 0) || n->leaf[0] == '\0')
			continue;
		ports_leaf_key(n, nic, fact, key);
		snprintf(value, sizeof(value), "%.0f", x);
		values = json_object_get(all, key);
		if (values == NULL) {
			values = json_object();
			json_object_set_new(all, key, values);
		}
		json_object_set_new(values, value,
		    json_integer(member_int(values, value) + 1));
	}
}

/* Return the value that more than half of them have; NAN: no such value. */
static double
ports_usual_of(const json_t *leaves, const struct node *n, const json_t *nic,
    enum port_fact fact)
{
	char key[KEY_BYTES];
	json_int_t all = 0, most = 0;
	const char *value;
	double x = NAN;
	json_t *count;

	ports_leaf_key(n, nic, fact, key);
	json_object_foreach (json_object_get(leaves, key), value, count) {
		all += json_integer_value(count);
		if (json_integer_value(count) > most) {
			most = json_integer_value(count);
			x = atof(value);
		}
	}
	return all >= MOST_MIN && 2 * most > all ? x : NAN;
}

/* Check one port; return 1 if its value is below the usual one. */
static int
ports_look_at(struct diagnosis_node *cn, const struct node *n,
    const json_t *nic, enum port_fact fact, const json_t *leaves,
    struct port_shortfall *ret)
{
	const struct port_fact_row *row = &verdict_text_ports[fact];
	double now = ports_have_of(nic, fact), usual;
	char key[PORT_KEY_BYTES];

	if (!(now >= 0))
		return 0;
	usual = ports_usual_of(leaves, n, nic, fact);
	if (row->is_kept) {
		port_key(member_text(nic, "name"), fact, key);
		json_object_set_new(cn->ports, key,
		    json_real(fmax(now, member_number(cn->ports, key))));
		usual = fmax(usual, member_number(cn->ports, key));
	}
	if (fact == PORT_RATE)
		cn->rated_bps = fmax(cn->rated_bps, usual);
	*ret = (struct port_shortfall){ "", fact, now, usual };
	utf8_format(ret->name, sizeof(ret->name), "%.31s",
	    member_text(nic, "name"));
	return row->differs ? !isnan(usual) && fabs(now - usual) > 0
			    : now < SAME * usual;
}

/* Report the worst: the first fact, and of this fact the smallest share. */
static void
ports_look(struct diagnosis *d, const struct node *n, const json_t *leaves)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);
	struct port_shortfall worst = { .name = "" }, seen;
	const json_t *nic;
	size_t i;

	if (cn->ports == NULL)
		cn->ports = json_object();
	for (int f = 0; f < PORT_FACT_MAX; f++)
		member_foreach (n->inventory, "nics", i, nic)
			if (ports_look_at(cn, n, nic, (enum port_fact)f, leaves,
				&seen) &&
			    (worst.name[0] == '\0' ||
				(worst.fact == seen.fact &&
				    seen.now * worst.usual <
					worst.now * seen.usual)))
				worst = seen;
	incident_port(d, (uint32_t)n->id,
	    worst.name[0] != '\0' ? &worst : NULL);
}

/* Read a port's largest counter of each kind; a counter that is a fact comes
 * first. */
static struct link_port
ports_read_port(const struct port_counters *row)
{
	struct link_port port = { .name = row->name };

	for (size_t i = 0; i < row->count; i++) {
		const struct link_counter *c = row->list[i].counter;
		uint64_t errors = row->list[i].errors;

		if (c->kind >= LINK_ERROR_MAX ||
		    c->is_fact < port.of[c->kind].is_fact ||
		    (c->is_fact == port.of[c->kind].is_fact &&
			errors <= port.of[c->kind].errors))
			continue;
		port.of[c->kind].errors = errors;
		port.of[c->kind].counter = c->name;
		port.of[c->kind].is_fact = c->is_fact;
	}
	return port;
}

static void
ports_take_links(struct diagnosis *d, struct node *n)
{
	size_t count = n->links->count;
	struct link_port *ports = xcalloc(count + 1, sizeof(*ports)), *p;
	int64_t span_s = n->links->span_s;
	struct node_error *error;
	char text[200];

	for (size_t i = 0; i < count; i++) {
		p = &ports[i];
		*p = ports_read_port(&n->links->ports[i]);
		/* A single event is relevant for the job on the node; other
		 * counters are rates, and a verdict reports them when they are
		 * too high. */
		for (int k = 0; k < LINK_ERROR_MAX; k++) {
			if (p->of[k].errors == 0 ||
			    (k != LINK_FLAP && !p->of[k].is_fact))
				continue;
			utf8_format(text, sizeof(text),
			    "%.40s of %.60s: %s (%s +%" PRIu64 ")", p->name,
			    n->name, names_link_texts[k], p->of[k].counter,
			    p->of[k].errors);
			error = k == LINK_DEVICE ? &n->gpu_error
						 : &n->link_error;
			xstrset(&error->text, text);
			error->unix_ns = (int64_t)clk_unix_ns();
			(void)roster_event(d->store, n, "link", text);
		}
	}
	if (span_s >= 0 && span_s <= UINT32_MAX) {
		link_rates_take(d, n, (double)span_s);
		link_look(&d->links, (uint32_t)n->id, (uint64_t)span_s, ports,
		    count);
		incident_links(d, (uint32_t)n->id);
	}
	free(ports);
	port_look_free(n->links);
	n->links = NULL;
}

void
ports_tick(struct diagnosis *d)
{
	uint64_t now_ns = clk_ns();
	json_t *leaves;

	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		struct node *n = roster_by_id(d->roster, i);
		struct diagnosis_node *cn = diagnosis_node(d, n);

		d->ports_new |= cn->nics_serial != n->nics_serial;
		cn->nics_serial = n->nics_serial;
		if (n->links != NULL && n->state != AGENT_MAINTENANCE)
			ports_take_links(d, n);
	}
	if (!d->ports_new || now_ns < d->ports_ns)
		return;
	d->ports_new = 0;
	leaves = json_object();
	for (size_t i = 0; i < roster_ids(d->roster); i++)
		for (int f = 0; f < PORT_FACT_MAX; f++)
			ports_count_leaves(roster_by_id(d->roster, i),
			    (enum port_fact)f, leaves);
	for (size_t i = 0; i < roster_ids(d->roster); i++)
		if (roster_by_id(d->roster, i)->state != AGENT_MAINTENANCE)
			ports_look(d, roster_by_id(d->roster, i), leaves);
	json_decref(leaves);
	d->ports_ns = now_ns +
	    (uint64_t)fmax(LOOK_NS, LOOK_OF * (double)(clk_ns() - now_ns));
}

json_t *
diagnosis_links(const struct diagnosis *d, const struct node *of)
{
	json_t *list = json_array(), *row;

	for (size_t i = 0; i < (of != NULL ? 1 : roster_count(d->roster));
	     i++) {
		const struct node *n = of != NULL ? of
						  : roster_at(d->roster, i);
		const struct link_place *p = n->id < d->links.count
		    ? &d->links.places[n->id]
		    : NULL;

		for (size_t k = 0; p != NULL && k < p->count; k++) {
			const struct link_sum *s = &p->sums[k];

			row = json_pack("{s:s, s:s, s:o, s:s, s:s, s:I, s:I, "
					"s:I, s:I, s:f, s:b}",
			    "node", n->name, "leaf", n->leaf, "port",
			    text_json(s->port), "kind",
			    names_link_errors[s->kind], "counter", s->counter,
			    "errors", (json_int_t)s->errors, "span_s",
			    (json_int_t)s->span_s, "looks",
			    (json_int_t)s->looks, "looks_with_errors",
			    (json_int_t)s->with, "usual",
			    link_usual_share(&d->links, s), "named", s->raised);
			link_rates_of(d, n, s->port, s->counter, row);
			json_array_append_new(list, row);
		}
	}
	return list;
}
