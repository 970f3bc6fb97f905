/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - the order of measurements: all nodes together, groups until a slow
 * group is a single node, the slow nodes with good ones for their intervals,
 * single pairs between sets of nodes, and many senders to one receiver.
 */
#include "probes/scan/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bisect.h"
#include "common/clk.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/job/control.h"
#include "probes/scan/groups.h"
#include "probes/scan/scan_judge.h"
#include "schema/options.h"

/* Shares of the time, of each test: with all nodes, in a group, in the
 * confirmation; of a round of single pairs in all. */
#define SHARE_WHOLE   0.1
#define SHARE_GROUP   0.03
#define SHARE_CONFIRM 0.06
#define SHARE_PAIRS   0.02
#define SHARE_INCAST  0.1
#define ROUNDS_WHOLE  6 /* at least, of pairs; in a group: */
#define ROUNDS_GROUP  3
#define GROUPS_MOST   32
#define CONFIRM_ALL   64 /* nodes that are confirmed together; of more: */
#define CONFIRM_GOOD  24 /* good ones with the slow */
#define SETS_MOST     64
#define SETS_ROUNDS   6 /* of single pairs; of two sets: */
#define SETS_TWO      4
#define PROMISE_SHARE 0.85
/* If the scatter of nodes would hide a node that is slower by this factor, all
 * are measured again, for longer. If it still would, no node is called fit. */
#define RESOLUTION_LEAST 2.0
#define BUSY             0.3 /* reported share of the time without a core */

/* Pairs that change, all at once; each test until its time is over. */
static const char campaign[] = "[campaign]\nseed = %llu\n"
			       "[canary]\ntests = bw\npartners = match\n"
			       "share = 1\nrounds_min = 8\nprecision = 0.001\n"
			       "timeout = 5s\nstuck = 10s\n"
			       "[congestor]\nmix = none\n"
			       "[phases]\nquiet = wild\nvisits = 1\n";

static const enum canary_test tests_known[] = { CANARY_LAT, CANARY_BW,
	CANARY_INCAST };

struct scan {
	struct world *w;
	struct settings settings;
	uint64_t start_ns, stop_ns;
	double within_s, expect_per_s;
	struct bisect_options options;
	struct bisect *b;
	struct groups_ask ask; /* the tests of pairs, which judge nodes */
	struct scan_judge_result whole[GROUPS_TESTS_MAX]; /* of them */
	struct scan_judge_typical typical[GROUPS_TESTS_MAX];
	int is_incast; /* is asked for */
	struct scan_judge_result incast;
	double *waits; /* by node: the largest share without a core */
	double *best;  /* by node: the highest rate, bytes per second */
	unsigned char *named;
	unsigned char *behind; /* a slow path, and not slow itself */
	int timely;
	double resolution; /* times slower that would be seen among all */
	json_t *slow, *paths, *below, *notes, *doubtful;
};

static const char *
scan_name(const struct scan *s, int node)
{
	return s->w->names[node];
}

static json_t *
scan_hosts(const struct scan *s, const unsigned char *is_in)
{
	const char **names = xcalloc((size_t)s->w->nodes, sizeof(*names));
	json_t *ret;
	char *text;
	size_t n = 0;

	for (int i = 0; i < s->w->nodes; i++)
		if (is_in[i])
			names[n++] = scan_name(s, i);
	text = hostlist_format(names, n);
	ret = json_string(text);
	free(text);
	free(names);
	return ret;
}

static json_t *
scan_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

/* Of a logarithm. */
static json_t *
scan_interval(const struct scan_judge_interval *iv)
{
	return isfinite(iv->lo)
	    ? json_pack("{s:f, s:f, s:f}", "level", JUDGE_LEVEL, "lo",
		  exp(iv->lo), "hi", exp(iv->hi))
	    : json_null();
}

/* How many times slower, with the interval; of what does not run, null. */
static void
scan_put_times(json_t *o, const struct scan_judge_interval *iv)
{
	json_object_set_new(o, "times", scan_number(exp(iv->mean)));
	json_object_set_new(o, "interval", scan_interval(iv));
}

static double
scan_left_s(const struct scan *s)
{
	return ((double)s->stop_ns - (double)clk_ns()) / (double)CLK_NS_PER_S;
}

/* 1 while a measurement that takes a share of the time can end in time. */
static int
scan_in_time(struct scan *s, double share)
{
	s->timely = s->timely && share * s->within_s <= scan_left_s(s);
	return s->timely;
}

