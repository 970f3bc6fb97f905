/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectation.h - what can be expected of a probe on a described machine: the
 * simulated time, the closed models that apply, and the busiest links.
 */
#ifndef PROBES_PREDICT_EXPECTATION_H
#define PROBES_PREDICT_EXPECTATION_H

#include "common/err.h"
#include "probes/pattern/pattern.h"
#include "probes/predict/predict.h"

#define EXPECTATION_MODELS_MAX 4

/* The value of a closed model, next to the simulated value. */
struct expectation_model {
	const char *name; /* "hiccl-ring" */
	char text[80];    /* explanation for people */
	int is_time;      /* 1: the values are seconds; 0: bytes per second */
	double value;     /* value of the model */
	double predicted; /* simulated value */
};

/* The load of a link. */
struct expectation_link {
	char name[MACHINE_NAME_MAX];
	double bytes;          /* bytes that passed the link */
	double capacity_per_s; /* bytes per second */
	double busy; /* share of the time that its bytes take at full rate */
};

/* The whole expectation. The caller may read all members. */
struct expectation {
	char *title, *machine;
	/* Name of the note of the plan that counts the data. */
	const char *data_name;
	uint32_t ranks, nodes;
	size_t transfers;
	uint64_t flows;    /* flows of the simulation */
	double time_s;     /* simulated time */
	double data_bytes; /* throughput is data_bytes / time_s */
	struct expectation_model models[EXPECTATION_MODELS_MAX];
	uint32_t models_count;
	struct expectation_link *links; /* the busiest first */
	uint32_t links_count;
	char note[120]; /* caveat for the reader; "": none */
};

/* The arguments: a plan, the options c from which pt built it, and its
 * machine. */
struct expectation_ask {
	const struct pattern *pt;
	const struct conf *c;
	const struct plan *p;
	const struct machine *m;
	struct predict_options options;
	uint32_t links_max; /* links in the result; 0: all that were used */
};

/* Compute the expectation. Return 0, or -EINVAL with the reason in err, as
 * predict_plan. The caller frees *ret with expectation_clear. */
int expectation_make(const struct expectation_ask *ask, struct expectation *ret,
    struct err *err);
void expectation_clear(struct expectation *ol); /* frees */

/* Return the bytes that a plan's throughput counts (p d of a collective, the
 * message of stripe, ...). *ret_name: the name of the plan's note with this
 * number. */
double expectation_data(const struct plan *p, const char **ret_name);

#endif
