/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges in rounds of pairs: partners and messages as worked out by hand,
 * the rounds that the negabinary numbers of the papers give, and proofs for
 * every number of ranks.
 */
#include "tests/unit/probes/plan/cases.h"

#include "common/str.h"
#include "probes/collective/rounds.h"

#define RANKS_MAX 33

static void
expect_steps(const char *text, uint32_t ranks, const char *const *steps)
{
	struct plan *p = case_proven(text, ranks);
	uint32_t n = 0;

	for (; steps[n] != NULL; n++)
		assert_string_equal(case_pairs(p, n), steps[n]);
	assert_int_equal(p->steps, n);
	plan_free(p);
}

#define FIRST_PAIRS "0>1 1>0 2>3 3>2 4>5 5>4 6>7 7>6"

/* By hand, for eight places and fewer. */
static void
test_partners(void **state)
{
	static const char *const doubling[] = { FIRST_PAIRS,
		"0>2 1>3 2>0 3>1 4>6 5>7 6>4 7>5",
		"0>4 1>5 2>6 3>7 4>0 5>1 6>2 7>3", NULL };
	static const char *const halving[] = {
		"0>4 1>5 2>6 3>7 4>0 5>1 6>2 7>3",
		"0>2 1>3 2>0 3>1 4>6 5>7 6>4 7>5", FIRST_PAIRS, NULL
	};
	/* Distances 1, -1 and 3 of even ranks; blocks are arranged before. */
	static const char *const swing[] = { "", FIRST_PAIRS,
		"0>7 1>2 2>1 3>4 4>3 5>6 6>5 7>0",
		"0>3 1>6 2>5 3>0 4>7 5>2 6>1 7>4", NULL };
	static const char *const bine_tree[] = { "0>3", "0>7 3>4",
		"0>1 3>2 4>5 7>6", NULL };
	static const char *const bine_reduce[] = { "1>0 2>3 5>4 6>7", "4>3 7>0",
		"3>0", NULL };
	static const char *const six[] = { "0>4", "0>2", "0>1 2>3 4>5", NULL };
	static const char *const from_two[] = { "2>0", "2>4", "0>1 2>3 4>5",
		NULL };
	/* Rank 1 takes part through rank 0. */
	static const char *const three[] = { "1>0", "0>2 2>0", "0>1", NULL };

	(void)state;
	expect_steps("collective name=allgather exchange=recursive", 8,
	    doubling);
	expect_steps("collective name=reduce-scatter exchange=recursive", 8,
	    halving);
	expect_steps("collective name=reduce-scatter exchange=swing", 8, swing);
	expect_steps("collective name=allreduce form=single exchange=swing", 8,
	    swing + 1);
	expect_steps("collective name=broadcast exchange=bine", 8, bine_tree);
	expect_steps("collective name=scatter exchange=bine", 8, bine_tree);
	expect_steps("collective name=reduce exchange=bine", 8, bine_reduce);
	expect_steps("collective name=gather exchange=bine", 8, bine_reduce);
	expect_steps("collective name=broadcast exchange=recursive", 6, six);
	expect_steps("collective name=broadcast exchange=recursive root=2", 6,
	    from_two);
	expect_steps("collective name=allreduce form=single exchange=bine", 3,
	    three);
}

/* Bytes of each message of rank 0, by step: of blocks of one byte. */
static void
expect_lengths(const char *text, const char *want)
{
	struct plan *p = case_proven(text, 8);
	struct strbuf sb = { 0 };

	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].src == 0)
			strbuf_addf(&sb, "%s%u:%llu", sb.len_bytes ? " " : "",
			    p->transfers[i].step,
			    (unsigned long long)p->transfers[i].bytes / 4);
	assert_string_equal(sb.text, want);
	strbuf_clear(&sb);
	plan_free(p);
}

/* Half of the rest in each round; of Bine's blocks some lie on both sides of
 * the end, so they are two messages. */
static void
test_lengths(void **state)
{
	(void)state;
	expect_lengths("collective name=reduce-scatter count=1 "
		       "exchange=recursive",
	    "0:4 1:2 2:1");
	expect_lengths("collective name=reduce-scatter count=1 exchange=swing",
	    "1:4 2:2 3:1");
	expect_lengths("collective name=allgather count=1 exchange=swing",
	    "0:1 1:2 2:4");
	expect_lengths("collective name=reduce-scatter count=1 exchange=bine",
	    "0:4 1:2 2:1");
	expect_lengths("collective name=allgather count=1 exchange=bine",
	    "0:1 1:2 2:2 2:2");
	expect_lengths("collective name=scatter count=1 exchange=recursive",
	    "0:4 1:2 2:1");
	expect_lengths("collective name=scatter count=1 exchange=bine",
	    "0:4 1:2 2:1");
	expect_lengths("collective name=allreduce form=single count=1 "
		       "exchange=recursive",
	    "0:8 1:8 2:8");
}

/* The digits of r or r - n to the base of -2, lowest first, whichever has at
 * most this many; the number of equal ones at the low end. */
static uint32_t
equal_digits(uint32_t r, uint32_t n, uint32_t digits)
{
	for (int again = 0; again < 2; again++) {
		int64_t x = (int64_t)r - (again ? (int64_t)n : 0);
		uint32_t bits = 0, count = 0, same = 1;

		for (; x != 0; count++) {
			int64_t digit = x % 2 != 0;

			bits |= (uint32_t)digit << count;
			x = (x - digit) / -2;
		}
		if (count > digits)
			continue;
		while (same < digits &&
		    ((bits >> same) & 1) == ((bits >> (same - 1)) & 1))
			same++;
		return same;
	}
	fail_msg("%u of %u", r, n);
	return 0;
}