/* Keep of each node the most that it gave and the most that it waited. */
static void
scan_remember(struct scan *s, const struct scan_judge_result *r)
{
	for (size_t i = 0; i < r->nodes_count; i++) {
		const struct scan_judge_node *n = &r->nodes[i];

		s->waits[n->node] = fmax(s->waits[n->node], n->wait_ratio);
		if (r->test == CANARY_BW && n->score > s->best[n->node])
			s->best[n->node] = n->score;
	}
}

/* results: of groups * tests of ask. */
static void
scan_measure(struct scan *s, const struct groups_ask *ask, const int *of_node,
    struct scan_judge_result *results)
{
	groups_measure(s->w, &s->settings, ask, of_node, results);
	for (int i = 0; i < ask->groups * ask->test_count; i++)
		scan_remember(s, &results[i]);
}

/* ---- all, and groups ---- */

/* What all gave becomes what groups are compared with. Returns how many times
 * slower a node has to be to be seen, in bandwidth where that is measured. */
static double
scan_typical(struct scan *s)
{
	s->resolution = INFINITY;
	for (int i = 0; i < s->ask.test_count; i++) {
		const struct scan_judge_typical *t = &s->typical[i];

		scan_judge_typical(&s->whole[i], &s->typical[i]);
		s->resolution = t->known
		    ? exp(bisect_least(&s->options, t->scatter))
		    : INFINITY;
	}
	return s->resolution;
}

/* Return 1 if pairs form sets, between which they are slow: then nodes scatter
 * because of their paths, and more time would not change it. */
static int
scan_has_sets(const struct scan *s)
{
	int *set_of = xcalloc((size_t)s->w->nodes, sizeof(*set_of)), ret = 0;

	for (int i = 0; i < s->ask.test_count; i++)
		ret |= s->typical[i].known &&
		    scan_judge_sets(&s->whole[i], &s->typical[i],
			bisect_least(&s->options, s->typical[i].scatter),
			s->w->nodes, s->named, set_of) > 1;
	free(set_of);
	return ret;
}

static void
scan_hint(struct scan *s, int test)
{
	const struct scan_judge_result *r = &s->whole[test];
	const struct scan_judge_typical *t = &s->typical[test];
	double least = bisect_least(&s->options, t->scatter);

	for (size_t i = 0; t->known && i < r->nodes_count; i++) {
		double x = scan_judge_effect(r, &r->nodes[i], t);
		double doubt = scan_judge_doubt(t, r->nodes[i].wait_ratio);

		if (x > least)
			bisect_hint(s->b, (size_t)r->nodes[i].node,
			    x - doubt > least);
	}
}

static void
scan_hear(struct scan *s, size_t group, const struct scan_judge_result *results)
{
	double effect = NAN, spread = 0, doubt = 0;

	for (int i = 0; i < s->ask.test_count; i++)
		scan_judge_group(&results[i], &s->typical[i], &s->options,
		    &effect, &spread, &doubt);
	bisect_hear(s->b, group, effect, spread, doubt);
}

/* One round of the search: 0 when its time is over. */
static int
scan_round(struct scan *s, const struct bisect_group *groups, size_t count)
{
	int is_whole = bisect_rounds(s->b) == 1;
	struct groups_ask ask = s->ask;
	int *of = xcalloc((size_t)s->w->nodes, sizeof(*of));
	struct scan_judge_result *results = is_whole
	    ? s->whole
	    : xcalloc(count * GROUPS_TESTS_MAX, sizeof(*results));
	double share;
	int in_time;

	ask.groups = (int)count;
	ask.rounds_min = is_whole ? ROUNDS_WHOLE : ROUNDS_GROUP;
	share = (is_whole ? SHARE_WHOLE : SHARE_GROUP) * ask.test_count;
	ask.time_s = share * s->within_s;
	in_time = scan_in_time(s, share);
	for (int i = 0; i < s->w->nodes; i++)
		of[i] = -1;
	for (size_t g = 0; g < count; g++)
		for (size_t i = 0; i < groups[g].count; i++)
			of[groups[g].members[i]] = (int)g;
	if (in_time)
		scan_measure(s, &ask, of, results);
	if (in_time && is_whole && scan_typical(s) > RESOLUTION_LEAST &&
	    !scan_has_sets(s) && 2 * share * s->within_s < scan_left_s(s)) {
		for (int i = 0; i < ask.test_count; i++)
			scan_judge_result_clear(&results[i]);
		ask.time_s *= 2;
		ask.rounds_min *= 2;
		scan_measure(s, &ask, of, results);
		scan_typical(s);
	}
	for (int i = 0; in_time && is_whole && i < s->ask.test_count; i++)
		scan_hint(s, i);
	for (size_t g = 0; in_time && g < count; g++)
		scan_hear(s, g, results + g * (size_t)ask.test_count);
	for (size_t i = 0; !is_whole && i < count * GROUPS_TESTS_MAX; i++)
		scan_judge_result_clear(&results[i]);
	if (!is_whole)
		free(results);
	free(of);
	return in_time;
}

