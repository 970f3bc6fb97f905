/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_tuning.c - the small plans measured before a collective, and their
 * evaluation.
 *
 * Bounds come from two nodes and from pairs of nodes. If no machine is named,
 * the local one is used: its wiring is discovered, and the times between ranks,
 * within a node and between nodes, are measured. With tune = auto the shapes
 * with good predictions and their neighbours are measured (shape_search.c), and
 * the fastest is used and stored with the evidence.
 */

#include "probes/measure/shape_tuning.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "probes/collective/shape.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/measure/measure.h"
#include "probes/measure/plan_driver.h"
#include "probes/neighbor/links.h"
#include "probes/pattern/builders.h"
#include "probes/catalog/patterns.h"
#include "probes/catalog/sweep.h"
#include "probes/topology/local.h"
#include "probes/tune/measured_machine.h"
#include "probes/tune/shape_cache.h"
#include "probes/tune/shape_search.h"
#include "schema/record.h"

#define SECTION     "collective"
#define WORDS_MAX   16
#define TEXT_BYTES  240
#define BYTES_FIRST (256ULL << 10)
#define BYTES_MAX   (32ULL << 20)
/* In seconds; the cost of a message is a small part of it. */
#define LONG_ENOUGH 5e-3
#define PIECES      64
#define RATE_TIMES  9  /* a plan for the machine's rates is measured */
#define SHAPE_TIMES 3  /* a shape is */
#define KEPT_MAX    16 /* shapes in the record that were only predicted */

/* Do consecutive ranks share a node? Else two groups are not two nodes. */
static int
shape_tuning_is_in_blocks(const struct plan_driver *s, uint32_t g)
{
	const struct transport_team *tm = s->team;

	for (int i = 0; i < tm->ranks; i++)
		if (tm->nodes[i] != tm->nodes[i - i % (int)g])
			return 0;
	return 1;
}

/* Of a probe's options with a gap between them; words is changed. */
static int
shape_tuning_plan_of(const struct plan_driver *s, const struct pattern *pt,
    char *words, const char *gap, struct plan **ret)
{
	char *list[WORDS_MAX], *save = NULL;
	struct pattern_site site = plan_driver_site(s);
	struct conf *c;
	struct err err;
	int n = 0, rc;

	for (char *w = strtok_r(words, gap, &save); w != NULL && n < WORDS_MAX;
	     w = strtok_r(NULL, gap, &save))
		list[n++] = w;
	rc = pattern_options(pt, list, n, &c, &err);
	if (rc == 0) {
		rc = pattern_build(pt, c, &site, ret, &err);
		conf_free(c);
	}
	return rc;
}

/* ---- bounds ---- */

void
shape_tuning_bounds(struct plan_driver *s)
{
	const char *type = conf_string(s->conf, SECTION, "type");
	const char *vias = conf_string(s->conf, SECTION, "via");
	uint64_t sizes[SIZES_MAX], bytes, block;
	struct world *w = s->world;
	struct err err;
	int count;
	char *via;

	if (!conf_bool(s->conf, "measure", "bounds") || w->nodes < 2 ||
	    w->size % w->nodes != 0)
		return;
	s->bounds.ranks = (uint32_t)w->size;
	s->bounds.per_node = (uint32_t)(w->size / w->nodes);
	/* Blocks of the largest size that is asked for, moved as the outermost
	 * level moves them. */
	block = (uint64_t)conf_int(s->conf, SECTION, "count") *
	    plan_types[STR_FIND(plan_types, type)].bytes;
	if (sizes_parse(conf_string(s->conf, "measure", "sizes"), sizes, &count,
		&err) == 0)
		for (int i = 0; i < count; i++)
			block = i == 0 || sizes[i] > block ? sizes[i] : block;
	bytes = bounds_bytes(&s->bounds, block);
	via = xstrndup(vias, strcspn(vias, ","));
	for (int i = 0; i < BOUNDS_PROBES; i++) {
		enum bounds_probe which = (enum bounds_probe)i;
		char *text = bounds_words(&s->bounds, which, bytes, via);
		char *words = strchr(text, ' ');
		struct plan_driver_outcome outcome = { 0 };
		const struct pattern *pt;
		struct plan *p;

		*words++ = '\0';
		pt = patterns_find(text);
		/* With too few nodes the plan has no other neighbour, which is
		 * not an error. */
		if (shape_tuning_plan_of(s, pt, words, " ", &p) == 0) {
			if (plan_driver_check(s, pt->name, p) == 0)
				plan_driver_measure(s, pt, p, &outcome);
			else
				plan_free(p);
		}
		if (outcome.fastest_s > 0 &&
		    shape_tuning_is_in_blocks(s, s->bounds.per_node))
			bounds_learn(&s->bounds, which, bytes,
			    outcome.fastest_s);
		free(text);
	}
	free(via);
	if (s->bounds.each_way_per_s == 0)
		log_warnx("bounds not measured: consecutive ranks are not on "
			  "the same node");
}

