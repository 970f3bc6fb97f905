/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latest.c - small tables, because the words in them are of schema/names.h:
 * a record of an unknown test is none of ours and changes nothing.
 *
 * Scores come from the phases without congestors of ours: under congestion a
 * node's numbers tell where it sits among the congestors, not how well it is.
 */
#include "daemon/series/latest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "common/member.h"
#include "schema/record.h"
#include "schema/scores.h"

#define TESTS_MAX      (2 * CANARY_MAX * PHASE_MAX) /* two classes */
#define IMPACTS_MAX    (2 * CANARY_MAX)             /* mean and p99 */
#define SPEEDUPS_MAX   8                            /* orders and baselines */
#define MULTIPATHS_MAX 16                           /* classes of pairs */
#define NODES_MAX      65536
#define PEERS_MIN      4 /* fewer nodes have no typical one among them */
#define SIGMA_FLOOR                                                            \
	0.02 /* of the logarithm: 2 %, the histogram's own                     \
		resolution, so equal nodes never score */

struct node_score {
	char run[RECORD_RUN_MAX + 1]; /* the newest that measured the node */
	double z[CANARY_MAX];         /* of that run; NAN: not measured */
};

struct latest {
	struct latest_test tests[TESTS_MAX];
	size_t test_count;
	struct latest_impact impacts[IMPACTS_MAX];
	size_t impact_count;
	struct latest_speedup speedups[SPEEDUPS_MAX];
	size_t speedup_count;
	struct latest_multipath multipaths[MULTIPATHS_MAX];
	size_t multipath_count;
	struct collectives collectives;
	struct deliver deliver;
	json_t *index; /* node: its place in scores */
	struct node_score *scores;
	size_t score_count;
	size_t score_cap;
};

struct latest *
latest_new(void)
{
	struct latest *l = xcalloc(1, sizeof(*l));

	l->index = json_object();
	return l;
}

void
latest_free(struct latest *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->test_count; i++)
		free(l->tests[i].hist);
	json_decref(l->index);
	deliver_clear(&l->deliver);
	free(l->scores);
	free(l);
}

static int
phase_find(const char *name)
{
	for (int i = 0; i < PHASE_MAX; i++)
		if (strcmp(names_phases[i], name) == 0)
			return i;
	return -ENOENT;
}

static struct latest_test *
test_row(struct latest *l, const char *class, enum canary_test test,
    enum phase phase)
{
	struct latest_test *t;

	for (size_t i = 0; i < l->test_count; i++) {
		t = &l->tests[i];
		if (t->test == test && t->phase == phase &&
		    strcmp(t->class, class) == 0)
			return t;
	}
	if (l->test_count == TESTS_MAX || strlen(class) >= sizeof(t->class))
		return NULL;
	t = &l->tests[l->test_count++];
	t->test = test;
	t->phase = phase;
	memcpy(t->class, class, strlen(class) + 1);
	return t;
}

static void
count_up(struct latest_test *t, const json_t *record)
{
	struct hist *h;

	t->records++;
	t->failures += !t->known;
	if (!t->known)
		return;
	h = xcalloc(1, sizeof(*h));
	hist_clear(h);
	if (record_hist_parse(json_object_get(record, "hist"),
		member_number(record, "mean"), member_number(record, "min"),
		member_number(record, "max"), h) < 0) {
		free(h);
	} else if (t->hist == NULL) {
		t->hist = h; /* handed over */
	} else {
		hist_merge(t->hist, h);
		free(h);
	}
}

static void
take_numbers(struct latest_test *t, const json_t *record)
{
	t->p50 = member_number(record, "p50");
	t->p90 = member_number(record, "p90");
	t->p99 = member_number(record, "p99");
	t->p999 = member_number(record, "p999");
	t->mean = member_number(record, "mean");
	t->known = member_number(record, "n") > 0 && isfinite(t->p50);
	t->at_unix_s = (double)clk_unix_ns() / 1e9;
}