/* ---- confirmation of slow nodes ---- */

/* A node that is slow in the search, and what keeps it from being named. */
static void
scan_doubt(struct scan *s, int node, double effect, const char *why)
{
	json_array_append_new(s->doubtful,
	    json_pack("{s:s, s:o, s:s, s:o}", "node", scan_name(s, node),
		"times", scan_number(exp(effect)), "text", why, "wait_ratio",
		scan_number(s->waits[node])));
}

/* The typical node of a confirmation: of the good ones only. */
static struct scan_judge_typical
scan_typical_good(const struct scan *s, int test,
    const struct scan_judge_result *r, const unsigned char *is_good)
{
	struct scan_judge_typical t = s->typical[test], now;
	struct scan_judge_result good = *r;

	good.nodes = xcalloc(r->nodes_count + 1, sizeof(*good.nodes));
	good.nodes_count = 0;
	for (size_t i = 0; i < r->nodes_count; i++)
		if (is_good[r->nodes[i].node])
			good.nodes[good.nodes_count++] = r->nodes[i];
	scan_judge_typical(&good, &now);
	if (now.known) {
		t.median = now.median;
		t.core = now.core;
	}
	free(good.nodes);
	return t;
}

/* Return 1 if a slow node is normal with another slow one: then both are behind
 * one slow path. Two slow nodes are slow together. */
static int
scan_is_behind(const struct scan *s, int test, int node,
    const unsigned char *is_slow, double below)
{
	const struct scan_judge_result *r = &s->whole[test];

	for (size_t i = 0; i < r->pairs_count; i++) {
		const struct scan_judge_pair *p = &r->pairs[i];

		if ((p->a == node || p->b == node) && is_slow[p->a] &&
		    is_slow[p->b] &&
		    scan_judge_log(r->test, p->p50) - s->typical[test].median <
			below)
			return 1;
	}
	return 0;
}

/* Name one slow node, if its interval in a test is above every good one's mean
 * and above what counts, and waiting for cores does not explain it. */
static void
scan_confirm_node(struct scan *s, int node, double effect,
    const struct scan_judge_result *results, const unsigned char *is_good,
    const unsigned char *is_slow)
{
	struct scan_judge_interval iv = { 0, NAN, -INFINITY, INFINITY };
	struct scan_judge_typical typical = { 0 };
	double doubt = 0, least = 0, peers = -INFINITY, wait = NAN;
	int test = 0;
	json_t *o;

	for (int i = 0; i < s->ask.test_count; i++) {
		struct scan_judge_typical t = scan_typical_good(s, i,
		    &results[i], is_good);
		struct scan_judge_interval now =
		    scan_judge_node_interval(&results[i], &t, node, is_good);
		double at = bisect_least(&s->options, t.scatter);

		if (i > 0 && !(now.lo - at > iv.lo - least))
			continue;
		iv = now;
		typical = t;
		least = at;
		test = i;
	}
	for (size_t i = 0; i < results[test].nodes_count; i++) {
		const struct scan_judge_node *n = &results[test].nodes[i];

		if (n->node == node)
			wait = n->wait_ratio;
		if (is_good[n->node])
			peers = fmax(peers,
			    scan_judge_node_interval(&results[test], &typical,
				n->node, is_good)
				.mean);
	}
	doubt = scan_judge_doubt(&typical, wait);
	if (!(iv.lo > least) || !(iv.lo > peers)) {
		scan_doubt(s, node, iv.n > 0 ? iv.mean : effect,
		    iv.n < 2
			? "too few normal partners for a confidence interval"
			: "its confidence interval overlaps normal nodes");
		return;
	}
	if (!(iv.mean - doubt > least)) {
		scan_doubt(s, node, iv.mean, "its ranks waited for CPU cores");
		return;
	}
	s->behind[node] = (unsigned char)scan_is_behind(s, test, node, is_slow,
	    fmin(least, iv.lo / 2));
	if (s->behind[node])
		return;
	o = json_pack("{s:s, s:s, s:s, s:f, s:f, s:i, s:o}", "node",
	    scan_name(s, node), "test", names_tests[s->ask.tests[test]].name,
	    "unit", names_tests[s->ask.tests[test]].unit, "value",
	    scan_judge_value(s->ask.tests[test], typical.median + iv.mean),
	    "typical", scan_judge_value(s->ask.tests[test], typical.median),
	    "partners", (int)iv.n, "wait_ratio", scan_number(wait));
	scan_put_times(o, &iv);
	json_array_append_new(s->slow, o);
	s->named[node] = 1;
}

