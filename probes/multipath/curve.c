/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve.c - one path against several, over sizes, within one rank: on links
 * that are not there, or on streams of a device.
 *
 * For each size the tuner first settles, starting from fits that were measured
 * on these very streams; then single and tuned transfers take turns, so that
 * drift meets both. Every tuned transfer is compared with what was sent. A path
 * that carries clearly less than the stated links would give it is slow: a link
 * that is idle or broken shows like this. One measurement may meet somebody
 * else's work, so a path is said to be slow once two in a row agree, and no
 * longer said to be once two in a row deny it.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/multipath/copier.h"
#include "probes/multipath/tuner.h"
#include "probes/sampling/sampling.h"

#define SLOW_SHARE   0.7 /* of what a path should carry: less is a finding */
#define JUDGED_SHARE 0.1 /* where less is expected, noise decides */

#define CURVE_TURNS_MAX 64

#define SECTION     "multipath"
#define SIZE_FIRST  65536
#define SIZE_STEP   4
#define SETTLE      5
#define TURNS       9
#define BYTES_MAX   (1ULL << 30)
#define EMULATED    "emulated"
#define DEVICES_MAX (TUNER_PATHS_MAX + 1) /* two ends and relays */

struct curve_ask {
	struct copier *copier;
	struct tuner *tuner;              /* started from copier_fits */
	const struct paths_links *stated; /* what the links should be */
	struct copier_message m;          /* pointers NULL in virtual time */
	/* What was sent, and room for what came where the processor cannot
	 * read the device's memory; else NULL. */
	const char *want;
	char *got;
	uint32_t settle; /* transfers before those that count */
	uint32_t turns;  /* that count, of each kind; 1 to CURVE_TURNS_MAX */
};

struct curve_point {
	uint64_t bytes;
	double single_s, several_s; /* medians */
	double ratio;               /* median over turns of single / several */
	double lo, hi;              /* holds it with 95 %; NAN for few turns */
	double model_ratio;         /* of the measured fits, closed form */
	double stated_ratio;        /* of what the links should be */
	struct tuner_choice choice; /* the last one */
	double carried[TUNER_PATHS_MAX];  /* shares of all tuned bytes */
	double expected[TUNER_PATHS_MAX]; /* shares that stated links give */
	uint32_t slow;  /* the path that lost most of its share; 0: none */
	uint64_t wrong; /* 1 + the first wrong byte; 0: all was right */
};

/* All 0 at first. */
struct curve_watch {
	uint32_t said; /* the path that is slow; 0: none */
	uint32_t last; /* what the last measurement found */
};

