/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectation.h - what can be expected of a probe on a machine: the simulated
 * time, the closed models that apply to it, and the busiest links.
 */
#ifndef PROBES_PREDICT_EXPECTATION_H
#define PROBES_PREDICT_EXPECTATION_H

#include "common/err.h"
#include "probes/pattern/pattern.h"
#include "probes/predict/predict.h"

#define EXPECTATION_MODELS_MAX 4

struct expectation_model {
	const char *name; /* "hiccl-ring" */
	char text[80];
	int is_time;      /* seconds, else bytes per second */
	double value;     /* of the model */
	double predicted; /* the simulated value */
};

struct expectation_link {
	char name[MACHINE_NAME_MAX];
	double bytes; /* that passed it */
	double capacity_per_s;
	double busy; /* share of the time at full rate */
};

struct expectation {
	char *title, *machine;
	const char *data_name; /* the data that counts: a note of the plan */
	uint32_t ranks, nodes;
	size_t transfers;
	uint64_t flows;
	double time_s;
	double data_bytes; /* throughput is data over time */
	struct expectation_model models[EXPECTATION_MODELS_MAX];
	uint32_t models_count;
	struct expectation_link *links; /* the busiest first */
	uint32_t links_count;
	char note[120]; /* caveat for the reader; "": none */
};

/* A plan, the options c from which pt built it, and its machine. */
struct expectation_ask {
	const struct pattern *pt;
	const struct conf *c;
	const struct plan *p;
	const struct machine *m;
	struct predict_options options;
	uint32_t links_max; /* 0: all that were used */
};

/* -EINVAL with why as predict_plan. The caller ends *ret with
 * expectation_clear. */
int expectation_make(const struct expectation_ask *ask, struct expectation *ret,
    struct err *err);
void expectation_clear(struct expectation *ol); /* frees */

/* The bytes that a plan's throughput counts (p d of a collective, the message
 * of stripe, ...), and the note's name. */
double expectation_data(const struct plan *p, const char **ret_name);

#endif