/* Several slow nodes meet each other, too: nodes behind one slow link may have
 * met only the others. Their pairs are added to the pairs of all nodes. */
static void
scan_confirm_inner(struct scan *s, const unsigned char *is_slow)
{
	struct scan_judge_result inner[GROUPS_TESTS_MAX] = { 0 };
	int *of = xcalloc((size_t)s->w->nodes, sizeof(*of));
	double share = SHARE_GROUP * s->ask.test_count;
	struct groups_ask ask = s->ask;

	for (int i = 0; i < s->w->nodes; i++)
		of[i] = is_slow[i] ? 0 : -1;
	ask.groups = 1;
	ask.rounds_min = ROUNDS_GROUP;
	ask.time_s = share * s->within_s;
	if (scan_in_time(s, share))
		scan_measure(s, &ask, of, inner);
	for (int i = 0; i < s->ask.test_count; i++) {
		struct scan_judge_result *all = &s->whole[i];

		all->pairs = xreallocarray(all->pairs,
		    all->pairs_count + inner[i].pairs_count + 1,
		    sizeof(*all->pairs));
		for (size_t k = 0; k < inner[i].pairs_count; k++)
			all->pairs[all->pairs_count++] = inner[i].pairs[k];
		scan_judge_result_clear(&inner[i]);
	}
	free(of);
}

static void
scan_confirm(struct scan *s)
{
	struct scan_judge_result results[GROUPS_TESTS_MAX] = { 0 };
	unsigned char *is_good = xcalloc((size_t)s->w->nodes, 1);
	unsigned char *is_slow = xcalloc((size_t)s->w->nodes, 1);
	int *of = xcalloc((size_t)s->w->nodes, sizeof(*of));
	int slow = 0, good = 0, in_time;
	struct groups_ask ask = s->ask;
	double effect = NAN;

	for (int i = 0; i < s->w->nodes; i++) {
		enum bisect_state state = bisect_of(s->b, (size_t)i, &effect);

		of[i] = -1;
		if (state == BISECT_SLOW && isfinite(effect)) {
			of[i] = 0;
			is_slow[i] = 1;
			slow++;
		} else if (state == BISECT_SLOW) {
			/* It would keep the others waiting. */
			s->named[i] = 1;
			json_array_append_new(s->slow,
			    json_pack("{s:s, s:n, s:n}", "node",
				scan_name(s, i), "times", "interval"));
		}
	}
	for (int i = 0; i < s->w->nodes; i++)
		if (bisect_of(s->b, (size_t)i, &effect) == BISECT_FINE &&
		    (s->w->nodes <= CONFIRM_ALL ||
			good < CONFIRM_GOOD + slow)) {
			of[i] = 0;
			is_good[i] = 1;
			good++;
		}
	ask.groups = 1;
	ask.time_s = SHARE_CONFIRM * s->ask.test_count * s->within_s;
	/* Otherwise use the measurement of all nodes. */
	in_time = slow > 0 && good > 0 &&
	    scan_in_time(s, SHARE_CONFIRM * s->ask.test_count);
	if (in_time)
		scan_measure(s, &ask, of, results);
	if (slow > 1)
		scan_confirm_inner(s, is_slow);
	for (int i = 0; i < s->w->nodes; i++) {
		if (!is_slow[i])
			continue;
		bisect_of(s->b, (size_t)i, &effect);
		scan_confirm_node(s, i, effect, in_time ? results : s->whole,
		    is_good, is_slow);
	}
	for (int i = 0; i < s->ask.test_count; i++)
		scan_judge_result_clear(&results[i]);
	free(of);
	free(is_good);
	free(is_slow);
}

/* ---- sets of nodes between which pairs are slow ---- */

/* Single pairs, one of each set: effects by pair of sets. */
struct meetings {
	int count; /* of sets */
	int *set_of;
	size_t n[SETS_MOST][SETS_MOST];
	double x[SETS_MOST][SETS_MOST][SETS_ROUNDS];
	/* Pairs within a set, one in each at the same time. A pair alone is
	 * faster than one of many, above all where ranks share cores. */
	size_t inner_n;
	double inner[SETS_MOST * SETS_ROUNDS];
};

/* The nth member of a set, from the first again. */
static int
scan_set_member(const struct scan *s, const struct meetings *m, int set, int n)
{
	int size = 0;

	for (int i = 0; i < s->w->nodes; i++)
		size += m->set_of[i] == set;
	n = size > 0 ? n % size : 0;
	for (int i = 0; i < s->w->nodes; i++)
		if (m->set_of[i] == set && n-- == 0)
			return i;
	return 0;
}

/* Put two members of a set that do not meet another set into a group, from
 * another member on each round. Return 1, or 0 if the set has too few. */
