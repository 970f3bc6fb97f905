/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-path copies: exact rows, the shares of the worked table, plans of many
 * shapes that must all be proven, and invalid options.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/rng.h"
#include "probes/plan/print.h"
#include "probes/predict/predict.h"
#include "tests/unit/probes/plan/cases.h"

#define MIST " direct_rate=72 host_in=61 host_out=61 chunk_setup=10us"

static char *
rows(const struct plan *p)
{
	static char text[4096];
	FILE *fp = fmemopen(text, sizeof(text), "w");

	assert_non_null(fp);
	print_find("list")->print(p, fp);
	assert_int_equal(fclose(fp), 0);
	return text;
}

/* Host first, then relays, the direct way carries the end of the message. */
static void
test_rows(void **state)
{
	struct plan *p;

	(void)state;
	p = case_proven("multipath bytes=100 share=0.3 chunks=3", 0);
	assert_string_equal(rows(p),
	    "0 0 0 send+0 host+0 10 mpi\n"
	    "0 0 1 send+30 recv+30 70 mpi\n"
	    "1 0 0 send+10 host+10 10 mpi\n"
	    "1 0 1 host+0 recv+0 10 mpi\n"
	    "2 0 0 send+20 host+20 10 mpi\n"
	    "2 0 1 host+10 recv+10 10 mpi\n"
	    "3 0 1 host+20 recv+20 10 mpi\n");
	plan_free(p);
	/* 10 units of 4 bytes and one of 3; two slots of a chunk each */
	p = case_proven("multipath bytes=43 unit=4 share=0.5,0.2 relays=1 "
			"chunks=2 streams=1 via=ipc,mpi,rma",
	    0);
	assert_string_equal(rows(p),
	    "0 0 0 send+0 host+0 8 mpi\n"
	    "0 0 1 send+28 recv+28 15 ipc\n"
	    "0 0 2 send+20 relay+0 4 mpi\n"
	    "1 0 1 host+0 recv+0 8 rma\n"
	    "1 2 1 relay+0 recv+20 4 rma\n"
	    "2 0 0 send+8 host+0 12 mpi\n"
	    "2 0 2 send+24 relay+0 4 mpi\n"
	    "3 0 1 host+0 recv+8 12 rma\n"
	    "3 2 1 relay+0 recv+24 4 rma\n");
	assert_int_equal(p->bufs[2].bytes[0], 12);
	assert_int_equal(p->bufs[2].on_host, 1);
	assert_int_equal(p->bufs[3].on_host, 0);
	plan_free(p);
}

