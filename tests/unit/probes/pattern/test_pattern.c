/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worked cases of groups, striping and sparse patterns: the bytes between
 * all ranks, and every option that must be rejected by its name. Every plan
 * here is also proven by check.
 */
#include "probes/pattern/pattern.h"

#include <math.h>

#include "schema/record.h"
#include "schema/record_fields.h"
#include "tests/unit/probes/plan/cases.h"
#include "probes/catalog/patterns.h"

static const char *const shapes[] = { "rail", "asymmetric", "symmetric" };

/* The definition of the patterns, without code of the builder. */
static int
sends(int shape, int bi, uint32_t g, uint32_t k, uint32_t src, uint32_t dst)
{
	uint32_t a = src / g, i = src % g, b = dst / g, j = dst % g;
	int out = a == 0 && b != 0 && i < k;
	int in = b == 0 && a != 0 && j < k;
	int fits = shape == 0 ? i == j
	    : shape == 1      ? (out ? i < k : j < k)
			      : i < k && j < k;

	if (bi == 3)
		return a != b && i < k && fits;
	return fits && ((out && bi != 1) || (in && bi >= 1));
}

/* Agents and the collector accept a record of every probe. */
static void
test_records(void **state)
{
	(void)state;
	for (size_t i = 0; patterns[i] != NULL; i++)
		assert_non_null(record_kind_find(patterns[i]->name));
}

static void
test_group_matrices(void **state)
{
	static const char *const directions[] = { "out", "in", "bi", "omni" };
	static const uint32_t sizes[][2] = { { 2, 4 }, { 2, 3 }, { 3, 2 } };

	(void)state;
	for (int shape = 0; shape < 3; shape++)
		for (int d = 0; d < 4; d++)
			for (size_t s = 0; s < 3; s++)
				for (uint32_t k = 1; k <= sizes[s][1]; k++) {
					uint32_t n = sizes[s][0];
					uint32_t g = sizes[s][1];
					uint32_t want = 0;
					char text[200];
					struct plan *p;

					if (shape == 1 && d == 3)
						continue;
					snprintf(text, sizeof(text),
					    "group pattern=%s direction=%s "
					    "n=%u g=%u k=%u count=480",
					    shapes[shape], directions[d], n, g,
					    k);
					p = case_proven(text, 0);
					for (uint32_t x = 0; x < n * g * n * g;
					     x++)
						want += (uint32_t)sends(shape,
						    d, g, k, x / (n * g),
						    x % (n * g));
					assert_int_equal(p->transfers_count,
					    want);
					for (uint32_t x = 0; x < want; x++)
						assert_true(sends(shape, d, g,
						    k, p->transfers[x].src,
						    p->transfers[x].dst));
					plan_free(p);
				}
}

