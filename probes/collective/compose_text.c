/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_text.c - a user's own composition, from text.
 *
 * The text is parsed once, for two consumers: the composer, which factorises
 * it, and its meaning, which becomes the promise of the plan. The meaning is
 * computed by direct symbolic execution: block by block, one primitive after
 * the other. check proves that both agree.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/collective/compose_tree.h"
#include "probes/collective/script.h"
#include "probes/pattern/builders.h"
#include "probes/pattern/numbers.h"

#define SECTION     "compose"
#define BUFFERS_MAX 64
#define CELLS_MAX   (64ULL << 20)
#define SOURCES_MAX (256ULL << 20) /* of all sums: 1 GiB */

struct sum {
	size_t first; /* in sources */
	uint32_t count;
};

struct touch {
	uint32_t epoch; /* in which it happened last, from 1 */
	uint8_t wrote;
};

/* A block's value is one number: 0 is unwritten, then the initial blocks in the
 * order of buffer, rank and block, then sums: lists of initial blocks. Between
 * two fences all primitives are concurrent: none may write a block that another
 * one reads or writes. */
struct meaning {
	size_t *first;   /* cell of block 0 of rank 0, by buffer */
	uint64_t *depth; /* blocks of a rank, by buffer */
	size_t cells;
	uint32_t *value; /* by cell */
	struct touch *touch;
	uint32_t epoch;
	struct sum *sums;
	size_t sums_count;
	uint32_t *sources; /* initial blocks, by cell */
	size_t sources_count;
};

struct text {
	const struct conf *c;
	struct plan *p;
	struct compose *composer;
	struct meaning meaning;
	struct compose_shape shape;
	uint32_t root;
	uint64_t count;       /* elements of a block */
	uint64_t block_bytes; /* of them */
	char *steps;
	uint32_t bufs; /* of the user; the composer's follow */
};

/* A block of a buffer. */
struct block {
	uint16_t buf;
	uint64_t at;
};

/* ---- buffers ---- */

static int
compose_text_buffer_known(const struct text *t, const char *name)
{
	for (uint32_t b = 0; b < t->p->bufs_count; b++)
		if (strcmp(t->p->bufs[b].name, name) == 0)
			return (int)b;
	return -ENOENT;
}

/* "send:in:ranks" */
static int
compose_text_buffer_add(struct text *t, char *word)
{
	static const char *const roles
	    [] = { [PLAN_IN] = "in", [PLAN_OUT] = "out", [PLAN_TEMP] = "temp" };
	char *save = NULL, *name = strtok_r(word, ":", &save);
	char *role = strtok_r(NULL, ":", &save);
	char *blocks = strtok_r(NULL, ":", &save);
	uint32_t ranks = t->shape.ranks;
	int64_t n = ranks;
	size_t at = 0;
	uint16_t buf;

	if (blocks == NULL || strtok_r(NULL, ":", &save) != NULL)
		return -EINVAL;
	while (at < ARRAY_LEN(roles) && strcmp(roles[at], role) != 0)
		at++;
	if (at == ARRAY_LEN(roles) || strlen(name) > 31 ||
	    strcmp(name, "temp") == 0 ||
	    compose_text_buffer_known(t, name) >= 0)
		return -EINVAL;
	if (strcmp(blocks, "ranks") != 0 &&
	    str_to_int(blocks, 1, PLAN_RANKS_MAX * 16LL, &n) < 0)
		return -EINVAL;
	if ((double)n * (double)t->block_bytes * ranks > (double)PLAN_BYTES_MAX)
		return -EINVAL;
	buf = plan_buf_add(t->p, name, (enum plan_role)at);
	for (uint32_t r = 0; r < ranks; r++)
		plan_buf_need(t->p, buf, r, (uint64_t)n * t->block_bytes);
	return 0;
}

