/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_fit.h - determine which network interface (NIC) serves which device.
 *
 * The binding is computed from bandwidths alone (CommBench, section 5.2.1,
 * equations 1 and 2).
 *
 * A profile is the bandwidth of the first k devices of a node together, for k =
 * 1, 2, ... Two kinds of binding are fitted, with every possible parameter:
 * packed, p consecutive devices on each NIC; and round-robin, device i on NIC i
 * mod r. The closest fit is reported. If neither is close, the binding is
 * dynamic or of an unknown kind.
 *
 * A slow NIC would distort both models. Therefore the bandwidth of each device
 * alone is measured too. A device far below the others is weak, and the models
 * give its NIC only that share. Without weak NICs the models are the equations
 * of the paper.
 *
 * Rates are in bytes per second.
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

/* The measured bandwidths of a node. */
struct binding_fit_profile {
	uint32_t devices; /* 1 to BINDING_FIT_DEVICES_MAX */
	/* [k - 1]: bandwidth of the first k devices; > 0. */
	const double *per_s;
	/* [i]: bandwidth of device i alone, as a share from 0 to 1 of a sound
	 * NIC; NULL: all NICs are sound. */
	const double *weights;
};

/* A fitted model. */
struct binding_fit_model {
	/* Packed: p, devices per NIC; round-robin: r, number of NICs. */
	uint32_t per;
	double nic_per_s; /* bandwidth of one NIC */
	double residual;  /* root mean square of the relative errors */
};

/* The result of a fit. */
struct binding_fit {
	enum binding_fit_kind kind;
	struct binding_fit_model
	    models[BINDING_FIT_DYNAMIC]; /* the best model of each kind */
};

/* Fit both models to a profile. tolerance: the largest residual of an accepted
 * model. */
void binding_fit_binding(const struct binding_fit_profile *p, double tolerance,
    struct binding_fit *ret);
/* Return the bandwidth that the model predicts for the first k devices. */
double binding_fit_per_s(const struct binding_fit_profile *p,
    enum binding_fit_kind kind, const struct binding_fit_model *m, uint32_t k);

/* Return the bandwidth of a sound NIC: the upper quartile of the bandwidths of
 * single devices, which is right while fewer than three quarters of them are
 * slow. */
double binding_fit_sound_per_s(const double *alone_per_s, uint32_t devices);
/* Compute the weights of a binding_fit_profile from the bandwidths of single
 * devices: 1 if the share is at least weak, otherwise the share. Return the
 * number of devices below weak. */
uint32_t binding_fit_weights(const double *alone_per_s, uint32_t devices,
    double weak, double *ret);

#endif