static void
test_group_cases(void **state)
{
	static const struct {
		const char *text, *pairs;
	} cases[] = {
		{ "pattern=rail k=1", "0>3" },
		{ "pattern=rail k=2", "0>3 1>4" },
		{ "pattern=rail k=3", "0>3 1>4 2>5" },
		{ "pattern=asymmetric k=1", "0>3 0>4 0>5" },
		{ "pattern=asymmetric k=2", "0>3 0>4 0>5 1>3 1>4 1>5" },
		{ "pattern=asymmetric k=3",
		    "0>3 0>4 0>5 1>3 1>4 1>5 2>3 2>4 2>5" },
		{ "pattern=symmetric k=1", "0>3" },
		{ "pattern=symmetric k=2", "0>3 0>4 1>3 1>4" },
		{ "pattern=symmetric k=3",
		    "0>3 0>4 0>5 1>3 1>4 1>5 2>3 2>4 2>5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[200];
		struct plan *p;

		snprintf(text, sizeof(text), "group n=2 g=3 count=48 %s",
		    cases[i].text);
		p = case_proven(text, 0);
		assert_string_equal(case_pairs(p, 0), cases[i].pairs);
		plan_free(p);
	}
}

static void
test_group_volumes(void **state)
{
	static const struct {
		const char *text;
		uint64_t message, count, footprint, per_group;
	} cases[] = {
		{ "n=2 g=4 k=3 pattern=rail", 192, 3, 576, 576 },
		{ "n=2 g=4 k=3 pattern=rail direction=bi", 192, 6, 1152, 1152 },
		{ "n=2 g=4 k=2 pattern=asymmetric", 48, 8, 384, 384 },
		{ "n=2 g=4 k=4 pattern=symmetric direction=omni", 48, 32, 1536,
		    1536 },
		{ "n=3 g=2 k=2 pattern=symmetric direction=omni", 48, 24, 1152,
		    768 },
		{ "n=3 g=2 k=2 pattern=rail", 96, 4, 384, 384 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[200];
		struct plan *p;

		snprintf(text, sizeof(text), "group count=48 %s",
		    cases[i].text);
		p = case_proven(text, 0);
		assert_int_equal(p->transfers_count, cases[i].count);
		for (size_t k = 0; k < p->transfers_count; k++)
			assert_int_equal(p->transfers[k].bytes,
			    cases[i].message);
		assert_int_equal(case_note(p, "footprint"), cases[i].footprint);
		assert_int_equal(case_note(p, "per_group"), cases[i].per_group);
		plan_free(p);
	}
}

/* 50 elements over 3 partners: 17, 17 and 16, none lost. */
static void
test_group_remainder(void **state)
{
	struct plan *p;

	(void)state;
	p = case_proven("group n=2 g=4 k=3 pattern=symmetric count=50", 0);
	assert_int_equal(case_note(p, "footprint"), 3 * 50 * 4);
	assert_int_equal(p->transfers[0].bytes, 17 * 4);
	assert_int_equal(p->transfers[1].bytes, 17 * 4);
	assert_int_equal(p->transfers[2].bytes, 16 * 4);
	plan_free(p);
	p = case_proven("group n=2 g=4 k=4 pattern=symmetric count=1", 0);
	assert_string_equal(case_pairs(p, 0), "0>4 1>4 2>4 3>4");
	plan_free(p);
	/* above 2^31 elements and 2^32 bytes */
	p = case_proven("group n=2 g=1 count=5000000000 type=double", 0);
	assert_int_equal(p->transfers[0].bytes, 40000000000);
	plan_free(p);
}

static void
test_group_refused(void **state)
{
	(void)state;
	case_refused("group n=3 g=4", 8,
	    "group.n = 3: expected a value for 8 ranks; this one needs 12");
	case_refused("group n=1 g=4", 0, "group.n = 1: expected a whole");
	case_refused("group g=4 k=0", 0, "group.k = 0: expected");
	case_refused("group g=4 k=5", 0, "group.k = 5: expected 1 to g");
	case_refused("group pattern=asymmetric direction=omni", 0,
	    "group.direction = omni: expected out, in or bi");
	case_refused("group count=0", 0, "group.count = 0: expected");
	case_refused("group count=-48", 0, "group.count = -48: expected");
	case_refused("group pattern=fan", 0, "group.pattern = fan: expected");
	case_refused("group via=dummy", 0, "group.via = dummy: expected");
	case_refused("group 7", 0, "7: expected option=value");
	case_refused("group window=3", 0, "unknown key window");
	case_refused("group n=2 n=3", 0, "group.n=3 is given twice");
	case_refused("group n=65536 g=65536", 0, "group.n = 65536: expected");
	case_refused("group n=60000 g=1 direction=omni", 0,
	    "group.n = 60000: expected");
	case_refused("group pattern=symmetric g=30000 k=30000", 0,
	    "group.n = 2: expected at most");
	case_refused("group n=4096 count=1125899906842624 type=double", 0,
	    "group.count = 1125899906842624: expected");
}

static void
test_stripe_cases(void **state)
{
	struct plan *p;

	(void)state;
	p = case_proven("stripe g=4 bytes=67108864 via=ipc,mpi,ipc-get", 8);
	assert_string_equal(case_pairs(p, 0), "0>1 0>2 0>3");
	assert_string_equal(case_pairs(p, 1), "0>4 1>5 2>6 3>7");
	assert_string_equal(case_pairs(p, 2), "5>4 6>4 7>4");
	for (size_t i = 0; i < p->transfers_count; i++)
		assert_int_equal(p->transfers[i].bytes, 16777216);
	assert_int_equal(p->transfers[0].via, PLAN_VIA_IPC);
	assert_int_equal(p->transfers[3].via, PLAN_VIA_MPI);
	assert_int_equal(p->transfers[7].via, PLAN_VIA_IPC_GET);
	plan_free(p);
	p = case_proven("stripe g=3 count=10 type=int32", 0);
	assert_int_equal(p->transfers[2].bytes, 16); /* 0>3, stripe (0,4) */
	assert_int_equal(p->transfers[0].from_off, 16);
	assert_int_equal(p->transfers[0].bytes, 12); /* (4,3) */
	assert_int_equal(p->transfers[1].from_off, 28);
	assert_int_equal(p->transfers[1].bytes, 12); /* (7,3) */
	plan_free(p);
	p = case_proven("stripe g=12 count=268435456", 24);
	assert_int_equal(p->transfers_count, 11 + 12 + 11);
	assert_int_equal(p->transfers[10].dst, 11);
	assert_int_equal(p->transfers[10].from_off, 4 * 246065835ULL);
	assert_int_equal(p->transfers[10].bytes, 4 * 22369621ULL);
	plan_free(p);
	p = case_proven("stripe g=4 bytes=3", 0); /* less than stripes */
	assert_string_equal(case_pairs(p, 1), "0>4 1>5 2>6");
	plan_free(p);
	case_refused("stripe g=4", 7,
	    "stripe.g = 4: expected a value for 7 ranks");
	case_refused("stripe via=mpi,mpi", 0, "stripe.via = mpi,mpi: expected");
	case_refused("stripe bytes=0", 0, "stripe.bytes = 0: expected");
}

static void
test_self(void **state)
{
	struct plan *p = case_proven("self bytes=4K", 3);

	(void)state;
	assert_string_equal(case_pairs(p, 0), "0>0 1>1 2>2");
	assert_int_equal(case_note(p, "footprint"), 3 * 4096);
	plan_free(p);
}

static void
test_pairs(void **state)
{
	struct plan *p = case_proven("pairs g=2 bytes=100 pieces=1", 8);

	(void)state;
	assert_string_equal(case_pairs(p, 0),
	    "0>2 1>3 2>0 3>1 4>6 5>7 6>4 7>5");
	plan_free(p);
	p = case_proven("pairs shift=1 pieces=1", 4);
	assert_string_equal(case_pairs(p, 0), "0>3 1>2 2>1 3>0");
	plan_free(p);
	p = case_proven("pairs shift=1 pieces=1", 5);
	assert_string_equal(case_pairs(p, 0), "1>2 2>1 3>4 4>3");
	plan_free(p);
	p = case_proven("pairs shift=2 pieces=1", 5); /* the ring is closed */
	assert_string_equal(case_pairs(p, 0), "0>4 2>3 3>2 4>0");
	plan_free(p);
	p = case_proven("pairs bytes=11 pieces=3", 2); /* 4, 4 and 3 */
	assert_string_equal(case_pairs(p, 0), "0>1 0>1 0>1 1>0 1>0 1>0");
	assert_int_equal(p->transfers[2].bytes, 3);
	assert_int_equal(case_note(p, "footprint"), 22);
	plan_free(p);
	p = case_proven("pairs bytes=2", 2);
	assert_int_equal(p->transfers_count, 4);
	plan_free(p);
	case_refused("pairs g=4", 7,
	    "pairs.g = 4: expected a value for 7 ranks");
	case_refused("pairs shift=1", 2,
	    "pairs.g = 1: expected a value for 2 ranks");
	case_refused("pairs shift=3", 8, "pairs.shift = 3: expected");
}

/* Bytes of a step as "0>1:10", in the order of the listing. */
static void
expect_bytes(const struct plan *p, uint32_t step, const char *want)
{
	char text[400] = "";
	size_t n = 0;

	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].step == step)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s%u>%u:%d", n > 0 ? " " : "", p->transfers[i].src,
			    p->transfers[i].dst, (int)p->transfers[i].bytes);
	assert_string_equal(text, want);
}

