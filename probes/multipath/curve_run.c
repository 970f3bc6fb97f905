/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/multipath/curve_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/multipath/curve.h"
#include "probes/multipath/tuner_file.h"
#include "probes/multipath/emulated_links.h"

#define SECTION    "multipath"
#define SIZE_FIRST 65536
#define SIZE_STEP  4
#define SETTLE     5
#define TURNS      9
#define BYTES_MAX  (1ULL << 30)
#define MACHINE    "emulated"

struct bench {
	const struct conf *c;
	struct emulated_links wires;
	struct wires_link direct, in, out;
	struct copier copier;
	struct tuner_fits stated;
	struct tuner_table table;
	struct curve_watch watch; /* over all sizes */
	uint64_t bytes;
	char *from, *to, *store;
};

static double
rate(const struct bench *b, const char *key)
{
	return conf_real(b->c, SECTION, key) * 1e9;
}

static double
span_s(const struct bench *b, const char *key)
{
	return (double)conf_span_ns(b->c, SECTION, key) / 1e9;
}

/* What the options state, and links that do it, but for what the host's is
 * slowed down. */
static void
links_make(struct bench *b)
{
	struct paths_staged *h = &b->stated.staged[0];
	double slowed = conf_real(b->c, SECTION, "emulate_host");

	b->stated.direct.setup_s = span_s(b, "direct_setup");
	b->stated.direct.bytes_per_s = rate(b, "direct_rate");
	b->stated.count = 1;
	*h = (struct paths_staged){ span_s(b, "host_setup"),
		span_s(b, "chunk_setup"), rate(b, "host_in"),
		rate(b, "host_out") };
	b->direct.overhead_s = b->stated.direct.setup_s;
	b->direct.bytes_per_s = b->stated.direct.bytes_per_s;
	b->in.overhead_s = b->out.overhead_s = h->chunk_s;
	b->in.bytes_per_s = h->in_per_s * slowed;
	b->out.bytes_per_s = h->out_per_s * slowed;
	b->wires.real = 1;
	b->wires.setup_s[1] = h->setup_s;
	b->wires.in[0] = &b->direct;
	b->wires.in[1] = &b->in;
	b->wires.out[1] = &b->out;
}

static void
bench_open(struct bench *b)
{
	links_make(b);
	b->from = xcalloc(b->bytes, 1);
	b->to = xcalloc(b->bytes, 1);
	b->store = xcalloc(b->bytes, 1);
	for (uint64_t i = 0; i < b->bytes; i++)
		b->from[i] = (char)(i * 2654435761u >> 13);
	b->copier.ops = &wires_emul;
	b->copier.wires = &b->wires;
	b->copier.unit = conf_bytes(b->c, SECTION, "unit");
	b->copier.count = 1;
	b->copier.stores[1].base = b->store;
	b->copier.stores[1].bytes = b->bytes;
	b->copier.stores[1].slots = (uint32_t)conf_int(b->c, SECTION,
	    "streams");
	snprintf(b->table.machine, sizeof(b->table.machine), "%s", MACHINE);
}

static void
bench_close(struct bench *b)
{
	free(b->from);
	free(b->to);
	free(b->store);
	tuner_table_clear(&b->table);
	free(b);
}

/* What was learnt before, or fits of the links as they are now. */
static int
tuner_open(struct bench *b, struct err *err)
{
	const char *path = conf_string(b->c, SECTION, "table");
	struct tuner_fits fits = { .count = 0 };
	struct tuner *t;
	int rc = -ENOENT;

	if (path[0] != '\0')
		rc = tuner_load(&b->table, path, err);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	t = tuner_table_get(&b->table, 0, 1);
	if (t->fits.count != 1) {
		rc = curve_fits(&b->copier, b->from, b->to, b->bytes, 1, &fits);
		if (rc < 0) {
			err_say(err, "the links give no fit: %s",
			    strerror(-rc));
			return rc;
		}
		tuner_init(t, &fits,
		    (uint32_t)conf_int(b->c, SECTION, "chunks_max"));
	}
	t->frozen = conf_bool(b->c, SECTION, "frozen");
	return 0;
}

static void
slow_text(const struct curve_point *pt, char *ret, size_t cap_bytes)
{
	snprintf(ret, cap_bytes,
	    "the way through the host carries %.1f %% where %.1f %% is "
	    "expected: a link of it is idle, shared or broken",
	    pt->carried[1] * 100, pt->expected[1] * 100);
}

static json_t *
interval(const struct curve_point *pt)
{
	if (!isfinite(pt->lo))
		return json_null();
	return json_pack("{s:s, s:f, s:f, s:f}", "of", "median", "level", 0.95,
	    "lo", pt->lo, "hi", pt->hi);
}

static json_t *
way_json(const struct curve_point *pt, uint32_t way, const char *name)
{
	return json_pack("{s:s, s:f, s:f, s:i}", "way", name, "share",
	    pt->carried[way], "expected_share", pt->expected[way], "chunks",
	    (int)pt->choice.chunks[way]);
}

