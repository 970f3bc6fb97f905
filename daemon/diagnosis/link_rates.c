/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_rates.c - recent rates of the error counters of ports and GPUs: in the
 * last hour and day, in windows that fade exponentially, so that each needs one
 * number. Reported by port for one node, and by class of node, with the worst
 * ports, for all nodes.
 */
#include "daemon/diagnosis/link_rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/cluster/port_look.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"

/* The two means of a rate that the API reports: each counts errors of about
 * this time. */
#define HOUR_S    3600.0
#define DAY_S     86400.0
#define FORGOTTEN 0.01 /* of one error: after four and a half days */
#define RATES_MAX 1024 /* of a node */
#define WORST_MAX 5    /* of each kind */

/* The rates of a counter of a port. */
struct link_rate {
	char port[LINK_PORT_MAX];
	const struct link_counter *counter;
	float hour, day;
	uint64_t total; /* since its first error */
};

/* Return the number of a class, from 1, such as "8 nvidia" or "no GPU": nodes
 * of one class are comparable. If the table is full, the last class contains
 * all others. */
static uint8_t
link_rates_class_of(struct diagnosis *d, const struct node *n)
{
	const json_t *gpus = json_object_get(n->inventory, "gpus");
	char name[LINK_PORT_MAX] = "no GPU";
	size_t i;

	if (json_array_size(gpus) > 0)
		utf8_format(name, sizeof(name), "%zu %.20s",
		    json_array_size(gpus),
		    member_text(json_array_get(gpus, 0), "vendor"));
	for (i = 0; i < d->link_class_count; i++)
		if (strcmp(d->link_classes[i].name, name) == 0)
			return (uint8_t)(i + 1);
	if (i == DIAGNOSIS_LINK_CLASSES)
		return (uint8_t)i;
	snprintf(d->link_classes[i].name, LINK_PORT_MAX, "%s",
	    i == DIAGNOSIS_LINK_CLASSES - 1 ? "other" : name);
	d->link_class_count++;
	return (uint8_t)(i + 1);
}

static struct link_rate *
link_rates_rate_need(struct diagnosis_node *cn, const char *port,
    const struct link_counter *counter)
{
	struct link_rate *r = cn->rates;

	for (; r < cn->rates + cn->rate_count; r++)
		if (r->counter == counter && strcmp(r->port, port) == 0)
			return r;
	if (cn->rate_count == RATES_MAX)
		return NULL;
	cn->rates = xreallocarray(cn->rates, cn->rate_count + 1,
	    sizeof(*cn->rates));
	r = &cn->rates[cn->rate_count++];
	memset(r, 0, sizeof(*r));
	snprintf(r->port, sizeof(r->port), "%s", port);
	r->counter = counter;
	return r;
}

void
link_rates_take(struct diagnosis *d, const struct node *n, double span_s)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);

	cn->link_class = link_rates_class_of(d, n);
	for (size_t i = 0; i < cn->rate_count;) {
		struct link_rate *r = &cn->rates[i];

		r->hour *= (float)exp(-span_s / HOUR_S);
		r->day *= (float)exp(-span_s / DAY_S);
		if (r->day < FORGOTTEN)
			*r = cn->rates[--cn->rate_count];
		else
			i++;
	}
	for (size_t i = 0; i < n->links->count; i++) {
		const struct port_counters *row = &n->links->ports[i];

		if (strlen(row->name) >= LINK_PORT_MAX)
			continue; /* not the name of a port */
		for (size_t k = 0; k < row->count; k++) {
			const struct link_counter *c = row->list[k].counter;
			uint64_t by = row->list[k].errors;
			struct link_rate *r = link_rates_rate_need(cn,
			    row->name, c);

			if (r == NULL)
				continue;
			r->hour += (float)by;
			r->day += (float)by;
			r->total += by;
			d->link_classes[cn->link_class - 1].errors[c->kind] +=
			    by;
		}
	}
}

/* Add hour and day of a counter of a port to an object, or (NULL) a row for
 * each counter to an array. */