/* Weights 1, 1/2, 1/3, 1/4 share 25 tokens as 12, 6, 4, 3. Of 24 places with
 * weights 1, 1/4, 1/9, 1/16 the first expert may have 12, and the others share
 * 12: 7.08, 3.15, 1.77. */
static void
test_moe(void **state)
{
	char path[] = "/tmp/moe-XXXXXX", text[200];
	int fd = mkstemp(path);
	struct plan *p;

	(void)state;
	p = case_proven("moe experts=4 top_k=1 tokens=25 bytes=10 zipf=1", 2);
	expect_bytes(p, 0, "0>0:180 0>1:70 1>0:180 1>1:70");
	expect_bytes(p, 1, "0>0:180 0>1:180 1>0:70 1>1:70");
	assert_true(fabs(case_real(p, "imbalance") - 1.44) < 1e-9);
	plan_free(p);
	p = case_proven("moe top_k=2 tokens=12 bytes=1 zipf=2", 4);
	expect_bytes(p, 0,
	    "0>0:12 0>1:7 0>2:3 0>3:2 1>0:12 1>1:7 1>2:3 1>3:2 "
	    "2>0:12 2>1:7 2>2:3 2>3:2 3>0:12 3>1:7 3>2:3 3>3:2");
	plan_free(p);
	p = case_proven("moe top_k=1 tokens=10 bytes=1 zipf=0", 3);
	expect_bytes(p, 0,
	    "0>0:4 0>1:3 0>2:3 1>0:4 1>1:3 1>2:3 2>0:4 2>1:3 2>2:3");
	plan_free(p);
	assert_int_equal(write(fd, "1 0 3 0\n", 8), 8);
	snprintf(text, sizeof(text),
	    "moe experts=4 top_k=1 tokens=8 bytes=1 loads=%s", path);
	p = case_proven(text, 4);
	expect_bytes(p, 0, "0>0:2 0>2:6 1>0:2 1>2:6 2>0:2 2>2:6 3>0:2 3>2:6");
	plan_free(p);
	snprintf(text, sizeof(text), "moe top_k=3 loads=%s", path);
	case_refused(text, 4, "3 numbers above 0");
	case_refused(text, 8, "8 numbers, one for each expert");
	close(fd);
	unlink(path);
	p = case_proven("moe seed=7 experts=64 tokens=1000", 8);
	assert_int_equal(case_note(p, "footprint"),
	    2 * 8 * 2 * 1000 * 14 * 1024);
	plan_free(p);
	case_refused("moe experts=6", 4, "multiple of the 4 ranks");
	case_refused("moe top_k=5", 4, "at most the 4 experts");
	case_refused("moe", 4097, "at most 33554432 transfers");
}

