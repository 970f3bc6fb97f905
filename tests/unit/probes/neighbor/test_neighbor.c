/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighborhood allgather(v): the worked lists of the document to the byte,
 * random graphs compared with a model of each rank's knowledge, the bytes
 * between nodes compared with measured tables, and invalid options. The full
 * number of random graphs runs in tests/bench; COALMINE_CASES is their number
 * here.
 */
#include "probes/neighbor/neighbor.c"

#include <math.h>

#include "probes/plan/print.h"
#include "tests/unit/probes/plan/cases.h"
#include "tests/unit/probes/neighbor/neighbor_model.h"

#define M "8388608"
#define H "4194304"

static char folder[] = "/tmp/coalmine-neighbor-XXXXXX";

static void
file_write(const char *name, const char *text)
{
	char path[300];
	FILE *fp;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fp = fopen(path, "w");
	assert_non_null(fp);
	assert_true(fputs(text, fp) >= 0);
	assert_int_equal(fclose(fp), 0);
}

static char *
listed(const struct plan *p)
{
	size_t len = 0;
	char *text = NULL;
	FILE *fp = open_memstream(&text, &len);

	assert_non_null(fp);
	print_find("list")->print(p, fp);
	assert_int_equal(fclose(fp), 0);
	return text;
}

static const struct worked_row {
	const char *graph, *words, *list;
	uint64_t wire, wire_direct;
} worked[] = {
	{ "6 4\n6 5\n", "topology=mi250 bytes=" M,
	    "0 6 4 send+0 recv.6+0 " H " mpi\n"
	    "0 6 5 send+" H " recv.6+" H " " H " mpi\n"
	    "1 4 5 recv.6+0 recv.6+0 " H " mpi\n"
	    "1 5 4 recv.6+" H " recv.6+" H " " H " mpi\n",
	    0, 0 },
	{ "6 4\n6 5\n", "topology=mi250x bytes=" M,
	    "0 6 4 send+0 recv.6+0 " M " mpi\n"
	    "1 4 5 recv.6+0 recv.6+0 " M " mpi\n",
	    0, 0 },
	{ "1 2\n1 3\n", "topology=mi250 bytes=" M,
	    "0 1 3 send+0 recv.1+0 " M " mpi\n"
	    "1 3 2 recv.1+0 recv.1+0 " M " mpi\n",
	    0, 0 },
	{ "1 2\n", "topology=mi250 bytes=" M,
	    "0 1 2 send+0 recv.1+0 " M " mpi\n", 0, 0 },
	{ "9 0\n9 1\n", "bytes=" M,
	    "0 9 0 send+0 recv.9+0 " M " mpi\n"
	    "2 0 1 recv.9+0 recv.9+0 " M " mpi\n",
	    8388608, 16777216 },
	{ "9 0\n9 1\n9 2\n9 3\n", "bytes=" M,
	    "0 9 0 send+0 recv.9+0 " H " mpi\n"
	    "0 9 2 send+" H " recv.9+" H " " H " mpi\n"
	    "1 0 2 recv.9+0 recv.9+0 " H " mpi\n"
	    "1 2 0 recv.9+" H " recv.9+" H " " H " mpi\n"
	    "2 0 1 recv.9+0 recv.9+0 " M " mpi\n"
	    "2 2 3 recv.9+0 recv.9+0 " M " mpi\n",
	    8388608, 33554432 },
	{ "9 2\n9 0\n", "bytes=" M,
	    "0 9 0 send+0 recv.9+0 " H " mpi\n"
	    "0 9 2 send+" H " recv.9+" H " " H " mpi\n"
	    "1 0 2 recv.9+0 recv.9+0 " H " mpi\n"
	    "1 2 0 recv.9+" H " recv.9+" H " " H " mpi\n",
	    8388608, 16777216 },
	{ "9 1\n9 3\n", "bytes=" M,
	    "0 9 1 send+0 recv.9+0 " H " mpi\n"
	    "0 9 3 send+" H " recv.9+" H " " H " mpi\n"
	    "1 1 3 recv.9+0 recv.9+0 " H " mpi\n"
	    "1 3 1 recv.9+" H " recv.9+" H " " H " mpi\n",
	    8388608, 16777216 },
	{ "12 3\n9 0\n9 2\n12 0\n12 2\n", "bytes=" M,
	    "0 9 0 send+0 recv.9+0 " H " mpi\n"
	    "0 9 2 send+" H " recv.9+" H " " H " mpi\n"
	    "0 12 0 send+0 recv.12+0 " H " mpi\n"
	    "0 12 2 send+" H " recv.12+" H " " H " mpi\n"
	    "1 0 2 recv.12+0 recv.12+0 " H " mpi\n"
	    "1 0 2 recv.9+0 recv.9+0 " H " mpi\n"
	    "1 2 0 recv.12+" H " recv.12+" H " " H " mpi\n"
	    "1 2 0 recv.9+" H " recv.9+" H " " H " mpi\n"
	    "2 2 3 recv.12+0 recv.12+0 " M " mpi\n",
	    16777216, 41943040 },
	{ "9 9\n9 0\n9 0\n9 1\n", "bytes=" M,
	    "0 9 0 send+0 recv.9+0 " M " mpi\n"
	    "0 copy 0 recv.9+0 recv.9+" M " " M "\n"
	    "0 copy 9 send+0 recv.9+0 " M "\n"
	    "2 0 1 recv.9+0 recv.9+0 " M " mpi\n",
	    8388608, 25165824 },
	{ "9 0\n9 1\n", "bytes=0", "", 0, 0 },
	/* a remainder, and pieces that are empty */
	{ "9 0\n9 2\n9 4\n", "bytes=10 unit=4",
	    "0 9 0 send+0 recv.9+0 4 mpi\n"
	    "0 9 2 send+4 recv.9+4 4 mpi\n"
	    "0 9 4 send+8 recv.9+8 2 mpi\n"
	    "1 0 2 recv.9+0 recv.9+0 4 mpi\n"
	    "1 0 4 recv.9+0 recv.9+0 4 mpi\n"
	    "1 2 0 recv.9+4 recv.9+4 4 mpi\n"
	    "1 2 4 recv.9+4 recv.9+4 4 mpi\n"
	    "1 4 0 recv.9+8 recv.9+8 2 mpi\n"
	    "1 4 2 recv.9+8 recv.9+8 2 mpi\n",
	    10, 30 },
	{ "9 0\n9 2\n9 3\n", "bytes=1 via=rma,ipc,ipc-get",
	    "0 9 2 send+0 recv.9+0 1 rma\n"
	    "1 2 0 recv.9+0 recv.9+0 1 ipc\n"
	    "2 2 3 recv.9+0 recv.9+0 1 ipc-get\n",
	    1, 3 },
	/* below the threshold all messages are direct */
	{ "9 0\n9 1\n9 8\n", "bytes=4095 threshold=4K",
	    "0 9 0 send+0 recv.9+0 4095 mpi\n"
	    "0 9 1 send+0 recv.9+0 4095 mpi\n"
	    "0 9 8 send+0 recv.9+0 4095 mpi\n",
	    8190, 8190 },
	{ "9 0\n9 1\n", "bytes=4K threshold=4K",
	    "0 9 0 send+0 recv.9+0 4096 mpi\n"
	    "2 0 1 recv.9+0 recv.9+0 4096 mpi\n",
	    4096, 8192 },
};

