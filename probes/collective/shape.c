/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.c - which shapes of a composition are predicted, in which order, and
 * the one text that a shape has.
 */
#include "probes/collective/shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/collective/hierarchy.h"
#include "probes/pattern/builders.h"
#include "probes/predict/predict.h"
#include "probes/topology/machine_path.h"
#include "schema/options.h"

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

/* ---- shapes ---- */

static void
shape_word_add(struct strbuf *sb, const char *key)
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

	if (s->exchange != ROUNDS_OFF)
		strbuf_addf(&sb, "exchange=%s", rounds_kinds[s->exchange]);
	if (s->form != NULL) {
		shape_word_add(&sb, "form");
		strbuf_addf(&sb, "%s", s->form);
	}
	if (s->levels > 0)
		shape_word_add(&sb, "hierarchy");
	for (uint32_t i = 0; i < s->levels; i++)
		strbuf_addf(&sb, "%s%u", i > 0 ? "," : "", s->factors[i]);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (numbers[i].value > 0) {
			shape_word_add(&sb, numbers[i].key);
			strbuf_addf(&sb, "%u", numbers[i].value);
		}
	if (s->vias_count > 0)
		shape_word_add(&sb, "via");
	for (uint32_t i = 0; i < s->vias_count; i++)
		strbuf_addf(&sb, "%s%s", i > 0 ? "," : "",
		    plan_vias[s->vias[i]]);
	if (s->piece_bytes > 0) {
		int whole = s->piece_bytes % 1024 == 0;

		shape_word_add(&sb, "piece");
		strbuf_addf(&sb, "%llu%s",
		    (unsigned long long)s->piece_bytes / (whole ? 1024 : 1),
		    whole ? "K" : "");
	}
	return sb.text != NULL ? sb.text : xstrdup("");
}

/* ---- plans of words ---- */

/* Write the given options, except those that are chosen here. */
static int
shape_words_given(const struct conf *c, char **words)
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

