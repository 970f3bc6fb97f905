/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.c - which shapes of a composition are predicted, in which order, and
 * the one text that a shape has.
 */
#include "probes/collective/tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/builders.h"
#include "probes/predict/predict.h"
#include "schema/patterns.h"

#define SECTION    "collective"
#define WORDS_MAX  40
#define SHAPES_MAX 6
#define VIAS_MAX   3
#define FIRST      3 /* shapes whose transports are tried */
#define DEEPEST    128
#define EVEN_MAX   1.02 /* of the best prediction */
/* Messages of all plans that are tried, some seconds' worth: a job of hundreds
 * of ranks must not wait for minutes until it may run. */
#define MESSAGES_MAX 4e6

/* The process asks for one thing at a time. */
static const struct machine *given;
static uint32_t given_nodes = 1;

void
tune_set_machine(const struct machine *m)
{
	given = m;
}

void
tune_set_nodes(uint32_t nodes)
{
	given_nodes = nodes > 0 ? nodes : 1;
}

/* ---- hierarchy ---- */

/* Ranks of a node in groups of size: inside each, all are nearer to each
 * other than any is to another group. */
static int
groups_near(const struct machine *m, uint32_t count, uint32_t size)
{
	double inside = 1e300, outside = -1;

	for (uint32_t a = 0; a < count; a++)
		for (uint32_t b = 0; b < count; b++) {
			double near = machine_nearness(m,
			    machine_rank_vertex(m, a),
			    machine_rank_vertex(m, b));

			if (a / size == b / size && near < inside)
				inside = near;
			if (a / size != b / size && near > outside)
				outside = near;
		}
	return inside > outside;
}

static void
factor_add(uint32_t *factors, uint32_t *levels, uint32_t factor)
{
	if (factor > 1 && *levels < COMPOSE_LEVELS_MAX)
		factors[(*levels)++] = factor;
}

static void
factors_inside(const struct machine *m, uint32_t count, uint32_t *factors,
    uint32_t *levels)
{
	uint32_t left = count;

	for (uint32_t size = count / 2; size > 1; size--)
		if (left % size == 0 && groups_near(m, count, size)) {
			factor_add(factors, levels, left / size);
			left = size;
		}
	factor_add(factors, levels, left);
}

void
tune_hierarchy(const struct machine *m, uint32_t ranks,
    uint32_t factors[COMPOSE_LEVELS_MAX], uint32_t *ret_levels)
{
	struct machine fit = machine_fit(m, ranks);
	uint32_t nodes = machine_nodes(&fit, ranks), leaf = fit.leaf_nodes;
	uint32_t inside = ranks < fit.ranks ? ranks : fit.ranks;
	uint32_t levels = 0;

	if (ranks % inside != 0) { /* the last node is not full */
		inside = 1;
		nodes = ranks;
		leaf = 0;
	}
	if (leaf > 0 && nodes > leaf && nodes % leaf == 0) {
		factor_add(factors, &levels, nodes / leaf);
		nodes = leaf;
	}
	factor_add(factors, &levels, nodes);
	factors_inside(&fit, inside, factors, &levels);
	if (levels == 0)
		factors[levels++] = 1;
	*ret_levels = levels;
}

/* The machine for which a section chooses; *ret_own must be freed. */
static int
machine_for(const struct conf *c, uint32_t ranks, const struct machine **ret,
    struct machine **ret_own, struct err *err)
{
	const char *name = conf_string(c, SECTION, "machine");
	struct err text;

	*ret_own = NULL;
	if (name[0] == '\0' && given != NULL) {
		*ret = given;
		return 0;
	}
	if (name[0] != '\0') {
		if (machine_load(name, NULL, 0, ret_own, &text) < 0)
			return err_set(err, -EINVAL, "%s: %s.machine: %s",
			    conf_where(c, SECTION, "machine"), SECTION,
			    text.text);
	} else if (machine_discover("", (ranks - 1) / given_nodes + 1,
		       strcmp(conf_string(c, "measure", "device"), "host") != 0,
		       ret_own) < 0) {
		return pattern_refuse(c, SECTION, "machine", err,
		    "a machine: there are too many ranks for the one we are "
		    "on");
	}
	*ret = *ret_own;
	return 0;
}