static void
test_worked(void **state)
{
	static const struct {
		const char *text;
		double share;
		uint64_t chunks;
		double speedup;
	} cases[] = {
		{ "multipath bytes=4M" MIST, .17, 1, 1.17 },
		{ "multipath bytes=16M" MIST, .31, 3, 1.43 },
		{ "multipath bytes=64M" MIST, .39, 7, 1.62 },
		{ "multipath bytes=256M chunks_max=8" MIST, .42, 8, 1.72 },
		{ "multipath bytes=64M direct_rate=49 host_in=11.2 "
		  "host_out=11.2",
		    .16, 10, 1.19 },
		{ "multipath bytes=16M direct_rate=0.4 direct_setup=0s "
		  "host_in=0.2 host_out=0.15 host_setup=0s chunk_setup=200us",
		    .25, 10, 1.32 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plan *p = case_proven(cases[i].text, 0);

		assert_true(
		    fabs(case_real(p, "share") - cases[i].share) < .0051);
		assert_int_equal(case_note(p, "host_chunks"), cases[i].chunks);
		assert_true(fabs(case_real(p, "model_speedup") -
				cases[i].speedup) < .0051);
		plan_free(p);
	}
}

/* Small messages without a gain use the direct path, in one piece. */
static void
test_small(void **state)
{
	struct plan *p = case_proven("multipath bytes=1M relays=2", 0);

	(void)state;
	assert_string_equal(rows(p), "0 0 1 send+0 recv+0 1048576 mpi\n");
	assert_int_equal(case_note(p, "direct"), 1048576);
	assert_int_equal(case_note(p, "host_chunks"), 0);
	assert_true(case_real(p, "model_speedup") == 1);
	plan_free(p);
	p = case_proven("multipath bytes=64M host=no", 0);
	assert_int_equal(p->transfers_count, 1);
	plan_free(p);
}

/* More chunks than units, more slots than chunks, shares of 0 and 1. */
static void
test_many(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	for (int i = 0; i < 1500; i++) {
		uint32_t relays = (uint32_t)rng_below(&r, 4);
		uint64_t left = 1000, sum;
		char text[400];
		struct plan *p;
		int n;

		n = snprintf(text, sizeof(text),
		    "multipath bytes=%u unit=%u chunks=%u streams=%u "
		    "relays=%u share=",
		    1 + (unsigned)rng_below(&r, 3000),
		    1 + (unsigned)rng_below(&r, 70),
		    1 + (unsigned)rng_below(&r, 40),
		    1 + (unsigned)rng_below(&r, 10), relays);
		for (uint32_t k = 0; k <= relays; k++) {
			uint64_t x = rng_below(&r, 3) *
			    rng_below(&r, left + 1) / 2;

			left -= x;
			n += snprintf(text + n, sizeof(text) - (size_t)n,
			    "%s%.3f", k > 0 ? "," : "", (double)x / 1000);
		}
		p = case_proven(text, 0);
		sum = case_note(p, "direct") + case_note(p, "host") +
		    case_note(p, "relay");
		assert_int_equal(sum, case_note(p, "message"));
		plan_free(p);
	}
}

/* The simulation of machines and the closed form agree. */
static void
predicted(const char *machine, double direct, double host)
{
	for (uint64_t n = 64 << 10; n <= 1ULL << 30; n *= 4) {
		char text[300];
		struct err err = { 0 };
		struct machine *m;
		struct predict r;
		struct plan *p;
		double want;

		snprintf(text, sizeof(text),
		    "multipath bytes=%llu via=ipc host_setup=0s "
		    "direct_rate=%g host_in=%g host_out=%g",
		    (unsigned long long)n, direct, host, host);
		p = case_proven(text, 0);
		want = case_real(p, "model_time") * 1e12;
		assert_int_equal(machine_parse("m", machine, &m, &err), 0);
		if (predict_plan(p, m, NULL, &r, &err) < 0)
			fail_msg("%s", err.text);
		if (fabs((double)r.total_ps / want - 1) > 0.02)
			fail_msg("%s: %g ps, model %g", text,
			    (double)r.total_ps, want);
		predict_clear(&r);
		machine_free(m);
		plan_free(p);
	}
}

static void
test_predicted(void **state)
{
	(void)state;
	predicted("[node]\ndevices = 2\n[nvlink]\nrate = 24\npairs = 0-1*3\n"
		  "[pcie]\nrate = 61\npairs = 0-h0,1-h0\n"
		  "[ipc]\noverhead = 10us\n",
	    72, 61);
	predicted("[node]\ndevices = 2\n[nvlink]\nrate = 24.5\n"
		  "pairs = 0-1*2\n"
		  "[pcie]\nrate = 11.2\npairs = 0-h0,1-h0\n"
		  "[ipc]\noverhead = 10us\n",
	    49, 11.2);
}

static void
test_refused(void **state)
{
	(void)state;
	case_refused("multipath bytes=0", 0, "multipath.bytes = 0: expected");
	case_refused("multipath share=x", 0,
	    "multipath.share = x: expected auto, or 1 numbers");
	case_refused("multipath share=0.2,0.2", 0, "share = 0.2,0.2: expected");
	case_refused("multipath share=0.2 relays=1", 0, "auto, or 2 numbers");
	case_refused("multipath share=0.6,0.5 relays=1", 0, "sum is at most 1");
	case_refused("multipath share=-0.1", 0, "share = -0.1: expected");
	case_refused("multipath share=nan", 0, "share = nan: expected");
	case_refused("multipath share=1.5", 0, "share = 1.5: expected");
	case_refused("multipath relays=64", 0, "relays = 64: expected");
	case_refused("multipath relays=3", 4, "this one needs 5");
	case_refused("multipath chunks=4097", 0, "chunks = 4097: expected");
	case_refused("multipath streams=0", 0, "streams = 0: expected");
	case_refused("multipath direct_rate=0", 0, "direct_rate = 0: expected");
	case_refused("multipath chunk_setup=-1us", 0, "chunk_setup");
	case_refused("multipath via=mpi,ipc", 0, "multipath.via");
	case_refused("multipath chunk=3", 0, "chunk");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_worked),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_predicted),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
