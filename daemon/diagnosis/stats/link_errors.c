/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_errors.c - cumulative sums of looks that found errors. Only ports with
 * errors have a row.
 */
#include "daemon/diagnosis/stats/link_errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* Prior: this many looks without errors. */
#define PRIOR_LOOKS 20.0
/* Learned shares are halved after this many looks of each port: a day at 5
 * minutes. */
#define DAY_LOOKS 288.0
/* Looks between two ports raised by chance, by the bound of Lorden (1971):
 * three years for all ports and kinds together. */
#define LIMIT_LOOKS 3e5

/* Return the class of this port name; NULL if no such port was seen yet. */
static struct link_class *
link_errors_class_find(const struct link_watch *w, const char *port)
{
	for (size_t i = 0; i < w->class_count; i++)
		if (i == LINK_CLASSES || strcmp(w->classes[i].port, port) == 0)
			return &w->classes[i];
	return NULL;
}

static struct link_class *
link_errors_class_need(struct link_watch *w, const char *port)
{
	struct link_class *c = link_errors_class_find(w, port);

	if (c != NULL)
		return c;
	w->classes = xreallocarray(w->classes, w->class_count + 1,
	    sizeof(*w->classes));
	c = &w->classes[w->class_count++];
	memset(c, 0, sizeof(*c));
	snprintf(c->port, sizeof(c->port), "%s", port);
	return c;
}

/* Return the largest usual number of errors. */
static uint64_t
link_errors_usual_most(const struct link_usual *u)
{
	double left = 0.5 * (u->looks + PRIOR_LOOKS);
	int i = LINK_OCTAVES - 1;

	while (i > 0 && (left -= u->octaves[i]) >= 0)
		i--;
	if (i == 0)
		return 0;
	return i >= 60 ? UINT64_MAX : LINK_TIMES * (1ULL << i);
}

double
link_usual_share(const struct link_watch *w, const struct link_sum *s)
{
	const struct link_class *c = link_errors_class_find(w, s->port);
	const struct link_usual *u;

	if (c == NULL)
		return LINK_P0_MIN;
	u = &c->usual[s->kind];
	return fmin(fmax(fmax(0, u->with - s->told_with) /
			    (fmax(0, u->looks - s->told) + PRIOR_LOOKS),
			LINK_P0_MIN),
	    LINK_P_MAX * LINK_P_MAX);
}

static double
link_errors_limit_of(const struct link_watch *w)
{
	return log(
	    LIMIT_LOOKS * (double)LINK_ERROR_MAX * fmax(1, (double)w->ports));
}

static void
link_errors_learn(struct link_usual *u, size_t ports, uint64_t errors,
    int is_more)
{
	int octave = 0;

	if (u->looks > 2 * DAY_LOOKS * fmax(16, (double)ports)) {
		u->looks /= 2;
		u->with /= 2;
		for (int i = 0; i < LINK_OCTAVES; i++)
			u->octaves[i] /= 2;
	}
	u->looks++;
	u->with += is_more;
	if (errors > 0)
		octave = (64 - __builtin_clzll(errors)) % LINK_OCTAVES;
	u->octaves[octave]++;
}

static struct link_place *
link_errors_place_need(struct link_watch *w, uint32_t place)
{
	if (place >= w->count) {
		size_t want = place + place / 2 + (size_t)16;

		w->places = xreallocarray(w->places, want, sizeof(*w->places));
		memset(w->places + w->count, 0,
		    (want - w->count) * sizeof(*w->places));
		w->count = want;
	}
	return &w->places[place];
}

static struct link_sum *
link_errors_sum_find(const struct link_place *p, const char *port,
    enum link_error kind)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->sums[i].kind == kind &&
		    strcmp(p->sums[i].port, port) == 0)
			return &p->sums[i];
	return NULL;
}

static struct link_sum *
link_errors_sum_need(struct link_place *p, const char *port,
    enum link_error kind)
{
	struct link_sum *s = link_errors_sum_find(p, port, kind);