static void
test_worked(void **state)
{
	char words[600];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(worked); i++) {
		struct plan *p;
		char *text;

		file_write("graph", worked[i].graph);
		snprintf(words, sizeof(words), "neighbor graph=%s/graph %s",
		    folder, worked[i].words);
		p = case_proven(words, 0);
		text = listed(p);
		assert_string_equal(text, worked[i].list);
		free(text);
		assert_int_equal(case_note(p, "wire"), worked[i].wire);
		assert_int_equal(case_note(p, "wire_direct"),
		    worked[i].wire_direct);
		plan_free(p);
	}
}

/* Both ways to make two channels of it have the same rows. */
static void
test_order(void **state)
{
	struct plan *p;

	(void)state;
	p = case_proven("neighbor rsg=.5 ranks=16 order=phased", 0);
	for (size_t i = 0; i < p->transfers_count; i++)
		assert_int_equal(p->transfers[i].channel, 0);
	plan_free(p);
	p = case_proven("neighbor rsg=.5 ranks=16 order=dataflow", 0);
	for (size_t i = 0; i < p->transfers_count; i++)
		assert_int_equal(p->transfers[i].channel,
		    1 + atoi(p->bufs[p->transfers[i].to].name + 5));
	plan_free(p);
}

/* No link from the sender to either device: the nearer one gets more, as in
 * equation 1. Links: the row is the sender. */
