/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - what coalmine-probe can be told to do, a function a verb.
 *
 * argv[0] is the verb; what is returned is the exit code: 0, VERBS_BAD for a
 * plan that check refuses or data that came out wrong, VERBS_USAGE for wrong
 * input or what was not measured because of it. Results go to stdout,
 * complaints to stderr. Only run (and measure, which times steps too) starts
 * MPI; of the others under a launcher the first rank answers for all.
 */
#ifndef PROBES_VERBS_VERBS_H
#define PROBES_VERBS_VERBS_H

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

/* main.c: says what is wrong, and the usage; VERBS_USAGE. */
int verbs_wrong_usage(const char *what);

#endif