int
tune_auto(const struct conf *c, const char *section, uint32_t ranks,
    uint32_t factors[COMPOSE_LEVELS_MAX], uint32_t *ret_levels, struct err *err)
{
	const struct machine *m;
	struct machine *own;
	int rc;

	if (ranks == 0)
		return pattern_refuse(c, section, "hierarchy", err,
		    "auto only for a known number of ranks");
	rc = machine_for(c, ranks, &m, &own, err);
	if (rc < 0)
		return rc;
	tune_hierarchy(m, ranks, factors, ret_levels);
	machine_free(own);
	return 0;
}

/* ---- shapes ---- */

static void
word_add(struct strbuf *sb, const char *key)
{
	strbuf_addf(sb, "%s%s=", sb->len_bytes > 0 ? " " : "", key);
}

char *
shape_print(const struct shape *s)
{
	const struct {
		const char *key;
		uint32_t value;
	} numbers[] = { { "stripe", s->stripe }, { "ring", s->ring },
		{ "depth", s->depth } };
	struct strbuf sb = { 0 };

	if (s->levels > 0)
		word_add(&sb, "hierarchy");
	for (uint32_t i = 0; i < s->levels; i++)
		strbuf_addf(&sb, "%s%u", i > 0 ? "," : "", s->factors[i]);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (numbers[i].value > 0) {
			word_add(&sb, numbers[i].key);
			strbuf_addf(&sb, "%u", numbers[i].value);
		}
	if (s->vias_count > 0)
		word_add(&sb, "via");
	for (uint32_t i = 0; i < s->vias_count; i++)
		strbuf_addf(&sb, "%s%s", i > 0 ? "," : "",
		    plan_vias[s->vias[i]]);
	if (s->piece_bytes > 0) {
		int whole = s->piece_bytes % 1024 == 0;

		word_add(&sb, "piece");
		strbuf_addf(&sb, "%llu%s",
		    (unsigned long long)s->piece_bytes / (whole ? 1024 : 1),
		    whole ? "K" : "");
	}
	return sb.text != NULL ? sb.text : xstrdup("");
}

/* One word, which may be spoilt. */
static int
shape_word(char *word, struct shape *s)
{
	char *value = strchr(word, '='), *save = NULL;
	int64_t n = 0;

	if (value == NULL)
		return -EINVAL;
	*value++ = '\0';
	if (strcmp(word, "hierarchy") == 0 || strcmp(word, "via") == 0) {
		uint32_t *count = word[0] == 'h' ? &s->levels : &s->vias_count;

		for (char *item = strtok_r(value, ",", &save); item != NULL;
		     item = strtok_r(NULL, ",", &save)) {
			int via;

			if (*count == COMPOSE_LEVELS_MAX)
				return -EINVAL;
			if (word[0] == 'h') {
				if (str_to_int(item, 1, UINT32_MAX, &n) < 0)
					return -EINVAL;
				s->factors[(*count)++] = (uint32_t)n;
				continue;
			}
			via = plan_via_find(item);
			if (via < 0)
				return -EINVAL;
			s->vias[(*count)++] = (enum plan_via)via;
		}
		return 0;
	}
	if (strcmp(word, "piece") == 0) {
		size_t len = strlen(value);
		int kib = len > 0 && value[len - 1] == 'K';

		if (kib)
			value[len - 1] = '\0';
		if (str_to_int(value, 1, INT64_MAX / 1024, &n) < 0)
			return -EINVAL;
		s->piece_bytes = (uint64_t)n * (kib ? 1024 : 1);
		return 0;
	}
	if (str_to_int(value, 1, UINT32_MAX, &n) < 0)
		return -EINVAL;
	if (strcmp(word, "stripe") == 0)
		s->stripe = (uint32_t)n;
	else if (strcmp(word, "ring") == 0)
		s->ring = (uint32_t)n;
	else if (strcmp(word, "depth") == 0)
		s->depth = (uint32_t)n;
	else
		return -EINVAL;
	return 0;
}

int
shape_parse(const char *words, struct shape *ret)
{
	char *copy = xstrdup(words), *save = NULL;
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	for (char *w = strtok_r(copy, " ", &save); rc == 0 && w != NULL;
	     w = strtok_r(NULL, " ", &save))
		rc = shape_word(w, ret);
	free(copy);
	return rc;
}