/* A rank receives in round s - u of 0 to s - 1, with u equal digits at the low
 * end of its negabinary number (Bine trees, section 2). */
static void
test_negabinary(void **state)
{
	(void)state;
	for (uint32_t s = 1, n = 2; n <= 64; n *= 2, s++) {
		struct plan *p =
		    case_proven("collective name=broadcast exchange=bine", n);

		assert_int_equal(p->transfers_count, n - 1);
		for (size_t i = 0; i < p->transfers_count; i++)
			assert_int_equal(p->transfers[i].step,
			    s - equal_digits(p->transfers[i].dst, n, s));
		plan_free(p);
	}
}

static uint32_t
log2_up(uint32_t n)
{
	uint32_t k = 0;

	while (1u << k < n)
		k++;
	return k;
}

/* All that is moved is needed, in the fewest rounds, also where the ranks are
 * not a power of two. */
static void
test_least_volume(void **state)
{
	static const char *const names[] = { "allgather", "reduce-scatter" };
	static const char *const kinds[] = { "recursive", "swing", "bine" };

	(void)state;
	for (uint32_t n = 2; n <= 32; n += 2)
		for (size_t i = 0; i < 6; i++) {
			int power = 1u << log2_up(n) == n;
			const char *kind = kinds[i % 3];
			char text[100];
			struct plan *p;

			if (i % 3 == 0 && !power)
				continue;
			snprintf(text, sizeof(text),
			    "collective name=%s count=1 exchange=%s",
			    names[i / 3], kind);
			p = case_proven(text, n);
			assert_int_equal(plan_volume(p), 4 * n * (n - 1));
			assert_in_range(p->steps, log2_up(n), log2_up(n) + 1);
			if (power && i % 3 != 2)
				assert_int_equal(p->transfers_count,
				    n * log2_up(n));
			plan_free(p);
		}
}

static const struct {
	const char *name;
	int trees; /* which swing does not have */
	uint32_t stages;
} forms[] = {
	{ "broadcast form=single", 1, 1 },
	{ "broadcast form=allgather.scatter", 1, 2 },
	{ "reduce form=single", 1, 1 },
	{ "reduce form=gather.reduce-scatter", 1, 2 },
	{ "gather", 1, 1 },
	{ "scatter", 1, 1 },
	{ "allgather form=single", 0, 1 },
	{ "allgather form=broadcast.gather", 1, 2 },
	{ "reduce-scatter form=single", 0, 1 },
	{ "reduce-scatter form=scatter.reduce", 1, 2 },
	{ "allreduce form=single", 0, 1 },
	{ "allreduce form=broadcast.reduce", 1, 2 },
	{ "allreduce form=allgather.reduce-scatter", 0, 2 },
};

/* Every collective in every form and exchange, of 1 to 33 ranks, with the root
 * at both ends and inside; each stage in log2 rounds and at most three more. */
static void
test_all_ranks(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= RANKS_MAX; n++)
		for (size_t i = 0; i < ARRAY_LEN(forms); i++)
			for (int kind = ROUNDS_RECURSIVE; kind < ROUNDS_KINDS;
			     kind++) {
				const uint32_t roots[] = { 0, n / 3, n - 1 };
				char text[160];
				struct plan *p;

				snprintf(text, sizeof(text),
				    "collective name=%s count=3 exchange=%s "
				    "root=%u",
				    forms[i].name, rounds_kinds[kind],
				    roots[(i + n) % 3]);
				if (kind == ROUNDS_SWING && forms[i].trees) {
					case_refused(text, n,
					    "swing supports only allgather");
					continue;
				}
				p = case_proven(text, n);
				assert_true(p->steps <=
				    forms[i].stages * (log2_up(n) + 3));
				plan_free(p);
			}
}

/* With a hierarchy each message has the transport of the outermost level that
 * has its ranks in different groups. */
static void
test_transports(void **state)
{
	struct plan *p = case_proven("collective name=allgather "
				     "exchange=recursive hierarchy=2,2,2 "
				     "via=mpi,rma,ipc",
	    8);

	(void)state;
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];
		uint8_t want = t->src / 4 != t->dst / 4 ? PLAN_VIA_MPI
		    : t->src / 2 != t->dst / 2          ? PLAN_VIA_RMA
							: PLAN_VIA_IPC;

		assert_int_equal(t->via, want);
	}
	plan_free(p);
}

static void
test_refused(void **state)
{
	(void)state;
	case_refused("collective name=alltoall exchange=bine", 4,
	    "expected none for alltoall");
	case_refused("collective name=allgather exchange=swing depth=2", 4,
	    "expected none, or stripe = 1, ring = 1 and depth = 1");
	case_refused("collective name=allgather exchange=swing stripe=2", 4,
	    "expected none, or stripe = 1, ring = 1 and depth = 1");
	case_refused("collective name=allgather exchange=swing ring=2", 4,
	    "expected none, or stripe = 1, ring = 1 and depth = 1");
	case_refused("collective name=allgather exchange=bine", 4097,
	    "none for more than 4096 ranks");
	case_refused("collective exchange=hypercube", 4,
	    "none|recursive|swing|bine");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partners),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_negabinary),
		cmocka_unit_test(test_least_volume),
		cmocka_unit_test(test_all_ranks),
		cmocka_unit_test(test_transports),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