/* Compute the meaning before the first step. */
static int
compose_text_buffers(struct text *t, struct err *err)
{
	struct meaning *m = &t->meaning;
	size_t count = 0, cells = 0, i;
	char **words = str_list_parse(conf_string(t->c, SECTION, "buffers"),
	    &count);
	int rc = words != NULL && count > 0 && count <= BUFFERS_MAX ? 0
								    : -EINVAL;

	for (i = 0; rc == 0 && i < count; i++)
		rc = compose_text_buffer_add(t, words[i]);
	str_list_free(words);
	if (rc < 0)
		return pattern_refuse(t->c, SECTION, "buffers", err,
		    "up to %d buffers as name:role:blocks, separated by "
		    "commas, with different names; role is in, out or temp; "
		    "blocks is 1 or more, or ranks; the name temp is reserved",
		    BUFFERS_MAX);
	t->bufs = t->p->bufs_count;
	m->first = xcalloc(t->bufs, sizeof(*m->first));
	m->depth = xcalloc(t->bufs, sizeof(*m->depth));
	for (uint32_t b = 0; b < t->bufs && cells <= CELLS_MAX; b++) {
		m->first[b] = cells;
		m->depth[b] = t->p->bufs[b].bytes[0] / t->block_bytes;
		cells += m->depth[b] > CELLS_MAX ? CELLS_MAX + 1
						 : m->depth[b] * t->p->ranks;
	}
	if (cells > CELLS_MAX)
		return pattern_refuse(t->c, SECTION, "buffers", err,
		    "at most 64 Mi blocks, all ranks together");
	m->epoch = 1;
	m->cells = cells;
	m->value = xcalloc(cells, sizeof(*m->value));
	m->touch = xcalloc(cells, sizeof(*m->touch));
	for (uint32_t b = 0; b < t->bufs; b++)
		for (i = m->first[b]; t->p->bufs[b].role == PLAN_IN &&
		     i < m->first[b] + m->depth[b] * t->p->ranks;
		     i++)
			m->value[i] = (uint32_t)i + 1;
	return 0;
}

/* ---- what primitives mean ---- */

static size_t
compose_text_cell(const struct meaning *m, struct block at, uint32_t rank)
{
	return m->first[at.buf] + m->depth[at.buf] * rank + at.at;
}

static int
compose_text_clash(const struct text *t, struct block at, uint32_t rank,
    const char *what, struct err *err)
{
	return err_set(err, -EINVAL,
	    "%s[%llu] of rank %u %s: a fence is missing before this "
	    "primitive",
	    t->p->bufs[at.buf].name, (unsigned long long)at.at, rank, what);
}

static int
compose_text_reads(struct text *t, struct block at, uint32_t rank,
    struct err *err)
{
	struct meaning *m = &t->meaning;
	size_t i = compose_text_cell(m, at, rank);
	struct touch *to = &m->touch[i];

	if (to->epoch == m->epoch && to->wrote)
		return compose_text_clash(t, at, rank,
		    "was written in the same step", err);
	if (m->value[i] == 0)
		return err_set(err, -EINVAL,
		    "%s[%llu] of rank %u is read before it is written",
		    t->p->bufs[at.buf].name, (unsigned long long)at.at, rank);
	*to = (struct touch){ m->epoch, 0 };
	return 0;
}

static int
compose_text_writes(struct text *t, struct block at, uint32_t rank,
    uint32_t value, struct err *err)
{
	struct meaning *m = &t->meaning;
	size_t i = compose_text_cell(m, at, rank);
	struct touch *to = &m->touch[i];

	if (to->epoch == m->epoch)
		return compose_text_clash(t, at, rank,
		    to->wrote ? "is written twice"
			      : "was read in the same step",
		    err);
	*to = (struct touch){ m->epoch, 1 };
	m->value[i] = value;
	return 0;
}

/* Return the number of initial blocks in a value. */
static uint32_t
compose_text_value_count(const struct meaning *m, uint32_t value)
{
	return value > m->cells ? m->sums[value - m->cells - 1].count : 1;
}

static uint32_t
compose_text_value_get(const struct meaning *m, uint32_t value, uint32_t i)
{
	if (value <= m->cells)
		return value - 1;
	return m->sources[m->sums[value - m->cells - 1].first + i];
}

static int
compose_text_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The sources from first on as one value; the same as another sum's where all
 * roots reduce the same. */
static uint32_t
compose_text_sum_close(struct meaning *m, size_t first)
{
	struct sum sum = { first, (uint32_t)(m->sources_count - first) };
	uint32_t *from = m->sources + first;
	const struct sum *last;

	qsort(from, sum.count, sizeof(*from), compose_text_by_number);
	if (sum.count == 1) {
		m->sources_count = first;
		return *from + 1;
	}
	last = m->sums_count > 0 ? &m->sums[m->sums_count - 1] : NULL;
	if (last != NULL && last->count == sum.count &&
	    memcmp(m->sources + last->first, from, sum.count * sizeof(*from)) ==
		0) {
		m->sources_count = first;
	} else {
		m->sums = xmore(m->sums, m->sums_count, sizeof(*m->sums));
		m->sums[m->sums_count++] = sum;
	}
	return (uint32_t)(m->cells + m->sums_count);
}