/* ---- tune ---- */

/* What is tried: levels that lie across nodes, and those within one, each by
 * a transport. */
struct candidate {
	struct shape shape;
	enum plan_via across, within;
};

struct tuning {
	const struct conf *c;
	struct machine fit;
	uint32_t ranks, node;    /* all, and of a node */
	struct candidate *tried; /* as the rows */
	struct tune *t;
	double messages; /* of the plans so far */
	double channel;  /* of the last one's channel */
	struct err *err;
};

/* Words of what c was given, but for what is chosen here. */
static int
words_given(const struct conf *c, char **words)
{
	static const char *const ours[] = { "tune", "ranks", "table" };
	int n = 0;

	for (const struct conf_row *r = options_patterns; r->key != NULL; r++) {
		int skip = strcmp(r->section, SECTION) != 0 ||
		    !conf_given(c, SECTION, r->key);

		for (size_t i = 0; !skip && i < ARRAY_LEN(ours); i++)
			skip = strcmp(ours[i], r->key) == 0;
		if (!skip)
			words[n++] = xasprintf("%s=%s", r->key,
			    conf_string(c, SECTION, r->key));
	}
	return n;
}

/* The shape as words, but for what was given. */
static char *
candidate_words(const struct tuning *tg, const struct candidate *cd)
{
	struct shape s = cd->shape;
	uint32_t size = tg->ranks;

	for (uint32_t i = 0; i < s.levels; i++) {
		s.vias[i] = size > tg->node ? cd->across : cd->within;
		size /= s.factors[i];
	}
	s.vias_count = conf_given(tg->c, SECTION, "via") ? 0 : s.levels;
	if (conf_given(tg->c, SECTION, "hierarchy"))
		s.levels = s.vias_count = 0;
	if (conf_given(tg->c, SECTION, "stripe"))
		s.stripe = 0;
	if (conf_given(tg->c, SECTION, "ring"))
		s.ring = 0;
	if (conf_given(tg->c, SECTION, "depth"))
		s.depth = 0;
	return shape_print(&s);
}

char *
tune_asked(const struct conf *c)
{
	char *words[WORDS_MAX];
	int n = words_given(c, words);
	struct strbuf sb = { 0 };

	strbuf_addf(&sb, "%s", SECTION);
	for (int i = 0; i < n; i++) {
		if (strncmp(words[i], "count=", 6) != 0 &&
		    strncmp(words[i], "machine=", 8) != 0)
			strbuf_addf(&sb, " %s", words[i]);
		free(words[i]);
	}
	return sb.text; /* handed over */
}

int
tune_plan(const struct conf *c, const char *text, uint32_t ranks,
    struct plan **ret, struct err *err)
{
	char *words[WORDS_MAX], *copy = xstrdup(text), *save = NULL;
	int n = words_given(c, words), given_count = n, rc;