	if (s != NULL)
		return s;
	p->sums = xreallocarray(p->sums, p->count + 1, sizeof(*p->sums));
	s = &p->sums[p->count++];
	memset(s, 0, sizeof(*s));
	snprintf(s->port, sizeof(s->port), "%s", port);
	s->kind = kind;
	return s;
}

static void
link_errors_add(struct link_watch *w, struct link_sum *s, uint64_t errors,
    int is_more, uint64_t span_s)
{
	double limit = link_errors_limit_of(w), p0 = link_usual_share(w, s);
	double p1 = fmin(fmax(LINK_P1, 4 * p0), LINK_P_MAX), between;

	s->sum += is_more ? log(p1 / p0) : log((1 - p1) / (1 - p0));
	s->sum = fmin(fmax(0, s->sum), 2 * limit);
	s->looks++;
	s->span_s += span_s;
	s->with += (uint32_t)is_more;
	s->errors += is_more ? errors : 0;
	s->clean = is_more ? 0 : s->clean + 1;
	s->raised |= s->sum > limit;
	/* Clean for four times the usual time between two looks with errors: it
	 * is repaired. */
	between = s->with > 0 ? (double)(s->looks - s->clean) / s->with : 1;
	if (s->raised && s->clean >= fmax(LINK_CLEAN, 4 * between)) {
		s->raised = 0;
		s->sum = 0;
	}
}

static void
link_errors_look_at(struct link_watch *w, struct link_place *p,
    const struct link_port *port, enum link_error kind, uint64_t span_s)
{
	struct link_usual *u =
	    &link_errors_class_need(w, port->name)->usual[kind];
	uint64_t errors = port->of[kind].errors;
	int is_more = errors > 0 && errors > link_errors_usual_most(u);
	struct link_sum *s = is_more
	    ? link_errors_sum_need(p, port->name, kind)
	    : link_errors_sum_find(p, port->name, kind);

	if (s == NULL || s->sum < link_errors_limit_of(w) / 2) {
		link_errors_learn(u, w->ports, errors, is_more);
		if (s != NULL) {
			s->told++;
			s->told_with += (uint32_t)is_more;
		}
	}
	if (s == NULL)
		return;
	if (is_more)
		snprintf(s->counter, sizeof(s->counter), "%s",
		    port->of[kind].counter);
	link_errors_add(w, s, errors, is_more, span_s);
	if (is_more && port->of[kind].is_fact) {
		s->sum = 2 * link_errors_limit_of(w);
		s->raised = 1;
	}
	s->seen = 1;
}

void
link_look(struct link_watch *w, uint32_t place, uint64_t span_s,
    const struct link_port *ports, size_t count)
{
	struct link_place *p = link_errors_place_need(w, place);

	w->ports += count - p->ports;
	p->ports = count;
	for (size_t i = 0; i < count; i++)
		for (int k = 0; k < LINK_ERROR_MAX; k++)
			link_errors_look_at(w, p, &ports[i], (enum link_error)k,
			    span_s);
	for (size_t i = 0; i < p->count;) {
		struct link_sum *s = &p->sums[i];

		/* Without counters a raised port keeps its sum. */
		if (!s->raised && (s->sum <= 0 || !s->seen)) {
			*s = p->sums[--p->count];
			continue;
		}
		s->seen = 0;
		i++;
	}
}

const struct link_sum *
link_worst(const struct link_watch *w, uint32_t place)
{
	const struct link_sum *worst = NULL;

	if (place >= w->count)
		return NULL;
	for (size_t i = 0; i < w->places[place].count; i++) {
		const struct link_sum *s = &w->places[place].sums[i];

		if (s->raised && (worst == NULL || s->sum > worst->sum))
			worst = s;
	}
	return worst;
}

void
link_restore(struct link_watch *w, uint32_t place, const struct link_sum *as)
{
	struct link_sum *s = link_errors_sum_need(link_errors_place_need(w,
						      place),
	    as->port, as->kind);

	*s = *as;
	s->raised = 1;
	s->sum = link_errors_limit_of(w);
}

void
link_clear(struct link_watch *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->places[i].sums);
	free(w->places);
	free(w->classes);
	memset(w, 0, sizeof(*w));
}
