/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-path copies on nodes that are not there, in virtual time: the copier
 * against the closed form, the tuner from fits that are wrong and through links
 * that change, and its table on disk.
 */
#include "probes/multipath/tuner.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/err.h"
#include "common/rng.h"
#include "common/str.h"
#include "probes/multipath/copier.h"
#include "tests/fake/slow_links.h"

#define US  1e-6
#define KIB 1024ULL
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* Figure 2 of the paper, with the rates that it measured: three NVLinks to the
 * peer and to the host, or two and PCIe. */
static const struct paths_links mist = {
	.direct = { 10 * US, 72e9 },
	.staged = { { 15 * US, 10 * US, 61e9, 61e9 } },
	.count = 1,
};
static const struct paths_links cedar = {
	.direct = { 10 * US, 49e9 },
	.staged = { { 15 * US, 10 * US, 11.2e9, 11.2e9 } },
	.count = 1,
};
static const struct paths_links *const nodes[] = { &mist, &cedar };

struct node {
	struct slow_links links;
	struct copier copier;
};

static struct node node;

static void
node_end(void)
{
	if (node.copier.device == NULL)
		return;
	copier_close(&node.copier);
	slow_links_ops.close(node.copier.device);
	memset(&node, 0, sizeof(node));
}

static void
node_make(const struct paths_links *f)
{
	struct node *n = &node;

	node_end();
	slow_links_set(&n->links, f);
	n->copier.ops = &slow_links_ops;
	n->copier.clock = &slow_links_clock;
	n->copier.device = slow_links_open(&n->links);
	n->copier.unit = 1;
	n->copier.count = f->count;
	for (uint32_t i = 1; i <= f->count; i++) {
		n->copier.stores[i].bytes = 1ULL << 40;
		n->copier.stores[i].slots = 8;
	}
	assert_int_equal(copier_open(&n->copier), 0);
}

static void
node_set(const struct paths_links *f)
{
	slow_links_set(&node.links, f);
}

/* Other slots, or another store. */
static void
node_store(uint32_t path, struct copier_store store)
{
	copier_close(&node.copier);
	node.copier.stores[path] = store;
	assert_int_equal(copier_open(&node.copier), 0);
}

static double
send(uint64_t bytes, const struct tuner_choice *c, struct tuner_seen *seen)
{
	const struct copier_message m = { NULL, NULL, bytes };
	double start_s = slow_links_clock.now_s(node.copier.device);
	uint32_t path;

	assert_int_equal(copier_send(&node.copier, &m, c, seen, &path), 0);
	return slow_links_clock.now_s(node.copier.device) - start_s;
}

static double
send_split(uint64_t bytes, const struct paths_split *s, uint32_t count)
{
	struct tuner_choice c = { .share = { 1 - s->share } };
	struct tuner_seen seen;

	for (uint32_t i = 0; i < count; i++) {
		c.share[i + 1] = s->staged[i];
		c.chunks[i + 1] = s->chunks[i];
	}
	return send(bytes, &c, &seen);
}

static double
optimum_s(const struct paths_links *f, uint64_t bytes, struct paths_split *ret)
{
	paths_split(f, (double)bytes, 64, ret);
	return ret->time_s;
}

/* Every size class, and sizes between. */
static void
test_copier(void **state)
{
	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(nodes); k++)
		for (uint64_t n = 64 * KIB; n <= GIB; n += n / 3 + 1) {
			struct paths_split best, direct;
			double s, d, model;

			node_make(nodes[k]);
			optimum_s(nodes[k], n, &best);
			s = send_split(n, &best, 1);
			memset(&direct, 0, sizeof(direct));
			d = send_split(n, &direct, 1);
			model = best.direct_s / best.time_s;
			if (fabs(d / s / model - 1) > 0.02)
				fail_msg("%llu: %.4f, model %.4f",
				    (unsigned long long)n, d / s, model);
			assert_true(d / s * (1 - best.share) <= 1 + 1e-6);
		}
}