/* Each block once, from places in no order to places in order. */
static void
test_kv(void **state)
{
	struct plan *p = case_proven("kv count=50 bytes=10", 5);
	uint64_t from = 0;
	int in_order = 0;

	(void)state;
	assert_int_equal(p->transfers_count, 100);
	assert_int_equal(case_note(p, "footprint"), 1000);
	for (size_t i = 0; i < 100; i++) {
		const struct plan_transfer *t = &p->transfers[i];

		assert_int_equal(t->src, i / 50);
		assert_int_equal(t->dst, 3 + i / 50);
		assert_int_equal(t->to_off, i % 50 * 10);
		from += t->from_off;
		in_order += t->from_off == t->to_off;
	}
	assert_int_equal(from, 2 * 10 * (49 * 50 / 2));
	assert_true(in_order < 20);
	plan_free(p);
	case_refused("kv pairs=3", 5, "at most half of the 5 ranks");
	case_refused("kv", 65537, "65537 ranks: expected at most 65536");
	case_refused("kv count=1048576", 66, "at most 33554432 transfers");
}

static void
test_pipeline(void **state)
{
	struct plan *p = case_proven("pipeline batches=2 bytes=10", 3);

	(void)state;
	assert_string_equal(case_pairs(p, 0), "0>1");
	assert_string_equal(case_pairs(p, 1), "0>1 1>2");
	assert_string_equal(case_pairs(p, 2), "1>2");
	assert_int_equal(p->steps, 3);
	plan_free(p);
	p = case_proven("pipeline batches=2 bytes=10 backward=yes", 3);
	assert_string_equal(case_pairs(p, 2), "1>2 2>1");
	assert_string_equal(case_pairs(p, 3), "1>0 2>1");
	assert_string_equal(case_pairs(p, 4), "1>0");
	assert_int_equal(case_note(p, "footprint"), 80);
	plan_free(p);
	case_refused("pipeline", 1, "at least 2 ranks");
	case_refused("pipeline batches=4096", 4097,
	    "at most 33554432 transfers");
}

