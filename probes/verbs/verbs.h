/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - plan, check and predict as verbs of coalmine-probe; none needs MPI.
 *
 * Under a launcher every rank is told the same: the first answers for all.
 * argv[0] is the verb. Results go to stdout, complaints to stderr; what is
 * returned is the exit code: 0, VERBS_BAD for a plan that check refuses,
 * VERBS_USAGE for wrong input.
 */
#ifndef PROBES_VERBS_VERBS_H
#define PROBES_VERBS_VERBS_H

#define VERBS_BAD   2
#define VERBS_USAGE 3

/* 1 without a launcher as well. */
int verbs_first_rank(void);
int plan_main(int argc, char **argv);
int check_main(int argc, char **argv);
int predict_main(int argc, char **argv);

#endif