static struct node_score *
score_row(struct latest *l, const char *node, const char *run)
{
	json_t *at = json_object_get(l->index, node);
	struct node_score *s;

	if (at == NULL && l->score_count >= NODES_MAX)
		return NULL;
	if (at == NULL) {
		if (l->score_count == l->score_cap) {
			l->score_cap = l->score_cap * 2 + 64;
			l->scores = xreallocarray(l->scores, l->score_cap,
			    sizeof(*l->scores));
		}
		json_object_set_new(l->index, node,
		    json_integer((json_int_t)l->score_count));
		s = &l->scores[l->score_count++];
		s->run[0] = '\0';
	} else {
		s = &l->scores[json_integer_value(at)];
	}
	if (s->run[0] == '\0' || strcmp(s->run, run) != 0) {
		strncpy(s->run, run, sizeof(s->run) - 1);
		s->run[sizeof(s->run) - 1] = '\0';
		for (int i = 0; i < CANARY_MAX; i++)
			s->z[i] = NAN;
	}
	return s;
}

/* What a node's better partners see of it: the quartile of its pairs on the
 * good side. A node with good partners is innocent; a guilty one is slow with
 * everyone (coalmine-output(7)). z is of its logarithm: a share counts the same
 * for fast and slow tests. More seconds are worse, more bytes per second are
 * better. */
static void
score_nodes(struct latest *l, enum canary_test test, const json_t *record)
{
	int sign = strcmp(names_tests[test].unit, "s") == 0 ? 1 : -1;
	struct record_scores all;
	double median, mad, *x;

	record_scores_read(record, sign > 0 ? "q25" : "q75", &all);
	x = xcalloc(all.count + 1, sizeof(*x));
	for (size_t i = 0; i < all.count; i++)
		x[i] = log(all.list[i].q);
	median = robust_median(x, all.count);
	mad = robust_mad(x, all.count, median);
	free(x);
	for (size_t i = 0; all.count >= PEERS_MIN && i < all.count; i++) {
		struct node_score *s = score_row(l, all.list[i].node,
		    member_text(record, "run"));

		if (s != NULL)
			s->z[test] = sign *
			    robust_z(log(all.list[i].q), median, mad,
				SIGMA_FLOOR);
	}
	record_scores_clear(&all);
}

static void
take_canary(struct latest *l, const char *class, const json_t *record,
    int counts)
{
	int test = names_test_find(member_text(record, "test"));
	int phase = phase_find(member_text(record, "phase"));
	struct latest_test *t;

	if (test < 0 || phase < 0)
		return;
	t = test_row(l, class, (enum canary_test)test, (enum phase)phase);
	if (t == NULL)
		return;
	take_numbers(t, record);
	if (counts)
		count_up(t, record);
	if (phase != PHASE_CONGESTED && t->known)
		score_nodes(l, (enum canary_test)test, record);
}

static struct latest_impact *
impact_row(struct latest *l, enum canary_test test, const char *of)
{
	struct latest_impact *row;

	for (size_t i = 0; i < l->impact_count; i++) {
		row = &l->impacts[i];
		if (row->test == test && strcmp(row->of, of) == 0)
			return row;
	}
	if (l->impact_count == IMPACTS_MAX || strlen(of) >= sizeof(row->of))
		return NULL;
	row = &l->impacts[l->impact_count++];
	row->test = test;
	memcpy(row->of, of, strlen(of) + 1);
	return row;
}

static void
take_impact(struct latest *l, const json_t *record)
{
	const json_t *interval = json_object_get(record, "interval");
	int test = names_test_find(member_text(record, "test"));
	const char *of = member_text(record, "of");
	struct latest_impact *row;

	if (test < 0 || (strcmp(of, "mean") != 0 && strcmp(of, "p99") != 0))
		return;
	row = impact_row(l, (enum canary_test)test, of);
	if (row == NULL)
		return;
	row->value = member_number(record, "value");
	row->lo = member_number(interval, "lo");
	row->hi = member_number(interval, "hi");
	row->at_unix_s = (double)clk_unix_ns() / 1e9;
}

