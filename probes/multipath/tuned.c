/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuned.c - open the devices, memory and tuner of the measurement, run it over
 * sizes and report each.
 */
#include "probes/multipath/tuned.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/multipath/turns.h"

#define SECTION     "multipath"
#define SIZE_FIRST  65536
#define SIZE_STEP   4
#define SETTLE      5
#define TURNS       9
#define BYTES_MAX   (1ULL << 30)
#define DEVICES_MAX (TUNER_PATHS_MAX + 1) /* two ends and relays */

struct bench {
	const struct conf *c;
	struct copier copier;
	struct device *devices[DEVICES_MAX]; /* from, to, relays */
	int devices_count;
	struct paths_links stated;
	struct tuner_table table;
	struct turns_watch watch; /* over all sizes */
	char *from, *to;          /* on the first and the second device */
	char *want, *got;         /* of struct turns_ask */
	uint64_t bytes;
	const char *joins; /* name of the device */
	int rated;         /* what links should give was stated */
};

/* As many of the machine's as there are ends and relays. */
static int
tuned_devices_open(struct bench *b, struct err *err)
{
	struct device_facts facts;
	int wanted = 2 + (int)(b->stated.count - b->stated.host), count, rc;

	b->joins = conf_string(b->c, "measure", "device");
	rc = device_find(b->joins, &b->copier.ops, err);
	if (rc == 0)
		rc = b->copier.ops->probe(&count, err);
	for (; rc == 0 && b->devices_count < count && b->devices_count < wanted;
	     b->devices_count += rc == 0)
		rc = b->copier.ops->open(b->devices_count,
		    &b->devices[b->devices_count], err);
	if (rc == 0)
		rc = b->copier.ops->facts(b->devices[0], &facts);
	if (rc == 0)
		snprintf(b->table.machine, sizeof(b->table.machine), "%s: %s",
		    b->joins, facts.name);
	if (rc < 0) {
		struct err why = *err;

		err_say(err, "%s: measure.device = %s: %s",
		    conf_where(b->c, "measure", "device"), b->joins, why.text);
	}
	return rc;
}

static struct device *
tuned_device_at(const struct bench *b, uint32_t k)
{
	return b->devices[k % (uint32_t)b->devices_count];
}

/* Memory of the two ends, and of the stage of every staged path. */
static int
tuned_memory_open(struct bench *b)
{
	const struct device_ops *ops = b->copier.ops;
	struct device *d = b->devices[0];
	int rc = ops->alloc(d, b->bytes, (void **)&b->from);

	if (rc == 0)
		rc = ops->alloc(tuned_device_at(b, 1), b->bytes,
		    (void **)&b->to);
	b->want = b->from;
	if (rc == 0 && !ops->host_access) {
		rc = ops->host_alloc(d, b->bytes, (void **)&b->want);
		if (rc == 0)
			rc = ops->host_alloc(d, b->bytes, (void **)&b->got);
	}
	for (uint32_t i = 1; rc == 0 && i <= b->copier.count; i++) {
		struct copier_store *st = &b->copier.stores[i];

		st->bytes = b->bytes;
		st->slots = (uint32_t)conf_int(b->c, SECTION, "streams");
		rc = i <= b->stated.host
		    ? ops->host_alloc(d, st->bytes, &st->base)
		    : ops->alloc(tuned_device_at(b, 1 + i - b->stated.host),
			  st->bytes, &st->base);
	}
	if (rc < 0)
		return rc;
	for (uint64_t i = 0; i < b->bytes; i++)
		b->want[i] = (char)(i * 2654435761u >> 13);
	rc = copier_open(&b->copier);
	if (rc == 0 && b->want != b->from)
		rc = ops->copy(b->copier.streams[0].in, b->from, b->want,
		    b->bytes);
	return rc < 0 ? rc : ops->stream_sync(b->copier.streams[0].in);
}

static int
tuned_bench_open(struct bench *b, struct err *err)
{
	int rc = 0;

	paths_read(b->c, SECTION, &b->stated);
	if (b->stated.count >= TUNER_PATHS_MAX)
		return err_set(err, -EINVAL,
		    "%s: multipath.relays = %s: expected at most %d staged "
		    "paths",
		    conf_where(b->c, SECTION, "relays"),
		    conf_string(b->c, SECTION, "relays"), TUNER_PATHS_MAX - 1);
	rc = tuned_devices_open(b, err);
	if (rc < 0)
		return rc;
	b->copier.device = b->devices[0];
	b->copier.unit = conf_bytes(b->c, SECTION, "unit");
	b->copier.count = b->stated.count;
	rc = tuned_memory_open(b);
	if (rc < 0)
		err_say(err, "device %s: %s", b->joins,
		    b->copier.ops->error(b->devices[0]));
	return rc;
}

