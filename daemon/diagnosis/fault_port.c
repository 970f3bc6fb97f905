/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_port.c - facts about ports that need no measurement: values below those
 * that the port has shown before, or below those of most ports of this name on
 * its leaf, such as the negotiated rate.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"

/* Hellos come in bursts; checks of all nodes take at most 1 / LOOK_OF of the
 * time. */
#define LOOK_NS  (5 * CLK_NS_PER_S)
#define LOOK_OF  100
#define MOST_MIN 4    /* fewer ports have no usual rate */
#define SAME     0.95 /* of the usual rate: rounding in a report, not a fault */

/* "PORT MEMBER": a value in diagnosis_node.ports. */
#define PORT_KEY_BYTES 64
/* "PORT MEMBER LEAF": ports of one name on one leaf, and their values. */
#define KEY_BYTES (TOPO_LEAF_MAX + PORT_KEY_BYTES)

/* Facts of a port, and how a value below the usual one is reported. */
enum port_fact { PORT_RATE, PORT_PCIE, PORT_MTU, PORT_NUMA, PORT_FACT_MAX };
static const struct port_fact_row {
	const char *member;      /* of an inventory's nics */
	const char *now, *usual; /* members of the verdict */
	enum verdict verdict;
	int is_kept; /* 1: a better value seen in the past is usual, too */
	int differs; /* 1: a larger value is as wrong as a smaller one */
	double unit;
	const char *is, *unit_name, *as;
} port_facts[PORT_FACT_MAX] = {
	[PORT_RATE] = { "speed_bps", "now_bps", "rated_bps", VERDICT_BAD, 1, 0,
	    1e9, "runs at", " Gbit/s",
	    "the earlier value of this port or the value of most nodes of "
	    "its leaf" },
	[PORT_PCIE] = { "pcie_bps", "pcie_bps", "usual_pcie_bps", VERDICT_WARN,
	    1, 0, 1e9, "has a PCIe link of", " Gbit/s",
	    "the earlier value of this port or the value of most nodes of "
	    "its leaf" },
	[PORT_MTU] = { "mtu", "mtu", "usual_mtu", VERDICT_WARN, 0, 0, 1,
	    "has an MTU of", " bytes", "the value of most nodes of its leaf" },
	[PORT_NUMA] = { "numa_node", "numa_node", "usual_numa_node",
	    VERDICT_WARN, 0, 1, 1, "is at NUMA node", "",
	    "as on most nodes of its leaf" },
};

/* A port with a lower value than it has shown, or than others of its leaf
 * have. */
struct port_shortfall {
	char name[32]; /* "": none */
	enum port_fact fact;
	double now, usual;
};

static void
fault_port_key(const char *name, enum port_fact fact, char ret[PORT_KEY_BYTES])
{
	utf8_format(ret, PORT_KEY_BYTES, "%.32s %s", name,
	    port_facts[fact].member);
}

static void
fault_port_leaf_key(const struct node *n, const json_t *nic,
    enum port_fact fact, char ret[KEY_BYTES])
{
	char key[PORT_KEY_BYTES];

	fault_port_key(member_text(nic, "name"), fact, key);
	snprintf(ret, KEY_BYTES, "%s %s", key, n->leaf);
}

/* Return the value of a port; NAN: not comparable. A port that is down has no
 * rate, and a bridge or tunnel may have any MTU. */
static double
fault_port_have_of(const json_t *nic, enum port_fact fact)
{
	if (fact == PORT_MTU &&
	    (strcmp(member_text(nic, "kind"), "virtual") == 0 ||
		strcmp(member_text(nic, "state"), "up") != 0))
		return NAN;
	return member_number(nic, port_facts[fact].member);
}