static int
scan_set_inner(const struct scan *s, const struct meetings *m, int set,
    int round, int *of, int group)
{
	int two[2], n = 0;

	for (int i = 0; i < s->w->nodes && n < 2; i++) {
		int node = (i + round) % s->w->nodes;

		if (m->set_of[node] == set && of[node] < 0)
			two[n++] = node;
	}
	for (int i = 0; n == 2 && i < n; i++)
		of[two[i]] = group;
	return n == 2;
}

/* The effect of the only pair of a group; NAN: unknown. */
static double
scan_set_effect(const struct scan *s, int test,
    const struct scan_judge_result *r)
{
	if (r->cause == CAUSE_TIMEOUT)
		return INFINITY;
	return r->pairs_count == 0 ? NAN
				   : scan_judge_log(r->test, r->pairs[0].p50) -
		s->typical[test].median;
}

/* One round: each set meets another one, each by one node; two more nodes of
 * each set meet each other. */
static void
scan_sets_meet(struct scan *s, struct meetings *m, int test, int round)
{
	struct scan_judge_result results[2 * SETS_MOST] = { 0 };
	int *of = xcalloc((size_t)s->w->nodes, sizeof(*of));
	int sets[SETS_MOST / 2][2], meet;
	struct groups_ask ask = { .test_count = 1,
		.tests = { s->ask.tests[test] },
		.time_s = SHARE_PAIRS * s->within_s,
		.rounds_min = 1 };
	size_t a, b;

	for (int i = 0; i < s->w->nodes; i++)
		of[i] = -1;
	for (size_t i = 0; i < ((size_t)m->count + 1) / 2; i++) {
		if (!bisect_pair((size_t)m->count, (size_t)round, i, &a, &b))
			continue;
		sets[ask.groups][0] = (int)(a < b ? a : b);
		sets[ask.groups][1] = (int)(a < b ? b : a);
		of[scan_set_member(s, m, (int)a, round)] = ask.groups;
		of[scan_set_member(s, m, (int)b, round + round / m->count)] =
		    ask.groups;
		ask.groups++;
	}
	meet = ask.groups;
	for (int set = 0; set < m->count; set++)
		ask.groups += scan_set_inner(s, m, set, round, of, ask.groups);
	scan_measure(s, &ask, of, results);
	for (int g = 0; g < ask.groups; g++) {
		double x = scan_set_effect(s, test, &results[g]);

		if (g >= meet && isfinite(x))
			m->inner[m->inner_n++] = x;
		else if (g < meet && !isnan(x) &&
		    m->n[sets[g][0]][sets[g][1]] < SETS_ROUNDS)
			m->x[sets[g][0]][sets[g][1]]
			    [m->n[sets[g][0]][sets[g][1]]++] = x;
		scan_judge_result_clear(&results[g]);
	}
	free(of);
}

/* Compare pairs between sets with pairs within sets. */
static void
scan_sets_shift(struct meetings *m)
{
	double by = m->inner_n < 2 ? 0 : robust_median(m->inner, m->inner_n);

	for (int a = 0; a < m->count; a++)
		for (int b = a + 1; b < m->count; b++)
			for (size_t i = 0; i < m->n[a][b]; i++)
				m->x[a][b][i] -= by;
}

/* All effects of a set with those that take part; their number. */
static size_t
scan_set_effects(const struct meetings *m, int set, const unsigned char *is_out,
    double *ret)
{
	size_t n = 0;

	for (int k = 0; k < m->count; k++) {
		int a = set < k ? set : k, b = set < k ? k : set;

		for (size_t i = 0; k != set && !is_out[k] && i < m->n[a][b];
		     i++)
			ret[n++] = m->x[a][b][i];
	}
	return n;
}

/* b < 0: all others. */
static void
scan_path_put(struct scan *s, const struct meetings *m, int a, int b,
    const double *x, size_t n)
{
	struct scan_judge_interval iv = scan_judge_interval_of(x, n);
	unsigned char *is_in = xcalloc((size_t)s->w->nodes, 1);
	json_t *o = json_object();

	for (int i = 0; i < s->w->nodes; i++)
		is_in[i] = m->set_of[i] == a;
	json_object_set_new(o, "between", scan_hosts(s, is_in));
	for (int i = 0; i < s->w->nodes; i++)
		is_in[i] = b >= 0 ? m->set_of[i] == b
				  : m->set_of[i] != a && !s->named[i];
	json_object_set_new(o, "and", scan_hosts(s, is_in));
	json_object_set_new(o, "pairs", json_integer((json_int_t)n));
	scan_put_times(o, &iv);
	json_array_append_new(s->paths, o);
	free(is_in);
}

/* A set is slow to all others if each of its meetings is slow. The remaining
 * sets are judged in pairs. */
