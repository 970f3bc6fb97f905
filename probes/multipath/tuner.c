/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner.c - update a size class after each transfer, choose the next shares,
 * and store the table.
 */
#include "probes/multipath/tuner.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/member.h"
#include "common/clk.h"
#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"

/* Why each: docs/algorithms-neighbor-multipath.md, section 4.3, where they were
 * tried under noise. */
#define GAIN          0.5  /* of a new rate */
#define JUMP          0.3  /* more than this is a change, not noise */
#define SHARE_MIN     0.02 /* less is not worth the launches */
#define SHARE_MAX     0.9
#define EXPLORE_EVERY 32
#define EXPLORE_TIMES 3
#define EXPLORE_GAIN  0.03
#define REPROBE_EVERY 256
#define DOUBTS        3    /* slower in a row than the direct path alone, */
#define DOUBT         1.02 /* by as much */
#define WORTH_A_LOOK  0.7  /* of the cost of a staged path */
/* Several paths must save at least this. The document has 3 %; with 2 % the
 * loss stays below the 3 % of the optimum that it promises. */
#define GATE 0.98

#define FORMAT     "coalmine-tuning"
#define VERSION    1
#define BYTES_MAX  (16u << 20)
#define COUNT_MAX  9007199254740992.0 /* 2^53: exact in JSON */
#define NUMBER_MAX 1e18

const char *const tuner_whys[TUNER_WHY_MAX] = {
	[TUNER_MODEL] = "model",
	[TUNER_FOLLOW] = "follow",
	[TUNER_EXPLORE] = "explore",
	[TUNER_DIRECT] = "direct",
	[TUNER_REPROBE] = "reprobe",
	[TUNER_FROZEN] = "frozen",
};

void
tuner_init(struct tuner *t, const struct paths_links *fits, uint32_t chunks_max)
{
	assert(fits->count < TUNER_PATHS_MAX && chunks_max >= 1);
	memset(t, 0, sizeof(*t));
	t->fits = *fits;
	t->chunks_max = chunks_max;
}

uint32_t
tuner_class(uint64_t bytes)
{
	uint32_t k = 0;

	while (bytes >>= 1)
		k++;
	return k;
}

/* Predict the time of this many bytes and share them among the paths that the
 * row uses. */
static double
tuner_fill(const struct tuner *t, const struct tuner_row *row, uint64_t bytes,
    double *ret_share)
{
	struct paths_direct lines[TUNER_PATHS_MAX];
	uint32_t which[TUNER_PATHS_MAX], n = 0;
	double carried[TUNER_PATHS_MAX], s;

	for (uint32_t i = 0; i <= t->fits.count; i++)
		if (i == 0 || row->chunks[i] > 0) {
			which[n] = i;
			lines[n++] = row->line[i];
		}
	s = paths_fill(lines, n, (double)bytes, carried);
	memset(ret_share, 0, TUNER_PATHS_MAX * sizeof(*ret_share));
	for (uint32_t k = 0; k < n; k++)
		ret_share[which[k]] = carried[k] / (double)bytes;
	return s;
}

static void
tuner_expect(const struct tuner *t, struct tuner_row *row, uint64_t bytes)
{
	double share[TUNER_PATHS_MAX];

	row->last_bytes = bytes;
	row->direct_s = paths_direct_s(&row->line[0], (double)bytes);
	row->several_s = tuner_fill(t, row, bytes, share);
}

/* A class that is new: the closed form. Where that finds nothing worth while,
 * but staged ways cost little more than the whole message, they are looked at
 * once: the fits may be off by as much. */
static void
tuner_start_row(const struct tuner *t, struct tuner_row *row, uint64_t bytes)
{
	const struct paths_links *f = &t->fits;
	struct paths_split s;

	paths_split(f, (double)bytes, t->chunks_max, &s);
	memset(row, 0, sizeof(*row));
	row->line[0] = row->alone = f->direct;
	row->direct = s.share <= 0;
	for (uint32_t i = 0; i < f->count; i++) {
		uint32_t c = s.chunks[i] > 0 ? s.chunks[i] : 1;

		row->line[i + 1] = paths_line(&f->staged[i], c);
		row->chunks[i + 1] = s.chunks[i];
		if (row->direct &&
		    s.direct_s > WORTH_A_LOOK * row->line[i + 1].setup_s)
			row->since = REPROBE_EVERY;
	}
	tuner_expect(t, row, bytes);
}