/* A pattern of n ranks in nodes of g, with zeros, odd sizes and self entries.
 */
static void
write_matrix(const char *path, uint32_t n, uint32_t seed)
{
	FILE *fp = fopen(path, "w");

	assert_non_null(fp);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			seed = seed * 1664525 + 1013904223;
			fprintf(fp, "%u%c", seed >> 30 == 0 ? 0 : seed >> 24,
			    k + 1 < n ? ' ' : '\n');
		}
	assert_int_equal(fclose(fp), 0);
}

static size_t
count_step(const struct plan *p, uint32_t step)
{
	size_t n = 0;

	for (size_t i = 0; i < p->transfers_count; i++)
		n += p->transfers[i].step == step;
	return n;
}

static void
test_sparse(void **state)
{
	char path[] = "/tmp/coalmine-matrix-XXXXXX", text[200];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (uint32_t seed = 1; seed <= 20; seed++)
		for (uint32_t stripes = 0; stripes <= 4; stripes++) {
			uint64_t intra, inter;
			struct plan *p;

			write_matrix(path, 12, seed);
			snprintf(text, sizeof(text),
			    "sparse file=%s g=4 stripes=%u", path, stripes);
			p = case_proven(text, 0);
			if (stripes == 4) {
				assert_int_equal(count_step(p, 1), 24);
				assert_int_equal(count_step(p, 2), 48);
			}
			inter = case_note(p, "inter");
			intra = case_note(p, "pattern") - inter;
			assert_int_equal(plan_volume(p),
			    stripes == 0 ? intra + inter : intra + 3 * inter);
			plan_free(p);
			strcat(text, " scope=intra");
			p = case_proven(text, 16);
			assert_int_equal(plan_volume(p), intra);
			plan_free(p);
			strcpy(text + strlen(text) - 5, "inter");
			p = case_proven(text, 0);
			assert_int_equal(plan_volume(p),
			    stripes == 0 ? inter : 3 * inter);
			plan_free(p);
		}
	snprintf(text, sizeof(text), "sparse file=%s g=5", path);
	case_refused(text, 0, "sparse.g = 5: expected a divisor of 12");
	snprintf(text, sizeof(text), "sparse file=%s g=4 stripes=5", path);
	case_refused(text, 0, "sparse.stripes = 5: expected 0 to g");
	snprintf(text, sizeof(text), "sparse file=%s", path);
	case_refused(text, 8, ":1: a matrix for 12 ranks");
	case_refused("sparse", 0, "sparse.file = ");
	case_refused("sparse file=/nonexistent", 0, "/nonexistent: ");
	close(fd);
	unlink(path);
}