static void
scan_sets_judge(struct scan *s, const struct meetings *m, double least)
{
	unsigned char is_out[SETS_MOST] = { 0 }, none[SETS_MOST] = { 0 };
	double *x = xcalloc(SETS_MOST * SETS_ROUNDS, sizeof(*x));
	int slow_sets = 0;

	for (int a = 0; a < m->count && m->count > 2; a++) {
		size_t n = scan_set_effects(m, a, none, x);

		if (n < 2)
			continue;
		robust_sort(x, n);
		is_out[a] = x[0] > least;
		slow_sets += is_out[a];
	}
	/* Where all are slow to all, no set is the one. */
	if (slow_sets == m->count)
		memset(is_out, 0, sizeof(is_out));
	for (int a = 0; a < m->count; a++) {
		size_t n = scan_set_effects(m, a, is_out, x);

		if (is_out[a] && n >= 2 &&
		    scan_judge_interval_of(x, n).lo > least)
			scan_path_put(s, m, a, -1, x, n);
		for (int b = a + 1; b < m->count; b++)
			if (!is_out[a] && !is_out[b] && m->n[a][b] >= 2 &&
			    scan_judge_interval_of(m->x[a][b], m->n[a][b]).lo >
				least)
				scan_path_put(s, m, a, b, m->x[a][b],
				    m->n[a][b]);
	}
	free(x);
}

/* Note how much slower pairs between sets were while all nodes measured. */
static void
scan_sets_note(struct scan *s, const struct meetings *m, int test)
{
	const struct scan_judge_result *r = &s->whole[test];
	double *x = xcalloc(r->pairs_count + 1, sizeof(*x));
	struct strbuf sb = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < r->pairs_count; i++) {
		int a = m->set_of[r->pairs[i].a], b = m->set_of[r->pairs[i].b];

		if (a >= 0 && b >= 0 && a != b)
			x[n++] = scan_judge_log(r->test, r->pairs[i].p50) -
			    s->typical[test].median;
	}
	strbuf_addf(&sb,
	    "with all nodes sending, pairs between %d sets of nodes are %.1f "
	    "times slower than pairs within one set, but not when measured one "
	    "at a time: the links between the sets are shared (an "
	    "oversubscribed network)",
	    m->count, exp(robust_median(x, n)));
	json_array_append_new(s->notes, json_string(sb.text));
	strbuf_clear(&sb);
	free(x);
}

/* Sets as the pairs show them, or as the search has found them. */
static int
scan_sets_find(struct scan *s, int test, int *set_of)
{
	double least = bisect_least(&s->options, s->typical[test].scatter);
	int count = scan_judge_sets(&s->whole[test], &s->typical[test], least,
	    s->w->nodes, s->named, set_of);
	struct bisect_path path;

	if (count >= 2 || !bisect_path(s->b, 0, &path) || path.left == 0)
		return count;
	for (int i = 0; i < s->w->nodes; i++)
		set_of[i] = -1;
	for (size_t i = 0; i < path.count; i++)
		if (!s->named[path.members[i]])
			set_of[path.members[i]] = i >= path.left;
	return 2;
}

static void
scan_sets(struct scan *s)
{
	struct meetings *m = xcalloc(1, sizeof(*m));
	size_t before = json_array_size(s->paths);
	int test = -1, rounds, round = 0;

	m->set_of = xcalloc((size_t)s->w->nodes, sizeof(*m->set_of));
	for (int i = 0; i < s->ask.test_count; i++)
		if (s->ask.tests[i] == CANARY_BW && s->typical[i].known)
			test = i;
	if (test >= 0)
		m->count = scan_sets_find(s, test, m->set_of);
	if (m->count > SETS_MOST)
		m->count = 0;
	rounds = m->count == 2 ? SETS_TWO : SETS_ROUNDS;
	for (; m->count >= 2 && round < rounds && scan_in_time(s, SHARE_PAIRS);
	     round++)
		scan_sets_meet(s, m, test, round);
	scan_sets_shift(m);
	/* Few meetings have wide intervals, but show no path to be sound. */
	if (m->count >= 2 && round > 0)
		scan_sets_judge(s, m,
		    bisect_least(&s->options, s->typical[test].scatter));
	if (m->count >= 2 && round == rounds &&
	    json_array_size(s->paths) == before)
		scan_sets_note(s, m, test);
	free(m->set_of);
	free(m);
}

/* ---- many to one ---- */

/* It judges no node: how many senders there are depends on the others. Nodes
 * that are named have no part, for it would be measured at their pace. */
