/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans_rates.c - for tune = auto where no machine is named: the one that we
 * are on. Its wiring is discovered; what it takes from one rank to another,
 * within a node and between nodes, is measured with a few small plans.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/collective/tune.h"
#include "probes/compare/plans_part.h"
#include "probes/tune/measured_machine.h"

#define RATED       "rated" /* a plan of which nothing is told */
#define WORDS_MAX   12
#define TEXT_BYTES  240
#define BYTES_FIRST (256ULL << 10)
#define BYTES_MAX   (32ULL << 20)
#define LONG_ENOUGH 5e-3 /* seconds: what a message costs is little of it */
#define PIECES      64
#define TIMES       9

/* Median seconds of a probe, its options with ';' between them; NAN where it
 * cannot run here. */
static double __attribute__((format(printf, 3, 4)))
time_of(struct plans *ps, const char *probe, const char *fmt, ...)
{
	char text[TEXT_BYTES], *save = NULL;
	struct err err;
	char *words[WORDS_MAX];
	struct plan *p;
	va_list ap;
	int n = 0;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *w = strtok_r(text, ";", &save); w != NULL && n < WORDS_MAX;
	     w = strtok_r(NULL, ";", &save))
		words[n++] = w;
	ps->median_s = NAN;
	if (pattern_plan(probe, words, n, (uint32_t)ps->world->size, &p,
		&err) == 0) {
		ps->trying = TIMES;
		plans_send(ps, RATED, p);
		ps->trying = 0;
	}
	return ps->median_s;
}

/* From k ranks to those that come g later, so many bytes each. */
static double
rail_s(struct plans *ps, uint32_t g, uint32_t k, uint64_t bytes,
    const char *via)
{
	return time_of(ps, "group",
	    "pattern=rail;n=2;g=%u;k=%u;count=%llu;type=byte;via=%s", g, k,
	    (unsigned long long)bytes, via);
}

/* A few bytes from rank 0 to another and back, half of that: ranks do not
 * start at the same moment, so one way would seem too short. In so many pieces
 * that follow each other. */
static double
there_s(struct plans *ps, uint32_t to, unsigned pieces, const char *via)
{
	return time_of(ps, "compose",
		   "buffers=send:in:1,there:temp:1,recv:out:1;count=%u;"
		   "depth=%u;via=%s;steps=multicast send of 0 to there of %u | "
		   "fence | multicast there of %u to recv of 0",
		   PIECES, pieces, via, to, to) /
	    2;
}

/* Bytes per second of all k together; short_s: of a few bytes. */
static double
rail_per_s(struct plans *ps, uint32_t g, uint32_t k, double short_s,
    const char *via)
{
	uint64_t bytes = BYTES_FIRST;
	double s = rail_s(ps, g, k, bytes, via);

	while (s < LONG_ENOUGH && bytes < BYTES_MAX) {
		bytes *= 8;
		s = rail_s(ps, g, k, bytes, via);
	}
	return measured_machine_per_s((double)bytes * k, s, short_s);
}

/* One pair of ranks that are g apart, and k of them. */
static void
measure_ways(struct plans *ps, uint32_t one_g, uint32_t g, uint32_t k,
    struct measured_machine_way ways[MACHINES_VIA_MAX])
{
	for (int i = 0; i < MACHINES_VIA_MAX; i++) {
		const char *via = machines_vias[i];
		struct measured_machine_way *w = &ways[i];

		w->s = there_s(ps, one_g, 1, via);
		if (!isfinite(w->s))
			continue;
		w->one_per_s = rail_per_s(ps, one_g, 1, w->s, via);
		w->many_per_s = k == 1 ? w->one_per_s
				       : rail_per_s(ps, g, k, w->s, via);
	}
}

/* Consecutive ranks of a node; 1 where they are dealt in another way. */
static uint32_t
ranks_of_node(const struct plans *ps)
{
	uint32_t size = (uint32_t)ps->world->size;
	uint32_t nodes = (uint32_t)ps->world->nodes;

	if (size % nodes != 0 || !plans_in_blocks(ps, size / nodes))
		return 1;
	return size / nodes;
}

/* The first rank on another node than rank 0's; 0: there is none. */
static uint32_t
first_far(const struct plans *ps)
{
	const struct transport_team *tm = ps->team;

	for (int i = 1; i < tm->ranks; i++)
		if (tm->nodes[i] != tm->nodes[0])
			return (uint32_t)i;
	return 0;
}

static void
measure(struct plans *ps, struct measured_machine *r)
{
	uint32_t far = first_far(ps), half = r->per_node / 2;
	const struct measured_machine_way *way = far > 0 ? r->far : r->near;

	for (int i = 0; i < MACHINES_VIA_MAX; i++)
		r->near[i].s = r->far[i].s = NAN;
	if (half > 0)
		measure_ways(ps, 1, half, half, r->near);
	if (far > 0)
		measure_ways(ps, far, far, far == r->per_node ? far : 1,
		    r->far);
	if (isfinite(way[MACHINES_MPI].s))
		r->step_s = measured_machine_step_s(way[MACHINES_MPI].s,
		    there_s(ps, far > 0 ? far : 1, PIECES,
			machines_vias[MACHINES_MPI]),
		    PIECES);
}

static void
report(struct plans *ps, const struct measured_machine *r,
    const struct machine *m)
{
	char *text = measured_machine_text(r);

	strbuf_addf(&ps->remarks, "%s\n", text);
	emit_put(ps->emit, measured_machine_record(r, m->name));
	free(text);
}

void
plans_rates(struct plans *ps)
{
	struct measured_machine r = { .ranks = (uint32_t)ps->world->size,
		.nodes = (uint32_t)ps->world->nodes };
	int gpus = strcmp(conf_string(ps->conf, "measure", "device"), "host");

	if (ps->machine != NULL || ps->seen != NULL ||
	    conf_given(ps->conf, PLANS_COLLECTIVE, "machine"))
		return;
	/* This opens the device too. */
	if (!isfinite(time_of(ps, "self", "bytes=%u", 1U << 20)))
		return;
	r.memory_per_s = ps->memory_per_s / ps->world->size;
	r.per_node = ranks_of_node(ps);
	if (machine_discover("", r.per_node, gpus, &ps->seen) < 0)
		return;
	measure(ps, &r);
	measured_machine_set(&r, ps->seen);
	report(ps, &r, ps->seen);
	tune_set_machine(ps->seen);
}
