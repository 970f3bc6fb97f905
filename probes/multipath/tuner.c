/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/multipath/tuner.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* Why each: docs/algorithms-neighbor-multipath.md, section 4.4, where they were
 * tried under noise. */
#define GAIN          0.5  /* of a new rate */
#define JUMP          0.3  /* more than this is a change, not noise */
#define SHARE_MIN     0.02 /* less is not worth the launches */
#define SHARE_MAX     0.9
#define EXPLORE_EVERY 32
#define EXPLORE_TIMES 3
#define EXPLORE_GAIN  0.03
#define REPROBE_EVERY 256
#define WORTH_A_LOOK  0.7 /* of what a staged way costs */
/* Several ways must save as much. The document has 3 %; with 2 % what the gate
 * gives away stays below what is promised, 3 % of the optimum. */
#define GATE 0.98

const char *const tuner_whys[TUNER_WHY_MAX] = {
	[TUNER_MODEL] = "model",
	[TUNER_FOLLOW] = "follow",
	[TUNER_EXPLORE] = "explore",
	[TUNER_DIRECT] = "direct",
	[TUNER_REPROBE] = "reprobe",
	[TUNER_FROZEN] = "frozen",
};

void
tuner_init(struct tuner *t, const struct tuner_fits *fits, uint32_t chunks_max)
{
	assert(fits->count < TUNER_WAYS_MAX && chunks_max >= 1);
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

static void
all_direct(struct tuner_choice *c)
{
	memset(c->share, 0, sizeof(c->share));
	memset(c->chunks, 0, sizeof(c->chunks));
	c->share[0] = 1;
}

/* The ways that a row uses, as paths_fill wants them; their number. */
static uint32_t
ways_used(const struct tuner *t, const struct tuner_row *row,
    struct paths_direct *ret_ways, uint32_t *ret_which)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= t->fits.count; i++)
		if (i == 0 || row->chunks[i] > 0) {
			ret_which[n] = i;
			ret_ways[n++] = row->line[i];
		}
	return n;
}

/* What to expect of so many bytes, and how to share them. */
static double
fill(const struct tuner *t, const struct tuner_row *row, uint64_t bytes,
    double *ret_share)
{
	struct paths_direct ways[TUNER_WAYS_MAX];
	uint32_t which[TUNER_WAYS_MAX], n = ways_used(t, row, ways, which);
	double carried[TUNER_WAYS_MAX];
	double s = paths_fill(ways, n, (double)bytes, carried);

	memset(ret_share, 0, TUNER_WAYS_MAX * sizeof(*ret_share));
	for (uint32_t k = 0; k < n; k++)
		ret_share[which[k]] = carried[k] / (double)bytes;
	return s;
}

static void
expect(const struct tuner *t, struct tuner_row *row, uint64_t bytes)
{
	double share[TUNER_WAYS_MAX];

	row->last_bytes = bytes;
	row->direct_s = paths_direct_s(&row->line[0], (double)bytes);
	row->several_s = fill(t, row, bytes, share);
}

/* A class that is new: the closed form. Where that finds nothing worth while,
 * but staged ways cost little more than the whole message, they are looked at
 * once: the fits may be off by as much. */
static void
start_row(const struct tuner *t, struct tuner_row *row, uint64_t bytes)
{
	const struct tuner_fits *f = &t->fits;
	struct paths_split s;

	paths_split_many(&f->direct, f->staged, f->count, (double)bytes,
	    t->chunks_max, &s);
	memset(row, 0, sizeof(*row));
	row->line[0] = f->direct;
	row->direct = s.share <= 0;
	for (uint32_t i = 0; i < f->count; i++) {
		uint32_t c = s.chunks[i] > 0 ? s.chunks[i] : 1;

		row->line[i + 1] = paths_line(&f->staged[i], c);
		row->chunks[i + 1] = s.chunks[i];
		if (row->direct &&
		    s.direct_s > WORTH_A_LOOK * row->line[i + 1].setup_s)
			row->since = REPROBE_EVERY;
	}
	expect(t, row, bytes);
}