static json_t *
point_json(const struct curve_point *pt, const char *title)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:f, s:o}",
	    "probe", "speedup", "of", SECTION, "plan", title, "baseline",
	    "direct", "pair_class", MACHINE, "bytes", (json_int_t)pt->bytes,
	    "n", TURNS, "value", pt->ratio, "interval", interval(pt));
	char text[200];

	json_object_set_new(o, "seconds", json_real(pt->several_s));
	json_object_set_new(o, "baseline_seconds", json_real(pt->single_s));
	json_object_set_new(o, "model_ratio", json_real(pt->model_ratio));
	json_object_set_new(o, "stated_ratio", json_real(pt->stated_ratio));
	json_object_set_new(o, "choice",
	    json_string(tuner_whys[pt->choice.why]));
	json_object_set_new(o, "ways",
	    json_pack("[o, o]", way_json(pt, 0, "direct"),
		way_json(pt, 1, "host")));
	json_object_set_new(o, "verdict",
	    json_string(pt->slow > 0 ? "warn" : "ok"));
	if (pt->slow > 0) {
		slow_text(pt, text, sizeof(text));
		json_object_set_new(o, "text", json_string(text));
	}
	return o;
}

static void
point_line(const struct curve_point *pt, const struct curve_out *out)
{
	char text[400], slow[200];

	snprintf(text, sizeof(text),
	    "%12llu bytes  single %9.3f ms  several %9.3f ms  x %.3f  model "
	    "x %.3f  host %4.1f %%  %u chunks  %s",
	    (unsigned long long)pt->bytes, pt->single_s * 1e3,
	    pt->several_s * 1e3, pt->ratio, pt->model_ratio,
	    pt->carried[1] * 100, pt->choice.chunks[1],
	    tuner_whys[pt->choice.why]);
	out->line(out->arg, text);
	if (pt->slow == 0)
		return;
	slow_text(pt, slow, sizeof(slow));
	out->line(out->arg, slow);
}

/* Once more where one measurement says something else than was said. */
static int
measure_twice(struct bench *b, const struct curve_ask *ask,
    struct curve_point *ret)
{
	for (int i = 0; i < 2; i++) {
		int rc = curve_measure(ask, ret);

		if (rc < 0 || ret->wrong > 0)
			return rc;
		ret->slow = curve_watch_take(&b->watch, ret->slow);
		if (!curve_watch_open(&b->watch))
			break;
	}
	return 0;
}

static int
size_run(struct bench *b, uint64_t bytes, const struct curve_out *out,
    const char *title, struct err *err)
{
	struct curve_ask ask = { .copier = &b->copier,
		.tuner = tuner_table_get(&b->table, 0, 1),
		.stated = &b->stated,
		.bytes = bytes,
		.settle = SETTLE,
		.turns = TURNS,
		.from = b->from,
		.to = b->to };
	struct curve_point pt;
	int rc = measure_twice(b, &ask, &pt);

	if (rc < 0) {
		err_say(err, "%llu bytes: %s", (unsigned long long)bytes,
		    strerror(-rc));
		return rc;
	}
	if (pt.wrong > 0)
		return err_set(err, -EBADMSG,
		    "%llu bytes: byte %llu is not what was sent",
		    (unsigned long long)bytes,
		    (unsigned long long)(pt.wrong - 1));
	out->record(out->arg, point_json(&pt, title));
	point_line(&pt, out);
	return 0;
}

static int
sizes_run(struct bench *b, const struct curve_out *out, struct err *err)
{
	char *title = xasprintf("%s bytes=%s emulate=yes", SECTION,
	    conf_string(b->c, SECTION, "bytes"));
	uint64_t n = b->bytes < SIZE_FIRST ? b->bytes : SIZE_FIRST;
	int rc = 0;

	for (; rc == 0;
	     n = n > b->bytes / SIZE_STEP ? b->bytes : n * SIZE_STEP) {
		rc = size_run(b, n, out, title, err);
		if (n == b->bytes)
			break;
	}
	free(title);
	return rc;
}

int
curve_run(const struct conf *c, const struct curve_out *out, struct err *err)
{
	const char *path = conf_string(c, SECTION, "table");
	struct bench *b;
	int rc;

	if (conf_bytes(c, SECTION, "bytes") > BYTES_MAX)
		return err_set(err, -EINVAL,
		    "%s: multipath.bytes = %s: allowed is at most 1G on "
		    "emulated links",
		    conf_where(c, SECTION, "bytes"),
		    conf_string(c, SECTION, "bytes"));
	b = xcalloc(1, sizeof(*b));
	b->c = c;
	b->bytes = conf_bytes(c, SECTION, "bytes");
	bench_open(b);
	rc = tuner_open(b, err);
	if (rc == 0)
		rc = sizes_run(b, out, err);
	if (rc == 0 && path[0] != '\0')
		rc = tuner_save(&b->table, path, err);
	bench_close(b);
	return rc;
}