	for (char *w = strtok_r(copy, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	rc = pattern_plan(SECTION, words, n, ranks, ret, err);
	for (int i = 0; i < given_count; i++)
		free(words[i]);
	free(copy);
	return rc;
}

/* Twice the same words, or more than there is time for. */
static int
is_idle(const struct tuning *tg, uint32_t depth, const char *words)
{
	const struct tune *t = tg->t;

	for (uint32_t i = 0; i < t->count; i++)
		if (strcmp(t->rows[i].words, words) == 0)
			return 1;
	return t->count > 0 &&
	    tg->messages + tg->channel * depth > MESSAGES_MAX;
}

/* Predict a shape and keep it. */
static int
attempt(struct tuning *tg, const struct candidate *cd)
{
	struct tune *t = tg->t;
	char *words = candidate_words(tg, cd);
	uint32_t depth = cd->shape.depth;
	struct predict pr;
	struct plan *p;
	int rc;

	if (is_idle(tg, depth, words)) {
		free(words);
		return 0;
	}
	rc = tune_plan(tg->c, words, tg->ranks, &p, tg->err);
	if (rc == 0) {
		tg->messages += (double)p->transfers_count;
		tg->channel = (double)p->transfers_count / depth;
		rc = predict_plan(p, &tg->fit, NULL, &pr, tg->err);
		plan_free(p);
	}
	if (rc < 0) {
		free(words);
		return rc;
	}
	t->rows = xreallocarray(t->rows, t->count + 1u, sizeof(*t->rows));
	tg->tried = xreallocarray(tg->tried, t->count + 1u, sizeof(*tg->tried));
	tg->tried[t->count] = *cd;
	t->rows[t->count++] = (struct tune_row){ words,
		(double)pr.total_ps / 1e12 };
	predict_clear(&pr);
	return 0;
}

/* The fastest rows to the front, those that were tried first among equals. */
static void
rank_rows(struct tuning *tg)
{
	struct tune *t = tg->t;

	for (uint32_t i = 1; i < t->count; i++)
		for (uint32_t k = i;
		     k > 0 && t->rows[k].time_s < t->rows[k - 1].time_s; k--) {
			struct tune_row row = t->rows[k];
			struct candidate cd = tg->tried[k];

			t->rows[k] = t->rows[k - 1];
			tg->tried[k] = tg->tried[k - 1];
			t->rows[k - 1] = row;
			tg->tried[k - 1] = cd;
		}
}

/* Nodes as prime factors, the inside as it is. */
static void
split_nodes(const struct tuning *tg, const struct shape *from, struct shape *to)
{
	uint32_t size = tg->ranks;

	*to = *from;
	to->levels = 0;
	for (uint32_t i = 0; i < from->levels; i++) {
		uint32_t left = from->factors[i];

		for (uint32_t x = 2; size > tg->node && x < left; x++)
			while (left % x == 0 && left > x) {
				factor_add(to->factors, &to->levels, x);
				left /= x;
			}
		factor_add(to->factors, &to->levels, left);
		size /= from->factors[i];
	}
	if (to->levels == 0)
		*to = *from;
}

/* All nodes as one factor, the inside as it is. */
static void
join_nodes(const struct tuning *tg, const struct shape *from, struct shape *to)
{
	uint32_t size = tg->ranks;

	*to = *from;
	to->levels = 0;
	factor_add(to->factors, &to->levels, tg->ranks / tg->node);
	for (uint32_t i = 0; i < from->levels; i++) {
		if (size <= tg->node)
			factor_add(to->factors, &to->levels, from->factors[i]);
		size /= from->factors[i];
	}
	if (to->levels == 0)
		*to = *from;
}

/* The shapes to begin with; how many. */
static uint32_t
shapes_make(const struct tuning *tg, struct candidate *cd)
{
	const struct machine_via *ipc = &tg->fit.vias[MACHINES_IPC];
	uint32_t nodes = tg->ranks / tg->node, n = 0;
	struct candidate own = {
		.shape = { .stripe = 1, .ring = 1, .depth = 1 },
		.across = PLAN_VIA_MPI,
		.within = ipc->usable ? PLAN_VIA_IPC : PLAN_VIA_MPI
	};

	tune_hierarchy(&tg->fit, tg->ranks, own.shape.factors,
	    &own.shape.levels);
	cd[n++] = own;
	cd[n] = own;
	split_nodes(tg, &own.shape, &cd[n++].shape);
	cd[n] = own;
	join_nodes(tg, &own.shape, &cd[n++].shape);
	if (nodes > 1) {
		cd[n] = own;
		cd[n++].shape.ring = nodes;
	}
	cd[n] = own;
	cd[n].shape.levels = 1;
	cd[n].shape.factors[0] = tg->ranks;
	if (nodes > 1)
		cd[n].within = PLAN_VIA_MPI;
	return n + 1;
}

static int
attempt_shapes(struct tuning *tg)
{
	static const uint32_t depths[] = { 1, 8 };
	struct candidate shapes[SHAPES_MAX];
	uint32_t count = shapes_make(tg, shapes);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < count; i++)
		for (uint32_t k = 0; rc == 0 && k < 4; k++) {
			shapes[i].shape.stripe = k / 2 ? tg->node : 1;
			shapes[i].shape.depth = depths[k % 2];
			rc = attempt(tg, &shapes[i]);
		}
	return rc;
}

static int
attempt_vias(struct tuning *tg)
{
	static const struct {
		enum plan_via via;
		enum machines_via of;
		int across;
	} vias[VIAS_MAX] = { { PLAN_VIA_MPI, MACHINES_MPI, 1 },
		{ PLAN_VIA_XCCL, MACHINES_XCCL, 1 },
		{ PLAN_VIA_IPC, MACHINES_IPC, 0 } };
	struct candidate first[FIRST];
	uint32_t count = tg->t->count < FIRST ? tg->t->count : FIRST;
	int rc = 0;

	memcpy(first, tg->tried, count * sizeof(*first));
	for (uint32_t i = 0; i < count * VIAS_MAX * VIAS_MAX; i++) {
		struct candidate cd = first[i / (VIAS_MAX * VIAS_MAX)];
		uint32_t a = i / VIAS_MAX % VIAS_MAX, w = i % VIAS_MAX;

		if (!vias[a].across || !tg->fit.vias[vias[a].of].usable ||
		    !tg->fit.vias[vias[w].of].usable || cd.shape.levels == 1)
			continue;
		cd.across = vias[a].via;
		cd.within = vias[w].via;
		rc = attempt(tg, &cd);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* All depths, of those that links hold for equal to the best the one with the
 * fewest processes at the network: of what these cost a host prediction knows
 * little. */
static int
attempt_depths(struct tuning *tg)
{
	const struct tune_row *rows = tg->t->rows;
	struct candidate best = tg->tried[0];
	int rc = 0;

	for (uint32_t i = 1;
	     i < tg->t->count && rows[i].time_s <= EVEN_MAX * rows[0].time_s;
	     i++) {
		const struct candidate *cd = &tg->tried[i];
		int by_mpi = cd->within == PLAN_VIA_MPI;
		int best_by_mpi = best.within == PLAN_VIA_MPI;

		if (cd->shape.ring == best.shape.ring &&
		    (by_mpi != best_by_mpi
			    ? by_mpi < best_by_mpi
			    : cd->shape.stripe < best.shape.stripe))
			best = *cd;
	}
	for (best.shape.depth = 1; rc == 0 && best.shape.depth <= DEEPEST;
	     best.shape.depth *= 2)
		rc = attempt(tg, &best);
	return rc;
}

static int
tune_search(struct tuning *tg)
{
	int rc = attempt_shapes(tg);

	rank_rows(tg);
	if (rc == 0)
		rc = attempt_vias(tg);
	rank_rows(tg);
	if (rc == 0)
		rc = attempt_depths(tg);
	rank_rows(tg);
	return rc;
}

int
tune_choose(const struct conf *c, uint32_t ranks, struct tune *ret,
    struct err *err)
{
	uint32_t asked = (uint32_t)conf_int(c, SECTION, "ranks");
	struct tuning tg = { .c = c,
		.ranks = ranks > 0 ? ranks : asked,
		.t = ret,
		.err = err };
	const struct machine *m;
	struct machine *own;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (tg.ranks == 0)
		return pattern_refuse(c, SECTION, "tune", err,
		    "auto only for a known number of ranks");
	rc = machine_for(c, tg.ranks, &m, &own, err);
	if (rc < 0)
		return rc;
	if (m->unrated)
		rc = pattern_refuse(c, SECTION, "machine", err,
		    "a described machine (coalmine-machine(5)), such as "
		    "lab, where tune is auto and nothing is run");
	tg.fit = machine_fit(m, tg.ranks);
	tg.node = tg.ranks % tg.fit.ranks == 0 ? tg.fit.ranks : 1;
	if (tg.ranks < tg.fit.ranks)
		tg.node = tg.ranks;
	ret->machine = xstrdup(m->name);
	if (rc == 0)
		rc = tune_search(&tg);
	free(tg.tried);
	machine_free(own);
	if (rc < 0)
		tune_clear(ret);
	return rc;
}

void
tune_clear(struct tune *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->rows[i].words);
	free(t->rows);
	free(t->machine);
	memset(t, 0, sizeof(*t));
}

int
tune_build(const struct conf *c, uint32_t ranks, struct plan **ret,
    struct err *err)
{
	uint32_t asked = (uint32_t)conf_int(c, SECTION, "ranks");
	struct tune t;
	int rc = tune_choose(c, ranks, &t, err);

	if (rc < 0)
		return rc;
	rc = tune_plan(c, t.rows[0].words, ranks > 0 ? ranks : asked, ret, err);
	tune_clear(&t);
	return rc;
}
