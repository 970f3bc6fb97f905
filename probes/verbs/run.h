/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the verbs "run" and "measure": a campaign, or a probe written out,
 * under an MPI launcher.
 */
#ifndef PROBES_VERBS_RUN_H
#define PROBES_VERBS_RUN_H

struct run_args {
	const char *campaign; /* path; NULL: words */
	char *const *words;   /* PROBE option=value ... */
	int words_count;
	int steps;        /* of plans: each by itself as well */
	const char *json; /* NULL: no records; "-": standard output */
	const char *run;  /* id; NULL: one is made up */
	char **overrides; /* section.key=value */
	int override_count;
	int quiet; /* no tables */
};

/* All ranks; the status to exit with. 2: wrong data; 3: something was not
 * measured because of what was asked for. */
int run_campaign(const struct run_args *args, int *argc, char ***argv);

#endif