static double
curve_median(double *x, uint32_t n)
{
	robust_sort(x, n);
	return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static int
curve_transfer(const struct curve_ask *ask, const struct tuner_choice *c,
    struct tuner_seen *seen, uint32_t *ret_path, double *ret_s)
{
	int rc = copier_send(ask->copier, &ask->m, c, seen, ret_path);

	*ret_s = 0;
	for (uint32_t i = 0; i <= ask->copier->count; i++)
		*ret_s = fmax(*ret_s, seen->s[i]);
	return rc;
}

/* As the tuner wants it; what came is compared. A staged path that breaks is
 * done without. */
static int
curve_tuned(const struct curve_ask *ask, struct curve_point *pt, double *ret_s)
{
	const struct device_ops *ops = ask->copier->ops;
	struct device_stream *s = ask->copier->streams[0].in;
	const char *got = ask->got == NULL ? ask->m.to : ask->got;
	struct tuner_seen seen;
	uint32_t path = 0;
	int rc = 0;

	if (ask->m.to != NULL) {
		rc = ops->fill(s, ask->m.to, 0, ask->m.bytes);
		if (rc == 0)
			rc = ops->stream_sync(s);
		if (rc < 0)
			return rc;
	}
	do {
		if (path > 0)
			tuner_lose(ask->tuner, ask->m.bytes, path);
		path = 0;
		tuner_choose(ask->tuner, ask->m.bytes, &pt->choice);
		rc = curve_transfer(ask, &pt->choice, &seen, &path, ret_s);
	} while (rc < 0 && path > 0 &&
	    ask->tuner->rows[tuner_class(ask->m.bytes)].chunks[path] > 0);
	if (rc < 0)
		return rc;
	tuner_learn(ask->tuner, ask->m.bytes, &pt->choice, &seen);
	for (uint32_t i = 0; i <= ask->copier->count; i++)
		pt->carried[i] += (double)seen.bytes[i];
	if (ask->m.to == NULL || pt->wrong > 0)
		return 0;
	if (ask->got != NULL) {
		rc = ops->copy(s, ask->got, ask->m.to, ask->m.bytes);
		if (rc == 0)
			rc = ops->stream_sync(s);
	}
	if (rc < 0 || memcmp(ask->want, got, ask->m.bytes) == 0)
		return rc;
	while (ask->want[pt->wrong] == got[pt->wrong])
		pt->wrong++;
	pt->wrong++;
	return 0;
}

/* After a measurement, with its curve_point.slow: what to say now. */
static uint32_t
curve_watch_take(struct curve_watch *w, uint32_t slow)
{
	if (slow == w->last)
		w->said = slow;
	w->last = slow;
	return w->said;
}

/* Is another measurement needed to tell? */
static int
curve_watch_open(const struct curve_watch *w)
{
	return w->said != w->last;
}

/* 0, or -errno of the device. */
static int
curve_measure(const struct curve_ask *ask, struct curve_point *ret)
{
	double one[CURVE_TURNS_MAX], many[CURVE_TURNS_MAX];
	struct timing_sample ratios[CURVE_TURNS_MAX] = { { 0, 0 } };
	const struct tuner_choice direct = { .share = { 1 } };
	double bytes = (double)ask->m.bytes, worst = SLOW_SHARE, sum = 0;
	struct tuner_seen seen;
	struct timing both;
	struct paths_split s;
	uint32_t path;
	int rc = 0;

	assert(ask->turns >= 1 && ask->turns <= CURVE_TURNS_MAX);
	memset(ret, 0, sizeof(*ret));
	ret->bytes = ask->m.bytes;
	paths_split(&ask->tuner->fits, bytes, ask->tuner->chunks_max, &s);
	ret->model_ratio = s.direct_s / s.time_s;
	for (uint32_t i = 0; rc == 0 && i < ask->settle; i++)
		rc = curve_tuned(ask, ret, &many[0]);
	memset(ret->carried, 0, sizeof(ret->carried));
	for (uint32_t i = 0; rc == 0 && i < ask->turns; i++) {
		rc = curve_transfer(ask, &direct, &seen, &path, &one[i]);
		if (rc == 0)
			rc = curve_tuned(ask, ret, &many[i]);
	}
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < ask->turns; i++)
		ratios[i].s = one[i] / many[i];
	timing_of(ratios, ask->turns, &both);
	ret->single_s = curve_median(one, ask->turns);
	ret->several_s = curve_median(many, ask->turns);
	ret->ratio = both.median_middle_s;
	ret->lo = both.lo_s;
	ret->hi = both.hi_s;
	/* What stated links would carry, and which path falls short the most.
	 */
	paths_split(ask->stated, bytes, ask->tuner->chunks_max, &s);
	ret->stated_ratio = s.direct_s / s.time_s;
	ret->expected[0] = 1 - s.share;
	for (uint32_t i = 0; i <= ask->stated->count; i++)
		sum += ret->carried[i];
	for (uint32_t i = 0; i <= ask->stated->count; i++) {
		if (i > 0)
			ret->expected[i] = s.staged[i - 1];
		ret->carried[i] /= sum;
		if (i > 0 && ret->expected[i] >= JUDGED_SHARE &&
		    ret->carried[i] < worst * ret->expected[i]) {
			worst = ret->carried[i] / ret->expected[i];
			ret->slow = i;
		}
	}
	return 0;
}

/* ---- the probe ---- */

struct bench {
	const struct conf *c;
	struct emulated_links links;
	struct copier copier;
	struct device *devices[DEVICES_MAX]; /* from, to, relays */
	int devices_count;
	struct paths_links stated;
	struct tuner_table table;
	struct curve_watch watch; /* over all sizes */
	char *from, *to;          /* on the first and the second device */
	char *want, *got;         /* of struct curve_ask */
	uint64_t bytes;
	const char *joins; /* emulated, or the device's name */
	int rated;         /* what links should give was stated */
};

/* As many of the machine's as there are ends and relays. */
static int
curve_devices_open(struct bench *b, struct err *err)
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
	return rc;
}

static struct device *
curve_device_at(const struct bench *b, uint32_t k)
{
	return b->devices[k % (uint32_t)b->devices_count];
}