/* ---- the machine that we are on ---- */

/* Median seconds of a probe, its options with ';' between them; NAN where it
 * cannot run here. */
static double __attribute__((format(printf, 3, 4)))
shape_tuning_time_of(struct plan_driver *s, const struct pattern *pt,
    const char *fmt, ...)
{
	const struct plan_driver_brief brief = { pt, 0, RATE_TIMES };
	struct plan_driver_outcome outcome = { .median_s = NAN };
	char text[TEXT_BYTES];
	struct plan *p;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (shape_tuning_plan_of(s, pt, text, ";", &p) == 0)
		plan_driver_measure_briefly(s, &brief, p, &outcome);
	return outcome.median_s;
}

/* Time k ranks that each send this many bytes to the rank g later. */
static double
shape_tuning_rail_s(struct plan_driver *s, uint32_t g, uint32_t k,
    uint64_t bytes, const char *via)
{
	return shape_tuning_time_of(s, &pattern_group,
	    "pattern=rail;n=2;g=%u;k=%u;count=%llu;type=byte;via=%s", g, k,
	    (unsigned long long)bytes, via);
}

/* Time a few bytes from rank 0 to another and back, and return half: ranks do
 * not start at the same moment, so one direction would seem too short. pieces:
 * number of consecutive messages. */
static double
shape_tuning_there_s(struct plan_driver *s, uint32_t to, unsigned pieces,
    const char *via)
{
	return shape_tuning_time_of(s, &pattern_compose,
		   "buffers=send:in:1,there:temp:1,recv:out:1;count=%u;"
		   "depth=%u;via=%s;steps=multicast send of 0 to there of %u | "
		   "fence | multicast there of %u to recv of 0",
		   PIECES, pieces, via, to, to) /
	    2;
}

/* Bytes per second of all k together; short_s: of a few bytes. */
static double
shape_tuning_rail_per_s(struct plan_driver *s, uint32_t g, uint32_t k,
    double short_s, const char *via)
{
	uint64_t bytes = BYTES_FIRST;
	double seconds = shape_tuning_rail_s(s, g, k, bytes, via);

	while (seconds < LONG_ENOUGH && bytes < BYTES_MAX) {
		bytes *= 8;
		seconds = shape_tuning_rail_s(s, g, k, bytes, via);
	}
	return measured_machine_per_s((double)bytes * k, seconds, short_s);
}

/* One pair of ranks that are g apart, and k of them. */
static void
shape_tuning_measure_ways(struct plan_driver *s, uint32_t one_g, uint32_t g,
    uint32_t k, struct measured_machine_way ways[MACHINES_VIA_MAX])
{
	for (int i = 0; i < MACHINES_VIA_MAX; i++) {
		const char *via = machines_vias[i];
		struct measured_machine_way *w = &ways[i];

		w->s = shape_tuning_there_s(s, one_g, 1, via);
		if (!isfinite(w->s))
			continue;
		w->one_per_s = shape_tuning_rail_per_s(s, one_g, 1, w->s, via);
		w->many_per_s = k == 1
		    ? w->one_per_s
		    : shape_tuning_rail_per_s(s, g, k, w->s, via);
	}
}

/* How many of the vendors' own links join the GPUs of a node's ranks; all of a
 * switch count for every pair that has it. */
