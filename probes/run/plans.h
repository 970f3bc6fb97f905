/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.h - the verbs "run" and "measure" for probes that are plans.
 */
#ifndef PROBES_RUN_PLANS_H
#define PROBES_RUN_PLANS_H

struct plans_args {
	char *const *words; /* PROBE option=value ..., or one campaign file */
	int count;
	const char *json; /* NULL: no records; "-": standard output */
	const char *run;  /* id; NULL: one is made up */
	int quiet;        /* no table */
	int steps;        /* also every step alone */
};

/* All ranks; the status to exit with: 2 wrong data or a plan that check
 * refuses, 3 something was not measured because of what was asked for. */
int plans_run(const struct plans_args *args, int *argc, char ***argv);

#endif
