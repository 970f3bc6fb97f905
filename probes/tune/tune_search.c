/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/tune/tune_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"

#define KINDS_MAX   4
#define NEAR_MAX    1.1  /* of the best prediction */
#define EVEN_MAX    1.02 /* likewise, of a kind */
#define DEPTH_FIRST 8
#define DEPTH_MAX   1024
/* Below what most MPIs send on TCP without a rendezvous, whose answers would
 * stand in the socket behind data that goes the same way. */
#define SHORT_BYTES (60ULL << 10)
#define SHORT_WORD  "60K"
/* Shorter pieces cost a host more than a pipeline gains. */
#define PIECE_MIN_BYTES (8ULL << 10)
/* What is faster by less may be so by chance; and what takes more of the hosts
 * loses more when they do something else in between. */
#define GAIN_MIN       0.02
#define GAIN_HEAVY_MIN 0.05

void
tune_search_open(struct tune_search *c, const struct tune *rows, int may_cut)
{
	memset(c, 0, sizeof(*c));
	c->rows = rows;
	c->may_cut = may_cut;
}

void
tune_search_close(struct tune_search *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		free(c->tries[i].words);
	memset(c, 0, sizeof(*c));
}

/* ---- words ---- */

/* Where the value of key stands in words, and how long it is. */
static const char *
value_of(const char *words, const char *key, size_t *ret_len)
{
	size_t n = strlen(key);

	*ret_len = 0;
	for (const char *w = words; *w != '\0'; w += strspn(w, " ")) {
		size_t len = strcspn(w, " ");

		if (len > n && strncmp(w, key, n) == 0 && w[n] == '=') {
			*ret_len = len - n - 1;
			return w + n + 1;
		}
		w += len;
	}
	return NULL;
}

/* Both have the same, or neither has any. */
static int
same(const char *a, const char *b, const char *key)
{
	size_t an = 0, bn = 0;
	const char *x = value_of(a, key, &an), *y = value_of(b, key, &bn);

	if (x == NULL || y == NULL)
		return x == y;
	return an == bn && memcmp(x, y, an) == 0;
}

static char *
with(const char *words, const char *key, const char *value, size_t value_len)
{
	size_t len;
	const char *at = value_of(words, key, &len);

	return xasprintf("%.*s%.*s%s", (int)(at - words), words, (int)value_len,
	    value, at + len);
}

static char *
with_number(const char *words, const char *key, unsigned long value)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%lu", value);

	return with(words, key, text, (size_t)n);
}

/* ---- what comes next ---- */

/* Takes words; NULL if they were tried. */
static char *
fresh(const struct tune_search *c, char *words)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (strcmp(c->tries[i].words, words) == 0) {
			free(words);
			return NULL;
		}
	return words;
}

static int
same_kind(const char *a, const char *b)
{
	return same(a, b, "hierarchy") && same(a, b, "ring");
}

/* 0: not there. */
static unsigned long
number_of(const char *words, const char *key)
{
	size_t len;
	const char *at = value_of(words, key, &len);

	return at == NULL ? 0 : strtoul(at, NULL, 10);
}

static unsigned long
depth_of(const char *words)
{
	return number_of(words, "depth");
}

/* Levels that pass through the MPI. */
static unsigned
levels_by_mpi(const char *words)
{
	size_t len;
	const char *at = value_of(words, "via", &len);
	unsigned n = 0;

	for (size_t i = 0; at != NULL && i + 3 <= len; i++)
		n += memcmp(at + i, "mpi", 3) == 0;
	return n;
}

/* Times that the depth is from the first one to try. */
static double
off_depth(const char *words)
{
	unsigned long depth = depth_of(words);

	return depth == 0 ? 1 : fabs(log2((double)depth / DEPTH_FIRST));
}

/* Fewer processes at the network: below 0 for a, above for b. */
static int
compare_weight(const char *a, const char *b)
{
	unsigned am = levels_by_mpi(a), bm = levels_by_mpi(b);
	unsigned long as = number_of(a, "stripe"), bs = number_of(b, "stripe");

	if (am != bm)
		return am < bm ? -1 : 1;
	return (as > bs) - (as < bs);
}

/* Does a take less of a host than b, where links hold both for equal: fewer
 * processes, fewer pieces, but a pipeline? */
static int
is_lighter(const char *a, const char *b)
{
	int weight = compare_weight(a, b);

	return weight != 0 ? weight < 0 : off_depth(a) < off_depth(b);
}

/* Of a kind, whose best row is first, the lightest that is as good. */
static const char *
one_of_kind(const struct tune *t, uint32_t first)
{
	const struct tune_row *best = &t->rows[first];
	const char *words = best->words;

	for (uint32_t i = first + 1; i < t->count; i++) {
		const struct tune_row *row = &t->rows[i];

		if (row->time_s > EVEN_MAX * best->time_s)
			break;
		if (same_kind(row->words, words) &&
		    is_lighter(row->words, words))
			words = row->words;
	}
	return words;
}

