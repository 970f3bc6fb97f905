/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the verb "run": a campaign, under an MPI launcher.
 */
#ifndef PROBES_RUN_RUN_H
#define PROBES_RUN_RUN_H

struct run_args {
	const char *campaign; /* path */
	const char *json;     /* NULL: no records; "-": standard output */
	const char *run;      /* id; NULL: one is made up */
	char **overrides;     /* section.key=value */
	int override_count;
	int quiet; /* no tables */
};

/* All ranks; the status to exit with. 3: nothing was measured because of what
 * was asked for. */
int run_campaign(const struct run_args *args, int *argc, char ***argv);

#endif
