/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scatter.c - reports of healthy clusters list no node and no pair in most
 * cases, whatever the number of nodes and the scatter of samples; a slow node
 * is listed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "ctl/lib/scatter.h"

#define REPORTS 20
#define TYPICAL 2e-5

struct cluster {
	int nodes, rounds;
	double scatter; /* of the logarithm of a sample */
	double slow;    /* factor of node 0 */
	int sign;
};

static double
sample(struct rng *r, const struct cluster *c, int a, int b)
{
	double slow = a == 0 || b == 0 ? c->slow : 1;

	return TYPICAL *
	    exp(c->sign *
		(log(slow) +
		    c->scatter *
			robust_normal_quantile(
			    rng_unit(r) * 0.9999998 + 0.0000001)));
}

struct samples {
	double *x;
	size_t n;
};

static void
samples_add(struct samples *s, double x)
{
	s->x = xreallocarray(s->x, s->n + 1, sizeof(*s->x));
	s->x[s->n++] = x;
}

/* Measure rounds in which all nodes meet one partner each, as canary.partners =
 * match does. pairs: by node and partner. */
static void
rounds_measure(struct rng *r, const struct cluster *c, struct samples *nodes,
    struct samples *pairs)
{
	int *order = xcalloc((size_t)c->nodes, sizeof(*order));

	for (int i = 0; i < c->nodes; i++)
		order[i] = i;
	for (int round = 0; round < c->rounds; round++) {
		rng_shuffle(r, order, (size_t)c->nodes);
		for (int i = 0; i + 1 < c->nodes; i += 2) {
			int a = order[i], b = order[i + 1];
			double x = sample(r, c, a, b);

			samples_add(&nodes[a], x);
			samples_add(&nodes[b], x);
			samples_add(&pairs[a * c->nodes + b], x);
			if (a != b)
				samples_add(&pairs[b * c->nodes + a], x);
		}
	}
	free(order);
}

/* The quartile on the good side of the medians of a node's pairs. */
static double
score(const struct cluster *c, struct samples *pairs)
{
	double *x = xcalloc((size_t)c->nodes, sizeof(*x)), ret;
	size_t n = 0;

	for (int b = 0; b < c->nodes; b++)
		if (pairs[b].n > 0)
			x[n++] = robust_median(pairs[b].x, pairs[b].n);
	ret = robust_quantile(x, n, c->sign > 0 ? 0.25 : 0.75);
	free(x);
	return ret;
}

struct listed {
	int nodes, pairs, slow;
};

/* Of a simulated record, the nodes and pairs that a report lists. */
static struct listed
report(const struct cluster *c, uint64_t seed)
{
	size_t n = (size_t)c->nodes;
	struct samples *nodes = xcalloc(n, sizeof(*nodes));
	struct samples *pairs = xcalloc(n * n, sizeof(*pairs));
	json_t *list = json_array(),
	       *record = json_pack("{s:o}", "nodes", list);
	struct listed ret = { 0 };
	struct scatter s;
	struct rng r;

	rng_seed(&r, seed);
	rounds_measure(&r, c, nodes, pairs);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list,
		    json_pack("{s:I, s:f}", "n", (json_int_t)nodes[i].n, "p50",
			robust_median(nodes[i].x, nodes[i].n)));
	s = scatter_of(record, c->sign);
	for (size_t i = 0; i < n; i++) {
		int found = scatter_has_node(&s, score(c, &pairs[i * n]));

		ret.nodes += found;
		ret.slow += found && i == 0;
	}
	for (size_t i = 0; i < n * n; i++)
		if (i / n < i % n && pairs[i].n > 0)
			ret.pairs += scatter_has_pair(&s,
			    robust_median(pairs[i].x, pairs[i].n),
			    (double)pairs[i].n);
	for (size_t i = 0; i < n; i++)
		free(nodes[i].x);
	for (size_t i = 0; i < n * n; i++)
		free(pairs[i].x);
	free(nodes);
	free(pairs);
	json_decref(record);
	return ret;
}

static void
test_healthy(void **state)
{
	static const int nodes[] = { 4, 12, 256 }, rounds[] = { 8, 48 };
	static const double scatters[] = { 0.03, 0.3, 1.0 };

	(void)state;
	for (int k = 0; k < 18; k++) {
		struct cluster c = { nodes[k % 3], rounds[k / 3 % 2],
			scatters[k / 6], 1, k % 2 == 0 ? 1 : -1 };
		int with_nodes = 0, with_pairs = 0;

		for (uint64_t seed = 1; seed <= REPORTS; seed++) {
			struct listed l = report(&c, seed);

			with_nodes += l.nodes > 0;
			with_pairs += l.pairs > 0;
		}
		printf("%d nodes, %d rounds, scatter %.2f, sign %d: of %d "
		       "reports %d list nodes, %d pairs\n",
		    c.nodes, c.rounds, c.scatter, c.sign, REPORTS, with_nodes,
		    with_pairs);
		assert_true(with_nodes * 10 <= REPORTS);
		assert_true(with_pairs * 10 <= REPORTS);
	}
}

static void
test_slow(void **state)
{
	static const int nodes[] = { 12, 256 };

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct cluster c = { nodes[k % 2], 48, 0.1, 1.5,
			k / 2 == 0 ? 1 : -1 };
		int found = 0;

		for (uint64_t seed = 1; seed <= REPORTS; seed++)
			found += report(&c, seed).slow;
		assert_int_equal(found, REPORTS);
	}
}

/* Of two nodes none is slow. Nodes without a number do not count. */
static void
test_few(void **state)
{
	json_t *record = json_pack("{s:[{s:i, s:f}, {s:i, s:f}, {s:i, s:n}, "
				   "{s:i, s:f}]}",
	    "nodes", "n", 9, "p50", 1.0, "n", 9, "p50", 3.0, "n", 9, "p50", "n",
	    9, "p50", 0.0);
	struct scatter s = scatter_of(record, 1);

	(void)state;
	assert_false(scatter_has_node(&s, 100));
	assert_false(scatter_has_pair(&s, 100, 9));
	json_object_clear(record);
	s = scatter_of(record, 1);
	assert_false(scatter_has_node(&s, 100));
	json_decref(record);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