static void
test_hops(void **state)
{
	static const char far[] = "0 4 0 1 0 0\n4 0 0 0 1 0\n0 0 0 4 0 0\n"
				  "1 0 4 0 0 0\n0 1 0 0 0 4\n0 0 0 0 4 0\n";
	char words[600];
	struct plan *p;

	(void)state;
	file_write("links", far);
	file_write("graph", "3 4\n3 5\n");
	snprintf(words, sizeof(words),
	    "neighbor graph=%s/graph topology=%s/links per_node=6 bytes=700",
	    folder, folder);
	p = case_proven(words, 0);
	/* 3>0>1>4 are three hops, 5 is behind it: 4/7 and 3/7 */
	assert_int_equal(p->transfers[0].dst, 4);
	assert_int_equal(p->transfers[0].bytes, 400);
	assert_int_equal(p->transfers[1].bytes, 300);
	plan_free(p);
	file_write("links", "0 4 1 3\n4 0 0 0\n2 2 0 4\n0 0 4 0\n");
	file_write("graph", "0 2\n0 3\n");
	snprintf(words, sizeof(words),
	    "neighbor graph=%s/graph topology=%s/links per_node=4 bytes=8",
	    folder, folder);
	p = case_proven(words, 0);
	assert_int_equal(p->transfers[0].bytes, 2);
	assert_int_equal(p->transfers[1].bytes, 6);
	plan_free(p);
}

/* docs/algorithms-neighbor-multipath.md, 3.1 and 3.3: edges, messages between
 * nodes, the bound. A message is a byte. */
static void
test_loads(void **state)
{
	static const struct {
		const char *graph;
		uint32_t per_node;
		uint64_t edges, direct, leader;
		double bound;
	} rows[] = {
		{ "rsg=.05", 8, 9, 4, 4, 1 },
		{ "rsg=.2", 8, 54, 32, 14, 34. / 14 },
		{ "rsg=.4", 8, 104, 59, 16, 4 },
		{ "rsg=60%", 8, 145, 80, 16, 5.125 },
		{ "moore=2,1", 8, 128, 48, 16, 3 },
		{ "moore=3,1", 8, 176, 64, 16, 4 },
		{ "rsg=.05", 4, 9, 6, 6, 1 },
		{ "rsg=.2", 4, 54, 43, 30, 1.5 },
		{ "rsg=.4", 4, 104, 84, 44, 25. / 12 },
		{ "rsg=.6", 4, 145, 115, 47, 31. / 12 },
		{ "moore=2,1", 4, 128, 96, 32, 3 },
		{ "moore=3,1", 4, 176, 128, 32, 4 },
	};
	char words[400];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct plan *p;
		uint64_t out = 0;

		snprintf(words, sizeof(words),
		    "neighbor %s ranks=16 per_node=%u bytes=1", rows[i].graph,
		    rows[i].per_node);
		p = case_proven(words, 0);
		assert_int_equal(case_note(p, "edges"), rows[i].edges);
		assert_int_equal(case_note(p, "wire_direct"), rows[i].direct);
		assert_int_equal(case_note(p, "wire"), rows[i].leader);
		assert_true(
		    fabs(case_real(p, "load_bound") - rows[i].bound) < 1e-9);
		assert_true(fabs(case_real(p, "byte_ratio") -
				(double)rows[i].direct /
				    (double)rows[i].leader) < 1e-9);
		for (size_t k = 0; k < p->transfers_count; k++)
			if (p->transfers[k].src / rows[i].per_node !=
			    p->transfers[k].dst / rows[i].per_node)
				out += p->transfers[k].bytes;
		assert_int_equal(out, rows[i].leader);
		plan_free(p);
	}
}