/* Set the shares by the lines, within bounds: each path needs some bytes, to
 * keep observing it. */
static void
tuner_shares_follow(const struct tuner *t, const struct tuner_row *row,
    uint64_t bytes, struct tuner_choice *c)
{
	int look = row->transfers % REPROBE_EVERY == 0;
	double staged = 0;

	tuner_fill(t, row, bytes, c->share);
	for (uint32_t i = 1; i <= t->fits.count; i++) {
		if (row->chunks[i] == 0 || (c->share[i] <= 0 && !look))
			continue;
		c->chunks[i] = row->chunks[i];
		c->share[i] = fmax(c->share[i], SHARE_MIN);
		staged += c->share[i];
	}
	for (uint32_t i = 1; staged > SHARE_MAX && i <= t->fits.count; i++)
		c->share[i] *= SHARE_MAX / staged;
	c->share[0] = 1 - fmin(staged, SHARE_MAX);
}

void
tuner_choose(struct tuner *t, uint64_t bytes, struct tuner_choice *ret)
{
	struct tuner_row *row = &t->rows[tuner_class(bytes)];
	const struct paths_links *f = &t->fits;
	double n = (double)bytes;
	struct paths_split s;

	assert(bytes > 0);
	memset(ret, 0, sizeof(*ret));
	ret->why = row->transfers > 0 ? TUNER_FOLLOW : TUNER_MODEL;
	if (row->transfers == 0)
		tuner_start_row(t, row, bytes);
	ret->share[0] = 1;
	if (!t->frozen && !row->direct && row->doubts >= DOUBTS) {
		ret->why = TUNER_EXPLORE;
	} else if (!row->direct) {
		tuner_shares_follow(t, row, bytes, ret);
		if (!t->frozen && row->trying != 0 &&
		    ret->share[row->trying] > 0) {
			ret->why = TUNER_EXPLORE;
			ret->chunks[row->trying] = row->tried;
		}
	} else if (!t->frozen && f->count > 0 && row->since >= REPROBE_EVERY) {
		/* Gives every path half of its share by the closed form, to see
		 * how it performs now. */
		ret->why = TUNER_REPROBE;
		paths_split(f, n, t->chunks_max, &s);
		for (uint32_t i = 1; i <= f->count; i++) {
			ret->share[i] = fmax(s.staged[i - 1] / 2, SHARE_MIN);
			ret->chunks[i] = paths_chunks(&f->staged[i - 1],
			    ret->share[i] * n, t->chunks_max);
			ret->share[0] -= ret->share[i];
		}
	} else {
		ret->why = TUNER_DIRECT;
	}
	if (t->frozen)
		ret->why = TUNER_FROZEN;
	tuner_expect(t, row, bytes);
	ret->direct_s = row->direct_s;
	ret->expected_s = row->direct ? row->direct_s : row->several_s;
}

/* Towards x, or there at once; 1 if it jumped. */
static int
tuner_approach(double *value, double x)
{
	if (fabs(*value - x) > JUMP * x) {
		*value = x;
		return 1;
	}
	*value += GAIN * (x - *value);
	return 0;
}

/* Update a path's line after a transfer: its cost or its rate, whichever took
 * longer. Return 1 if the link has changed. */
static int
tuner_line_learn(struct paths_direct *l, uint64_t bytes, double s)
{
	double moving_s = (double)bytes / l->bytes_per_s;

	if (moving_s < l->setup_s && s > moving_s) {
		tuner_approach(&l->setup_s, s - moving_s);
		return 0;
	}
	if (l->setup_s > s / 2) /* it never cost as much */
		l->setup_s = s / 2;
	return tuner_approach(&l->bytes_per_s,
	    (double)bytes / (s - l->setup_s));
}

/* With as many chunks the line is another. */
static void
tuner_chunks_change(const struct tuner *t, struct tuner_row *row, uint32_t path,
    uint32_t chunks)
{
	const struct paths_staged *h = &t->fits.staged[path - 1];
	struct paths_direct was, is = paths_line(h, chunks);
	struct paths_direct *l = &row->line[path];

	if (row->chunks[path] == 0) {
		*l = is;
	} else {
		was = paths_line(h, row->chunks[path]);
		l->setup_s = fmax(0, l->setup_s + is.setup_s - was.setup_s);
		l->bytes_per_s *= is.bytes_per_s / was.bytes_per_s;
	}
	row->chunks[path] = chunks;
}

