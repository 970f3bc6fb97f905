/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_fit.h - which network interface (NIC) serves which device.
 *
 * Computed from bandwidths alone (CommBench, section 5.2.1, equations 1 and 2).
 *
 * A profile is the bandwidth of the first k devices of a node together, for k =
 * 1, 2, ... Two kinds of binding are tried with every possible number: packed,
 * p consecutive devices on each NIC, and round-robin, device i on NIC i mod r.
 * The closest one is reported; if neither is close, the binding is dynamic or
 * of an unknown kind.
 *
 * A slow NIC would distort both models. So each device's bandwidth alone is
 * measured too: one far below the others is weak, and the models below give its
 * NIC only that share. Without weak NICs they are the equations of the paper.
 *
 * Rates are bytes per second.
 */
#ifndef PROBES_PREDICT_BINDING_FIT_H
#define PROBES_PREDICT_BINDING_FIT_H

#include <stdint.h>

#define BINDING_FIT_DEVICES_MAX 256

enum binding_fit_kind {
	BINDING_FIT_PACKED,
	BINDING_FIT_ROUND_ROBIN,
	BINDING_FIT_DYNAMIC,
	BINDING_FIT_MAX
};
extern const char *const fit_kinds[BINDING_FIT_MAX];

struct binding_fit_profile {
	uint32_t devices;      /* 1 to BINDING_FIT_DEVICES_MAX */
	const double *per_s;   /* [k - 1]: of the first k devices; > 0 */
	const double *weights; /* [i]: share of a sound NIC, of 0 to 1, that
				  device i gets alone; NULL: all are sound */
};

struct binding_fit_model {
	uint32_t per; /* p: devices of a NIC; r: NICs */
	double nic_per_s;
	double residual; /* root of the mean square of relative errors */
};

struct binding_fit {
	enum binding_fit_kind kind;
	struct binding_fit_model
	    models[BINDING_FIT_DYNAMIC]; /* the best of each */
};

/* tolerance: the largest residual of an accepted model. */
void binding_fit_binding(const struct binding_fit_profile *p, double tolerance,
    struct binding_fit *ret);
/* Return the model's bandwidth of k devices. */
double binding_fit_per_s(const struct binding_fit_profile *p,
    enum binding_fit_kind kind, const struct binding_fit_model *m, uint32_t k);

/* The bandwidth that a sound NIC gives, judging by each device's alone: their
 * upper quartile, so that less than three quarters of them may be slow. */
double binding_fit_sound_per_s(const double *alone_per_s, uint32_t devices);
/* Compute the weights of binding_fit_profile from the rates alone: 1 for a rate
 * of at least weak, else its share. Return the number below weak. */
uint32_t binding_fit_weights(const double *alone_per_s, uint32_t devices,
    double weak, double *ret);

#endif