/* Unequal stages, few slots, several ways: the model still holds. */
static void
test_copier_ways(void **state)
{
	static const struct paths_links f = {
		.direct = { 5 * US, 50e9 },
		.staged = { { 20 * US, 8 * US, 20e9, 30e9 },
		    { 10 * US, 5 * US, 45e9, 40e9 },
		    { 10 * US, 5 * US, 45e9, 45e9 } },
		.count = 3,
	};

	(void)state;
	for (uint32_t slots = 2; slots <= 8; slots += 6)
		for (uint64_t n = MIB; n <= GIB; n *= 4) {
			struct paths_split best;
			double s;

			node_make(&f);
			for (uint32_t i = 1; i <= 3; i++)
				node_store(i,
				    (struct copier_store){ NULL, 1ULL << 40,
					slots });
			optimum_s(&f, n, &best);
			s = send_split(n, &best, 3);
			assert_true(fabs(s / best.time_s - 1) < 0.02);
		}
}

/* A slot that is too small makes more chunks, not an overflow. */
static void
test_copier_store(void **state)
{
	static char from[100003], to[sizeof(from) + 2], store[4096 + 1];
	struct tuner_choice c = { .share = { .4, .6 }, .chunks = { 0, 3 } };
	struct tuner_seen seen;
	struct rng r;

	(void)state;
	rng_seed(&r, 4);
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)rng_below(&r, 256);
	for (int k = 0; k < 40; k++) {
		uint64_t n = 1 + rng_below(&r, sizeof(from));
		const struct copier_message m = { to + 1, from, n };
		uint32_t path;

		node_make(&mist);
		node.links.moves = 1;
		node.links.links[1].setup_s = 0;
		node.copier.unit = 1 + rng_below(&r, 64);
		node_store(1,
		    (struct copier_store){ store, 4096,
			1 + (uint32_t)rng_below(&r, 5) });
		memset(to, 0x55, sizeof(to));
		store[4096] = 0x55;
		c.share[1] = (double)rng_below(&r, 11) / 10;
		c.share[0] = 1 - c.share[1];
		c.chunks[1] = 1 + (uint32_t)rng_below(&r, 9);
		assert_int_equal(copier_send(&node.copier, &m, &c, &seen,
				     &path),
		    0);
		assert_memory_equal(to + 1, from, n);
		assert_true(to[0] == 0x55 && to[n + 1] == 0x55);
		assert_int_equal(store[4096], 0x55);
		assert_int_equal(seen.bytes[0] + seen.bytes[1], n);
	}
}

/* ---- the tuner ---- */

static struct tuner tuner;

/* One transfer with the tuner's choice; times are exact, or have noise. */
static double
tuned(uint64_t bytes, double noise, struct rng *r, struct tuner_choice *ret)
{
	struct tuner_seen seen;
	double s;

	tuner_choose(&tuner, bytes, ret);
	s = send(bytes, ret, &seen);
	for (int i = 0; noise > 0 && i < 2; i++)
		seen.s[i] *= 1 +
		    noise * ((double)rng_below(r, 2001) / 1000 - 1);
	tuner_learn(&tuner, bytes, ret, &seen);
	return s;
}

static void
within(uint64_t bytes, const struct paths_links *truth, double s,
    const char *when)
{
	struct paths_split best;
	double want = optimum_s(truth, bytes, &best);

	if (s > want * 1.03)
		fail_msg("%s, %llu bytes: %.2f us, best %.2f us (share %.3f, "
			 "%u chunks)",
		    when, (unsigned long long)bytes, s * 1e6, want * 1e6,
		    best.share, best.chunks[0]);
}

/* After this many transfers it is within 3 % of the best, and stays there
 * except for exploring transfers. */
static void
follow(uint64_t bytes, const struct paths_links *truth, int soon,
    const char *when)
{
	struct tuner_choice c;

	for (int i = 0; i < 200; i++) {
		double s = tuned(bytes, 0, NULL, &c);

		if (i >= soon && c.why != TUNER_EXPLORE &&
		    c.why != TUNER_REPROBE)
			within(bytes, truth, s, when);
	}
}

/* Every rate and cost off by up to as much. */
static void
distort(struct paths_links *f, double by, struct rng *r)
{
	double *x[] = { &f->direct.setup_s, &f->direct.bytes_per_s,
		&f->staged[0].setup_s, &f->staged[0].chunk_s,
		&f->staged[0].in_per_s, &f->staged[0].out_per_s };

	for (size_t i = 0; i < ARRAY_LEN(x); i++)
		*x[i] *= 1 + by * ((double)rng_below(r, 2001) / 1000 - 1);
}

