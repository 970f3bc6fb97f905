/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which binding of devices to NICs is read from bandwidths.
 */
#include <math.h>

#include "probes/predict/binding_fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "common/rng.h"
#include "common/str.h"
#include "probes/predict/model.h"
#include "probes/predict/binding_fit.h"

#define TOLERANCE 0.1

static void
near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fabs(b)))
		fail_msg("%g instead of %g", a, b);
}

static void
fits(const struct binding_fit_profile *p, enum binding_fit_kind kind,
    uint32_t per, double f)
{
	struct binding_fit fit;

	binding_fit_binding(p, TOLERANCE, &fit);
	assert_string_equal(fit_kinds[fit.kind], fit_kinds[kind]);
	assert_int_equal(fit.models[kind].per, per);
	near(fit.models[kind].nic_per_s, f);
	assert_true(fit.models[kind].residual < 1e-9);
	for (uint32_t k = 1; k <= p->devices; k++)
		near(binding_fit_per_s(p, kind, &fit.models[kind], k),
		    p->per_s[k - 1]);
}

static void
test_worked(void **state)
{
	static const double packed[] = { 25, 25, 37.5, 50, 62.5, 75, 87.5,
		100 };
	static const double turns[] = { 25, 50, 75, 100, 125, 150, 175, 200,
		112.5, 125, 137.5, 150 };

	(void)state;
	fits(&(struct binding_fit_profile){ 8, packed, NULL },
	    BINDING_FIT_PACKED, 2, 25);
	fits(&(struct binding_fit_profile){ 12, turns, NULL },
	    BINDING_FIT_ROUND_ROBIN, 8, 25);
}

/* Every number of devices and NICs that can be distinguished. */
static void
test_equations(void **state)
{
	double per_s[16];

	(void)state;
	for (uint32_t g = 2; g <= 16; g++)
		for (uint32_t per = 1; per <= g; per++) {
			struct binding_fit_profile p = { g, per_s, NULL };

			for (uint32_t k = 1; k <= g; k++)
				per_s[k - 1] = model_packed_per_s(3, per, k);
			fits(&p, BINDING_FIT_PACKED, per, 3);
			for (uint32_t k = 1; k <= g; k++)
				per_s[k - 1] = model_round_robin_per_s(3, per,
				    k);
			if (per == 1) /* all on one NIC: packed as well */
				fits(&p, BINDING_FIT_PACKED, g, 3);
			else if (per == g) /* each its own */
				fits(&p, BINDING_FIT_PACKED, 1, 3);
			else
				fits(&p, BINDING_FIT_ROUND_ROBIN, per, 3);
		}
}

/* A few percent of error do not hide it. */
static void
test_noise(void **state)
{
	struct rng rng;
	double per_s[8];
	struct binding_fit_profile p = { 8, per_s, NULL };

	(void)state;
	rng_seed(&rng, 7);
	for (int turn = 0; turn < 200; turn++) {
		uint32_t per = 2 + (uint32_t)turn % 3;
		struct binding_fit fit;

		for (uint32_t k = 1; k <= 8; k++)
			per_s[k - 1] = model_packed_per_s(25, per, k) *
			    (1 - 0.05 * rng_unit(&rng));
		binding_fit_binding(&p, TOLERANCE, &fit);
		assert_int_equal(fit.kind, BINDING_FIT_PACKED);
		assert_int_equal(fit.models[BINDING_FIT_PACKED].per, per);
		assert_true(
		    fabs(fit.models[BINDING_FIT_PACKED].nic_per_s - 25) < 1.5);
		assert_true(fit.models[BINDING_FIT_PACKED].residual > 0);
	}
}

static void
test_dynamic(void **state)
{
	static const double all[] = { 100, 100, 100, 55, 200, 90, 300, 20 };
	struct binding_fit fit;

	(void)state;
	binding_fit_binding(&(struct binding_fit_profile){ 8, all, NULL },
	    TOLERANCE, &fit);
	assert_int_equal(fit.kind, BINDING_FIT_DYNAMIC);
	assert_true(fit.models[BINDING_FIT_PACKED].residual > TOLERANCE);
	assert_true(fit.models[BINDING_FIT_ROUND_ROBIN].residual > TOLERANCE);
}

/* One NIC gives a tenth: it is named, and the binding is found all the same,
 * which without the weights it is not. */
static void
test_weak(void **state)
{
	static const double alone[] = { 25, 25, 2.5, 2.5, 24, 25, 25, 25.5 };
	static const double per_s[] = { 25, 25, 7.5, 5, 6.25, 7.5, 8.75, 10 };
	double weights[8];
	struct binding_fit_profile p = { 8, per_s, weights };
	struct binding_fit fit;

	(void)state;
	near(binding_fit_sound_per_s(alone, 8), 25);
	assert_int_equal(binding_fit_weights(alone, 8, 0.75, weights), 2);
	near(weights[2], 0.1);
	near(weights[4], 1);
	fits(&p, BINDING_FIT_PACKED, 2, 25);
	p.weights = NULL;
	binding_fit_binding(&p, TOLERANCE, &fit);
	assert_int_equal(fit.kind, BINDING_FIT_DYNAMIC);
}

/* One of two may be slow: the better one counts as normal. */
static void
test_sound(void **state)
{
	(void)state;
	near(binding_fit_sound_per_s((const double[]){ 3, 30 }, 2), 30);
	near(binding_fit_sound_per_s((const double[]){ 30 }, 1), 30);
	near(binding_fit_sound_per_s((const double[]){ 3, 30, 3 }, 3), 30);
	near(binding_fit_sound_per_s((const double[]){ 1, 2, 3, 4, 90 }, 5), 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked),
		cmocka_unit_test(test_equations),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_weak),
		cmocka_unit_test(test_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