static void
tuned_bench_close(struct bench *b)
{
	const struct device_ops *ops = b->copier.ops;

	if (b->devices_count > 0) {
		struct device *d = b->devices[0];

		if (b->copier.clock != NULL) /* it was opened */
			copier_close(&b->copier);
		for (uint32_t i = 1; i <= b->copier.count; i++)
			if (i <= b->stated.host)
				ops->host_free(d, b->copier.stores[i].base);
			else
				ops->free(tuned_device_at(b,
					      1 + i - b->stated.host),
				    b->copier.stores[i].base);
		if (b->want != b->from)
			ops->host_free(d, b->want);
		ops->host_free(d, b->got);
		ops->free(tuned_device_at(b, 1), b->to);
		ops->free(d, b->from);
	}
	for (int i = 0; i < b->devices_count; i++)
		ops->close(b->devices[i]);
	tuner_table_clear(&b->table);
	free(b);
}

/* Load the learnt table, or fit the paths as they are now. If no rate is given
 * for a device, the fits replace the rates, and no path is reported as slow. */
static int
tuned_tuner_open(struct bench *b, struct err *err)
{
	const char *file = conf_string(b->c, SECTION, "table");
	struct copier_message m = { b->to, b->from, b->bytes };
	struct paths_links fits = { .count = 0 };
	struct tuner *t;
	int rc = -ENOENT;

	if (file[0] != '\0')
		rc = tuner_load(&b->table, file, err);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	t = tuner_table_get(&b->table, 0, 1);
	if (t->chunks_max == 0 || t->fits.count != b->copier.count) {
		rc = copier_fits(&b->copier, &m, &fits);
		if (rc < 0)
			return err_set(err, rc,
			    "cannot fit a model to the links: %s",
			    strerror(-rc));
		tuner_init(t, &fits,
		    (uint32_t)conf_int(b->c, SECTION, "chunks_max"));
	}
	t->frozen = conf_bool(b->c, SECTION, "frozen");
	b->rated = conf_given(b->c, SECTION, "direct_rate");
	if (!b->rated) {
		uint32_t host = b->stated.host;

		b->stated = t->fits;
		b->stated.host = host;
	}
	return 0;
}

/* Path i >= 1. */
static const char *
tuned_path_name(const struct bench *b, uint32_t i, char *ret, size_t cap_bytes)
{
	if (i <= b->stated.host)
		snprintf(ret, cap_bytes, "host");
	else
		snprintf(ret, cap_bytes, "relay%u", i - b->stated.host + 1);
	return ret;
}

static void
tuned_slow_text(const struct bench *b, const struct turns_point *pt, char *ret,
    size_t cap_bytes)
{
	char name[32], text[48];

	tuned_path_name(b, pt->slow, name, sizeof(name));
	snprintf(text, sizeof(text), "%s%s",
	    pt->slow <= b->stated.host ? "the " : "", name);
	snprintf(ret, cap_bytes,
	    "the path through %s carries %.1f %% of the bytes instead of %.1f "
	    "%%: one of its links is idle, shared or broken",
	    text, pt->carried[pt->slow] * 100, pt->expected[pt->slow] * 100);
}

static json_t *
tuned_point_json(const struct bench *b, const struct turns_point *pt,
    const char *title)
{
	json_t *paths = json_array(), *interval = json_null(), *o;
	char text[200], name[32] = "direct";

	if (isfinite(pt->lo))
		interval = json_pack("{s:s, s:f, s:f, s:f}", "of", "median",
		    "level", 0.95, "lo", pt->lo, "hi", pt->hi);
	for (uint32_t i = 0; i <= b->copier.count; i++) {
		if (i > 0)
			tuned_path_name(b, i, name, sizeof(name));
		json_array_append_new(paths,
		    json_pack("{s:s, s:f, s:f, s:i}", "way", name, "share",
			pt->carried[i], "expected_share", pt->expected[i],
			"chunks", (int)pt->choice.chunks[i]));
	}
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:f, s:o}", "probe",
	    "speedup", "of", SECTION, "plan", title, "baseline", "direct",
	    "pair_class", b->joins, "bytes", (json_int_t)pt->bytes, "n", TURNS,
	    "value", pt->ratio, "interval", interval);
	json_object_set_new(o, "seconds", json_real(pt->several_s));
	json_object_set_new(o, "baseline_seconds", json_real(pt->single_s));
	json_object_set_new(o, "model_ratio", json_real(pt->model_ratio));
	json_object_set_new(o, "stated_ratio", json_real(pt->stated_ratio));
	json_object_set_new(o, "choice",
	    json_string(tuner_whys[pt->choice.why]));
	json_object_set_new(o, "ways", paths);
	json_object_set_new(o, "verdict",
	    json_string(pt->slow > 0 ? "warn" : "ok"));
	if (pt->slow > 0) {
		tuned_slow_text(b, pt, text, sizeof(text));
		json_object_set_new(o, "text", json_string(text));
	}
	return o;
}