static void
test_cold(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (size_t k = 0; k < ARRAY_LEN(nodes); k++)
		for (uint64_t n = 64 * KIB; n <= GIB; n *= 2) {
			struct paths_links fits = *nodes[k];

			node_make(nodes[k]);
			tuner_init(&tuner, &fits, 64);
			follow(n, nodes[k], 0, "cold, true fits");
			distort(&fits, 0.1, &r);
			tuner_init(&tuner, &fits, 64);
			follow(n, nodes[k], 5, "cold, fits 10 % off");
		}
}

/* Links that become slower and recover. */
static void
test_step(void **state)
{
	static const double host[] = { .5, 1, 1, 1, .5, 1 };
	static const double direct[] = { 1, 1, .5, 1, .75, 1 };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(nodes); k++)
		for (uint64_t n = 16 * MIB; n <= GIB; n *= 2) {
			node_make(nodes[k]);
			tuner_init(&tuner, nodes[k], 64);
			follow(n, nodes[k], 0, "before the step");
			for (size_t i = 0; i < ARRAY_LEN(host); i++) {
				struct paths_links now = *nodes[k];
				char when[40];

				now.direct.bytes_per_s *= direct[i];
				now.staged[0].in_per_s *= host[i];
				now.staged[0].out_per_s *= host[i];
				node_set(&now);
				snprintf(when, sizeof(when), "step %zu", i);
				follow(n, &now, 3, when);
			}
		}
}

/* As simulated in the document: 64 MiB, 75 and 55 GB/s, the host's rate halved
 * at transfer 60. */
static void
test_noise(void **state)
{
	static const struct paths_links f = { .direct = { 6 * US, 75e9 },
		.staged = { { 10 * US, 6 * US, 55e9, 55e9 } },
		.count = 1 };
	static const double noises[] = { .02, .05, .10 };
	static const double regrets[] = { .006, .015, .031 };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(noises); k++) {
		double sum = 0, count = 0;

		for (uint64_t seed = 1; seed <= 40; seed++) {
			struct paths_links now = f;
			struct paths_split best;
			struct rng r;

			rng_seed(&r, seed);
			node_make(&f);
			tuner_init(&tuner, &f, 64);
			for (int i = 0; i < 120; i++) {
				struct tuner_choice c;
				double s;

				if (i == 60) {
					now.staged[0].in_per_s /= 2;
					now.staged[0].out_per_s /= 2;
					node_set(&now);
				}
				s = tuned(64 * MIB, noises[k], &r, &c);
				if (i % 60 < 5 || c.why == TUNER_EXPLORE)
					continue;
				sum += s / optimum_s(&now, 64 * MIB, &best) - 1;
				count++;
			}
		}
		if (sum / count > regrets[k])
			fail_msg("noise %g: regret %g", noises[k], sum / count);
	}
}

/* A broken path gets no data, and is used again when it works. */
static void
test_lost(void **state)
{
	struct tuner_choice c;
	const struct copier_message m = { NULL, NULL, 64 * MIB };
	uint32_t path = 0;
	struct tuner_seen seen;
	int probes = 0;

	(void)state;
	node_make(&mist);
	tuner_init(&tuner, &mist, 64);
	follow(64 * MIB, &mist, 0, "whole");
	node.links.links[1].bytes_per_s = 0;
	tuner_choose(&tuner, 64 * MIB, &c);
	assert_int_equal(copier_send(&node.copier, &m, &c, &seen, &path),
	    -ENOLINK);
	assert_int_equal(path, 1);
	tuner_lose(&tuner, 64 * MIB, path);
	for (int i = 0; i < 250; i++) {
		tuned(64 * MIB, 0, NULL, &c);
		assert_int_equal(c.why, TUNER_DIRECT);
		assert_true(c.share[0] == 1);
	}
	node_set(&mist);
	for (int i = 0; i < 20; i++) {
		tuned(64 * MIB, 0, NULL, &c);
		probes += c.why == TUNER_REPROBE;
	}
	assert_int_equal(probes, 1);
	assert_int_equal(c.why, TUNER_FOLLOW);
	within(64 * MIB, &mist, tuned(64 * MIB, 0, NULL, &c), "healed");
}

/* Much slower than all others: direct; the counters show the bytes of each
 * path. */
