/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - the verbs of coalmine-probe, one function each. They return 0;
 * VERBS_BAD for a plan that check_plan rejects, or for wrong data; VERBS_USAGE
 * for invalid input, or for a measurement that it prevented. Results go to
 * stdout, errors to stderr. Only run (and measure, which also times steps)
 * starts MPI. With the other verbs under a launcher, only the first rank
 * prints.
 */
#ifndef PROBES_VERBS_VERBS_H
#define PROBES_VERBS_VERBS_H

#include "probes/pattern/pattern.h"
#include "probes/plan/plan.h"
#include "probes/plan/print.h"

#define VERBS_BAD   2
#define VERBS_USAGE 3

/* Return 1 on the first rank, and without a launcher; 0 on other ranks. */
int verbs_first_rank(void);
int run_main(int argc, char **argv);
int list_main(int argc, char **argv);
int topo_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int check_main(int argc, char **argv);
int predict_main(int argc, char **argv);
int expect_main(int argc, char **argv);
int scan_main(int argc, char **argv);

/* Print the error and the usage (main.c). Return VERBS_USAGE. */
int verbs_wrong_usage(const char *what);

/* The arguments that verbs with plans share. */
struct request {
	struct pattern_site site;
	const struct print_row *format;
	char **words; /* PROBE option=value ..., or a campaign file */
	int count;
	/* 1: do not report errors that depend on the number of ranks or on
	 * files of nodes. */
	int any_ranks;
	int sweeps; /* 1: apply measure.vary and measure.sizes, as a run does */
	void *arg;  /* private to the verb */
};

/* One probe of a request. */
struct verbs_subject {
	const struct pattern *pt;
	const struct conf *c; /* its options */
	const struct plan *p;
};

/* Apply a verb to one plan. Return an exit code. */
typedef int (
    *verbs_use_cb)(const struct request *rq, const struct verbs_subject *of);

/* Build each plan of the request and apply use to it. Return the worst exit
 * code. */
int verbs_use(const struct request *rq, verbs_use_cb use);
/* Print the reason on stderr. Return VERBS_USAGE. */
int verbs_complain(const char *why);
/* Parse the value of --ranks into rq. Return 0 or VERBS_USAGE. */
int verbs_ranks(const char *text, struct request *rq);

#endif
