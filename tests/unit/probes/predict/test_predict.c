/* SPDX-License-Identifier: Apache-2.0 */
/* Times of small plans on small machines, each worked out by hand. */
#include <errno.h>

#include "common/err.h"
#include "tests/unit/probes/plan/cases.h"

#include "probes/predict/predict.h"

#define US_PS 1000000ULL

static struct machine *
machine(const char *text)
{
	struct err err = { 0 };
	struct machine *m;

	if (machine_parse("test.conf", text, &m, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

static uint64_t
time_ps(const char *probe, const char *text, enum predict_pace pace)
{
	struct predict_options o = { .pace = pace, .times = 1 };
	struct err err = { 0 };
	struct machine *m = machine(text);
	struct plan *p = case_proven(probe, 0);
	struct predict r;
	uint64_t total_ps, last_ps = 0;

	if (predict_plan(p, m, &o, &r, &err) < 0)
		fail_msg("%s: %s", probe, err.text);
	total_ps = r.total_ps;
	for (size_t i = 0; i < p->transfers_count; i++) {
		assert_true(r.transfers[i].start_ps < r.transfers[i].end_ps);
		if (r.transfers[i].end_ps > last_ps)
			last_ps = r.transfers[i].end_ps;
	}
	for (size_t i = 0; i < p->locals_count; i++)
		if (r.locals[i].end_ps > last_ps)
			last_ps = r.locals[i].end_ps;
	assert_int_equal(last_ps, total_ps);
	predict_clear(&r);
	plan_free(p);
	machine_free(m);
	return total_ps;
}

/* 1 GB/s, so a byte takes 1000 ps. */
#define SLOW "[nic]\nout = 1\n"

static void
test_a_transfer(void **state)
{
	(void)state;
	assert_int_equal(time_ps("group count=1000 type=byte", SLOW, 0), US_PS);
	/* step, overhead, bytes, latency of transport and network */
	assert_int_equal(time_ps("group count=1000 type=byte",
			     SLOW "[step]\noverhead = 10us\n[mpi]\n"
				  "overhead = 20us\nlatency = 40us\n"
				  "[network]\nlatency = 80us\n",
			     0),
	    151 * US_PS);
	/* half the rate for this transport */
	assert_int_equal(time_ps("group count=1000 type=byte",
			     SLOW "[mpi]\nacross = 0.5\n", 0),
	    2 * US_PS);
}

static void
test_links_are_shared_fairly(void **state)
{
	(void)state;
	/* both leave by one NIC */
	assert_int_equal(time_ps("group g=2 k=2 count=1000 type=byte",
			     SLOW "[node]\ndevices = 2\n", 0),
	    2 * US_PS);
	/* out and in at once */
	assert_int_equal(time_ps("group direction=bi count=1000 type=byte",
			     SLOW, 0),
	    US_PS);
	assert_int_equal(time_ps("group direction=bi count=1000 type=byte",
			     SLOW "both = 1\n", 0),
	    2 * US_PS);
}

static void
test_steps_follow_each_other(void **state)
{
	/* split and assemble inside the nodes at 10 GB/s, three stripes */
	static const char text[] = SLOW "count = 3\nbinding = one-to-one\n"
					"[node]\ndevices = 3\n"
					"[nvlink]\nrate = 10\npairs = all\n";

	(void)state;
	assert_int_equal(time_ps("stripe g=3 bytes=3000", text, 0),
	    US_PS / 10 + US_PS + US_PS / 10);
	assert_int_equal(time_ps("stripe g=3 bytes=3000", text, PREDICT_STEPS),
	    US_PS / 10 + US_PS + US_PS / 10);
}

static void
test_copies_and_reductions_take_memory(void **state)
{
	(void)state;
	assert_int_equal(time_ps("self bytes=1000",
			     "[node]\ndevices = 2\n[memory]\nrate = 1\n", 0),
	    2 * US_PS);
	/* rank 1's 1000 bytes arrive; 3000 are then read and written */
	assert_int_equal(time_ps("collective name=reduce ranks=2 count=125 "
				 "type=int32",
			     SLOW "[memory]\nrate = 2\nreduce = 1\n", 0),
	    US_PS + 3 * US_PS);
}

/* Four hops of a chain, in pieces: pieces follow each other in (n + m - 2)
 * steps, as HiCCL's equation 1 has it. */
static void
test_pieces_follow_each_other(void **state)
{
	static const char text[] = "collective name=broadcast type=int32 "
				   "count=1000 hierarchy=4 ring=4 depth=%d";
	char probe[160];

	(void)state;
	for (int m = 1; m <= 8; m *= 2) {
		uint64_t piece_ps = 16 * US_PS / (uint64_t)m;

		snprintf(probe, sizeof(probe), text, m);
		assert_int_equal(time_ps(probe, SLOW, 0),
		    piece_ps * (uint64_t)(4 + m - 2));
		assert_int_equal(time_ps(probe, SLOW, PREDICT_STEPS),
		    piece_ps * (uint64_t)(4 + m - 2));
		assert_int_equal(time_ps(probe, SLOW, PREDICT_DATA),
		    piece_ps * (uint64_t)(4 + m - 2));
	}
}

/* 0>2, then 0>1 and 2>3: steps keep the second send of rank 0 back; by data
 * it starts at once, shares the NIC with the first, and delays 2>3. */
static void
test_paces_differ(void **state)
{
	static const char text[] = "collective name=broadcast type=int32 "
				   "count=250 hierarchy=2,2";

	(void)state;
	assert_int_equal(time_ps(text, SLOW, PREDICT_CHANNELS), 8 * US_PS);
	assert_int_equal(time_ps(text, SLOW, PREDICT_STEPS), 8 * US_PS);
	assert_int_equal(time_ps(text, SLOW, PREDICT_DATA), 12 * US_PS);
}

/* Whatever the pace: reductions wait for all that they read. */
static void
test_reductions_wait_at_any_pace(void **state)
{
	(void)state;
	for (int pace = 0; pace < PREDICT_PACES; pace++)
		assert_int_equal(time_ps("collective name=reduce ranks=2 "
					 "count=125 "
					 "type=int32",
				     SLOW "[memory]\nrate = 2\nreduce = 1\n",
				     (enum predict_pace)pace),
		    4 * US_PS);
}

static void
test_what_does_not_fit_is_refused(void **state)
{
	static const struct {
		const char *probe, *machine, *words;
	} rows[] = {
		{ "group n=3 count=8", SLOW "[node]\nnodes = 2\nranks = 1\n",
		    "expected up to 2 ranks" },
		{ "group count=8 via=ipc", SLOW, "transport ipc" },
		{ "group count=8 via=xccl", SLOW, "transport xccl" },
		{ "group count=8", "[nic]\ncount = 0\n", "transport mpi" },
	};
	struct err err;
	struct predict r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine *m = machine(rows[i].machine);
		struct plan *p = case_proven(rows[i].probe, 0);

		err.text[0] = '\0';
		assert_int_equal(predict_plan(p, m, NULL, &r, &err), -EINVAL);
		assert_non_null(strstr(err.text, rows[i].words));
		plan_free(p);
		machine_free(m);
	}
}

/* Buffers in the memory of a socket: data that stay on the rank use its
 * link. */
static uint32_t
on_host(void *arg, uint32_t rank, uint16_t buf)
{
	(void)rank;
	return buf == 1 ? machine_vertex(arg, "h0") : MACHINE_NONE;
}

static void
test_buffers_lie_where_they_are_placed(void **state)
{
	struct machine *m = machine("[node]\ndevices = 1\n[pcie]\nrate = 2\n"
				    "pairs = d0-h0\n[memory]\nrate = 100\n");
	struct predict_options o = { .place = on_host, .arg = m };
	struct plan *p = case_proven("self bytes=1000", 1);
	struct err err;
	struct predict r;

	(void)state;
	assert_int_equal(predict_plan(p, m, &o, &r, &err), 0);
	assert_int_equal(r.total_ps, US_PS / 2);
	predict_clear(&r);
	plan_free(p);
	machine_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_transfer),
		cmocka_unit_test(test_links_are_shared_fairly),
		cmocka_unit_test(test_steps_follow_each_other),
		cmocka_unit_test(test_copies_and_reductions_take_memory),
		cmocka_unit_test(test_pieces_follow_each_other),
		cmocka_unit_test(test_paces_differ),
		cmocka_unit_test(test_reductions_wait_at_any_pace),
		cmocka_unit_test(test_what_does_not_fit_is_refused),
		cmocka_unit_test(test_buffers_lie_where_they_are_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