static void
test_fall_back(void **state)
{
	struct paths_links now = mist;
	const struct tuner_row *row = &tuner.rows[tuner_class(64 * MIB)];
	struct tuner_choice c;

	(void)state;
	node_make(&mist);
	tuner_init(&tuner, &mist, 64);
	for (int i = 0; i < 10; i++)
		tuned(64 * MIB, 0, NULL, &c);
	assert_int_equal(row->carried[0] + row->carried[1], 640 * MIB);
	assert_true(row->carried[1] > 240 * MIB && row->carried[1] < 260 * MIB);
	now.staged[0].in_per_s = 0.3e9;
	node_set(&now);
	for (int i = 0; i < 5; i++)
		tuned(64 * MIB, 0, NULL, &c);
	assert_int_equal(c.why, TUNER_DIRECT);
	assert_true(fabs(c.direct_s / paths_direct_s(&mist.direct, 64.0 * MIB) -
			1) < 0.01);
}

/* Paths through a shared resource: together they take twice the time of the
 * direct path alone, for any shares. The linear model does not cover this; one
 * transfer over the direct path shows it. */
static void
test_shared(void **state)
{
	struct tuner_choice c;
	double one_s = paths_direct_s(&mist.direct, 64.0 * MIB);
	int several = 0;

	(void)state;
	tuner_init(&tuner, &mist, 64);
	for (int i = 0; i < 100; i++) {
		struct tuner_seen seen = { { 0 }, { 0 } };

		tuner_choose(&tuner, 64 * MIB, &c);
		seen.bytes[1] = (uint64_t)(c.share[1] * 64.0 * MIB);
		seen.bytes[0] = 64 * MIB - seen.bytes[1];
		for (int k = 0; k < 2; k++)
			if (seen.bytes[k] > 0)
				seen.s[k] = seen.bytes[1] > 0 ? 2 * one_s
							      : one_s;
		several += seen.bytes[1] > 0;
		tuner_learn(&tuner, 64 * MIB, &c, &seen);
	}
	assert_int_equal(c.why, TUNER_DIRECT);
	assert_int_equal(several, 3);
}

static void
test_frozen(void **state)
{
	struct tuner_choice c, again;
	struct tuner_row was;

	(void)state;
	node_make(&mist);
	tuner_init(&tuner, &mist, 64);
	for (int i = 0; i < 10; i++)
		tuned(16 * MIB, 0, NULL, &c);
	tuner.frozen = 1;
	tuned(16 * MIB, 0, NULL, &c);
	node_set(&cedar);
	was = tuner.rows[24];
	for (int i = 0; i < 300; i++) {
		tuned(16 * MIB, 0, NULL, &again);
		assert_int_equal(again.why, TUNER_FROZEN);
		assert_true(again.share[1] == c.share[1]);
		assert_int_equal(again.chunks[1], c.chunks[1]);
	}
	assert_true(
	    tuner.rows[24].line[1].bytes_per_s == was.line[1].bytes_per_s);
	assert_int_equal(tuner.rows[24].transfers, was.transfers + 300);
}

static void
test_fit(void **state)
{
	double x[12], y[12];
	struct paths_direct got;
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	for (int i = 0; i < 11; i++) {
		x[i] = (double)(64 * KIB << i);
		y[i] = 10 * US + x[i] / 61e9;
	}
	assert_int_equal(tuner_fit(x, y, 11, &got), 0);
	assert_true(fabs(got.setup_s / (10 * US) - 1) < 1e-6);
	assert_true(fabs(got.bytes_per_s / 61e9 - 1) < 1e-6);
	for (int i = 0; i < 11; i++)
		y[i] *= 1 + 0.02 * ((double)rng_below(&r, 2001) / 1000 - 1);
	assert_int_equal(tuner_fit(x, y, 11, &got), 0);
	assert_true(fabs(got.bytes_per_s / 61e9 - 1) < 0.03);
	assert_int_equal(tuner_fit(x, y, 1, &got), -EINVAL);
	x[1] = x[0];
	assert_int_equal(tuner_fit(x, y, 2, &got), -EINVAL);
	y[0] = 0;
	assert_int_equal(tuner_fit(x, y, 3, &got), -EINVAL);
}

/* ---- the table on disk ---- */