static int
compose_text_cast_block(struct text *t, const struct script_prim *s,
    struct block from, struct block to, struct err *err)
{
	struct meaning *m = &t->meaning;
	size_t own = compose_text_cell(m, from, s->root);
	int rc = compose_text_reads(t, from, s->root, err);

	for (uint32_t i = 0; i < s->leaves_count && rc == 0; i++)
		if (compose_text_cell(m, to, s->leaves[i]) != own)
			rc = compose_text_writes(t, to, s->leaves[i],
			    m->value[own], err);
	return rc;
}

/* The root may be a leaf in place: it reads before it writes. */
static int
compose_text_reduce_block(struct text *t, const struct script_prim *s,
    struct block from, struct block to, struct err *err)
{
	struct meaning *m = &t->meaning;
	size_t first = m->sources_count,
	       own = compose_text_cell(m, to, s->root);
	int rc = 0, in_place = 0;
	uint32_t value;

	for (uint32_t i = 0; i < s->leaves_count && rc == 0; i++) {
		size_t at = compose_text_cell(m, from, s->leaves[i]);

		rc = compose_text_reads(t, from, s->leaves[i], err);
		value = m->value[at];
		for (uint32_t k = 0;
		     rc == 0 && k < compose_text_value_count(m, value); k++) {
			m->sources = xmore(m->sources, m->sources_count,
			    sizeof(*m->sources));
			m->sources[m->sources_count++] =
			    compose_text_value_get(m, value, k);
		}
		in_place |= at == own;
	}
	if (rc == 0 && m->sources_count > SOURCES_MAX)
		rc = err_set(err, -EINVAL,
		    "the sums have more than %llu inputs",
		    (unsigned long long)SOURCES_MAX);
	if (rc < 0)
		return rc;
	value = compose_text_sum_close(m, first);
	if (in_place)
		m->touch[own].epoch = 0;
	return compose_text_writes(t, to, s->root, value, err);
}

/* ---- primitives ---- */

static int
compose_text_find_block(const struct text *t, const struct script_place *from,
    uint64_t blocks, struct block *ret, struct err *err)
{
	int buf = compose_text_buffer_known(t, from->buffer);
	uint64_t have;

	if (buf < 0 || (uint32_t)buf >= t->bufs)
		return err_set(err, -EINVAL,
		    "unknown buffer %s: compose.buffers is %s", from->buffer,
		    conf_string(t->c, SECTION, "buffers"));
	have = t->meaning.depth[buf];
	if (from->block < 0 || blocks > have ||
	    (uint64_t)from->block > have - blocks)
		return err_set(err, -EINVAL,
		    "%s[%lld] with %llu blocks is outside of the buffer, which "
		    "has %llu",
		    from->buffer, (long long)from->block,
		    (unsigned long long)blocks, (unsigned long long)have);
	*ret = (struct block){ (uint16_t)buf, (uint64_t)from->block };
	return 0;
}

static int
compose_text_take(void *arg, const struct script_prim *s, struct err *err)
{
	struct text *t = arg;
	struct compose_prim prim = { .kind = s->kind,
		.root = s->root,
		.leaves = s->leaves,
		.leaves_count = s->leaves_count,
		.count = s->blocks * t->count };
	struct block from, to;
	int rc = 0;

	if (s->kind == COMPOSE_FENCE) {
		compose_add(t->composer, &prim);
		t->meaning.epoch++;
		return 0;
	}
	rc = compose_text_find_block(t, &s->from, s->blocks, &from, err);
	if (rc == 0)
		rc = compose_text_find_block(t, &s->to, s->blocks, &to, err);
	if (rc < 0)
		return rc;
	prim.from = (struct plan_place){ from.at * t->block_bytes, from.buf };
	prim.to = (struct plan_place){ to.at * t->block_bytes, to.buf };
	compose_add(t->composer, &prim);
	for (uint64_t k = 0; k < s->blocks && rc == 0; k++, from.at++, to.at++)
		rc = s->kind == COMPOSE_MULTICAST
		    ? compose_text_cast_block(t, s, from, to, err)
		    : compose_text_reduce_block(t, s, from, to, err);
	return rc;
}

/* Promise the final contents of a block. Consecutive ranks with the same value
 * share a promise. */
