/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_fit.c - fit every binding of both kinds by least squares, and accept
 * the best one only below a tolerance.
 */
#include "probes/predict/binding_fit.h"
#include "probes/predict/model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"

const char *const fit_kinds[BINDING_FIT_MAX] = { "packed", "round-robin",
	"dynamic" };

/* Return the bandwidth of k devices that send the same amount at the same time,
 * where a normal NIC gives 1: the NIC with the most to send relative to its
 * rate ends last. With normal NICs it is k / p, at least 1, when packed, and k
 * / ceil(k / r). */
static double
binding_fit_shape(const struct binding_fit_profile *p,
    enum binding_fit_kind kind, uint32_t per, uint32_t k)
{
	double gives[BINDING_FIT_DEVICES_MAX], longest = 0;
	uint32_t load[BINDING_FIT_DEVICES_MAX] = { 0 };

	for (uint32_t i = 0; i < k; i++) {
		uint32_t nic = kind == BINDING_FIT_PACKED ? i / per : i % per;
		double w = p->weights != NULL ? p->weights[i] : 1;

		gives[nic] = load[nic] == 0 ? w : fmin(gives[nic], w);
		load[nic]++;
		longest = fmax(longest, load[nic] / gives[nic]);
	}
	return k / longest;
}

/* The rate of a NIC with which the relative errors have the least squares. */
static struct binding_fit_model
binding_fit_model_fit(const struct binding_fit_profile *p,
    enum binding_fit_kind kind, uint32_t per)
{
	struct binding_fit_model m = { .per = per };
	double sum = 0, squares = 0;

	for (uint32_t k = 1; k <= p->devices; k++) {
		double x = binding_fit_shape(p, kind, per, k) / p->per_s[k - 1];

		sum += x;
		squares += x * x;
	}
	m.nic_per_s = sum / squares;
	for (uint32_t k = 1; k <= p->devices; k++) {
		double x = binding_fit_shape(p, kind, per, k) / p->per_s[k - 1];

		m.residual += (m.nic_per_s * x - 1) * (m.nic_per_s * x - 1);
	}
	m.residual = sqrt(m.residual / p->devices);
	return m;
}

/* Of equal ones the first: where the devices are too few to tell, packed is
 * said with the fewest to a NIC, and round-robin with the fewest NICs. */
static int
binding_fit_is_better(const struct binding_fit_model *a,
    const struct binding_fit_model *b)
{
	return a->residual < b->residual - 1e-9;
}

void
binding_fit_binding(const struct binding_fit_profile *p, double tolerance,
    struct binding_fit *ret)
{
	const struct binding_fit_model *m = ret->models;

	assert(p->devices >= 1 && p->devices <= BINDING_FIT_DEVICES_MAX);
	for (int kind = 0; kind < BINDING_FIT_DYNAMIC; kind++)
		for (uint32_t per = 1; per <= p->devices; per++) {
			struct binding_fit_model now = binding_fit_model_fit(p,
			    (enum binding_fit_kind)kind, per);

			if (per == 1 ||
			    binding_fit_is_better(&now, &ret->models[kind]))
				ret->models[kind] = now;
		}
	ret->kind = binding_fit_is_better(&m[BINDING_FIT_ROUND_ROBIN],
			&m[BINDING_FIT_PACKED])
	    ? BINDING_FIT_ROUND_ROBIN
	    : BINDING_FIT_PACKED;
	if (!(m[ret->kind].residual <= tolerance))
		ret->kind = BINDING_FIT_DYNAMIC;
}

double
binding_fit_per_s(const struct binding_fit_profile *p,
    enum binding_fit_kind kind, const struct binding_fit_model *m, uint32_t k)
{
	return m->nic_per_s * binding_fit_shape(p, kind, m->per, k);
}

double
binding_fit_sound_per_s(const double *alone_per_s, uint32_t devices)
{
	double sorted[BINDING_FIT_DEVICES_MAX];

	assert(devices >= 1 && devices <= BINDING_FIT_DEVICES_MAX);
	memcpy(sorted, alone_per_s, devices * sizeof(*sorted));
	robust_sort(sorted, devices);
	return sorted[devices - 1 - (devices - 1) / 4];
}

uint32_t
binding_fit_weights(const double *alone_per_s, uint32_t devices, double weak,
    double *ret)
{
	double sound = binding_fit_sound_per_s(alone_per_s, devices);
	uint32_t below = 0;

	for (uint32_t i = 0; i < devices; i++) {
		ret[i] = alone_per_s[i] / sound;
		if (ret[i] < weak)
			below++;
		else
			ret[i] = 1;
	}
	return below;
}