static void
scan_incast(struct scan *s)
{
	struct groups_ask ask = { 1, 1, { CANARY_INCAST },
		SHARE_INCAST * s->within_s, 1 };
	int *of = xcalloc((size_t)s->w->nodes, sizeof(*of)), count = 0;

	for (int i = 0; i < s->w->nodes; i++) {
		of[i] = s->named[i] ? -1 : 0;
		count += !s->named[i];
	}
	if (s->is_incast && count > 2 &&
	    clk_ns() + (uint64_t)(ask.time_s * (double)CLK_NS_PER_S) <
		s->stop_ns)
		groups_measure(s->w, &s->settings, &ask, of, &s->incast);
	free(of);
}

/* ---- a promise ---- */

/* Each node's rate, of those that are not named already. */
static void
scan_promise(struct scan *s)
{
	double per_s = s->expect_per_s * s->w->nodes / s->w->size;

	for (int i = 0; per_s > 0 && i < s->w->nodes; i++) {
		double share = s->best[i] / per_s;

		if (s->named[i] || !(share > 0) || share >= PROMISE_SHARE)
			continue;
		json_array_append_new(s->below,
		    json_pack("{s:s, s:f, s:f, s:f, s:o}", "node",
			scan_name(s, i), "value",
			s->best[i] * s->w->size / s->w->nodes, "expected",
			s->expect_per_s, "share", share, "wait_ratio",
			scan_number(s->waits[i])));
	}
}

/* ---- the result ---- */

/* What nodes that are not named gave in a test. */
static json_t *
scan_test_json(const struct scan *s, const struct scan_judge_result *r)
{
	double *x = xcalloc(r->nodes_count + 1, sizeof(*x)), value;
	json_t *o, *rows = json_array();
	struct scan_judge_interval iv;
	size_t n = 0;

	for (size_t k = 0; k < r->nodes_count; k++) {
		value = r->test == CANARY_INCAST ? r->nodes[k].p50
						 : r->nodes[k].score;
		json_array_append_new(rows,
		    json_pack("{s:s, s:o, s:o}", "node",
			scan_name(s, r->nodes[k].node), "value",
			scan_number(value), "wait_ratio",
			scan_number(r->nodes[k].wait_ratio)));
		if (isfinite(value) && !s->named[r->nodes[k].node])
			x[n++] = log(value);
	}
	iv = scan_judge_interval_of(x, n);
	o = json_pack("{s:s, s:I, s:o, s:o, s:o}", "unit",
	    names_tests[r->test].unit, "count", (json_int_t)n, "typical",
	    scan_number(exp(robust_median(x, n))), "interval",
	    scan_interval(&iv), "nodes", rows);
	if (r->cause != CAUSE_NONE)
		json_object_set_new(o, "cause",
		    json_string(names_causes[r->cause].name));
	free(x);
	return o;
}

static json_t *
scan_tests_json(const struct scan *s)
{
	json_t *all = json_object();

	for (int i = 0; i < s->ask.test_count; i++)
		json_object_set_new(all, names_tests[s->ask.tests[i]].name,
		    scan_test_json(s, &s->whole[i]));
	if (s->incast.nodes_count > 0)
		json_object_set_new(all, names_tests[CANARY_INCAST].name,
		    scan_test_json(s, &s->incast));
	return all;
}

/* 1 for a node that never gave half of the typical rate, in any group: where it
 * cannot be named, it is undetermined. */
static int
scan_is_far_below(const struct scan *s, int node)
{
	for (int i = 0; i < s->ask.test_count; i++)
		if (s->ask.tests[i] == CANARY_BW && s->typical[i].known)
			return s->best[node] * RESOLUTION_LEAST <
			    scan_judge_value(CANARY_BW, s->typical[i].median);
	return 0;
}