/* Memory of the two ends, and of the stage of every staged path. */
static int
curve_memory_open(struct bench *b)
{
	const struct device_ops *ops = b->copier.ops;
	struct device *d = b->devices[0];
	int rc = ops->alloc(d, b->bytes, (void **)&b->from);

	if (rc == 0)
		rc = ops->alloc(curve_device_at(b, 1), b->bytes,
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
		    : ops->alloc(curve_device_at(b, 1 + i - b->stated.host),
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
curve_bench_open(struct bench *b, struct err *err)
{
	int rc = 0;

	paths_read(b->c, SECTION, &b->stated);
	if (b->stated.count >= TUNER_PATHS_MAX)
		return err_set(err, -EINVAL,
		    "%s: multipath.relays = %s: a tuner has at most %d paths "
		    "beside the direct one",
		    conf_where(b->c, SECTION, "relays"),
		    conf_string(b->c, SECTION, "relays"), TUNER_PATHS_MAX - 1);
	if (conf_bool(b->c, SECTION, "emulate")) {
		double slowed = conf_real(b->c, SECTION, "emulate_host");

		/* Links that do what is stated, but for what the host's are
		 * slowed down. */
		emulated_state(&b->links, &b->stated);
		for (uint32_t k = 1; b->stated.host && k <= 2; k++)
			b->links.links[k].bytes_per_s *= slowed;
		b->links.real = 1;
		b->copier.ops = &emulated_ops;
		b->copier.clock = &emulated_clock;
		b->devices[0] = emulated_open(&b->links);
		b->devices_count = 1;
		b->joins = EMULATED;
		snprintf(b->table.machine, sizeof(b->table.machine), "%s",
		    EMULATED);
	} else {
		rc = curve_devices_open(b, err);
	}
	if (rc < 0)
		return rc;
	b->copier.device = b->devices[0];
	b->copier.unit = conf_bytes(b->c, SECTION, "unit");
	b->copier.count = b->stated.count;
	rc = curve_memory_open(b);
	if (rc < 0)
		err_say(err, "device %s: %s", b->joins,
		    b->copier.ops->error(b->devices[0]));
	return rc;
}

static void
curve_bench_close(struct bench *b)
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
				ops->free(curve_device_at(b,
					      1 + i - b->stated.host),
				    b->copier.stores[i].base);
		if (b->want != b->from)
			ops->host_free(d, b->want);
		ops->host_free(d, b->got);
		ops->free(curve_device_at(b, 1), b->to);
		ops->free(d, b->from);
	}
	for (int i = 0; i < b->devices_count; i++)
		ops->close(b->devices[i]);
	tuner_table_clear(&b->table);
	free(b);
}

/* What was learnt before, or fits of the paths as they are now. Where no rate
 * is given for a device these stand for it, and no path is said to be slow. */
static int
curve_tuner_open(struct bench *b, struct err *err)
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
			return err_set(err, rc, "the links give no fit: %s",
			    strerror(-rc));
		tuner_init(t, &fits,
		    (uint32_t)conf_int(b->c, SECTION, "chunks_max"));
	}
	t->frozen = conf_bool(b->c, SECTION, "frozen");
	b->rated = conf_bool(b->c, SECTION, "emulate") ||
	    conf_given(b->c, SECTION, "direct_rate");
	if (!b->rated) {
		uint32_t host = b->stated.host;

		b->stated = t->fits;
		b->stated.host = host;
	}
	return 0;
}

/* Path i >= 1. */
static const char *
curve_path_name(const struct bench *b, uint32_t i, char *ret, size_t cap_bytes)
{
	if (i <= b->stated.host)
		snprintf(ret, cap_bytes, "host");
	else
		snprintf(ret, cap_bytes, "relay%u", i - b->stated.host + 1);
	return ret;
}

static void
curve_slow_text(const struct bench *b, const struct curve_point *pt, char *ret,
    size_t cap_bytes)
{
	char name[32], text[48];

	curve_path_name(b, pt->slow, name, sizeof(name));
	snprintf(text, sizeof(text), "%s%s",
	    pt->slow <= b->stated.host ? "the " : "", name);
	snprintf(ret, cap_bytes,
	    "the way through %s carries %.1f %% where %.1f %% is "
	    "expected: a link of it is idle, shared or broken",
	    text, pt->carried[pt->slow] * 100, pt->expected[pt->slow] * 100);
}