static void
shape_tuning_gpu_links(const char *const *pci, uint32_t ranks, uint16_t *ret)
{
	struct nvml_gpu *n = xcalloc(NVML_GPUS_MAX, sizeof(*n));
	struct local *l = xcalloc(1, sizeof(*l));
	struct links *xgmi = xcalloc(1, sizeof(*xgmi));
	int kfd[NVML_GPUS_MAX];
	struct err err;

	(void)nvml_read(pci, (int)ranks, n, &err);
	local_read("", l);
	(void)links_machine("/sys", xgmi, &err);
	for (uint32_t a = 0; a < ranks; a++) {
		kfd[a] = -1;
		for (int i = 0; i < l->gpus_count; i++)
			if (strcmp(l->gpus[i].at.pci, pci[a]) == 0)
				kfd[a] = l->gpus[i].kfd;
	}
	for (uint32_t a = 0; a < ranks; a++)
		for (uint32_t b = 0; b < ranks; b++) {
			uint16_t *to = &ret[(size_t)a * ranks + b];

			*to = (uint16_t)n[a].to[b];
			if (n[b].to_switch > 0 && *to == 0)
				*to = (uint16_t)n[a].to_switch;
			if (kfd[a] >= 0 && kfd[b] >= 0)
				*to = xgmi->links[kfd[a]][kfd[b]];
		}
	free(n);
	free(l);
	free(xgmi);
}

/* The machine we are on, for the first node's ranks. */
static int
shape_tuning_discover(const struct plan_driver *s, uint32_t ranks,
    struct machine **ret)
{
	const char *pci[NVML_GPUS_MAX];
	struct machine_gpus gpus = { pci, NULL };
	uint16_t *links;
	int rc;

	if (s->team->pci == NULL || ranks > NVML_GPUS_MAX)
		return machine_discover("", ranks, NULL, ret);
	for (uint32_t i = 0; i < ranks; i++)
		pci[i] = s->team->pci[i];
	links = xcalloc((size_t)ranks * ranks, sizeof(*links));
	shape_tuning_gpu_links(pci, ranks, links);
	gpus.links = links;
	rc = machine_discover("", ranks, &gpus, ret);
	free(links);
	return rc;
}

/* Once, s->seen for tuning and to predict collectives; it stays NULL where its
 * rates cannot be taken, or a machine is named. */
static void
shape_tuning_measure_machine(struct plan_driver *s)
{
	struct measured_machine r = { .ranks = (uint32_t)s->world->size,
		.nodes = (uint32_t)s->world->nodes };
	const struct plan_driver_brief brief = { &pattern_self, 0, RATE_TIMES };
	struct plan_driver_outcome outcome;
	char words[] = "bytes=1M", *text;
	const struct measured_machine_way *way;
	uint32_t far = 0, half;
	struct plan *p;

	if (s->machine != NULL || s->seen != NULL ||
	    conf_given(s->conf, SECTION, "machine"))
		return;
	if (shape_tuning_plan_of(s, &pattern_self, words, ";", &p) < 0)
		return;
	/* This opens the device too. */
	plan_driver_measure_briefly(s, &brief, p, &outcome);
	if (!isfinite(outcome.median_s))
		return;
	r.memory_per_s = outcome.memory_per_s / s->world->size;
	/* Consecutive ranks of a node; 1 where they are dealt in another way.
	 */
	r.per_node = r.ranks / r.nodes;
	if (r.ranks % r.nodes != 0 || !shape_tuning_is_in_blocks(s, r.per_node))
		r.per_node = 1;
	if (shape_tuning_discover(s, r.per_node, &s->seen) < 0)
		return;
	/* The first rank on another node than rank 0's; 0: none. */
	for (int i = s->team->ranks - 1; i > 0; i--)
		if (s->team->nodes[i] != s->team->nodes[0])
			far = (uint32_t)i;
	way = far > 0 ? r.far : r.near;
	half = r.per_node / 2;
	for (int i = 0; i < MACHINES_VIA_MAX; i++)
		r.near[i].s = r.far[i].s = NAN;
	if (half > 0)
		shape_tuning_measure_ways(s, 1, half, half, r.near);
	if (far > 0)
		shape_tuning_measure_ways(s, far, far,
		    far == r.per_node ? far : 1, r.far);
	if (isfinite(way[MACHINES_MPI].s))
		r.step_s = measured_machine_step_s(way[MACHINES_MPI].s,
		    shape_tuning_there_s(s, far > 0 ? far : 1, PIECES,
			machines_vias[MACHINES_MPI]),
		    PIECES);
	measured_machine_set(&r, s->seen);
	text = measured_machine_text(&r);
	strbuf_addf(&s->report.remarks, "%s\n", text);
	free(text);
	emit_put(s->report.emit, measured_machine_record(&r, s->seen->name));
}

/* ---- the shape ---- */