/* Count ports by key and value. */
static void
fault_port_count_leaves(const struct node *n, enum port_fact fact, json_t *all)
{
	char key[KEY_BYTES], value[32];
	json_t *nic, *values;
	size_t i;

	member_foreach (n->inventory, "nics", i, nic) {
		double x = fault_port_have_of(nic, fact);

		if (!(x >= 0) || n->leaf[0] == '\0')
			continue;
		fault_port_leaf_key(n, nic, fact, key);
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
fault_port_usual_of(const json_t *leaves, const struct node *n,
    const json_t *nic, enum port_fact fact)
{
	char key[KEY_BYTES];
	json_int_t all = 0, most = 0;
	const char *value;
	double x = NAN;
	json_t *count;

	fault_port_leaf_key(n, nic, fact, key);
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
fault_port_look_at(struct diagnosis_node *cn, const struct node *n,
    const json_t *nic, enum port_fact fact, const json_t *leaves,
    struct port_shortfall *ret)
{
	const struct port_fact_row *row = &port_facts[fact];
	double now = fault_port_have_of(nic, fact), usual;
	char key[PORT_KEY_BYTES];

	if (!(now >= 0))
		return 0;
	usual = fault_port_usual_of(leaves, n, nic, fact);
	if (row->is_kept) {
		fault_port_key(member_text(nic, "name"), fact, key);
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

/* A port of it is below its usual value, or (NULL) all are normal. A port's own
 * rate is certain, so it is bad at once. A wrong setting is a warning. */
static void
fault_port_open(struct diagnosis *d, uint32_t node,
    const struct port_shortfall *seen)
{
	struct incident *k = incident_find(d, JUDGE_NODE, node);
	int is_port = k != NULL && k->fault == &fault_port;
	const struct port_shortfall *was = is_port ? k->data : NULL;
	struct diagnosis_series *s;
	enum verdict verdict;

	if (seen == NULL) {
		if (is_port)
			incident_end(d, k, VERDICT_OK,
			    "its ports have their expected values");
		return;
	}
	verdict = port_facts[seen->fact].verdict;
	s = series_fact(d, WHAT_PORT);
	if (s == NULL ||
	    (is_port && was->fact == seen->fact && was->now == seen->now &&
		strcmp(was->name, seen->name) == 0))
		return;
	if (verdict != VERDICT_BAD && k != NULL && !is_port)
		return; /* a measured result is more important */
	k = incident_take(d, k, &fault_port, JUDGE_NODE, node);
	k->verdict = verdict;
	memcpy(k->data, seen, sizeof(*seen));
	incident_show_from(d, k, s, &incident_no_run);
}

/* Report the worst: the first fact, and of this fact the smallest share. */
static void
fault_port_look(struct diagnosis *d, const struct node *n, const json_t *leaves)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);
	struct port_shortfall worst = { .name = "" }, seen;
	const json_t *nic;
	size_t i;

	if (cn->ports == NULL)
		cn->ports = json_object();
	for (int f = 0; f < PORT_FACT_MAX; f++)
		member_foreach (n->inventory, "nics", i, nic)
			if (fault_port_look_at(cn, n, nic, (enum port_fact)f,
				leaves, &seen) &&
			    (worst.name[0] == '\0' ||
				(worst.fact == seen.fact &&
				    seen.now * worst.usual <
					worst.now * seen.usual)))
				worst = seen;
	fault_port_open(d, (uint32_t)n->id,
	    worst.name[0] != '\0' ? &worst : NULL);
}

static void
fault_port_hear(struct diagnosis *d, const struct node *n)
{
	(void)n;
	d->ports_new = 1; /* compared with the ports of all nodes */
}

static void
fault_port_tick(struct diagnosis *d)
{
	uint64_t now_ns = clk_ns();
	json_t *leaves;

	if (!d->ports_new || now_ns < d->ports_ns)
		return;
	d->ports_new = 0;
	leaves = json_object();
	for (size_t i = 0; i < roster_ids(d->roster); i++)
		for (int f = 0; f < PORT_FACT_MAX; f++)
			fault_port_count_leaves(roster_by_id(d->roster, i),
			    (enum port_fact)f, leaves);
	for (size_t i = 0; i < roster_ids(d->roster); i++)
		if (roster_by_id(d->roster, i)->state != AGENT_MAINTENANCE)
			fault_port_look(d, roster_by_id(d->roster, i), leaves);
	json_decref(leaves);
	d->ports_ns = now_ns +
	    (uint64_t)fmax(LOOK_NS, LOOK_OF * (double)(clk_ns() - now_ns));
}

/* ---- an open case ---- */

static void
fault_port_text(const struct diagnosis *d, const struct incident *k, char *text)
{
	const struct port_shortfall *p = k->data;
	const struct port_fact_row *f = &port_facts[p->fact];

	(void)d;
	fault_text_add(text, "%s: port %s %s %.4g%s instead of %.4g, %s",
	    k->subject, p->name, f->is, p->now / f->unit, f->unit_name,
	    p->usual / f->unit, f->as);
}

static void
fault_port_json(const struct diagnosis *d, const struct incident *k, json_t *o)
{
	const struct port_shortfall *p = k->data;

	(void)d;
	json_object_set_new(o, "effect",
	    json_real(fabs(log(fmax(1, p->usual) / fmax(1, p->now)))));
	json_object_set_new(o, "port", json_string(p->name));
	json_object_set_new(o, port_facts[p->fact].now, json_real(p->now));
	json_object_set_new(o, port_facts[p->fact].usual, json_real(p->usual));
}

/* Load the value of a port, and its usual value. */
static int
fault_port_restore(struct diagnosis *d, struct incident *k, const json_t *o)
{
	struct diagnosis_node *cn = diagnosis_node(d,
	    roster_by_id(d->roster, k->index));
	struct port_shortfall *p = k->data;
	char key[PORT_KEY_BYTES];
	int f = PORT_FACT_MAX - 1;

	while (f > 0 && json_object_get(o, port_facts[f].now) == NULL)
		f--;
	snprintf(p->name, sizeof(p->name), "%.31s", member_text(o, "port"));
	p->fact = (enum port_fact)f;
	p->now = member_number(o, port_facts[f].now);
	p->usual = member_number(o, port_facts[f].usual);
	if (cn->ports == NULL)
		cn->ports = json_object();
	fault_port_key(p->name, p->fact, key);
	json_object_set_new(cn->ports, key, json_real(p->usual));
	return 0;
}

const struct fault_kind fault_port = {
	.what = WHAT_PORT,
	.about = 1 << JUDGE_NODE,
	.severity = VERDICT_BAD,
	.source = FAULT_FACT,
	.bytes = sizeof(struct port_shortfall),
	.is_certain = 1,
	.hear_node = fault_port_hear,
	.tick = fault_port_tick,
	.text = fault_port_text,
	.json = fault_port_json,
	.restore = fault_port_restore,
};
