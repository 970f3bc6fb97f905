/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_load_predicted.c - the promised time of a load is the time that the
 * engine predicts for the promised fabric.
 */
#include <math.h>

#include "tests/unit/probes/plan/cases.h"

#include "ctl/accept/evidence.h"
#include "probes/predict/predict.h"
#include "schema/promise.h"

#define NODES 24
#define LEAF  6
#define RATE  25.0 /* GB/s of a NIC: 200 Gbit/s */
#define NEAR  0.01
#define SMALL 1048576

static double
predicted_s(const char *probe, size_t rails, double oversubscription)
{
	struct err err = { 0 };
	struct plan *p = case_proven(probe, 0);
	struct machine *m;
	struct predict r;
	char text[400];
	double ret;

	snprintf(text, sizeof(text),
	    "[node]\nranks = %zu\ndevices = %zu\n[nic]\ncount = %zu\n"
	    "out = %g\nbinding = one-to-one\n[nvlink]\nrate = 10000\n"
	    "pairs = all\n[network]\nleaf = %d\nuplink = %g\n",
	    rails, rails, rails, RATE, LEAF,
	    LEAF * (double)rails * RATE / oversubscription);
	if (machine_parse("promised", text, &m, &err) < 0 ||
	    predict_plan(p, m, NULL, &r, &err) < 0)
		fail_msg("%s: %s", probe, err.text);
	ret = (double)r.total_ps / 1e12;
	predict_clear(&r);
	machine_free(m);
	plan_free(p);
	return ret;
}

static struct evidence *
evidence_of(size_t rails, double oversubscription, struct conf **ret)
{
	json_t *nodes = json_array();
	struct evidence *e;
	struct err err;
	char text[300];

	snprintf(text, sizeof(text),
	    "[nic]\ncount = %zu\nrate = %g\n[leaf]\noversubscription = %g\n"
	    "[collective]\nnames = allreduce,allgather,reduce-scatter,alltoall"
	    "\nshare = 1\n[incast]\nsenders = 2,8\nshare = 1\n",
	    rails, 8 * RATE, oversubscription);
	assert_int_equal(conf_parse(options_promise, "p", text, ret, &err), 0);
	for (int i = 0; i < NODES; i++)
		json_array_append_new(nodes,
		    json_pack("{s:o, s:o}", "node",
			json_sprintf("n%02d", i + 1), "leaf",
			json_sprintf("leaf%d", i / LEAF + 1)));
	e = evidence_new(*ret, nodes);
	json_decref(nodes);
	return e;
}

/* Add records with the predicted times of a load, in two sizes. */
static void
records_add(json_t *records, const struct load *l, size_t nodes, size_t rails,
    double oversubscription)
{
	char probe[200];

	for (int bytes = SMALL; bytes <= 2 * SMALL; bytes *= 2) {
		json_t *o = json_pack("{s:s, s:s, s:i, s:i, s:s}", "probe",
		    l->kind == LOAD_INCAST ? "group" : "speedup", "of", "whole",
		    "bytes", bytes, "groups", (int)l->number + 1, "collective",
		    l->word);

		if (l->kind == LOAD_INCAST)
			snprintf(probe, sizeof(probe),
			    "group direction=in n=%u g=%zu k=%zu count=%d "
			    "type=byte",
			    l->number + 1, rails, rails, bytes);
		else
			snprintf(probe, sizeof(probe),
			    "collective name=%s ranks=%zu count=%d", l->word,
			    nodes * rails, bytes / 4);
		json_object_set_new(o,
		    l->kind == LOAD_INCAST ? "median_middle" : "seconds",
		    json_real(predicted_s(probe, rails, oversubscription)));
		json_array_append_new(records, o);
	}
}

static void
loads_check(size_t nodes, size_t rails, double oversubscription)
{
	struct conf *promise;
	struct evidence *e = evidence_of(rails, oversubscription, &promise);
	size_t first = e->paths_of[EVIDENCE_LOAD].first;

	for (size_t i = 0; first + i < e->path_count; i++) {
		const struct load *l = &e->loads[i];
		json_t *records = json_array();
		json_t *run = json_pack("{s:s, s:o, s:i, s:[i, i]}", "class",
		    evidence_classes[EVIDENCE_LOAD + l->kind], "nodes",
		    json_sprintf("n[01-%02zu]", nodes), "shift", (int)l->turn,
		    "sizes", SMALL, 2 * SMALL);

		records_add(records, l, nodes, rails, oversubscription);
		assert_int_equal(evidence_add(e, promise, run, records), 1);
		if (fabs(e->paths[first + i].x[0]) > NEAR)
			fail_msg("%s, %zu nodes, %zu rails, %g:1: the promised "
				 "time is %.3f of the predicted one",
			    l->name, nodes, rails, oversubscription,
			    exp(e->paths[first + i].x[0]));
		json_decref(records);
		json_decref(run);
	}
	assert_int_equal(e->path_count - first, 6);
	evidence_free(e);
	conf_free(promise);
}

static void
test_loads(void **state)
{
	(void)state;
	loads_check(NODES, 1, 2);
	loads_check(NODES, 1, 1);
	loads_check(NODES - 2, 1, 3); /* a leaf with fewer nodes */
	loads_check(LEAF * 2, 2, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_loads) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