static void
test_file(void **state)
{
	char dir[] = "/tmp/coalmine-tuner-XXXXXX", path[60];
	struct err err = { 0 };
	struct tuner_table tt = { .machine = "mist 4 V100" }, got = tt;
	struct tuner_choice c, d;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.json", dir);
	assert_int_equal(tuner_load(&got, path, &err), -ENOENT);
	assert_non_null(strstr(err.text, path));
	node_make(&mist);
	tuner_init(&tuner, &mist, 64);
	for (int i = 0; i < 9; i++)
		for (uint64_t n = MIB; n <= 64 * MIB; n *= 8)
			tuned(n, 0, NULL, &c);
	*tuner_table_get(&tt, 0, 1) = tuner;
	*tuner_table_get(&tt, 1, 0) = tuner;
	assert_int_equal(tuner_save(&tt, path, &err), 0);
	assert_int_equal(tuner_save(&tt, path, &err), 0);
	assert_int_equal(tuner_load(&got, path, &err), 0);
	assert_int_equal(got.count, 2);
	for (uint64_t n = MIB; n <= 64 * MIB; n *= 8) {
		tuner_choose(tuner_table_get(&tt, 1, 0), n, &c);
		tuner_choose(tuner_table_get(&got, 1, 0), n, &d);
		assert_memory_equal(&c, &d, sizeof(c));
	}
	snprintf(got.machine, sizeof(got.machine), "cedar");
	assert_int_equal(tuner_load(&got, path, &err), -ESTALE);
	assert_non_null(strstr(err.text,
	    "measured on machine mist 4 V100, but this machine is cedar"));
	assert_int_equal(got.count, 2); /* untouched */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(tuner_save(&tt, "/nowhere/t", &err), -ENOENT);
	snprintf(path, sizeof(path), "%s/t.json.new", dir);
	assert_int_not_equal(stat(path, &st), 0);
	assert_int_equal(rmdir(dir), 0);
	tuner_table_clear(&tt);
	tuner_table_clear(&got);
}

#define HEAD                                                                   \
	"{\"format\":\"coalmine-tuning\",\"version\":1,"                       \
	"\"machine\":\"m\",\"pairs\":["
#define PAIR                                                                   \
	"{\"src\":0,\"dst\":1,\"chunks_max\":8,\"fits\":{"                     \
	"\"direct\":{\"setup_s\":0,\"bytes_per_s\":1e9},\"staged\":[]},"       \
	"\"rows\":["
#define ROW(class, rate)                                                       \
	"{\"class\":" class ",\"transfers\":1,\"last_bytes\":65536,"           \
			    "\"direct\":true,\"since\":0,\"direct_s\":1,"      \
			    "\"several_s\":1,"                                 \
			    "\"ways\":[{\"setup_s\":0,\"bytes_per_s\":" rate   \
			    ",\"chunks\":0,"                                   \
			    "\"carried_bytes\":5}]}"

static void
test_file_wrong(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "", "t.json:" },
		{ "[]", "pairs" },
		{ "{\"format\":\"x\",\"version\":1,\"machine\":\"m\","
		  "\"pairs\":[]}",
		    "format: is not coalmine-tuning" },
		{ "{\"format\":\"coalmine-tuning\",\"version\":2,"
		  "\"machine\":\"m\",\"pairs\":[]}",
		    "version: is not 1" },
		{ HEAD PAIR ROW("99", "1") "]}]}",
		    "class: expected a number from 0 to" },
		{ HEAD PAIR ROW("17", "1") "]}]}", "last_bytes: outside" },
		{ HEAD PAIR ROW("16", "0") "]}]}", "bytes_per_s: expected a" },
		{ HEAD PAIR ROW("16", "\"1\"") "]}]}",
		    "bytes_per_s: expected a" },
		{ HEAD "{}]}", "expected" },
		{ HEAD "7]}", "expected" },
	};
	struct tuner_table tt = { .machine = "m" };
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		err.text[0] = '\0';
		assert_int_equal(tuner_parse(&tt, "t.json", cases[i].text,
				     strlen(cases[i].text), &err),
		    -EPROTO);
		if (strstr(err.text, cases[i].words) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", err.text,
			    cases[i].words);
	}
	assert_int_equal(tuner_parse(&tt, "t.json",
			     HEAD PAIR ROW("16", "1") "]}]}",
			     strlen(HEAD PAIR ROW("16", "1") "]}]}"), &err),
	    0);
	assert_int_equal(tuner_table_get(&tt, 0, 1)->rows[16].carried[0], 5);
	tuner_table_clear(&tt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copier),
		cmocka_unit_test(test_copier_ways),
		cmocka_unit_test(test_copier_store),
		cmocka_unit_test(test_cold),
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_fall_back),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_frozen),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
