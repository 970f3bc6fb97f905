/* SPDX-License-Identifier: Apache-2.0 */
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

/* ---- tune ---- */

/* What is tried. */
struct shape {
	uint32_t factors[COMPOSE_LEVELS_MAX];
	uint32_t levels;
	uint32_t stripe, ring, depth;
	enum plan_via across, within;
};

struct tuning {
	const struct conf *c;
	struct machine fit;
	uint32_t ranks, node; /* all, and of a node */
	struct shape *shapes; /* as the rows */
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

static void
word_add(const struct conf *c, struct strbuf *sb, const char *key,
    const char *value)
{
	if (!conf_given(c, SECTION, key))
		strbuf_addf(sb, "%s%s=%s", sb->len_bytes > 0 ? " " : "", key,
		    value);
}

static void
word_add_number(const struct conf *c, struct strbuf *sb, const char *key,
    uint32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	word_add(c, sb, key, text);
}

/* The shape as words, but for what was given. */
static char *
shape_words(const struct tuning *tg, const struct shape *s)
{
	struct strbuf sb = { 0 }, factors = { 0 }, vias = { 0 };
	uint32_t size = tg->ranks;

	for (uint32_t i = 0; i < s->levels; i++) {
		strbuf_addf(&factors, "%s%u", i > 0 ? "," : "", s->factors[i]);
		strbuf_addf(&vias, "%s%s", i > 0 ? "," : "",
		    plan_vias[size > tg->node ? s->across : s->within]);
		size /= s->factors[i];
	}
	word_add(tg->c, &sb, "hierarchy", factors.text);
	word_add_number(tg->c, &sb, "stripe", s->stripe);
	word_add_number(tg->c, &sb, "ring", s->ring);
	word_add_number(tg->c, &sb, "depth", s->depth);
	if (!conf_given(tg->c, SECTION, "hierarchy"))
		word_add(tg->c, &sb, "via", vias.text);
	strbuf_clear(&factors);
	strbuf_clear(&vias);
	return sb.text != NULL ? sb.text : xstrdup("");
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
is_idle(const struct tuning *tg, const struct shape *s, const char *words)
{
	const struct tune *t = tg->t;

	for (uint32_t i = 0; i < t->count; i++)
		if (strcmp(t->rows[i].words, words) == 0)
			return 1;
	return t->count > 0 &&
	    tg->messages + tg->channel * s->depth > MESSAGES_MAX;
}

/* Predict a shape and keep it. */
static int
attempt(struct tuning *tg, const struct shape *s)
{
	struct tune *t = tg->t;
	char *words = shape_words(tg, s);
	struct predict pr;
	struct plan *p;
	int rc;

	if (is_idle(tg, s, words)) {
		free(words);
		return 0;
	}
	rc = tune_plan(tg->c, words, tg->ranks, &p, tg->err);
	if (rc == 0) {
		tg->messages += (double)p->transfers_count;
		tg->channel = (double)p->transfers_count / s->depth;
		rc = predict_plan(p, &tg->fit, NULL, &pr, tg->err);
		plan_free(p);
	}
	if (rc < 0) {
		free(words);
		return rc;
	}
	t->rows = xreallocarray(t->rows, t->count + 1u, sizeof(*t->rows));
	tg->shapes = xreallocarray(tg->shapes, t->count + 1u,
	    sizeof(*tg->shapes));
	tg->shapes[t->count] = *s;
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
			struct shape s = tg->shapes[k];

			t->rows[k] = t->rows[k - 1];
			tg->shapes[k] = tg->shapes[k - 1];
			t->rows[k - 1] = row;
			tg->shapes[k - 1] = s;
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
shapes_make(const struct tuning *tg, struct shape *s)
{
	const struct machine_via *ipc = &tg->fit.vias[MACHINES_IPC];
	uint32_t nodes = tg->ranks / tg->node, n = 0;
	struct shape own = { .stripe = 1,
		.ring = 1,
		.depth = 1,
		.across = PLAN_VIA_MPI,
		.within = ipc->usable ? PLAN_VIA_IPC : PLAN_VIA_MPI };

	tune_hierarchy(&tg->fit, tg->ranks, own.factors, &own.levels);
	s[n++] = own;
	split_nodes(tg, &own, &s[n++]);
	join_nodes(tg, &own, &s[n++]);
	if (nodes > 1) {
		s[n] = own;
		s[n++].ring = nodes;
	}
	s[n] = own;
	s[n].levels = 1;
	s[n].factors[0] = tg->ranks;
	if (nodes > 1)
		s[n].within = PLAN_VIA_MPI;
	return n + 1;
}

static int
attempt_shapes(struct tuning *tg)
{
	static const uint32_t depths[] = { 1, 8 };
	struct shape shapes[SHAPES_MAX];
	uint32_t count = shapes_make(tg, shapes);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < count; i++)
		for (uint32_t k = 0; rc == 0 && k < 4; k++) {
			shapes[i].stripe = k / 2 ? tg->node : 1;
			shapes[i].depth = depths[k % 2];
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
	struct shape first[FIRST];
	uint32_t count = tg->t->count < FIRST ? tg->t->count : FIRST;
	int rc = 0;

	memcpy(first, tg->shapes, count * sizeof(*first));
	for (uint32_t i = 0; i < count * VIAS_MAX * VIAS_MAX; i++) {
		struct shape s = first[i / (VIAS_MAX * VIAS_MAX)];
		uint32_t a = i / VIAS_MAX % VIAS_MAX, w = i % VIAS_MAX;

		if (!vias[a].across || !tg->fit.vias[vias[a].of].usable ||
		    !tg->fit.vias[vias[w].of].usable || s.levels == 1)
			continue;
		s.across = vias[a].via;
		s.within = vias[w].via;
		rc = attempt(tg, &s);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
is_lighter(const struct shape *a, const struct shape *b)
{
	int am = a->within == PLAN_VIA_MPI, bm = b->within == PLAN_VIA_MPI;

	return am != bm ? am < bm : a->stripe < b->stripe;
}

/* Of those that links hold for equal to the best the one with the fewest
 * processes at the network: of what these cost a host prediction knows little.
 */
static struct shape
best_shape(const struct tuning *tg)
{
	const struct tune_row *rows = tg->t->rows;
	struct shape best = tg->shapes[0];

	for (uint32_t i = 1;
	     i < tg->t->count && rows[i].time_s <= EVEN_MAX * rows[0].time_s;
	     i++)
		if (tg->shapes[i].ring == best.ring &&
		    is_lighter(&tg->shapes[i], &best))
			best = tg->shapes[i];
	return best;
}

static int
attempt_depths(struct tuning *tg)
{
	struct shape best = best_shape(tg);
	int rc = 0;

	for (best.depth = 1; rc == 0 && best.depth <= DEEPEST; best.depth *= 2)
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
	free(tg.shapes);
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