static char *
next_kind(const struct tune_search *c)
{
	const struct tune_row *row = c->rows->rows;
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < c->rows->count && kinds < KINDS_MAX; i++) {
		uint32_t k = 0;
		char *words;

		if (row[i].time_s > NEAR_MAX * row[0].time_s)
			break;
		while (k < i && !same_kind(row[k].words, row[i].words))
			k++;
		if (k < i)
			continue;
		kinds++;
		words = fresh(c, xstrdup(one_of_kind(c->rows, i)));
		if (words != NULL)
			return words;
	}
	return NULL;
}

static char *
next_piece(const struct tune_search *c)
{
	size_t len;

	if (!c->may_cut || c->message_bytes <= SHORT_BYTES ||
	    value_of(c->best->words, "piece", &len) != NULL)
		return NULL;
	return fresh(c, xasprintf("%s piece=%s", c->best->words, SHORT_WORD));
}

static char *
next_depth(const struct tune_search *c)
{
	unsigned long depth = depth_of(c->best->words);
	unsigned long next[] = { 2 * depth, depth / 2 };

	for (size_t i = 0; i < ARRAY_LEN(next); i++) {
		char *words;

		if (next[i] < 1 || next[i] > DEPTH_MAX ||
		    (next[i] > depth && c->message_bytes < 2 * PIECE_MIN_BYTES))
			continue;
		words = fresh(c, with_number(c->best->words, "depth", next[i]));
		if (words != NULL)
			return words;
	}
	return NULL;
}

/* At the same length of a piece, which both cut. */
static char *
with_stripe(const char *words, unsigned long stripe)
{
	unsigned long depth = depth_of(words) * number_of(words, "stripe") /
	    stripe;
	char *striped = with_number(words, "stripe", stripe), *ret;

	if (depth_of(words) == 0)
		return striped;
	depth = depth < 1 ? 1 : depth > DEPTH_MAX ? DEPTH_MAX : depth;
	ret = with_number(striped, "depth", depth);
	free(striped);
	return ret;
}

static char *
next_stripe(const struct tune_search *c)
{
	const char *best = c->best->words;

	for (uint32_t i = 0; i < c->rows->count; i++) {
		const char *row = c->rows->rows[i].words;
		unsigned long stripe = number_of(row, "stripe");
		char *words;

		if (stripe == 0 || !same_kind(row, best))
			continue;
		words = fresh(c, with_stripe(best, stripe));
		if (words != NULL)
			return words;
	}
	return NULL;
}

/* What rows of this kind have there besides. */
static char *
next_via(const struct tune_search *c)
{
	for (uint32_t i = 0; i < c->rows->count; i++) {
		const char *row = c->rows->rows[i].words, *at;
		size_t len;
		char *words;

		at = value_of(row, "via", &len);
		if (at == NULL || !same_kind(row, c->best->words))
			continue;
		words = fresh(c, with(c->best->words, "via", at, len));
		if (words != NULL)
			return words;
	}
	return NULL;
}

static char *
next_words(const struct tune_search *c)
{
	static char *(*const steps[])(
	    const struct tune_search *) = { next_piece, next_depth, next_stripe,
		next_via };
	char *words = next_kind(c);

	for (size_t i = 0;
	     c->best != NULL && words == NULL && i < ARRAY_LEN(steps); i++)
		words = steps[i](c);
	return words;
}

const char *
tune_search_next(struct tune_search *c)
{
	struct tune_search_try *t = &c->tries[c->count];

	if (c->count == TUNE_SEARCH_TRIES_MAX)
		return NULL;
	t->words = next_words(c);
	if (t->words == NULL)
		return NULL;
	c->count++;
	t->predicted_s = t->seconds = NAN;
	for (uint32_t i = 0; i < c->rows->count; i++)
		if (strcmp(c->rows->rows[i].words, t->words) == 0)
			t->predicted_s = c->rows->rows[i].time_s;
	return t->words;
}

static int
is_better(const struct tune_search *c, const struct tune_search_try *t)
{
	double gain = GAIN_MIN;

	if (c->best == NULL)
		return 1;
	if (compare_weight(c->best->words, t->words) < 0)
		gain = GAIN_HEAVY_MIN;
	return t->seconds < (1 - gain) * c->best->seconds;
}

void
tune_search_tell(struct tune_search *c, double seconds, uint64_t message_bytes)
{
	struct tune_search_try *t = &c->tries[c->count - 1];

	t->seconds = seconds;
	if (!isfinite(seconds) || !is_better(c, t))
		return;
	c->best = t;
	c->message_bytes = message_bytes;
}