/* Update all paths that carried bytes. A change of a link ends an exploration,
 * since earlier times are obsolete. An exploration is judged by its own time
 * against the line's prediction for the same bytes, since all paths end
 * together as long as the shares of the old chunks are used. The minimum of
 * three counts: noise only adds time. */
static void
tuner_lines_learn(const struct tuner *t, struct tuner_row *row,
    const struct tuner_choice *c, const struct tuner_seen *seen)
{
	uint32_t trying = c->why == TUNER_EXPLORE ? row->trying : 0;
	double usual_s;
	int changed = 0;

	for (uint32_t i = 0; i <= t->fits.count; i++) {
		if (seen->bytes[i] == 0 || !(seen->s[i] > 0))
			continue;
		if (i > 0 && i == trying)
			continue;
		if (i > 0 && c->chunks[i] != row->chunks[i])
			tuner_chunks_change(t, row, i, c->chunks[i]);
		changed |= tuner_line_learn(&row->line[i], seen->bytes[i],
		    seen->s[i]);
	}
	if (changed)
		row->trying = 0;
	if (changed || trying == 0 || seen->bytes[trying] == 0)
		return;
	usual_s = paths_direct_s(&row->line[trying],
	    (double)seen->bytes[trying]);
	row->best_s = fmin(row->best_s, seen->s[trying] / usual_s);
	if (++row->looks < EXPLORE_TIMES)
		return;
	if (row->best_s < 1 - EXPLORE_GAIN)
		tuner_chunks_change(t, row, trying, row->tried);
	row->trying = 0;
}

/* Are several paths faster than the direct one alone, as both were seen? */
static void
tuner_alone_learn(const struct tuner *t, struct tuner_row *row, uint64_t bytes,
    const struct tuner_seen *seen, enum tuner_why why)
{
	double s = 0;
	int several = 0;

	for (uint32_t i = 0; i <= t->fits.count; i++) {
		s = fmax(s, seen->s[i]);
		several |= i > 0 && seen->bytes[i] > 0;
	}
	if (row->alone.bytes_per_s <= 0) /* from a table */
		row->alone = t->fits.direct;
	if (several && why == TUNER_EXPLORE)
		return;
	if (several) {
		row->doubted_s = s / (double)bytes;
		row->doubts = s >
			DOUBT * paths_direct_s(&row->alone, (double)bytes)
		    ? row->doubts + 1
		    : 0;
		return;
	}
	tuner_line_learn(&row->alone, bytes, s);
	if (row->doubts >= DOUBTS &&
	    s < GATE * row->doubted_s * (double)bytes) {
		row->direct = 1;
		row->since = 0;
	}
	row->doubts = 0;
}

void
tuner_learn(struct tuner *t, uint64_t bytes, const struct tuner_choice *c,
    const struct tuner_seen *seen)
{
	struct tuner_row *row = &t->rows[tuner_class(bytes)];
	uint64_t staged = 0;
	uint32_t was_direct, turn, path, chunks, other;

	for (uint32_t i = 0; i <= t->fits.count; i++) {
		row->carried[i] += seen->bytes[i];
		staged += i > 0 ? seen->bytes[i] : 0;
	}
	row->transfers++;
	if (t->frozen)
		return;
	row->since = c->why == TUNER_REPROBE ? 0 : row->since + 1;
	tuner_lines_learn(t, row, c, seen);
	tuner_expect(t, row, bytes);
	tuner_alone_learn(t, row, bytes, seen, c->why);
	if (staged == 0)
		return;
	was_direct = row->direct;
	row->direct = row->several_s > GATE * row->direct_s;
	if (was_direct != row->direct)
		row->since = 0;
	if (row->direct || row->trying != 0 || t->fits.count == 0 ||
	    row->transfers % EXPLORE_EVERY != 0)
		return;
	/* Start to try twice or half the chunks of one path after the other. */
	turn = (uint32_t)(row->transfers / EXPLORE_EVERY);
	path = 1 + turn / 2 % t->fits.count;
	chunks = row->chunks[path];
	other = turn % 2 == 0 ? 2 * chunks : chunks / 2;
	if (other > t->chunks_max)
		other = t->chunks_max;
	if (chunks == 0 || other == 0 || other == chunks)
		return;
	row->trying = path;
	row->tried = other;
	row->looks = 0;
	row->best_s = INFINITY;
}

