/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_common.c - print the time of each operation that runs once a sample, as
 * a Markdown table: the best of several repetitions, to reduce the effect of
 * other processes on the machine.
 */
#include <stdio.h>

#include "common/clk.h"
#include "common/hist.h"
#include "common/rng.h"
#include "common/robust.h"

#define REPEATS 7

static struct hist h, other;
static struct rng rng;
static double samples[4096];
static uint8_t blob[HIST_BLOB_MAX];
static volatile double sink;

static void
add(int i)
{
	hist_add(&h, samples[i % 4096]);
}

static void
merge(int i)
{
	(void)i;
	hist_merge(&other, &h);
}

static void
quantile(int i)
{
	sink = hist_quantile(&h, (double)(i % 1000) / 1000);
}

static void
pack(int i)
{
	(void)i;
	sink = (double)hist_pack(&h, blob, sizeof(blob));
}

static void
draw(int i)
{
	sink = (double)rng_below(&rng, (uint64_t)(i % 1000) + 1);
}

static void
t_quantile(int i)
{
	sink = robust_t_quantile(0.975, i % 100 + 1);
}

static double
best_ns(void (*op)(int i), int times)
{
	double best = 1e18;

	for (int k = 0; k < REPEATS; k++) {
		uint64_t start_ns = clk_ns();
		double ns;

		for (int i = 0; i < times; i++)
			op(i);
		ns = (double)(clk_ns() - start_ns) / times;
		best = ns < best ? ns : best;
	}
	return best;
}

int
main(void)
{
	static const struct {
		const char *name;
		void (*op)(int i);
		int times;
	} ops[] = {
		{ "hist_add", add, 1000000 },
		{ "hist_merge", merge, 10000 },
		{ "hist_quantile", quantile, 10000 },
		{ "hist_pack", pack, 10000 },
		{ "rng_below", draw, 1000000 },
		{ "robust_t_quantile", t_quantile, 1000 },
	};

	rng_seed(&rng, 1);
	for (int i = 0; i < 4096; i++)
		samples[i] = 1e-6 + 1e-3 * rng_unit(&rng) * rng_unit(&rng);
	printf("| operation | ns |\n|---|---:|\n");
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		printf("| %s | %.0f |\n", ops[i].name,
		    best_ns(ops[i].op, ops[i].times));
	printf("\nA histogram takes %zu bytes. Packed, this one with %ju "
	       "samples takes %.0f bytes.\n",
	    sizeof(h), (uintmax_t)h.count,
	    (double)hist_pack(&h, blob, sizeof(blob)));
	return 0;
}