static struct latest_speedup *
speedup_row(struct latest *l, const char *order, const char *baseline)
{
	struct latest_speedup *row;

	for (size_t i = 0; i < l->speedup_count; i++) {
		row = &l->speedups[i];
		if (strcmp(row->order, order) == 0 &&
		    strcmp(row->baseline, baseline) == 0)
			return row;
	}
	if (l->speedup_count == SPEEDUPS_MAX)
		return NULL;
	row = &l->speedups[l->speedup_count++];
	memcpy(row->order, order, strlen(order) + 1);
	memcpy(row->baseline, baseline, strlen(baseline) + 1);
	return row;
}

static struct latest_multipath *
multipath_row(struct latest *l, const char *pair_class)
{
	struct latest_multipath *row;

	for (size_t i = 0; i < l->multipath_count; i++)
		if (strcmp(l->multipaths[i].pair_class, pair_class) == 0)
			return &l->multipaths[i];
	if (l->multipath_count == MULTIPATHS_MAX || pair_class[0] == '\0' ||
	    strlen(pair_class) >= sizeof(row->pair_class))
		return NULL;
	row = &l->multipaths[l->multipath_count++];
	memcpy(row->pair_class, pair_class, strlen(pair_class) + 1);
	return row;
}

static void
take_multipath(struct latest *l, const json_t *record)
{
	struct latest_multipath *row = multipath_row(l,
	    member_text(record, "pair_class"));

	if (row == NULL)
		return;
	row->value = member_number(record, "value");
	row->at_unix_s = (double)clk_unix_ns() / 1e9;
}

static void
take_speedup(struct latest *l, const json_t *record)
{
	static const char *const orders[] = { "phased", "dataflow" };
	const char *order = member_text(record, "order");
	const char *baseline = member_text(record, "baseline");
	struct latest_speedup *row;

	if (strcmp(member_text(record, "of"), "multipath") == 0)
		take_multipath(l, record);
	collectives_take(&l->collectives, record);
	if (strcmp(member_text(record, "of"), "neighbor") != 0 ||
	    (strcmp(order, orders[0]) != 0 && strcmp(order, orders[1]) != 0) ||
	    strlen(baseline) >= sizeof(row->baseline))
		return;
	row = speedup_row(l, order, baseline);
	if (row == NULL)
		return;
	row->value = member_number(record, "value");
	row->at_unix_s = (double)clk_unix_ns() / 1e9;
}

static void
take(struct latest *l, const char *class, const json_t *record, int counts)
{
	const char *probe = member_text(record, "probe");

	deliver_take(&l->deliver, record);
	if (strcmp(probe, "canary") == 0)
		take_canary(l, class, record, counts);
	else if (strcmp(probe, "impact") == 0)
		take_impact(l, record);
	else if (strcmp(probe, "speedup") == 0)
		take_speedup(l, record);
}

void
latest_record(struct latest *l, const char *campaign, const char *class,
    const json_t *record)
{
	(void)campaign; /* names are many, classes are two */
	take(l, class, record, 1);
}

void
latest_record_old(struct latest *l, const char *campaign, const char *class,
    const json_t *record)
{
	(void)campaign;
	take(l, class, record, 0);
}

double
latest_node_score(const struct latest *l, const char *node)
{
	const json_t *at = json_object_get(l->index, node);
	const struct node_score *s;
	double worst = NAN;

	if (at == NULL)
		return NAN;
	s = &l->scores[json_integer_value(at)];
	for (int i = 0; i < CANARY_MAX; i++)
		if (isfinite(s->z[i]) && !(worst >= s->z[i]))
			worst = s->z[i];
	return worst;
}

size_t
latest_tests(const struct latest *l, const struct latest_test **ret)
{
	*ret = l->tests;
	return l->test_count;
}

size_t
latest_impacts(const struct latest *l, const struct latest_impact **ret)
{
	*ret = l->impacts;
	return l->impact_count;
}

size_t
latest_speedups(const struct latest *l, const struct latest_speedup **ret)
{
	*ret = l->speedups;
	return l->speedup_count;
}

size_t
latest_multipaths(const struct latest *l, const struct latest_multipath **ret)
{
	*ret = l->multipaths;
	return l->multipath_count;
}

const struct collectives *
latest_collectives(const struct latest *l)
{
	return &l->collectives;
}

const struct deliver *
latest_deliver(const struct latest *l)
{
	return &l->deliver;
}