/* As the lines say, within bounds: what a way carries is also how it is
 * watched. */
static void
shares_follow(const struct tuner *t, const struct tuner_row *row,
    uint64_t bytes, struct tuner_choice *c)
{
	int look = row->transfers % REPROBE_EVERY == 0;
	double staged = 0;

	fill(t, row, bytes, c->share);
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

/* Something for every way, to see what it does now: half of the closed form.
 */
static void
shares_probe(const struct tuner *t, uint64_t bytes, struct tuner_choice *c)
{
	const struct tuner_fits *f = &t->fits;
	double n = (double)bytes, left = 1;
	struct paths_split s;

	paths_split_many(&f->direct, f->staged, f->count, n, t->chunks_max, &s);
	for (uint32_t i = 1; i <= f->count; i++) {
		c->share[i] = fmax(s.staged[i - 1] / 2, SHARE_MIN);
		c->chunks[i] = paths_chunks(&f->staged[i - 1], c->share[i] * n,
		    t->chunks_max);
		left -= c->share[i];
	}
	c->share[0] = left;
}

static void
explore(struct tuner_row *row, struct tuner_choice *c)
{
	if (row->trying == 0 || c->share[row->trying] <= 0)
		return;
	c->why = TUNER_EXPLORE;
	c->chunks[row->trying] = row->tried;
}

void
tuner_choose(struct tuner *t, uint64_t bytes, struct tuner_choice *ret)
{
	struct tuner_row *row = &t->rows[tuner_class(bytes)];

	assert(bytes > 0);
	memset(ret, 0, sizeof(*ret));
	ret->why = row->transfers > 0 ? TUNER_FOLLOW : TUNER_MODEL;
	if (row->transfers == 0)
		start_row(t, row, bytes);
	all_direct(ret);
	if (!row->direct) {
		shares_follow(t, row, bytes, ret);
		if (!t->frozen)
			explore(row, ret);
	} else if (!t->frozen && t->fits.count > 0 &&
	    row->since >= REPROBE_EVERY) {
		ret->why = TUNER_REPROBE;
		shares_probe(t, bytes, ret);
	} else {
		ret->why = TUNER_DIRECT;
	}
	if (t->frozen)
		ret->why = TUNER_FROZEN;
	expect(t, row, bytes);
	ret->direct_s = row->direct_s;
	ret->expected_s = row->direct ? row->direct_s : row->several_s;
}

/* Towards x, or there at once; 1 if it jumped. */
static int
approach(double *value, double x)
{
	if (fabs(*value - x) > JUMP * x) {
		*value = x;
		return 1;
	}
	*value += GAIN * (x - *value);
	return 0;
}

/* One more transfer of a way: what it cost, or how fast it was, whichever took
 * longer; 1 if that is a change of the link. */
static int
line_learn(struct paths_direct *l, uint64_t bytes, double s)
{
	double moving_s = (double)bytes / l->bytes_per_s;

	if (moving_s < l->setup_s && s > moving_s) {
		approach(&l->setup_s, s - moving_s);
		return 0;
	}
	if (l->setup_s > s / 2) /* it never cost as much */
		l->setup_s = s / 2;
	return approach(&l->bytes_per_s, (double)bytes / (s - l->setup_s));
}

/* Start to try twice or half the chunks of one way after the other. */
static void
explore_start(const struct tuner *t, struct tuner_row *row)
{
	uint32_t turn = (uint32_t)(row->transfers / EXPLORE_EVERY);
	uint32_t way = 1 + turn / 2 % t->fits.count;
	uint32_t c = row->chunks[way];
	uint32_t other = turn % 2 == 0 ? 2 * c : c / 2;

	if (other > t->chunks_max)
		other = t->chunks_max;
	if (c == 0 || other == 0 || other == c)
		return;
	row->trying = way;
	row->tried = other;
	row->looks = 0;
	row->best_s = INFINITY;
}

/* With as many chunks the line is another. */
static void
chunks_change(const struct tuner *t, struct tuner_row *row, uint32_t way,
    uint32_t chunks)
{
	const struct paths_staged *h = &t->fits.staged[way - 1];
	struct paths_direct was, is = paths_line(h, chunks);
	struct paths_direct *l = &row->line[way];

	if (row->chunks[way] == 0) {
		*l = is;
	} else {
		was = paths_line(h, row->chunks[way]);
		l->setup_s = fmax(0, l->setup_s + is.setup_s - was.setup_s);
		l->bytes_per_s *= is.bytes_per_s / was.bytes_per_s;
	}
	row->chunks[way] = chunks;
}

/* Its own time counts, against what its line says of as many bytes, since all
 * ways end together as long as the shares are those of the old chunks. The
 * least of three: noise only ever adds time. */
static void
explore_learn(const struct tuner *t, struct tuner_row *row,
    const struct tuner_seen *seen)
{
	uint32_t way = row->trying;
	double usual_s = paths_direct_s(&row->line[way],
	    (double)seen->bytes[way]);

	row->best_s = fmin(row->best_s, seen->s[way] / usual_s);
	if (++row->looks < EXPLORE_TIMES)
		return;
	if (row->best_s < 1 - EXPLORE_GAIN)
		chunks_change(t, row, way, row->tried);
	row->trying = 0;
}

static void
decide(const struct tuner *t, struct tuner_row *row)
{
	int was = (int)row->direct;

	row->direct = row->several_s > GATE * row->direct_s;
	if (was != (int)row->direct)
		row->since = 0;
	if (!row->direct && row->trying == 0 && t->fits.count > 0 &&
	    row->transfers % EXPLORE_EVERY == 0)
		explore_start(t, row);
}

/* All ways that carried something. A change of a link ends an exploration:
 * what was usual is no more. */
static void
lines_learn(const struct tuner *t, struct tuner_row *row,
    const struct tuner_choice *c, const struct tuner_seen *seen)
{
	uint32_t trying = c->why == TUNER_EXPLORE ? row->trying : 0;
	int changed = 0;

	for (uint32_t i = 0; i <= t->fits.count; i++) {
		if (seen->bytes[i] == 0 || !(seen->s[i] > 0))
			continue;
		if (i > 0 && i == trying)
			continue;
		if (i > 0 && c->chunks[i] != row->chunks[i])
			chunks_change(t, row, i, c->chunks[i]);
		changed |= line_learn(&row->line[i], seen->bytes[i],
		    seen->s[i]);
	}
	if (changed)
		row->trying = 0;
	else if (trying > 0 && seen->bytes[trying] > 0)
		explore_learn(t, row, seen);
}

void
tuner_learn(struct tuner *t, uint64_t bytes, const struct tuner_choice *c,
    const struct tuner_seen *seen)
{
	struct tuner_row *row = &t->rows[tuner_class(bytes)];
	uint64_t staged = 0;

	for (uint32_t i = 0; i <= t->fits.count; i++) {
		row->carried[i] += seen->bytes[i];
		staged += i > 0 ? seen->bytes[i] : 0;
	}
	row->transfers++;
	if (t->frozen)
		return;
	row->since = c->why == TUNER_REPROBE ? 0 : row->since + 1;
	lines_learn(t, row, c, seen);
	expect(t, row, bytes);
	if (staged > 0)
		decide(t, row);
}

void
tuner_lose(struct tuner *t, uint64_t bytes, uint32_t way)
{
	struct tuner_row *row = &t->rows[tuner_class(bytes)];
	uint32_t left = 0;

	assert(way >= 1 && way <= t->fits.count);
	row->chunks[way] = 0;
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