static void
link_rates_of(const struct diagnosis *d, const struct node *n, const char *port,
    const char *counter, json_t *to)
{
	const struct diagnosis_node *cn = node_known(d, n);

	for (size_t i = 0; cn != NULL && i < cn->rate_count; i++) {
		const struct link_rate *r = &cn->rates[i];

		if (strcmp(r->port, port) != 0 ||
		    (counter != NULL && strcmp(r->counter->name, counter) != 0))
			continue;
		if (counter != NULL) {
			json_object_set_new(to, "hour", json_real(r->hour));
			json_object_set_new(to, "day", json_real(r->day));
			return;
		}
		json_array_append_new(to,
		    json_pack("{s:s, s:s, s:f, s:f, s:I}", "counter",
			r->counter->name, "kind",
			names_link_errors[r->counter->kind], "hour", r->hour,
			"day", r->day, "total", (json_int_t)r->total));
	}
}

/* ---- of one node ---- */

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

/* Write a port with its inventory, its counters and their judgement. */
static void
link_rates_put_port(const struct diagnosis *d, const struct node *n,
    const json_t *judged, const char *port, json_t *list)
{
	static const char *const kinds[] = { "nics", "gpus" };
	json_t *o, *have, *row;
	size_t i, k;

	json_array_foreach (list, i, row)
		if (strcmp(member_text(row, "port"), port) == 0)
			return;
	o = json_pack("{s:o, s:[], s:[]}", "port", text_json(port), "counters",
	    "judged");
	/* "mlx5_0/1" is a port of the NIC mlx5_0; GPUs are named by their PCI
	 * address. */
	for (k = 0; k < ARRAY_LEN(kinds); k++)
		member_foreach (n->inventory, kinds[k], i, have) {
			const char *name = member_text(have, "name");
			size_t bytes = strlen(name);

			if (strcmp(member_text(have, "pci"), port) == 0 ||
			    (bytes > 0 && strncmp(name, port, bytes) == 0 &&
				(port[bytes] == '\0' || port[bytes] == '/')))
				json_object_set(o, "is", have);
		}
	link_rates_of(d, n, port, NULL, json_object_get(o, "counters"));
	json_array_foreach (judged, i, row) {
		if (strcmp(member_text(row, "port"), port) != 0)
			continue;
		json_array_append(json_object_get(o, "judged"), row);
		member_foreach (o, "counters", k, have)
			if (strcmp(member_text(have, "counter"),
				member_text(row, "counter")) == 0)
				json_object_set(have, "named",
				    json_object_get(row, "named"));
	}
	json_array_append_new(list, o);
}

json_t *
diagnosis_node_links(const struct diagnosis *d, const struct node *n)
{
	const struct diagnosis_node *cn = node_known(d, n);
	const struct link_place *p = n->id < d->links.count
	    ? &d->links.places[n->id]
	    : NULL;
	json_t *list = json_array(), *judged = diagnosis_links(d, n), *have;
	char name[2 * LINK_PORT_MAX];
	size_t i;

	for (i = 0; cn != NULL && i < cn->rate_count; i++)
		link_rates_put_port(d, n, judged, cn->rates[i].port, list);
	for (i = 0; p != NULL && i < p->count; i++)
		link_rates_put_port(d, n, judged, p->sums[i].port, list);
	member_foreach (n->inventory, "nics", i, have) {
		const char *port = member_text(have, "port");

		utf8_format(name, sizeof(name), "%.39s%s%.20s",
		    member_text(have, "name"), port[0] != '\0' ? "/" : "",
		    port);
		if (strcmp(member_text(have, "kind"), "virtual") != 0)
			link_rates_put_port(d, n, judged, name, list);
	}
	member_foreach (n->inventory, "gpus", i, have)
		link_rates_put_port(d, n, judged, member_text(have, "pci"),
		    list);
	json_decref(judged);
	return json_pack("{s:s, s:s, s:b, s:s, s:o}", "node", n->name, "leaf",
	    n->leaf, "watched", member_bool(n->inventory, "links"), "class",
	    cn != NULL && cn->link_class > 0
		? d->link_classes[cn->link_class - 1].name
		: "",
	    "ports", list);
}