static void
compose_text_promise_block(struct text *t, struct block at)
{
	const struct meaning *m = &t->meaning;
	uint32_t ranks = t->p->ranks, end;

	for (uint32_t r = 0; r < ranks; r = end) {
		size_t i = compose_text_cell(m, at, r);
		uint32_t value = m->value[i], n;
		struct plan_promise pr = { .to = at.buf,
			.to_off = at.at * t->block_bytes,
			.bytes = t->block_bytes,
			.type = (uint8_t)t->shape.type };
		struct plan_source *from;

		for (end = r + 1; end < ranks; end++)
			if (m->value[compose_text_cell(m, at, end)] != value)
				break;
		if (value == 0 || value == i + 1) /* its own: unchanged */
			continue;
		n = compose_text_value_count(m, value);
		pr.op = n == 1 ? PLAN_COPY : (uint8_t)t->shape.op;
		from = xcalloc(n, sizeof(*from));
		for (uint32_t k = 0; k < n; k++) {
			uint32_t in = compose_text_value_get(m, value, k),
				 b = 0;

			while (b + 1 < t->bufs && m->first[b + 1] <= in)
				b++;
			in -= (uint32_t)m->first[b];
			from[k].buf = (uint16_t)b;
			from[k].off = in % m->depth[b] * t->block_bytes;
			from[k].lo = (uint32_t)(in / m->depth[b]);
			from[k].hi = from[k].lo + 1;
		}
		plan_promise_add(t->p, &pr, &(struct plan_span){ r, end }, 1,
		    from, n);
		free(from);
	}
}

/* ---- the builder ---- */

static int
compose_text_options(struct text *t, const struct pattern_site *site,
    struct err *err)
{
	const char *path = conf_string(t->c, SECTION, "file");
	const char *steps = conf_string(t->c, SECTION, "steps");
	size_t len;
	int rc;

	if ((path[0] != '\0') == (steps[0] != '\0'))
		return pattern_refuse(t->c, SECTION, "steps", err,
		    "primitives, or compose.file, but not both");
	rc = compose_options(t->c, SECTION, site, &t->shape, err);
	if (rc < 0)
		return rc;
	t->root = (uint32_t)conf_int(t->c, SECTION, "root");
	if (t->root >= t->shape.ranks)
		return pattern_refuse(t->c, SECTION, "root", err, "0 to %u",
		    t->shape.ranks - 1);
	t->count = (uint64_t)conf_int(t->c, SECTION, "count");
	t->block_bytes = t->count * plan_types[t->shape.type].bytes;
	if (path[0] != '\0')
		return file_read(path, NUMBERS_FILE_MAX, &t->steps, &len, err);
	t->steps = xstrdup(steps);
	return 0;
}

static int
compose_text_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	const char *path = conf_string(c, SECTION, "file");
	struct text t = { .c = c };
	struct script_ask ask = { .take = compose_text_take, .arg = &t };
	int rc = compose_text_options(&t, site, err);
	struct err text;
	char *title;

	if (rc < 0)
		return rc;
	title = pattern_title(c, SECTION);
	t.p = plan_new(t.shape.ranks, title);
	free(title);
	rc = compose_text_buffers(&t, err);
	if (rc == 0) {
		t.composer = compose_new(t.p, &t.shape);
		ask.text = t.steps;
		ask.ranks = t.shape.ranks;
		ask.root = t.root;
		rc = script_run(&ask, &text);
		/* an error in the text begins with its place */
		if (rc < 0)
			err_say(err, "%s: %s",
			    path[0] != '\0' ? path
					    : conf_where(c, SECTION, "steps"),
			    text.text);
	}
	if (rc == 0) {
		compose_build(t.composer);
		for (uint32_t b = 0; b < t.bufs; b++)
			for (uint64_t k = 0; t.p->bufs[b].role != PLAN_TEMP &&
			     k < t.meaning.depth[b];
			     k++)
				compose_text_promise_block(&t,
				    (struct block){ (uint16_t)b, k });
		plan_note_add(t.p, "footprint", "bytes", plan_volume(t.p));
		plan_sort(t.p);
		*ret = t.p;
	} else {
		plan_free(t.p);
	}
	compose_free(t.composer);
	free(t.meaning.first);
	free(t.meaning.depth);
	free(t.meaning.value);
	free(t.meaning.touch);
	free(t.meaning.sums);
	free(t.meaning.sources);
	free(t.steps);
	return rc;
}

const struct pattern pattern_compose = {
	.name = SECTION,
	.text = "A composition of multicasts, reductions and fences, written "
		"as text.",
	.build = compose_text_build,
};