char *
shape_asked(const struct conf *c)
{
	char *words[WORDS_MAX];
	int n = shape_words_given(c, words);
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

/* All ranks that there are, or as many as c asks for. */
static struct pattern_site
shape_site_for(const struct conf *c, const struct pattern_site *site)
{
	struct pattern_site at = *site;

	if (at.ranks == 0)
		at.ranks = (uint32_t)conf_int(c, SECTION, "ranks");
	return at;
}

int
shape_plan(const struct pattern *pt, const struct conf *c, const char *text,
    const struct pattern_site *site, struct plan **ret, struct err *err)
{
	char *words[WORDS_MAX], *copy = xstrdup(text), *save = NULL;
	int n = shape_words_given(c, words), given_count = n, rc;
	struct pattern_site at = shape_site_for(c, site);
	struct conf *all;

	for (char *w = strtok_r(copy, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	rc = pattern_options(pt, words, n, &all, err);
	if (rc == 0) {
		rc = pattern_build(pt, all, &at, ret, err);
		conf_free(all);
	}
	for (int i = 0; i < given_count; i++)
		free(words[i]);
	free(copy);
	return rc;
}

/* ---- tune ---- */

/* A candidate: levels across nodes and levels within a node, each with a
 * transport. */
struct candidate {
	struct shape shape;
	enum plan_via across, within;
	struct shape_row row;
};

struct tuning {
	const struct pattern *pattern;
	const struct conf *c;
	struct pattern_site site;
	struct machine fit;
	uint32_t node; /* ranks of one */
	struct candidate *tried;
	uint32_t count;
	double messages; /* of the plans so far */
	double channel;  /* of the last one's channel */
	struct err *err;
};

/* Predict a shape and keep it, unless it gives the same options as another, or
 * the time is over. */
static int
shape_attempt(struct tuning *tg, const struct candidate *cd)
{
	struct shape_row row = { .shape = cd->shape };
	uint32_t size = tg->site.ranks;
	uint32_t depth = cd->shape.depth > 0 ? cd->shape.depth : 1;
	struct shape *s = &row.shape;
	struct predict pr;
	struct plan *p;
	int idle, rc = 0;

	for (uint32_t i = 0; i < s->levels; i++) {
		s->vias[i] = size > tg->node ? cd->across : cd->within;
		size /= s->factors[i];
	}
	/* given options are not chosen here */
	s->vias_count = conf_given(tg->c, SECTION, "via") ? 0 : s->levels;
	if (conf_given(tg->c, SECTION, "hierarchy"))
		s->levels = s->vias_count = 0;
	if (conf_given(tg->c, SECTION, "stripe"))
		s->stripe = 0;
	if (conf_given(tg->c, SECTION, "ring"))
		s->ring = 0;
	if (conf_given(tg->c, SECTION, "depth"))
		s->depth = 0;
	if (conf_given(tg->c, SECTION, "exchange"))
		s->exchange = ROUNDS_OFF;
	row.words = shape_print(s);
	idle = tg->count > 0 &&
	    tg->messages + tg->channel * depth > MESSAGES_MAX;
	for (uint32_t i = 0; i < tg->count; i++)
		idle |= strcmp(tg->tried[i].row.words, row.words) == 0;
	if (!idle)
		rc = shape_plan(tg->pattern, tg->c, row.words, &tg->site, &p,
		    tg->err);
	if (!idle && rc == 0) {
		tg->messages += (double)p->transfers_count;
		tg->channel = (double)p->transfers_count / depth;
		rc = predict_plan(p, &tg->fit, NULL, &pr, tg->err);
		plan_free(p);
	}
	if (idle || rc < 0) {
		free(row.words);
		return rc;
	}
	row.time_s = (double)pr.total_ps / 1e12;
	predict_clear(&pr);
	tg->tried = xreallocarray(tg->tried, tg->count + 1u,
	    sizeof(*tg->tried));
	tg->tried[tg->count] = *cd;
	tg->tried[tg->count++].row = row;
	return 0;
}

/* The fastest to the front, those that were tried first among equals. */
static void
shape_rank_tried(struct tuning *tg)
{
	for (uint32_t i = 1; i < tg->count; i++) {
		struct candidate cd = tg->tried[i];
		uint32_t k = i;

		for (; k > 0 && cd.row.time_s < tg->tried[k - 1].row.time_s;
		     k--)
			tg->tried[k] = tg->tried[k - 1];
		tg->tried[k] = cd;
	}
}

/* The inside of nodes as it is, all nodes as prime factors or as one. */
static struct shape
shape_nodes_as(const struct tuning *tg, const struct shape *from, int primes)
{
	uint32_t size = tg->site.ranks;
	struct shape to = *from;

	to.levels = 0;
	if (!primes)
		hierarchy_add(to.factors, &to.levels, size / tg->node);
	for (uint32_t i = 0; i < from->levels; i++) {
		uint32_t left = from->factors[i];
		int across = size > tg->node;

		for (uint32_t x = 2; across && primes && x < left; x++)
			while (left % x == 0 && left > x) {
				hierarchy_add(to.factors, &to.levels, x);
				left /= x;
			}
		if (!across || primes)
			hierarchy_add(to.factors, &to.levels, left);
		size /= from->factors[i];
	}
	return to.levels > 0 ? to : *from;
}

/* The machine's own hierarchy, in one piece. */
static struct candidate
shape_own(const struct tuning *tg)
{
	struct candidate own = {
		.shape = { .stripe = 1, .ring = 1, .depth = 1 },
		.across = PLAN_VIA_MPI,
		.within = tg->fit.vias[MACHINES_IPC].usable ? PLAN_VIA_IPC
							    : PLAN_VIA_MPI
	};

	hierarchy_of(&tg->fit, tg->site.ranks, own.shape.factors,
	    &own.shape.levels);
	return own;
}

/* The kind of exchange that is given, or all of them, in every form. They have
 * few messages, so they come before compositions, which may have too many for
 * more than one. */
static int
shape_attempt_exchanges(struct tuning *tg)
{
	/* besides the default */
	static const char *const forms[] = { NULL, "single",
		"allgather.scatter", "gather.reduce-scatter",
		"broadcast.gather", "scatter.reduce", "broadcast.reduce" };
	int by_form = conf_given(tg->c, SECTION, "form");
	int is_allreduce = conf_is(tg->c, SECTION, "name", "allreduce");
	struct candidate cd = shape_own(tg);
	int rc = 0;

	for (int kind = ROUNDS_OFF; kind < ROUNDS_KINDS; kind++)
		for (size_t i = 0; rc == 0 && i < ARRAY_LEN(forms); i++) {
			int pairs = kind != ROUNDS_OFF;

			if ((i > 0 && by_form) || (i == 0 && !pairs) ||
			    (i == 1 && !is_allreduce) ||
			    (conf_given(tg->c, SECTION, "exchange") &&
				!conf_is(tg->c, SECTION, "exchange",
				    rounds_kinds[kind])))
				continue;
			cd.shape.exchange = (enum rounds_kind)kind;
			cd.shape.form = forms[i];
			cd.shape.stripe = cd.shape.ring = cd.shape.depth =
			    !pairs;
			rc = shape_attempt(tg, &cd);
			/* not of this collective, unless it was given */
			if (rc == -EINVAL &&
			    (i > 0 || !conf_given(tg->c, SECTION, "exchange")))
				rc = 0;
		}
	return rc;
}

static int
shape_is_composed(const struct tuning *tg)
{
	return !conf_given(tg->c, SECTION, "exchange") ||
	    conf_is(tg->c, SECTION, "exchange", rounds_kinds[ROUNDS_OFF]);
}

/* Try the machine's own hierarchy and similar ones, with and without stripes,
 * and a pipeline. */
static int
shape_attempt_shapes(struct tuning *tg)
{
	static const uint32_t depths[] = { 1, 8 };
	uint32_t nodes = tg->site.ranks / tg->node, n = 0;
	struct candidate cd[SHAPES_MAX], own = shape_own(tg);
	int rc = 0;

	if (!shape_is_composed(tg))
		return 0;
	cd[n++] = own;
	cd[n] = own;
	cd[n++].shape = shape_nodes_as(tg, &own.shape, 1);
	cd[n] = own;
	cd[n++].shape = shape_nodes_as(tg, &own.shape, 0);
	if (nodes > 1) {
		cd[n] = own;
		cd[n++].shape.ring = nodes;
	}
	cd[n] = own;
	cd[n].shape.levels = 1;
	cd[n].shape.factors[0] = tg->site.ranks;
	if (nodes > 1)
		cd[n].within = PLAN_VIA_MPI;
	for (uint32_t i = 0; rc == 0 && i <= n; i++)
		for (uint32_t k = 0; rc == 0 && k < 4; k++) {
			cd[i].shape.stripe = k / 2 ? tg->node : 1;
			cd[i].shape.depth = depths[k % 2];
			rc = shape_attempt(tg, &cd[i]);
		}
	return rc;
}

/* Other transports of the first few. */
static int
shape_attempt_vias(struct tuning *tg)
{
	static const struct {
		enum plan_via via;
		enum machines_via of;
		int across;
	} vias[VIAS_MAX] = { { PLAN_VIA_MPI, MACHINES_MPI, 1 },
		{ PLAN_VIA_XCCL, MACHINES_XCCL, 1 },
		{ PLAN_VIA_IPC, MACHINES_IPC, 0 } };
	struct candidate first[2 * FIRST];
	uint32_t count = 0, of[2] = { 0 };
	int rc = 0;

	/* the first compositions, and the first exchanges */
	for (uint32_t i = 0; i < tg->count; i++)
		if (of[tg->tried[i].shape.exchange != ROUNDS_OFF]++ < FIRST)
			first[count++] = tg->tried[i];
	for (uint32_t i = 0; rc == 0 && i < count * VIAS_MAX * VIAS_MAX; i++) {
		struct candidate cd = first[i / (VIAS_MAX * VIAS_MAX)];
		uint32_t a = i / VIAS_MAX % VIAS_MAX, w = i % VIAS_MAX;

		if (!vias[a].across || !tg->fit.vias[vias[a].of].usable ||
		    !tg->fit.vias[vias[w].of].usable || cd.shape.levels == 1)
			continue;
		cd.across = vias[a].via;
		cd.within = vias[w].via;
		rc = shape_attempt(tg, &cd);
	}
	return rc;
}

/* All depths of a composition, of those that links hold for equal to the best
 * the one with the fewest processes at the network: of what these cost a host
 * prediction knows little. */
static int
shape_attempt_depths(struct tuning *tg)
{
	const struct candidate *cd = tg->tried;
	uint32_t first = 0;
	struct candidate best;
	int rc = 0;

	while (first < tg->count && cd[first].shape.exchange != ROUNDS_OFF)
		first++;
	if (first == tg->count)
		return 0;
	best = cd[first];
	for (uint32_t i = first + 1; i < tg->count &&
	     cd[i].row.time_s <= EVEN_MAX * cd[first].row.time_s;
	     i++) {
		int by_mpi = cd[i].within == PLAN_VIA_MPI;
		int best_by_mpi = best.within == PLAN_VIA_MPI;

		if (cd[i].shape.ring == best.shape.ring &&
		    cd[i].shape.exchange == ROUNDS_OFF &&
		    cd[i].shape.form == best.shape.form &&
		    (by_mpi != best_by_mpi
			    ? by_mpi < best_by_mpi
			    : cd[i].shape.stripe < best.shape.stripe))
			best = cd[i];
	}
	for (best.shape.depth = 1; rc == 0 && best.shape.depth <= DEEPEST;
	     best.shape.depth *= 2)
		rc = shape_attempt(tg, &best);
	return rc;
}

int
shape_choose(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct shape_list *ret, struct err *err)
{
	static int (*const attempts[])(struct tuning *
	    tg) = { shape_attempt_exchanges, shape_attempt_shapes,
		shape_attempt_vias, shape_attempt_depths };
	struct tuning tg = { .pattern = pt,
		.c = c,
		.site = shape_site_for(c, site),
		.err = err };
	uint32_t ranks = tg.site.ranks;
	const struct machine *m;
	struct machine *own;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (ranks == 0) {
		pattern_refuse(c, SECTION, "tune", err,
		    "a value other than auto, or a known number of ranks "
		    "(--ranks)");
		return -ENODATA; /* a run says how many */
	}
	rc = hierarchy_machine(c, &tg.site, &m, &own, err);
	if (rc < 0)
		return rc;
	if (m->unrated)
		rc = pattern_refuse(c, SECTION, "machine", err,
		    "a described machine (coalmine-machine(5)), such as lab: "
		    "tune = auto without a run needs its rates");
	tg.fit = machine_fit(m, ranks);
	tg.node = ranks % tg.fit.ranks == 0 ? tg.fit.ranks : 1;
	if (ranks < tg.fit.ranks)
		tg.node = ranks;
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(attempts); i++) {
		rc = attempts[i](&tg);
		shape_rank_tried(&tg);
	}
	ret->machine = xstrdup(m->name);
	ret->rows = xcalloc(tg.count + 1u, sizeof(*ret->rows));
	for (; ret->count < tg.count; ret->count++)
		ret->rows[ret->count] = tg.tried[ret->count].row;
	free(tg.tried);
	machine_free(own);
	if (rc < 0)
		shape_clear(ret);
	return rc;
}

void
shape_clear(struct shape_list *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->rows[i].words);
	free(t->rows);
	free(t->machine);
	memset(t, 0, sizeof(*t));
}

int
shape_build(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct plan **ret, struct err *err)
{
	struct shape_list t;
	int rc = shape_choose(pt, c, site, &t, err);

	if (rc < 0)
		return rc;
	rc = shape_plan(pt, c, t.rows[0].words, site, ret, err);
	shape_clear(&t);
	return rc;
}