/* Measure again if a result contradicts an earlier one. */
static int
tuned_size_run(struct bench *b, uint64_t bytes, const struct tuned_out *out,
    const char *title, struct err *err)
{
	struct turns_ask ask = { .copier = &b->copier,
		.tuner = tuner_table_get(&b->table, 0, 1),
		.stated = &b->stated,
		.m = { b->to, b->from, bytes },
		.want = b->want,
		.got = b->got,
		.settle = SETTLE,
		.turns = TURNS };
	struct strbuf text = { NULL, 0, 0 };
	struct turns_point pt;
	char slow[200], name[32];
	int again = 1, rc;

	do {
		rc = turns_measure(&ask, &pt);
		if (rc < 0)
			return err_set(err, rc,
			    "the measurement with %llu bytes failed: %s",
			    (unsigned long long)bytes, strerror(-rc));
		if (pt.wrong > 0)
			return err_set(err, -EBADMSG,
			    "%llu bytes: byte %llu arrived corrupted",
			    (unsigned long long)bytes,
			    (unsigned long long)(pt.wrong - 1));
		pt.slow = turns_watch_take(&b->watch, b->rated ? pt.slow : 0);
	} while (turns_watch_open(&b->watch) && again-- > 0);
	out->record(out->arg, tuned_point_json(b, &pt, title));
	strbuf_addf(&text,
	    "%12llu bytes  single %9.3f ms  several %9.3f ms  x %.3f  model "
	    "x %.3f",
	    (unsigned long long)pt.bytes, pt.single_s * 1e3, pt.several_s * 1e3,
	    pt.ratio, pt.model_ratio);
	for (uint32_t i = 1; i <= b->copier.count; i++)
		strbuf_addf(&text, "  %s %4.1f %%  %u chunks",
		    tuned_path_name(b, i, name, sizeof(name)),
		    pt.carried[i] * 100, pt.choice.chunks[i]);
	strbuf_addf(&text, "  %s", tuner_whys[pt.choice.why]);
	out->line(out->arg, text.text);
	strbuf_clear(&text);
	if (pt.slow > 0) {
		tuned_slow_text(b, &pt, slow, sizeof(slow));
		out->line(out->arg, slow);
	}
	return 0;
}

int
tuned_wanted(const struct conf *c)
{
	return conf_bool(c, SECTION, "tune");
}

int
tuned_run(const struct conf *c, const struct tuned_out *out, struct err *err)
{
	const char *file = conf_string(c, SECTION, "table");
	struct bench *b;
	char *title;
	uint64_t n;
	int rc;

	if (conf_bytes(c, SECTION, "bytes") > BYTES_MAX)
		return err_set(err, -EINVAL,
		    "%s: multipath.bytes = %s: expected at most 1G with "
		    "multipath.tune = yes",
		    conf_where(c, SECTION, "bytes"),
		    conf_string(c, SECTION, "bytes"));
	b = xcalloc(1, sizeof(*b));
	b->c = c;
	b->bytes = conf_bytes(c, SECTION, "bytes");
	title = xasprintf("%s bytes=%s tune=yes", SECTION,
	    conf_string(c, SECTION, "bytes"));
	rc = tuned_bench_open(b, err);
	if (rc == 0)
		rc = tuned_tuner_open(b, err);
	for (n = b->bytes < SIZE_FIRST ? b->bytes : SIZE_FIRST; rc == 0;
	     n = n > b->bytes / SIZE_STEP ? b->bytes : n * SIZE_STEP) {
		rc = tuned_size_run(b, n, out, title, err);
		if (n == b->bytes)
			break;
	}
	if (rc == 0 && file[0] != '\0')
		rc = tuner_save(&b->table, file, err);
	free(title);
	tuned_bench_close(b);
	return rc;
}
