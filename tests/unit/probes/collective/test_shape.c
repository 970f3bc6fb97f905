/* SPDX-License-Identifier: Apache-2.0 */
/* Hierarchies of described machines are those that users would write, and
 * tuning finds a shape that is at least as fast as the ones they would try. */
#include "tests/unit/probes/plan/cases.h"

#include "common/err.h"
#include "common/str.h"
#include "probes/collective/hierarchy.h"
#include "probes/collective/shape.h"
#include "probes/pattern/builders.h"
#include "probes/catalog/patterns.h"
#include "probes/predict/predict.h"
#include "tests/unit/tree.h"

static struct machine *
machine(const char *name)
{
	char *path = xasprintf("%s/%s.conf", MACHINES, name);
	struct err err = { 0 };
	struct machine *m;

	if (machine_load(path, NULL, 0, &m, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
	return m;
}

/* The hierarchies of HiCCL's Table V, and of the lab's leaves and hosts. */
static void
test_hierarchies(void **state)
{
	static const struct {
		const char *machine;
		uint32_t ranks;
		const char *want;
	} rows[] = {
		{ "delta", 16, "4,4" },
		{ "perlmutter", 1024, "256,4" },
		{ "frontier", 32, "4,4,2" },
		{ "aurora", 48, "4,6,2" },
		{ "summit", 24, "4,2,3" },
		{ "dgx-a100", 32, "4,8" },
		{ "mist", 4, "2,2" },
		{ "cedar", 4, "4" },
		{ "lab", 12, "3,4" },
		{ "lab", 24, "3,4,2" },
		{ "lab", 48, "3,4,4" },
		{ "lab", 3, "3" },
		{ "perlmutter", 3, "3" },
		{ "perlmutter", 4, "4" },
		{ "perlmutter", 6, "6" }, /* a node that is not full */
		{ "perlmutter", 1, "1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct machine *m = machine(rows[i].machine);
		uint32_t factors[COMPOSE_LEVELS_MAX], levels = 0;
		struct strbuf sb = { 0 };

		hierarchy_of(m, rows[i].ranks, factors, &levels);
		for (uint32_t k = 0; k < levels; k++)
			strbuf_addf(&sb, "%s%u", k > 0 ? "," : "", factors[k]);
		assert_string_equal(sb.text, rows[i].want);
		strbuf_clear(&sb);
		machine_free(m);
	}
}

static double
time_s(const char *probe, const struct pattern_site *site)
{
	struct err err = { 0 };
	struct plan *p = case_proven_on(probe, site);
	struct predict pr;
	double s;

	if (predict_plan(p, site->machine, NULL, &pr, &err) < 0)
		fail_msg("%s: %s", probe, err.text);
	s = (double)pr.total_ps / 1e12;
	predict_clear(&pr);
	plan_free(p);
	return s;
}

/* Tuned shapes are proven, and no slower than any of these manual ones. */
static void
test_tuned_is_at_least_as_fast(void **state)
{
	static const char *const names[] = { "broadcast", "reduce", "gather",
		"scatter", "allgather", "reduce-scatter", "allreduce",
		"alltoall" };
	static const char *const tries[] = { "", "hierarchy=4,4",
		"hierarchy=2,2,4 stripe=4", "hierarchy=4,4 stripe=4 depth=4",
		"hierarchy=4,4 ring=4 stripe=4 depth=16",
		"hierarchy=2,2,4 depth=16 via=mpi,mpi,ipc" };
	static const uint32_t counts[] = { 4, 65536, 4194304 };
	struct machine *m = machine("perlmutter");
	struct pattern_site site = { .ranks = 16, .machine = m };
	char probe[200], hand[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names) * ARRAY_LEN(counts); i++) {
		double tuned;

		snprintf(probe, sizeof(probe), "collective name=%s count=%u",
		    names[i / ARRAY_LEN(counts)],
		    counts[i % ARRAY_LEN(counts)]);
		snprintf(hand, sizeof(hand), "%s tune=auto", probe);
		tuned = time_s(hand, &site);
		for (size_t k = 0; k < ARRAY_LEN(tries); k++) {
			double s;

			snprintf(hand, sizeof(hand), "%s %s", probe, tries[k]);
			s = time_s(hand, &site);
			/* depths are powers of two: near is near enough */
			if (tuned > 1.02 * s)
				fail_msg("%s: %g s, but %s: %g s", probe, tuned,
				    tries[k], s);
		}
	}
	machine_free(m);
}

/* Of many ranks fewer shapes are tried, the machine's own first: a job must not
 * wait for minutes. */
static void
test_of_many_ranks_few(void **state)
{
	char *words[] = { (char *)"name=allreduce", (char *)"count=683",
		(char *)"tune=auto" };
	struct machine *m = machine("perlmutter");
	struct pattern_site site = { .ranks = 1024, .machine = m };
	struct err err = { 0 };
	struct conf *c;
	struct shape_list t;

	(void)state;
	assert_int_equal(pattern_options(patterns_find("collective"), words, 3,
			     &c, &err),
	    0);
	assert_int_equal(shape_choose(&pattern_collective, c, &site, &t, &err),
	    0);
	assert_in_range(t.count, 2, 12);
	assert_non_null(strstr(t.rows[0].words, "exchange="));
	for (uint32_t i = 0; i < t.count; i++)
		assert_non_null(strstr(t.rows[i].words, "hierarchy=256,4 "));
	shape_clear(&t);
	site.ranks = 8;
	assert_int_equal(shape_choose(&pattern_collective, c, &site, &t, &err),
	    0);
	assert_true(t.count > 16);
	shape_clear(&t);
	conf_free(c);
	machine_free(m);
}

/* Given options stay, candidates are kept, and the choice is the first. */
static void
test_given_options_stay(void **state)
{
	char *words[] = { (char *)"name=broadcast", (char *)"count=1000000",
		(char *)"tune=auto", (char *)"depth=2", (char *)"stripe=1" };
	struct machine *m = machine("frontier");
	struct pattern_site site = { .ranks = 32, .machine = m };
	char *save = NULL;
	struct err err = { 0 };
	struct conf *c;
	struct plan *p;
	struct shape_list t;

	(void)state;
	assert_int_equal(pattern_options(patterns_find("collective"), words, 5,
			     &c, &err),
	    0);
	assert_int_equal(shape_choose(&pattern_collective, c, &site, &t, &err),
	    0);
	assert_string_equal(t.machine, "frontier");
	assert_true(t.count > 5);
	for (uint32_t i = 0; i < t.count; i++) {
		assert_null(strstr(t.rows[i].words, "depth="));
		assert_null(strstr(t.rows[i].words, "stripe="));
		assert_non_null(strstr(t.rows[i].words, "ring="));
		if (i > 0)
			assert_true(t.rows[i].time_s >= t.rows[i - 1].time_s);
	}
	assert_int_equal(shape_build(&pattern_collective, c, &site, &p, &err),
	    0);
	for (char *w = strtok_r(t.rows[0].words, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save))
		assert_non_null(strstr(p->title, w));
	assert_non_null(strstr(p->title, "depth=2"));
	plan_free(p);
	shape_clear(&t);
	conf_free(c);
	machine_free(m);
}

/* All of the words of the candidates of a collective. */
static char *
candidates(const char *probe, const struct pattern_site *site)
{
	char *copy = xstrdup(probe), *words[32], *save = NULL;
	struct strbuf sb = { 0 };
	struct err err = { 0 };
	struct shape_list t;
	struct conf *c;
	int n = 0;

	for (char *w = strtok_r(copy, " ", &save); w != NULL && n < 32;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	if (pattern_options(&pattern_collective, words, n, &c, &err) < 0 ||
	    shape_choose(&pattern_collective, c, site, &t, &err) < 0)
		fail_msg("%s: %s", probe, err.text);
	for (uint32_t i = 0; i < t.count; i++)
		strbuf_addf(&sb, "%s\n", t.rows[i].words);
	shape_clear(&t);
	conf_free(c);
	free(copy);
	return sb.text;
}

/* Exchanges are candidates in every form of the collective, and the given
 * exchange or form is kept. */
static void
test_exchanges(void **state)
{
	struct machine *m = machine("lab");
	struct pattern_site site = { .ranks = 24, .machine = m };
	char *text = candidates("name=allreduce count=8 tune=auto", &site);

	(void)state;
	assert_non_null(strstr(text, "exchange=swing hierarchy="));
	assert_non_null(strstr(text, "exchange=bine form=broadcast.reduce "));
	assert_non_null(strstr(text, "\nform=broadcast.reduce hierarchy="));
	assert_null(strstr(text, "exchange=swing form=broadcast.reduce"));
	free(text);
	text = candidates("name=allreduce tune=auto exchange=none "
			  "form=broadcast.reduce",
	    &site);
	assert_null(strstr(text, "exchange"));
	assert_null(strstr(text, "form"));
	free(text);
	text = candidates("name=gather tune=auto exchange=bine", &site);
	assert_null(strstr(text, "stripe"));
	assert_null(strstr(text, "exchange"));
	free(text);
	text = candidates("name=gather tune=auto depth=2", &site);
	assert_null(strstr(text, "exchange"));
	free(text);
	machine_free(m);
}

static void
test_auto_needs_what_it_needs(void **state)
{
	(void)state;
	case_refused("collective tune=auto count=8", 4,
	    "expected a described machine");
	case_refused("collective tune=auto count=8", 0,
	    "a value other than auto, or a known number of ranks (--ranks)");
	case_refused("collective hierarchy=auto", 0,
	    "a value other than auto, or a known number of ranks (--ranks)");
	case_refused("collective hierarchy=auto machine=nowhere", 4,
	    "collective.machine: --machine = nowhere");
	case_refused("collective tune=sometimes", 4, "no|auto");
}

/* Ranks on several nodes of the kind that we are on. */
static void
test_the_machine_we_are_on(void **state)
{
	struct pattern_site site = { .ranks = 6, .nodes = 3 };
	struct plan *p;

	(void)state;
	p = case_proven_on("collective name=allgather hierarchy=auto", &site);
	assert_true(p->steps >= 2);
	plan_free(p);
}

/* GPU i of 8: two below each switch, two switches on each socket. */
static void
gpu_put(int i)
{
	char at[300], to[200], bus[16];

	snprintf(bus, sizeof(bus), "0000:%x%x:00.0", 1 + i / 2, i % 2);
	snprintf(to, sizeof(to),
	    "pci0000:%d0/0000:%d0:0%d.0/0000:%d1:00.0/0000:%d2:0%d.0/%s", i / 4,
	    i / 4, 1 + i / 2, 1 + i / 2, 1 + i / 2, i % 2, bus);
	snprintf(at, sizeof(at), "sys/devices/%s/class", to);
	tree_put(at, "0x030200\n");
	snprintf(at, sizeof(at), "sys/devices/%s/vendor", to);
	tree_put(at, "0x10de\n");
	snprintf(at, sizeof(at), "sys/devices/%s/numa_node", to);
	tree_put(at, i / 4 ? "1\n" : "0\n");
	snprintf(at, sizeof(at), "../../../devices/%s", to);
	snprintf(to, sizeof(to), "sys/bus/pci/devices/%.15s", bus);
	tree_link(to, at);
}

static void
assert_found(const struct machine_gpus *gpus, uint32_t ranks, const char *want)
{
	uint32_t factors[COMPOSE_LEVELS_MAX], levels = 0;
	struct strbuf sb = { 0 };
	struct machine *m;

	assert_int_equal(machine_discover(tree, 8, gpus, &m), 0);
	hierarchy_of(m, ranks, factors, &levels);
	for (uint32_t k = 0; k < levels; k++)
		strbuf_addf(&sb, "%s%u", k > 0 ? "," : "", factors[k]);
	assert_string_equal(sb.text, want);
	strbuf_clear(&sb);
	machine_free(m);
}

/* Ranks with a GPU each by how near these are; others by their sockets. */
static void
test_the_wiring_of_gpus(void **state)
{
	char pci[8][16];
	const char *all[8];
	uint16_t links[64];

	(void)state;
	for (int i = 0; i < 8; i++) {
		char at[80];

		gpu_put(i);
		snprintf(at, sizeof(at),
		    "sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		    i);
		tree_put(at, i % 2 ? "1\n" : "0\n");
	}
	assert_found(&(struct machine_gpus){ NULL, NULL }, 8, "2,2,2");
	assert_found(&(struct machine_gpus){ NULL, NULL }, 32, "4,2,2,2");
	assert_found(NULL, 32, "4,2,4");
	/* The devices' own addresses, whatever order they were made visible
	 * in: by numbers neighbours are four apart. */
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(pci[i], sizeof(pci[i]), "0000:%x%x:00.0", 1 + i % 4,
		    i / 4);
		all[i] = pci[i];
	}
	assert_found(&(struct machine_gpus){ all, NULL }, 8, "8");
	/* All joined by a switch of the vendor's: one level. */
	for (size_t i = 0; i < 64; i++)
		links[i] = i / 8 != i % 8;
	assert_found(&(struct machine_gpus){ all, links }, 8, "8");
	/* Pairs that are packages, across the sockets. */
	for (size_t i = 0; i < 64; i++)
		links[i] = i / 8 != i % 8 && i / 16 == i % 8 / 2 ? 4 : 0;
	assert_found(&(struct machine_gpus){ all, links }, 8, "4,2");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hierarchies),
		cmocka_unit_test(test_tuned_is_at_least_as_fast),
		cmocka_unit_test(test_given_options_stay),
		cmocka_unit_test(test_of_many_ranks_few),
		cmocka_unit_test(test_exchanges),
		cmocka_unit_test(test_auto_needs_what_it_needs),
		cmocka_unit_test(test_the_machine_we_are_on),
		cmocka_unit_test_setup_teardown(test_the_wiring_of_gpus,
		    tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