void
tuner_lose(struct tuner *t, uint64_t bytes, uint32_t path)
{
	struct tuner_row *row = &t->rows[tuner_class(bytes)];
	uint32_t left = 0;

	assert(path >= 1 && path <= t->fits.count);
	row->chunks[path] = 0;
	row->trying = 0;
	for (uint32_t i = 1; i <= t->fits.count; i++)
		left += row->chunks[i];
	if (left == 0) {
		row->direct = 1;
		row->since = 0;
	}
}

int
tuner_fit(const double *bytes, const double *seconds, uint32_t count,
    struct paths_direct *ret)
{
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det, slope, setup;

	for (uint32_t i = 0; i < count; i++) {
		double k = 1 / (seconds[i] * seconds[i]);

		if (!(seconds[i] > 0))
			return -EINVAL;
		w += k;
		wx += k * bytes[i];
		wy += k * seconds[i];
		wxx += k * bytes[i] * bytes[i];
		wxy += k * bytes[i] * seconds[i];
	}
	det = w * wxx - wx * wx;
	if (count < 2 || !(det > 1e-12 * w * wxx))
		return -EINVAL;
	slope = (w * wxy - wx * wy) / det;
	setup = (wy - slope * wx) / w;
	if (setup < 0) { /* through the origin */
		setup = 0;
		slope = wxy / wxx;
	}
	if (!(slope > 0))
		return -EINVAL;
	*ret = (struct paths_direct){ setup, 1 / slope };
	return 0;
}

/* ---- the table ---- */

struct tuner *
tuner_table_get(struct tuner_table *tt, uint32_t src, uint32_t dst)
{
	for (size_t i = 0; i < tt->count; i++)
		if (tt->pairs[i].src == src && tt->pairs[i].dst == dst)
			return &tt->pairs[i].tuner;
	tt->pairs = xreallocarray(tt->pairs, tt->count + 1, sizeof(*tt->pairs));
	memset(&tt->pairs[tt->count], 0, sizeof(*tt->pairs));
	tt->pairs[tt->count].src = src;
	tt->pairs[tt->count].dst = dst;
	return &tt->pairs[tt->count++].tuner;
}

void
tuner_table_clear(struct tuner_table *tt)
{
	free(tt->pairs);
	tt->pairs = NULL;
	tt->count = 0;
}

/* ---- writing ---- */

static json_t *
tuner_row_json(const struct tuner *t, uint32_t k)
{
	const struct tuner_row *r = &t->rows[k];
	json_t *ways = json_array();

	for (uint32_t i = 0; i <= t->fits.count; i++)
		json_array_append_new(ways,
		    json_pack("{s:f, s:f, s:I, s:I}", "setup_s",
			r->line[i].setup_s, "bytes_per_s",
			r->line[i].bytes_per_s, "chunks",
			(json_int_t)r->chunks[i], "carried_bytes",
			(json_int_t)r->carried[i]));
	return json_pack("{s:I, s:I, s:I, s:b, s:I, s:f, s:f, s:o}", "class",
	    (json_int_t)k, "transfers", (json_int_t)r->transfers, "last_bytes",
	    (json_int_t)r->last_bytes, "direct", (int)r->direct, "since",
	    (json_int_t)r->since, "direct_s", r->direct_s, "several_s",
	    r->several_s, "ways", ways);
}

static json_t *
tuner_table_json(const struct tuner_table *tt)
{
	json_t *pairs = json_array();

	for (size_t i = 0; i < tt->count; i++) {
		const struct tuner *t = &tt->pairs[i].tuner;
		const struct paths_links *f = &t->fits;
		json_t *staged = json_array(), *rows = json_array(), *fits;

		for (uint32_t k = 0; k < f->count; k++)
			json_array_append_new(staged,
			    json_pack("{s:f, s:f, s:f, s:f}", "setup_s",
				f->staged[k].setup_s, "chunk_s",
				f->staged[k].chunk_s, "in_bytes_per_s",
				f->staged[k].in_per_s, "out_bytes_per_s",
				f->staged[k].out_per_s));
		for (uint32_t k = 0; k < TUNER_CLASSES; k++)
			if (t->rows[k].transfers > 0)
				json_array_append_new(rows,
				    tuner_row_json(t, k));
		fits = json_pack("{s:{s:f, s:f}, s:o}", "direct", "setup_s",
		    f->direct.setup_s, "bytes_per_s", f->direct.bytes_per_s,
		    "staged", staged);
		json_array_append_new(pairs,
		    json_pack("{s:I, s:I, s:I, s:o, s:o}", "src",
			(json_int_t)tt->pairs[i].src, "dst",
			(json_int_t)tt->pairs[i].dst, "chunks_max",
			(json_int_t)t->chunks_max, "fits", fits, "rows", rows));
	}
	return json_pack("{s:s, s:i, s:s, s:I, s:o}", "format", FORMAT,
	    "version", VERSION, "machine", tt->machine, "written_unix_s",
	    (json_int_t)(clk_unix_ns() / CLK_NS_PER_S), "pairs", pairs);
}