/* ---- of all nodes ---- */

struct worst {
	const struct node *node;
	const struct link_rate *rate;
};

/* Insert into the sorted list of its kind. */
static void
link_rates_worst_take(struct worst w[WORST_MAX], const struct node *n,
    const struct link_rate *r)
{
	for (int i = 0; i < WORST_MAX; i++) {
		if (w[i].rate != NULL && w[i].rate->hour >= r->hour)
			continue;
		memmove(&w[i + 1], &w[i],
		    (size_t)(WORST_MAX - 1 - i) * sizeof(w[0]));
		w[i] = (struct worst){ n, r };
		return;
	}
}

/* Return how many ports of a node had errors of a kind in the last hour. */
static uint64_t
link_rates_ports_with(const struct diagnosis_node *cn, int kind)
{
	uint64_t count = 0;

	for (size_t i = 0; i < cn->rate_count; i++) {
		size_t k = 0;

		if ((int)cn->rates[i].counter->kind != kind ||
		    cn->rates[i].hour < 0.5)
			continue;
		while (k < i &&
		    ((int)cn->rates[k].counter->kind != kind ||
			cn->rates[k].hour < 0.5 ||
			strcmp(cn->rates[k].port, cn->rates[i].port) != 0))
			k++;
		count += k == i;
	}
	return count;
}

json_t *
diagnosis_link_health(const struct diagnosis *d)
{
	static struct worst worst[LINK_ERROR_MAX][WORST_MAX];
	uint64_t ports[DIAGNOSIS_LINK_CLASSES] = { 0 };
	uint64_t with[DIAGNOSIS_LINK_CLASSES][LINK_KIND_MAX] = { { 0 } };
	json_t *o = json_pack("{s:[], s:[]}", "classes", "worst"), *kinds;

	memset(worst, 0, sizeof(worst));
	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		const struct node *n = roster_by_id(d->roster, i);
		const struct diagnosis_node *cn = node_known(d, n);

		if (cn == NULL || cn->link_class == 0 ||
		    n->id >= d->links.count)
			continue;
		ports[cn->link_class - 1] += d->links.places[n->id].ports;
		for (int k = 0; k < LINK_KIND_MAX; k++)
			with[cn->link_class - 1][k] += link_rates_ports_with(cn,
			    k);
		for (size_t k = 0; k < cn->rate_count; k++)
			if (cn->rates[k].counter->kind < LINK_ERROR_MAX &&
			    cn->rates[k].hour >= 0.5)
				link_rates_worst_take(worst[cn->rates[k]
								.counter->kind],
				    n, &cn->rates[k]);
	}
	for (size_t c = 0; c < d->link_class_count; c++) {
		kinds = json_object();
		for (int k = 0; k < LINK_KIND_MAX; k++)
			json_object_set_new(kinds, names_link_errors[k],
			    json_pack("{s:I, s:I}", "errors",
				(json_int_t)d->link_classes[c].errors[k],
				"ports", (json_int_t)with[c][k]));
		json_array_append_new(json_object_get(o, "classes"),
		    json_pack("{s:s, s:I, s:o}", "class",
			d->link_classes[c].name, "ports", (json_int_t)ports[c],
			"kinds", kinds));
	}
	for (int k = 0; k < LINK_ERROR_MAX; k++)
		for (int i = 0; i < WORST_MAX && worst[k][i].rate != NULL; i++)
			json_array_append_new(json_object_get(o, "worst"),
			    json_pack("{s:s, s:s, s:o, s:s, s:s, s:f, s:f}",
				"node", worst[k][i].node->name, "leaf",
				worst[k][i].node->leaf, "port",
				text_json(worst[k][i].rate->port), "counter",
				worst[k][i].rate->counter->name, "kind",
				names_link_errors[k], "hour",
				worst[k][i].rate->hour, "day",
				worst[k][i].rate->day));
	return o;
}