static json_t *
scan_result(struct scan *s)
{
	unsigned char *fit = xcalloc((size_t)s->w->nodes, 1);
	unsigned char *open = xcalloc((size_t)s->w->nodes, 1);
	double effect, waits = 0, measured = 0;
	int is_busy = 0;
	json_t *ret;

	for (int i = 0; i < s->w->nodes; i++) {
		enum bisect_state state = bisect_of(s->b, (size_t)i, &effect);

		fit[i] = (state == BISECT_FINE || s->behind[i]) &&
		    !s->named[i] && s->resolution <= RESOLUTION_LEAST &&
		    !scan_is_far_below(s, i);
		open[i] = !fit[i] && !s->named[i];
		waits += s->waits[i] > 0 ? s->waits[i] / s->w->nodes : 0;
	}
	if (s->w->nodes > 2 && isfinite(s->resolution))
		json_array_append_new(s->notes,
		    json_sprintf("resolution: a node less than %.1f times "
				 "slower than the others cannot be detected",
			s->resolution));
	for (int i = 0; i < s->w->nodes; i++)
		is_busy |= open[i] && s->waits[i] > BUSY;
	if (waits > BUSY)
		json_array_append_new(s->notes,
		    json_sprintf("ranks waited for a CPU core for %.0f %% of "
				 "their runnable time",
			100 * waits));
	for (int i = 0; i < s->ask.test_count; i++)
		for (size_t k = 0; k < s->whole[i].nodes_count; k++)
			measured += s->whole[i].nodes[k].n;
	for (size_t k = 0; k < s->incast.nodes_count; k++)
		measured += s->incast.nodes[k].n;
	ret = json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
			"s:i, s:f, s:b, s:b, s:b}",
	    "nodes", s->w->nodes, "ranks", s->w->size, "tests",
	    scan_tests_json(s), "slow", s->slow, "paths", s->paths, "below",
	    s->below, "fit", scan_hosts(s, fit), "open", scan_hosts(s, open),
	    "doubtful", s->doubtful, "notes", s->notes, "rounds",
	    (int)bisect_rounds(s->b), "took_s",
	    (double)(clk_ns() - s->start_ns) / (double)CLK_NS_PER_S, "timely",
	    s->timely, "busy", is_busy, "measured", measured > 0);
	json_object_set_new(ret, "resolution", scan_number(s->resolution));
	if (s->expect_per_s > 0)
		json_object_set_new(ret, "expected",
		    json_real(s->expect_per_s));
	free(fit);
	free(open);
	return ret;
}

/* All of it, at rank 0. */
static json_t *
scan_lead(struct scan *s, const struct conf *c)
{
	const struct bisect_group *groups;
	json_t *ret;
	size_t count;

	s->start_ns = clk_ns();
	s->within_s = (double)conf_span_ns(c, "scan", "within") /
	    (double)CLK_NS_PER_S;
	s->stop_ns = s->start_ns + conf_span_ns(c, "scan", "within");
	s->timely = 1;
	for (size_t i = 0; i < ARRAY_LEN(tests_known); i++)
		if (strstr(conf_string(c, "scan", "tests"),
			names_tests[tests_known[i]].name) != NULL) {
			if (tests_known[i] == CANARY_INCAST)
				s->is_incast = 1;
			else
				s->ask.tests[s->ask.test_count++] =
				    tests_known[i];
		}
	s->ask.rounds_min = ROUNDS_WHOLE;
	s->options = (struct bisect_options){ JUDGE_EFFECT_MIN, GROUPS_MOST };
	s->b = bisect_new(&s->options, (size_t)s->w->nodes);
	s->waits = xcalloc((size_t)s->w->nodes, sizeof(*s->waits));
	s->best = xcalloc((size_t)s->w->nodes, sizeof(*s->best));
	s->named = xcalloc((size_t)s->w->nodes, 1);
	s->behind = xcalloc((size_t)s->w->nodes, 1);
	s->slow = json_array();
	s->paths = json_array();
	s->below = json_array();
	s->notes = json_array();
	s->doubtful = json_array();
	while (s->ask.test_count > 0 &&
	    (count = bisect_next(s->b, &groups)) > 0 &&
	    scan_round(s, groups, count))
		;
	if (s->ask.test_count > 0) {
		scan_confirm(s);
		scan_sets(s);
	}
	scan_incast(s);
	scan_promise(s);
	groups_end(s->w);
	ret = scan_result(s);
	for (int i = 0; i < GROUPS_TESTS_MAX; i++)
		scan_judge_result_clear(&s->whole[i]);
	scan_judge_result_clear(&s->incast);
	bisect_free(s->b);
	free(s->waits);
	free(s->best);
	free(s->named);
	free(s->behind);
	return ret;
}

json_t *
scan_run(struct world *w, const struct conf *c, double expect_per_s)
{
	struct scan s = { .w = w, .expect_per_s = expect_per_s };
	unsigned long long seed = rng_entropy() % 1000000007 + 1;
	struct conf *campaign_conf;
	json_t *ret = NULL;
	MPI_Request req;
	struct err err;
	char text[1024];

	MPI_DO(MPI_Ibcast(&seed, sizeof(seed), MPI_BYTE, 0, w->control, &req));
	control_wait(&req);
	snprintf(text, sizeof(text), campaign, seed);
	if (conf_parse(options_campaign, "scan", text, &campaign_conf, &err) <
	    0)
		fatalx("%s", err.text);
	settings_read(campaign_conf, &s.settings);
	conf_free(campaign_conf);
	s.settings.rate_bytes = (size_t)conf_bytes(c, "scan", "bytes");
	if (w->rank == 0)
		ret = scan_lead(&s, c);
	else
		groups_serve(w, &s.settings);
	return ret;
}
