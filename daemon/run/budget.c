/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c - usage is summed in slices of five minutes. If a run exceeds
 * several limits, the worst answer counts: never before later.
 */
#include "daemon/run/budget.h"
#include "daemon/run/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/str.h"
#include "common/xalloc.h"

#define HOUR_S 3600.0
/* Twelve complete slices and the current one. */
#define SLICE_NS (300 * CLK_NS_PER_S)
#define SLICES   13

/* Sums over the last hour. */
struct meter {
	double slice[SLICES];
	uint64_t at; /* number of the newest slice */
};

struct budget {
	struct budget_limits limits;
	struct meter bytes, node_s;
	double bytes_reserved, node_s_reserved;
	double bytes_total, node_s_total;
	uint64_t refused;
	struct meter *links; /* by node: shares of an hour's bytes */
	size_t link_count;
	struct meter before; /* of the busiest link, before a restart */
};

struct budget *
budget_new(const struct budget_limits *limits)
{
	struct budget *b = xcalloc(1, sizeof(*b));

	b->limits = *limits;
	return b;
}

void
budget_free(struct budget *b)
{
	if (b == NULL)
		return;
	free(b->links);
	free(b);
}

const struct budget_limits *
budget_limits(const struct budget *b)
{
	return &b->limits;
}

static void
budget_meter_turn(struct meter *m, uint64_t now_ns)
{
	uint64_t at = now_ns / SLICE_NS;

	if (at - m->at >= SLICES)
		memset(m->slice, 0, sizeof(m->slice));
	for (uint64_t i = m->at + 1; at - m->at < SLICES && i <= at; i++)
		m->slice[i % SLICES] = 0;
	m->at = at;
}

static double
budget_meter_sum(struct meter *m, uint64_t now_ns)
{
	double sum = 0;

	budget_meter_turn(m, now_ns);
	for (int i = 0; i < SLICES; i++)
		sum += m->slice[i];
	return sum;
}

static void
budget_meter_add(struct meter *m, uint64_t now_ns, double x)
{
	budget_meter_turn(m, now_ns);
	m->slice[m->at % SLICES] += x;
}

static double
budget_share_of(double bytes, double link_bytes_per_s)
{
	return link_bytes_per_s > 0 ? bytes / (link_bytes_per_s * HOUR_S) : 0;
}

static double
budget_link_most(struct budget *b, uint64_t now_ns)
{
	double most = 0;

	for (size_t i = 0; i < b->link_count; i++)
		most = fmax(most, budget_meter_sum(&b->links[i], now_ns));
	return most + budget_meter_sum(&b->before, now_ns);
}

static void
budget_node_s_format(double x, char *ret, size_t cap_bytes)
{
	snprintf(ret, cap_bytes, "%.0f node-seconds", x);
}

static void
budget_share_format(double x, char *ret, size_t cap_bytes)
{
	snprintf(ret, cap_bytes, "%.3g %% of a link", 100 * x);
}

enum budget_answer
budget_ask(struct budget *b, uint64_t now_ns, const struct budget_cost *c,
    struct err *err)
{
	const struct {
		const char *what;
		double need, taken, limit;
		void (*format)(double x, char *ret, size_t cap_bytes);
	} wants[] = {
		{ "bytes", c->bytes_per_node * c->nodes,
		    budget_meter_sum(&b->bytes, now_ns) + b->bytes_reserved,
		    b->limits.bytes_per_h, str_bytes_format },
		{ "node_seconds", c->duration_s * c->nodes,
		    budget_meter_sum(&b->node_s, now_ns) + b->node_s_reserved,
		    b->limits.node_s_per_h, budget_node_s_format },
		{ "link_share",
		    budget_share_of(c->bytes_per_node, c->link_bytes_per_s),
		    b->limits.link_share > 0 ? budget_link_most(b, now_ns) : 0,
		    b->limits.link_share, budget_share_format },
	}, *w;
	enum budget_answer worst = BUDGET_FITS, answer;
	char need[40], taken[40], limit[40];

	for (w = wants; w < wants + ARRAY_LEN(wants); w++) {
		if (w->limit <= 0 || w->need + w->taken <= w->limit)
			continue;
		answer = w->need > w->limit ? BUDGET_NEVER : BUDGET_LATER;
		if (answer <= worst)
			continue;
		worst = answer;
		w->format(w->need, need, sizeof(need));
		w->format(w->taken, taken, sizeof(taken));
		w->format(w->limit, limit, sizeof(limit));
		err_say(err,
		    "budget.%s: needs %s, but %s of %s per hour are used",
		    w->what, need, taken, limit);
	}
	return worst;
}