/* Bytes of a block for every rank. */
static double
shape_tuning_data_of(const struct plan_driver *s)
{
	const struct conf *c = s->conf;

	return (double)conf_int(c, SECTION, "count") *
	    plan_types[STR_FIND(plan_types, conf_string(c, SECTION, "type"))]
		.bytes *
	    s->world->size;
}

static void
shape_tuning_keep(json_t *tried, const char *words, double predicted_s,
    double seconds)
{
	json_array_append_new(tried,
	    json_pack("{s:s, s:o, s:o}", "words", words, "predicted",
		record_number(predicted_s), "seconds", record_number(seconds)));
}

/* Write the fastest shape into the record; return 0 if none could run. */
static int
shape_tuning_measure_all(struct plan_driver *s, const struct shape_list *t,
    json_t *record)
{
	const struct plan_driver_brief brief = { &pattern_collective, 1,
		SHAPE_TIMES };
	json_t *tried = json_object_get(record, "tried");
	struct pattern_site site = plan_driver_site(s);
	struct shape_search c;
	struct err err;
	const char *words;
	int ran;

	shape_search_open(&c, t, !conf_given(s->conf, SECTION, "piece"));
	while ((words = shape_search_next(&c)) != NULL) {
		/* NAN when it cannot run here; its length is given all the
		 * same. */
		struct plan_driver_outcome outcome = { .median_s = NAN };
		uint64_t bytes = 0;
		struct plan *p;

		if (shape_plan(&pattern_collective, s->conf, words, &site, &p,
			&err) == 0) {
			bytes = measure_largest(p);
			if (plan_driver_check(s, SECTION, p) == 0)
				plan_driver_measure_briefly(s, &brief, p,
				    &outcome);
			else
				plan_free(p);
		}
		shape_search_tell(&c, outcome.median_s, bytes);
	}
	/* All that was measured, in its order, and the best that were not. */
	for (uint32_t i = 0; i < c.count; i++)
		shape_tuning_keep(tried, c.tries[i].words,
		    c.tries[i].predicted_s, c.tries[i].seconds);
	for (uint32_t i = 0; i < t->count && i < KEPT_MAX; i++) {
		uint32_t k = 0;

		while (k < c.count &&
		    strcmp(c.tries[k].words, t->rows[i].words) != 0)
			k++;
		if (k == c.count)
			shape_tuning_keep(tried, t->rows[i].words,
			    t->rows[i].time_s, NAN);
	}
	ran = c.best != NULL;
	json_object_set_new(record, "choice",
	    json_string(ran ? c.best->words : t->rows[0].words));
	shape_search_close(&c);
	return ran;
}

int
shape_tuning_choose(struct plan_driver *s, struct plan **ret, struct err *err)
{
	const char *path = conf_string(s->conf, SECTION, "table");
	char *asked = shape_asked(s->conf);
	struct shape_cache_key key = { conf_string(s->conf, SECTION, "machine"),
		asked, (uint32_t)s->world->size,
		shape_cache_class(shape_tuning_data_of(s)) };
	struct pattern_site site;
	json_t *record = NULL;
	struct shape_list t;
	int rc = 0;

	shape_tuning_measure_machine(s);
	site = plan_driver_site(s);
	if (key.machine[0] == '\0')
		key.machine = s->machine != NULL ? s->machine->name
						 : "this machine";
	if (path[0] != '\0')
		rc = shape_cache_find(path, &key, &record, err);
	if (record != NULL) {
		json_object_set_new(record, "why", json_string("remembered"));
	} else if (rc == 0) {
		rc = shape_choose(&pattern_collective, s->conf, &site, &t, err);
		if (rc < 0)
			goto out;
		record = shape_cache_record(&key, shape_tuning_data_of(s));
		if (!shape_tuning_measure_all(s, &t, record))
			json_object_set_new(record, "why",
			    json_string("predicted"));
		else if (path[0] != '\0' &&
		    shape_cache_keep(path, record, err) < 0)
			log_warnx("%s; the choice is not saved", err->text);
		shape_clear(&t);
	}
	if (rc == 0)
		rc = shape_plan(&pattern_collective, s->conf,
		    member_text_or(record, "choice", NULL), &site, ret, err);
out:
	free(asked);
	if (rc < 0) {
		json_decref(record);
		return rc;
	}
	json_object_del(record, "run"); /* of the table */
	json_object_del(record, "seq");
	emit_put(s->report.emit, record);
	return 0;
}