/* 3.2: the expected gain of random graphs. */
static void
test_expected(void **state)
{
	static const double want[][5] = { { 4, 1.08, 1.36, 1.84, 2.46 },
		{ 8, 1.19, 1.92, 3.26, 4.80 }, { 16, 1.43, 3.29, 6.40, 9.60 } };
	static const double densities[] = { .05, .2, .4, .6 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		for (size_t k = 0; k < ARRAY_LEN(densities); k++)
			assert_true(fabs(neighbor_ratio_expected(densities[k],
					     (uint32_t)want[i][0]) -
					want[i][k + 1]) < .006);
	assert_true(neighbor_ratio_expected(0, 8) == 1);
	assert_true(neighbor_ratio_expected(1, 8) == 8);
}

/* Large samples come near. */
static void
test_near_expected(void **state)
{
	struct plan *p;

	(void)state;
	p = case_proven("neighbor rsg=.2 ranks=256 bytes=1 per_node=8", 0);
	assert_true(fabs(case_real(p, "byte_ratio") -
			case_real(p, "byte_ratio_expected")) < .05);
	plan_free(p);
}

/* 5: the sends of products, from the matrices to the wire. */
static void
test_matrices(void **state)
{
	static const struct {
		const char *words;
		uint64_t message, edges, wire_direct, wire;
	} rows[] = {
		{ "ccc.mtx", 36864, 160, 64, 64 },
		{ "debruijn.mtx", 16384, 122, 94, 64 },
		{ "delaunay.mtx", 262144, 992, 768, 96 },
		{ "ccc.mtx columns=1", 96, 160, 64, 64 },
	};
	char words[400], *text;
	struct plan *p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(words, sizeof(words),
		    "neighbor matrix=" MATRICES "/%s ranks=32", rows[i].words);
		p = case_proven(words, 0);
		assert_int_equal(case_note(p, "edges"), rows[i].edges);
		assert_int_equal(case_note(p, "wire_direct"),
		    rows[i].wire_direct * rows[i].message);
		assert_int_equal(case_note(p, "wire"),
		    rows[i].wire * rows[i].message);
		plan_free(p);
	}
	/* 5 rows over 3 ranks: 1, 2 and 2 */
	file_write("graph",
	    "%%MatrixMarket matrix coordinate pattern general\n"
	    "5 5 2\n1 5\n4 2\n");
	snprintf(words, sizeof(words),
	    "neighbor matrix=%s/graph ranks=3 columns=10", folder);
	p = case_proven(words, 0);
	text = listed(p);
	assert_string_equal(text,
	    "0 1 2 send+0 recv.1+0 160 mpi\n"
	    "0 2 0 send+0 recv.2+0 160 mpi\n");
	free(text);
	plan_free(p);
}

static void
test_random(void **state)
{
	const char *text = getenv("COALMINE_SEED");
	const char *count = getenv("COALMINE_CASES");
	uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : rng_entropy();
	uint64_t cases = count != NULL ? strtoull(count, NULL, 0) : 500;

	(void)state;
	printf("COALMINE_SEED=%llu\n", (unsigned long long)seed);
	for (uint64_t x = 0; x < cases; x++)
		model_case(seed, x, folder);
}

