/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_module.c - a port whose pluggable module, such as an optical
 * transceiver, has reached its own temperature limit, until it is several
 * degrees below. Agents report the temperature of modules above that only.
 */
#include <math.h>
#include <stdio.h>

#include "common/member.h"
#include "common/text.h"
#include "common/utf8.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"

struct module {
	char port[32];
	double now, limit; /* degrees Celsius */
};

/* Read the values of an object. Return 1 if it has a module. */
static int
fault_module_read(const json_t *o, const char *name, struct module *ret)
{
	utf8_format(ret->port, sizeof(ret->port), "%.31s",
	    member_text(o, name));
	ret->now = member_number(o, "module_c");
	ret->limit = member_number(o, "module_limit_c");
	return isfinite(ret->now - ret->limit);
}

/* The ports of a node may have changed: report the module that is
 * closest to its limit, or beyond it by most. */
static void
fault_module_hear(struct diagnosis *d, const struct node *n)
{
	struct incident *k = incident_find(d, JUDGE_NODE, (uint32_t)n->id);
	struct diagnosis_series *s;
	struct module one, worst = { .now = -INFINITY, .limit = INFINITY };
	int is_new = k == NULL;
	json_t *nic;
	size_t i;

	if (k != NULL && k->fault != &fault_module)
		return; /* a measured result is more important */
	member_foreach (n->inventory, "nics", i, nic)
		if (fault_module_read(nic, "name", &one) &&
		    one.now - one.limit > worst.now - worst.limit)
			worst = one;
	if (k != NULL && isinf(worst.now))
		incident_end(d, k, VERDICT_OK,
		    "its port modules are several degrees below their "
		    "temperature limits");
	/* One that varies about its limit is one case. */
	if (isinf(worst.now) || (k == NULL && worst.now < worst.limit))
		return;
	s = series_fact(d, WHAT_MODULE);
	if (s == NULL)
		return;
	k = incident_take(d, k, &fault_module, JUDGE_NODE, (uint32_t)n->id);
	*(struct module *)k->data = worst;
	incident_show_from(d, k, s, is_new ? &incident_no_run : NULL);
}

static void
fault_module_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	const struct module *m = k->data;

	(void)d;
	if (m->now < m->limit)
		fault_text_add(text,
		    "%s: the module of port %s has reached its limit of "
		    "%.0f C, and is at %.0f C now",
		    k->subject, m->port, m->limit, m->now);
	else
		fault_text_add(text,
		    "%s: the module of port %s is at %.0f C; its limit is "
		    "%.0f C",
		    k->subject, m->port, m->now, m->limit);
}

static void
fault_module_json(const struct diagnosis *d, const struct incident *k,
    json_t *o)
{
	const struct module *m = k->data;

	(void)d;
	json_object_set_new(o, "port", text_json(m->port));
	json_object_set_new(o, "module_c", json_real(m->now));
	json_object_set_new(o, "module_limit_c", json_real(m->limit));
}

static int
fault_module_restore(struct diagnosis *d, struct incident *k, const json_t *o)
{
	(void)d;
	(void)fault_module_read(o, "port", k->data);
	return 0;
}

const struct fault_kind fault_module = {
	.what = WHAT_MODULE,
	.about = 1 << JUDGE_NODE,
	.severity = VERDICT_WARN,
	.source = FAULT_FACT,
	.bytes = sizeof(struct module),
	.hear_node = fault_module_hear,
	.text = fault_module_text,
	.json = fault_module_json,
	.restore = fault_module_restore,
};