int
tuner_save(const struct tuner_table *tt, const char *path, struct err *err)
{
	json_t *j = tuner_table_json(tt);
	char *text = json_dumps(j, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	char *next = xasprintf("%s.new", path);
	size_t len, at = 0;
	int fd, rc;

	json_decref(j);
	if (text == NULL) {
		free(next);
		return err_set(err, -ENOMEM, "%.200s: %s", path,
		    strerror(ENOMEM));
	}
	/* Beside the file, on disk, then in its place. */
	len = strlen(text);
	fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	rc = fd < 0 ? -errno : 0;
	while (rc == 0 && at < len) {
		ssize_t n = write(fd, text + at, len - at);

		if (n < 0 && errno != EINTR)
			rc = -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(next, path) < 0)
		rc = -errno;
	if (rc < 0) {
		unlink(next);
		err_say(err, "%.200s: %s", path, strerror(-rc));
	}
	free(next);
	free(text);
	return rc;
}

/* ---- reading ---- */

struct reading {
	const char *path;
	struct err *err;
	int rc; /* of the first that is wrong */
};

static void
tuner_complain(struct reading *rd, const char *key, const char *what)
{
	if (rd->rc < 0)
		return;
	err_say(rd->err, "%.160s: %s: %s", rd->path, key, what);
	rd->rc = -EPROTO;
}

static double
tuner_number(struct reading *rd, const json_t *j, const char *key, double min,
    double max)
{
	const json_t *v = json_object_get(j, key);
	double x = json_number_value(v);
	char want[80];

	if (!json_is_number(v) || !isfinite(x) || x < min || x > max) {
		snprintf(want, sizeof(want), "expected a number from %g to %g",
		    min, max);
		tuner_complain(rd, key, want);
		return min;
	}
	return x;
}

static uint64_t
tuner_count(struct reading *rd, const json_t *j, const char *key, double max)
{
	if (!json_is_integer(json_object_get(j, key)))
		tuner_complain(rd, key, "expected a whole number");
	return (uint64_t)tuner_number(rd, j, key, 0, max);
}

static const json_t *
tuner_list(struct reading *rd, const json_t *j, const char *key, size_t max)
{
	const json_t *v = json_object_get(j, key);
	char want[80];

	if (!json_is_array(v) || json_array_size(v) > max) {
		snprintf(want, sizeof(want),
		    "expected a list of at most %zu members", max);
		tuner_complain(rd, key, want);
	}
	return v;
}

static void
tuner_row_parse(struct reading *rd, const json_t *j, struct tuner *t)
{
	const json_t *ways = tuner_list(rd, j, "ways", t->fits.count + 1);
	uint64_t k = tuner_count(rd, j, "class", TUNER_CLASSES - 1);
	struct tuner_row *r = &t->rows[k];

	r->transfers = tuner_count(rd, j, "transfers", COUNT_MAX);
	r->last_bytes = tuner_count(rd, j, "last_bytes", COUNT_MAX);
	r->direct = member_bool(j, "direct");
	r->since = (uint32_t)tuner_count(rd, j, "since", UINT32_MAX);
	r->direct_s = tuner_number(rd, j, "direct_s", 0, NUMBER_MAX);
	r->several_s = tuner_number(rd, j, "several_s", 0, NUMBER_MAX);
	if (rd->rc == 0 &&
	    (r->last_bytes == 0 || tuner_class(r->last_bytes) != k))
		tuner_complain(rd, "last_bytes", "outside of the size class");
	for (uint32_t i = 0; rd->rc == 0 && i <= t->fits.count; i++) {
		const json_t *w = json_array_get(ways, i);

		r->line[i].setup_s = tuner_number(rd, w, "setup_s", 0,
		    NUMBER_MAX);
		r->line[i].bytes_per_s = tuner_number(rd, w, "bytes_per_s",
		    1e-9, NUMBER_MAX);
		r->chunks[i] = (uint32_t)tuner_count(rd, w, "chunks",
		    t->chunks_max);
		r->carried[i] = tuner_count(rd, w, "carried_bytes", COUNT_MAX);
	}
}

static void
tuner_pair_parse(struct reading *rd, const json_t *j, struct tuner_table *tt)
{
	uint32_t src = (uint32_t)tuner_count(rd, j, "src", UINT32_MAX);
	uint32_t dst = (uint32_t)tuner_count(rd, j, "dst", UINT32_MAX);
	const json_t *rows = tuner_list(rd, j, "rows", TUNER_CLASSES);
	struct tuner *t = tuner_table_get(tt, src, dst);
	const json_t *fits = json_object_get(j, "fits");
	const json_t *d = json_object_get(fits, "direct");
	const json_t *staged = tuner_list(rd, fits, "staged",
	    TUNER_PATHS_MAX - 1);
	struct paths_links *f = &t->fits;

	memset(t, 0, sizeof(*t));
	t->chunks_max = (uint32_t)tuner_number(rd, j, "chunks_max", 1,
	    PATHS_CHUNKS_MAX);
	f->direct.setup_s = tuner_number(rd, d, "setup_s", 0, NUMBER_MAX);
	f->direct.bytes_per_s = tuner_number(rd, d, "bytes_per_s", 1,
	    NUMBER_MAX);
	for (size_t i = 0; rd->rc == 0 && i < json_array_size(staged); i++) {
		const json_t *s = json_array_get(staged, i);
		struct paths_staged *h = &f->staged[f->count++];

		h->setup_s = tuner_number(rd, s, "setup_s", 0, NUMBER_MAX);
		h->chunk_s = tuner_number(rd, s, "chunk_s", 0, NUMBER_MAX);
		h->in_per_s = tuner_number(rd, s, "in_bytes_per_s", 1,
		    NUMBER_MAX);
		h->out_per_s = tuner_number(rd, s, "out_bytes_per_s", 1,
		    NUMBER_MAX);
	}
	for (size_t i = 0; rd->rc == 0 && i < json_array_size(rows); i++)
		tuner_row_parse(rd, json_array_get(rows, i), t);
}

int
tuner_parse(struct tuner_table *tt, const char *path, const char *text,
    size_t text_bytes, struct err *err)
{
	struct reading rd = { path, err, 0 };
	struct tuner_table got = { .count = 0 };
	const char *format, *of;
	const json_t *pairs;
	json_error_t error;
	json_t *j = json_loadb(text, text_bytes, JSON_REJECT_DUPLICATES,
	    &error);

	snprintf(got.machine, sizeof(got.machine), "%s", tt->machine);
	if (j == NULL)
		return err_set(err, -EPROTO, "%.160s:%d: %.*s", path,
		    error.line, (int)strcspn(error.text, "\n"), error.text);
	format = member_text_or(j, "format", NULL);
	of = member_text_or(j, "machine", NULL);
	pairs = tuner_list(&rd, j, "pairs", TUNER_PAIRS_MAX);
	if (format == NULL || strcmp(format, FORMAT) != 0)
		tuner_complain(&rd, "format", "is not " FORMAT);
	if (tuner_count(&rd, j, "version", 1e6) != VERSION)
		tuner_complain(&rd, "version", "is not 1");
	if (of == NULL)
		tuner_complain(&rd, "machine", "is missing");
	if (rd.rc == 0 && strcmp(of, got.machine) != 0)
		rd.rc = err_set(err, -ESTALE,
		    "%.160s: measured on machine %.60s, but this machine is "
		    "%.60s: remove the file to measure again",
		    path, of, got.machine);
	for (size_t i = 0; rd.rc == 0 && i < json_array_size(pairs); i++)
		tuner_pair_parse(&rd, json_array_get(pairs, i), &got);
	json_decref(j);
	if (rd.rc < 0) {
		tuner_table_clear(&got);
		return rd.rc;
	}
	tuner_table_clear(tt);
	*tt = got; /* handed over */
	return 0;
}

int
tuner_load(struct tuner_table *tt, const char *path, struct err *err)
{
	char *text;
	size_t n;
	int rc = file_read(path, BYTES_MAX, &text, &n, err);

	if (rc < 0)
		return rc;
	rc = tuner_parse(tt, path, text, n, err);
	free(text);
	return rc;
}