static void
test_refused_words(void **state)
{
	(void)state;
	case_refused("neighbor", 0, "neighbor.graph = : expected the path");
	case_refused("neighbor rsg=.1", 0, "neighbor.ranks = 0: expected 2");
	case_refused("neighbor rsg=1.5 ranks=4", 0,
	    "neighbor.rsg = 1.5: expected a number, 0 to 1");
	case_refused("neighbor rsg=x ranks=4", 0, "neighbor.rsg = x: expected");
	case_refused("neighbor rsg=.1 moore=2,1 ranks=4", 0,
	    "neighbor.moore = 2,1: expected only one of graph");
	case_refused("neighbor moore=2 ranks=4", 0,
	    "neighbor.moore = 2: expected dimensions,radius");
	case_refused("neighbor moore=9,1 ranks=4", 0,
	    "neighbor.moore = 9,1: expected");
	case_refused("neighbor moore=2,0 ranks=4", 0,
	    "neighbor.moore = 2,0: expected");
	case_refused("neighbor moore=2,-1 ranks=4", 0,
	    "neighbor.moore = 2,-1: expected");
	case_refused("neighbor cart=0 ranks=4", 0,
	    "neighbor.cart = 0: expected");
	case_refused("neighbor matrix= ranks=4", 0,
	    "neighbor.matrix = : expected the path of a Matrix Market file");
	case_refused("neighbor matrix=" MATRICES "/ccc.mtx", 0,
	    "neighbor.ranks = 0: expected");
	case_refused("neighbor matrix=" MATRICES "/ccc.mtx bytes=1 ranks=4", 0,
	    "neighbor.bytes = 1: expected either this option or matrix");
	case_refused("neighbor matrix=" MATRICES "/ccc.mtx sizes=x ranks=4", 0,
	    "neighbor.sizes = x: expected either this option or matrix");
	case_refused("neighbor matrix=/nonexistent ranks=4", 0,
	    "/nonexistent: ");
	case_refused("neighbor rsg=.1 seed=-1 ranks=4", 0,
	    "neighbor.seed = -1: expected");
	case_refused("neighbor rsg=.1 ranks=8", 4,
	    "neighbor.ranks = 8: expected at most 4");
	case_refused("neighbor rsg=.1 ranks=4097", 0,
	    "neighbor.ranks = 4097: expected a whole number, 0 to 4096");
	case_refused("neighbor rsg=.1", 5000,
	    "neighbor.ranks = 0: expected 1 to 4096; there are 5000 ranks");
	case_refused("neighbor rsg=1 ranks=4096", 0,
	    "neighbor.rsg = 1: expected at most 8388608 edges");
	case_refused("neighbor moore=1,2048 ranks=4096", 0,
	    "neighbor.moore = 1,2048: expected at most");
	case_refused("neighbor rsg=.1 ranks=4 per_node=0", 0,
	    "neighbor.per_node = 0: expected");
	case_refused("neighbor rsg=.1 ranks=4 per_node=9", 0,
	    "neighbor.topology = mi250: expected at least per_node = 9");
	case_refused("neighbor rsg=.1 ranks=4 topology=", 0,
	    "neighbor.topology = : expected mi250, mi250x");
	case_refused("neighbor rsg=.1 ranks=4 topology=/nonexistent", 0,
	    "/nonexistent: ");
	case_refused("neighbor rsg=.1 ranks=4 bytes=-1", 0,
	    "neighbor.bytes = -1: expected");
	case_refused("neighbor rsg=.1 ranks=4 unit=0", 0,
	    "neighbor.unit = 0: expected");
	case_refused("neighbor rsg=.1 ranks=4 order=both", 0,
	    "neighbor.order = both: expected one of phased|dataflow");
	case_refused("neighbor rsg=.1 ranks=4 via=mpi,mpi", 0,
	    "neighbor.via = mpi,mpi: expected one transport, or 3");
	case_refused("neighbor rsg=.9 ranks=2000 bytes=1P", 0,
	    "neighbor.bytes = 1P: expected at most 2 EiB");
	case_refused("neighbor graph=/nonexistent", 0, "/nonexistent: ");
	case_refused("neighbor rsg=.1 ranks=4 sizes=/nonexistent", 0,
	    "/nonexistent: ");
}

static void
test_refused_files(void **state)
{
	static const struct {
		const char *graph, *sizes, *words, *why;
	} rows[] = {
		{ "0 1\n1\n", "", "", "/graph:2: 1 numbers: expected src" },
		{ "0 1 8\n", "", "", "/graph:1: 3 numbers: expected src" },
		{ "0 -1\n", "", "", "/graph:1: -1: expected a whole" },
		{ "0 4096\n", "", "", "/graph:1: rank 4096: expected 0" },
		{ "0 9\n", "", "ranks=9",
		    "/graph:1: rank 9: expected 0 to "
		    "8" },
		{ "0 1\n", "5 x", "sizes", "/sizes:1: x: expected a whole" },
		{ "0 1\n", "5", "sizes",
		    "/sizes:1: 1 sizes: expected one "
		    "for each of at least 2 ranks" },
		{ "0 1\n", "5\n6\n7\n", "ranks=2 sizes",
		    "/sizes:3: 3 sizes: expected one for each of 2 ranks" },
		{ "0 1\n", "5\n6\n", "bytes=7 sizes",
		    "neighbor.bytes = 7: expected either this option or "
		    "sizes" },
		{ "0 1\n", "", "sizes", "/sizes:1: 0 sizes: expected" },
	};
	char words[700];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = strlen(rows[i].words);
		int sizes = n >= 5 &&
		    strcmp(rows[i].words + n - 5, "sizes") == 0;

		file_write("graph", rows[i].graph);
		file_write("sizes", rows[i].sizes);
		snprintf(words, sizeof(words),
		    "neighbor graph=%s/graph %s%s%s%s", folder, rows[i].words,
		    sizes ? "=" : "", sizes ? folder : "",
		    sizes ? "/sizes" : "");
		case_refused(words, 0, rows[i].why);
	}
}

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL;
}

static int
teardown(void **state)
{
	static const char *const names[] = { "graph", "sizes", "links" };
	char path[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_hops),
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_expected),
		cmocka_unit_test(test_near_expected),
		cmocka_unit_test(test_matrices),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_refused_words),
		cmocka_unit_test(test_refused_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
