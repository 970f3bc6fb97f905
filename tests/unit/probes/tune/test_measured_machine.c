/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine with measured rates predicts the measurements: its short message,
 * its long one, and the steps of a pipeline.
 */
#include <math.h>

#include "common/err.h"
#include "probes/tune/measured_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probes/predict/predict.h"
#include "probes/pattern/pattern.h"
#include "probes/catalog/patterns.h"

static struct measured_machine
measured(void)
{
	struct measured_machine r = { .ranks = 8,
		.nodes = 4,
		.per_node = 2,
		.step_s = 10e-6,
		.memory_per_s = 5e9 };

	for (int i = 0; i < MACHINES_VIA_MAX; i++)
		r.near[i].s = r.far[i].s = NAN;
	r.near[MACHINES_MPI] = (struct measured_machine_way){ 20e-6, 1e9, 1e9 };
	r.near[MACHINES_IPC] = (struct measured_machine_way){ 15e-6, 4e9, 4e9 };
	r.far[MACHINES_MPI] = (struct measured_machine_way){ 100e-6, 20e6,
		25e6 };
	return r;
}

static struct machine *
rated(const struct measured_machine *r)
{
	struct machine *m;

	assert_int_equal(machine_discover("", r->per_node, NULL, &m), 0);
	assert_true(m->unrated);
	measured_machine_set(r, m);
	assert_false(m->unrated);
	return m;
}

static double
predicted_s(const struct machine *m, const char *count, const char *via, int g)
{
	char word[40], words_g[16], v[16];
	struct err err = { 0 };
	char *words[] = { (char *)"pattern=rail", (char *)"n=2", (char *)"k=1",
		(char *)"type=byte", words_g, word, v };
	struct predict pr;
	struct plan *p;
	double s;

	snprintf(word, sizeof(word), "count=%s", count);
	snprintf(words_g, sizeof(words_g), "g=%d", g);
	snprintf(v, sizeof(v), "via=%s", via);
	if (patterns_plan("group", words, 7, 8, &p, &err) < 0 ||
	    predict_plan(p, m, NULL, &pr, &err) < 0)
		fail_msg("%s", err.text);
	s = (double)pr.total_ps / 1e12;
	predict_clear(&pr);
	plan_free(p);
	return s;
}

static void
test_predicts_what_was_measured(void **state)
{
	struct measured_machine r = measured();
	struct machine *m = rated(&r);

	(void)state;
	/* a byte at 20 MB/s takes 0.05 us */
	assert_float_equal(predicted_s(m, "1", "mpi", 2), 100e-6, 2e-7);
	assert_float_equal(predicted_s(m, "1", "mpi", 1), 20e-6, 2e-7);
	assert_float_equal(predicted_s(m, "1", "ipc", 1), 15e-6, 2e-7);
	/* one pair alone has four fifths of the rate of a node's two */
	assert_float_equal(predicted_s(m, "20000000", "mpi", 2), 1.0001, 1e-6);
	assert_float_equal(predicted_s(m, "40000000", "mpi", 1), 0.04002, 1e-6);
	assert_float_equal(predicted_s(m, "40000000", "ipc", 1), 0.010015,
	    1e-6);
	assert_false(m->vias[MACHINES_XCCL].usable);
	assert_false(m->vias[MACHINES_RMA].usable);
	machine_free(m);
}

static void
test_arithmetic(void **state)
{
	(void)state;
	assert_float_equal(measured_machine_per_s(1e6, 0.11, 0.01), 1e7, 1);
	assert_float_equal(measured_machine_per_s(1e6, 0.1, 0.09), 2e7, 1);
	assert_true(measured_machine_per_s(1e6, NAN, 0.1) == 0);
	assert_float_equal(measured_machine_step_s(1e-3, 9e-3, 5), 2e-3, 1e-9);
	assert_true(measured_machine_step_s(2e-3, 1e-3, 5) == 0);
	assert_true(measured_machine_step_s(NAN, 1e-3, 5) == 0);
}

/* Missing measurements give no values. */
static void
test_told(void **state)
{
	struct measured_machine r = measured();
	char *text = measured_machine_text(&r);
	json_t *o = measured_machine_record(&r, "this machine");

	(void)state;
	assert_string_equal(text,
	    "this machine as measured: 8 ranks on 4 nodes, 23.8 MiB/s and 100 "
	    "us between nodes, 3.7 GiB/s and 20 us within one, 10 us a step, "
	    "each rank copies 4.7 GiB/s");
	assert_int_equal(json_array_size(json_object_get(o, "ways")), 3);
	free(text);
	json_decref(o);
	r.far[MACHINES_MPI].s = NAN;
	r.nodes = 1;
	text = measured_machine_text(&r);
	assert_null(strstr(text, "between"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_predicts_what_was_measured),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