static json_t *
curve_point_json(const struct bench *b, const struct curve_point *pt,
    const char *title)
{
	json_t *paths = json_array(), *interval = json_null(), *o;
	char text[200], name[32] = "direct";

	if (isfinite(pt->lo))
		interval = json_pack("{s:s, s:f, s:f, s:f}", "of", "median",
		    "level", 0.95, "lo", pt->lo, "hi", pt->hi);
	for (uint32_t i = 0; i <= b->copier.count; i++) {
		if (i > 0)
			curve_path_name(b, i, name, sizeof(name));
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
		curve_slow_text(b, pt, text, sizeof(text));
		json_object_set_new(o, "text", json_string(text));
	}
	return o;
}

/* Once more where one measurement says something else than was said. */
static int
curve_size_run(struct bench *b, uint64_t bytes, const struct curve_out *out,
    const char *title, struct err *err)
{
	struct curve_ask ask = { .copier = &b->copier,
		.tuner = tuner_table_get(&b->table, 0, 1),
		.stated = &b->stated,
		.m = { b->to, b->from, bytes },
		.want = b->want,
		.got = b->got,
		.settle = SETTLE,
		.turns = TURNS };
	struct strbuf text = { NULL, 0, 0 };
	struct curve_point pt;
	char slow[200], name[32];
	int again = 1, rc;

	do {
		rc = curve_measure(&ask, &pt);
		if (rc < 0)
			return err_set(err, rc, "%llu bytes: %s",
			    (unsigned long long)bytes, strerror(-rc));
		if (pt.wrong > 0)
			return err_set(err, -EBADMSG,
			    "%llu bytes: byte %llu is not what was sent",
			    (unsigned long long)bytes,
			    (unsigned long long)(pt.wrong - 1));
		pt.slow = curve_watch_take(&b->watch, b->rated ? pt.slow : 0);
	} while (curve_watch_open(&b->watch) && again-- > 0);
	out->record(out->arg, curve_point_json(b, &pt, title));
	strbuf_addf(&text,
	    "%12llu bytes  single %9.3f ms  several %9.3f ms  x %.3f  model "
	    "x %.3f",
	    (unsigned long long)pt.bytes, pt.single_s * 1e3, pt.several_s * 1e3,
	    pt.ratio, pt.model_ratio);
	for (uint32_t i = 1; i <= b->copier.count; i++)
		strbuf_addf(&text, "  %s %4.1f %%  %u chunks",
		    curve_path_name(b, i, name, sizeof(name)),
		    pt.carried[i] * 100, pt.choice.chunks[i]);
	strbuf_addf(&text, "  %s", tuner_whys[pt.choice.why]);
	out->line(out->arg, text.text);
	strbuf_clear(&text);
	if (pt.slow > 0) {
		curve_slow_text(b, &pt, slow, sizeof(slow));
		out->line(out->arg, slow);
	}
	return 0;
}

int
curve_wanted(const struct conf *c)
{
	return conf_bool(c, SECTION, "emulate") ||
	    conf_bool(c, SECTION, "tune");
}

int
curve_run(const struct conf *c, const struct curve_out *out, struct err *err)
{
	const char *file = conf_string(c, SECTION, "table");
	int emulate = conf_bool(c, SECTION, "emulate"), rc;
	struct bench *b;
	char *title;
	uint64_t n;

	if (conf_bytes(c, SECTION, "bytes") > BYTES_MAX)
		return err_set(err, -EINVAL,
		    "%s: multipath.bytes = %s: allowed is at most 1G on %s",
		    conf_where(c, SECTION, "bytes"),
		    conf_string(c, SECTION, "bytes"),
		    emulate ? "emulated links" : "paths that are tuned");
	b = xcalloc(1, sizeof(*b));
	b->c = c;
	b->bytes = conf_bytes(c, SECTION, "bytes");
	title = xasprintf("%s bytes=%s %s=yes", SECTION,
	    conf_string(c, SECTION, "bytes"), emulate ? "emulate" : "tune");
	rc = curve_bench_open(b, err);
	if (rc == 0)
		rc = curve_tuner_open(b, err);
	for (n = b->bytes < SIZE_FIRST ? b->bytes : SIZE_FIRST; rc == 0;
	     n = n > b->bytes / SIZE_STEP ? b->bytes : n * SIZE_STEP) {
		rc = curve_size_run(b, n, out, title, err);
		if (n == b->bytes)
			break;
	}
	if (rc == 0 && file[0] != '\0')
		rc = tuner_save(&b->table, file, err);
	free(title);
	curve_bench_close(b);
	return rc;
}
