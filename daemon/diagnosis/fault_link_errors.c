/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_link_errors.c - a port or GPU whose error counters increase in many
 * readings.
 */
#include "daemon/diagnosis/fault_link_errors.h"

#include <errno.h>
#include <inttypes.h>
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
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/diagnosis/link_rates.h"

/* Read a port's largest counter of each kind; a counter that is a fact comes
 * first. */
static struct link_port
fault_link_errors_read(const struct port_counters *row)
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

/* A port of it counts errors in many looks, or none does any longer. The port
 * may be idle, and the effect was not measured: a warning, which the result of
 * any test replaces. */
static void
fault_link_errors_open(struct diagnosis *d, uint32_t node)
{
	struct incident *k = incident_find(d, JUDGE_NODE, node);
	struct diagnosis_series *s;

	if (link_worst(&d->links, node) == NULL) {
		if (k != NULL && k->fault == &fault_link_errors)
			incident_end(d, k, VERDICT_OK,
			    "its ports count no more errors than other ports");
		return;
	}
	s = series_fact(d, WHAT_LINK_ERRORS);
	if (s == NULL || (k != NULL && k->fault != &fault_link_errors))
		return; /* a measured result is more important */
	if (k != NULL) {
		incident_write(d, k);
		return;
	}
	k = incident_take(d, NULL, &fault_link_errors, JUDGE_NODE, node);
	incident_show_from(d, k, s, &incident_no_run);
}

static void
fault_link_errors_take(struct diagnosis *d, struct node *n)
{
	size_t count = n->links->count;
	struct link_port *ports = xcalloc(count + 1, sizeof(*ports)), *p;
	int64_t span_s = n->links->span_s;
	struct node_error *error;
	char text[200];

	for (size_t i = 0; i < count; i++) {
		p = &ports[i];
		*p = fault_link_errors_read(&n->links->ports[i]);
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
		fault_link_errors_open(d, (uint32_t)n->id);
	}
	free(ports);
	port_look_free(n->links);
	n->links = NULL;
}

static void
fault_link_errors_tick(struct diagnosis *d)
{
	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		struct node *n = roster_by_id(d->roster, i);

		if (n->links != NULL && n->state != AGENT_MAINTENANCE)
			fault_link_errors_take(d, n);
	}
}

/* ---- an open case ---- */

void
fault_link_errors_add(const struct link_sum *s, char *text)
{
	char span[32];

	clk_span_format(s->span_s * CLK_NS_PER_S, span, sizeof(span));
	fault_text_add(text, "%s %s has counted %s %" PRIu64 " time%s in %s",
	    strchr(s->port, ':') != NULL ? "GPU" : "port", s->port, s->counter,
	    s->errors, s->errors == 1 ? "" : "s", span);
}

static void
fault_link_errors_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	const struct link_sum *s = link_worst(&d->links, k->index);

	fault_text_add(text, "%s: ", k->subject);
	fault_link_errors_add(s, text);
	fault_text_add(text,
	    "; the counter increased in %" PRIu32 " of %" PRIu32
	    " readings, counters of other ports in %.2g %%",
	    s->with, s->looks, 100 * link_usual_share(&d->links, s));
}

/* A port that is named by its PCI address is a GPU. */
static const char *
fault_link_errors_step(const struct diagnosis *d, const struct incident *k)
{
	return strchr(link_worst(&d->links, k->index)->port, ':') != NULL
	    ? "check this GPU"
	    : names_whats[k->what].step;
}

static void
fault_link_errors_json(const struct diagnosis *d, const struct incident *k,
    json_t *o)
{
	const struct link_sum *s = link_worst(&d->links, k->index);

	if (s == NULL)
		return; /* the incident will end */
	json_object_set_new(o, "port", text_json(s->port));
	json_object_set_new(o, "counter", json_string(s->counter));
	json_object_set_new(o, "errors", json_integer((json_int_t)s->errors));
	json_object_set_new(o, "span_s", json_integer((json_int_t)s->span_s));
	json_object_set_new(o, "looks", json_integer(s->looks));
	json_object_set_new(o, "looks_with_errors", json_integer(s->with));
}

static int
fault_link_errors_restore(struct diagnosis *d, struct incident *k,
    const json_t *o)
{
	const struct link_counter *c = names_link_counter_find(
	    member_text(o, "counter"));
	struct link_sum s = { .errors = member_unsigned(o, "errors"),
		.span_s = member_unsigned(o, "span_s"),
		.looks = (uint32_t)member_unsigned(o, "looks"),
		.with = (uint32_t)member_unsigned(o, "looks_with_errors") };

	if (c == NULL)
		return -EPROTO; /* of a later version */
	s.kind = c->kind;
	snprintf(s.counter, sizeof(s.counter), "%s", c->name);
	snprintf(s.port, sizeof(s.port), "%s", member_text(o, "port"));
	link_restore(&d->links, k->index, &s);
	return 0;
}

const struct fault_kind fault_link_errors = {
	.what = WHAT_LINK_ERRORS,
	.about = 1 << JUDGE_NODE,
	.severity = VERDICT_WARN,
	.source = FAULT_FACT,
	.is_certain = 1,
	.tick = fault_link_errors_tick,
	.text = fault_link_errors_text,
	.step = fault_link_errors_step,
	.json = fault_link_errors_json,
	.restore = fault_link_errors_restore,
};
