/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - the verbs of coalmine-probe, one function each. 0, VERBS_BAD for a
 * plan that check refuses or data that came out wrong, VERBS_USAGE for invalid
 * input, or a measurement that it prevented. Results go to stdout, errors to
 * stderr. Only run (and measure, which times steps too) starts MPI; with the
 * other verbs under a launcher only the first rank prints.
 */
#ifndef PROBES_VERBS_VERBS_H
#define PROBES_VERBS_VERBS_H

#include "probes/pattern/pattern.h"
#include "probes/plan/plan.h"
#include "probes/plan/print.h"

#define VERBS_BAD   2
#define VERBS_USAGE 3

/* 1 without a launcher as well. */
int verbs_first_rank(void);
int run_main(int argc, char **argv);
int list_main(int argc, char **argv);
int topo_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int check_main(int argc, char **argv);
int predict_main(int argc, char **argv);
int expect_main(int argc, char **argv);
int scan_main(int argc, char **argv);

/* Print the error and the usage (main.c); return VERBS_USAGE. */
int verbs_wrong_usage(const char *what);

/* Common to the verbs that take plans. */
struct request {
	struct pattern_site site;
	const struct print_row *format;
	char **words; /* PROBE option=value ..., or a campaign file */
	int count;
	int any_ranks; /* what depends on their number, or on files of nodes,
			  is passed over */
	int sweeps; /* with measure.vary and measure.sizes, as a run has them */
	void *arg;  /* of the verb */
};

/* One probe of a request. */
struct verbs_subject {
	const struct pattern *pt;
	const struct conf *c; /* its options */
	const struct plan *p;
};

/* Apply a verb to one plan; return an exit code. */
typedef int (
    *verbs_use_cb)(const struct request *rq, const struct verbs_subject *of);

/* Build each plan of the request and use it: the worst exit code. */
int verbs_use(const struct request *rq, verbs_use_cb use);
/* Says why on stderr; VERBS_USAGE. */
int verbs_complain(const char *why);
/* The value of --ranks; 0 or VERBS_USAGE. */
int verbs_ranks(const char *text, struct request *rq);

#endif