void
budget_reserve(struct budget *b, const struct budget_cost *c)
{
	b->bytes_reserved += c->bytes_per_node * c->nodes;
	b->node_s_reserved += c->duration_s * c->nodes;
}

void
budget_release(struct budget *b, const struct budget_cost *c)
{
	b->bytes_reserved = fmax(0,
	    b->bytes_reserved - c->bytes_per_node * c->nodes);
	b->node_s_reserved = fmax(0,
	    b->node_s_reserved - c->duration_s * c->nodes);
}

void
budget_use(struct budget *b, uint64_t now_ns, double bytes, double node_s)
{
	budget_meter_add(&b->bytes, now_ns, bytes);
	budget_meter_add(&b->node_s, now_ns, node_s);
	b->bytes_total += bytes;
	b->node_s_total += node_s;
}

void
budget_use_link(struct budget *b, uint64_t now_ns, size_t node, double bytes,
    double link_bytes_per_s)
{
	if (node >= b->link_count) {
		size_t count = node + node / 2 + 64;

		b->links = xreallocarray(b->links, count, sizeof(b->links[0]));
		memset(b->links + b->link_count, 0,
		    (count - b->link_count) * sizeof(b->links[0]));
		b->link_count = count;
	}
	budget_meter_add(&b->links[node], now_ns,
	    budget_share_of(bytes, link_bytes_per_s));
}

void
budget_save(struct budget *b, uint64_t now_ns, uint64_t now_unix_ns,
    struct strbuf *ret)
{
	uint64_t newest = now_ns / SLICE_NS, at;
	double most;

	(void)budget_meter_sum(&b->bytes, now_ns);
	(void)budget_meter_sum(&b->node_s, now_ns);
	(void)budget_link_most(b, now_ns);
	for (uint64_t back = SLICES; back-- > 0;) {
		if (back > newest)
			continue;
		at = (newest - back) % SLICES;
		most = 0;
		for (size_t i = 0; i < b->link_count; i++)
			most = fmax(most, b->links[i].slice[at]);
		if (b->bytes.slice[at] + b->node_s.slice[at] > 0)
			strbuf_addf(ret, "%.0f %.0f %.0f %.6f;",
			    (double)(now_unix_ns - back * SLICE_NS) / 1e9,
			    b->bytes.slice[at], b->node_s.slice[at],
			    most + b->before.slice[at]);
	}
}

void
budget_restore(struct budget *b, uint64_t now_ns, uint64_t now_unix_ns,
    const char *text)
{
	double at_s, bytes, node_s, share, age_s;
	uint64_t at_ns;
	int n = 0;

	/* A standby reads the value repeatedly. */
	b->bytes = b->node_s = b->before = (struct meter){ 0 };
	for (; sscanf(text, "%lf %lf %lf %lf;%n", &at_s, &bytes, &node_s,
		   &share, &n) == 4 &&
	     n > 0 && bytes >= 0 && node_s >= 0 && share >= 0;
	     text += n, n = 0) {
		/* The clock was ahead: use the current time. */
		age_s = fmax(0, (double)now_unix_ns / 1e9 - at_s);
		if (age_s > 2 * HOUR_S)
			continue;
		at_ns = (uint64_t)(age_s * 1e9);
		at_ns = now_ns > at_ns ? now_ns - at_ns : 0;
		budget_meter_add(&b->bytes, at_ns, bytes);
		budget_meter_add(&b->node_s, at_ns, node_s);
		budget_meter_add(&b->before, at_ns, share);
	}
}

void
budget_refused(struct budget *b)
{
	b->refused++;
}

void
budget_look(struct budget *b, uint64_t now_ns, struct budget_use *ret)
{
	ret->bytes = budget_meter_sum(&b->bytes, now_ns);
	ret->node_s = budget_meter_sum(&b->node_s, now_ns);
	ret->bytes_reserved = b->bytes_reserved;
	ret->node_s_reserved = b->node_s_reserved;
	ret->link_share = budget_link_most(b, now_ns);
	ret->bytes_total = b->bytes_total;
	ret->node_s_total = b->node_s_total;
	ret->refused = b->refused;
}