/* Both, by every number in them: much has LARGE times the bytes of little. */
#define LARGE (1ULL << 33)

static void
assert_larger(const struct plan *little, const struct plan *much)
{
	assert_int_equal(little->transfers_count, much->transfers_count);
	assert_int_equal(little->locals_count, much->locals_count);
	for (size_t i = 0; i < little->transfers_count; i++) {
		const struct plan_transfer *a = &little->transfers[i];
		const struct plan_transfer *b = &much->transfers[i];

		assert_true(a->step == b->step && a->src == b->src &&
		    a->dst == b->dst && a->from == b->from && a->to == b->to);
		assert_int_equal(a->from_off * LARGE, b->from_off);
		assert_int_equal(a->to_off * LARGE, b->to_off);
		assert_int_equal(a->bytes * LARGE, b->bytes);
	}
	for (size_t i = 0; i < little->locals_count; i++) {
		assert_int_equal(little->locals[i].to_off * LARGE,
		    much->locals[i].to_off);
		assert_int_equal(little->locals[i].bytes * LARGE,
		    much->locals[i].bytes);
	}
	assert_int_equal(case_note(little, "footprint") * LARGE,
	    case_note(much, "footprint"));
	assert_int_equal(plan_volume(much), case_note(much, "footprint"));
}

/* Sizes beyond int and 32 bits, of a message, its place and the sum: the plan
 * equals the plan of a small size, multiplied. */
static void
test_large(void **state)
{
	static const struct {
		const char *text, *key;
		uint64_t size;
		uint32_t ranks;
	} cases[] = {
		{ "group n=3 g=4 k=2", "count", 48, 0 },
		{ "group pattern=asymmetric direction=bi n=3 g=4 k=4", "count",
		    48, 0 },
		{ "group pattern=symmetric direction=omni n=3 g=4 k=4", "count",
		    48, 0 },
		{ "stripe g=6", "count", 96, 0 },
		{ "stripe g=4", "bytes", 96, 0 },
		{ "self", "bytes", 96, 3 },
		{ "pairs g=2 pieces=4", "bytes", 96, 8 },
		{ "binding g=4", "bytes", 96, 0 },
		{ "collective name=alltoall hierarchy=2,4", "count", 96, 8 },
		{ "collective name=allreduce hierarchy=2,4 stripe=2 depth=2",
		    "count", 96, 8 },
		{ "collective name=reduce-scatter hierarchy=2,4", "count", 96,
		    8 },
		{ "neighbor rsg=.5 ranks=8 per_node=4", "bytes", 96, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plan *p[2];

		for (int much = 0; much < 2; much++) {
			char text[200];

			snprintf(text, sizeof(text), "%s %s=%llu",
			    cases[i].text, cases[i].key,
			    (unsigned long long)(cases[i].size *
				(much ? LARGE : 1)));
			p[much] = case_proven(text, cases[i].ranks);
		}
		assert_larger(p[0], p[1]);
		plan_free(p[0]);
		plan_free(p[1]);
	}
}

/* All transfers together are counted too, and the option is named. */
static void
test_large_refused(void **state)
{
	plan_free(case_proven("self bytes=1P", 8191));
	case_refused("self bytes=1P", 8192,
	    "self.bytes = 1P: expected less than 8 EiB");
	case_refused("self bytes=1P", 65536, "self.bytes = 1P: expected");
	case_refused("pairs bytes=1P", 65536, "pairs.bytes = 1P: expected");
	(void)state;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_group_matrices),
		cmocka_unit_test(test_group_cases),
		cmocka_unit_test(test_group_volumes),
		cmocka_unit_test(test_group_remainder),
		cmocka_unit_test(test_group_refused),
		cmocka_unit_test(test_stripe_cases),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_moe),
		cmocka_unit_test(test_kv),
		cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_large_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
