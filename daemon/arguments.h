/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - the command line of coalmined.
 */
#ifndef DAEMON_ARGUMENTS_H
#define DAEMON_ARGUMENTS_H

#include <stddef.h>

/* Exit status if the program cannot start. */
#define EXIT_CONFIG    3
#define ARGUMENTS_SETS 64

/* The task of the program: run as collector, check the configuration, print it,
 * restore a backup, copy a store, or recover a damaged one. */
enum act { ACT_RUN, ACT_CHECK, ACT_PRINT, ACT_RESTORE, ACT_COPY, ACT_RECOVER };

/* The arguments. */
struct arguments {
	enum act act;
	const char *config;
	const char *backup; /* backup file of ACT_RESTORE */
	char *const *ends;  /* source and target of ACT_COPY and ACT_RECOVER */
	char *sets[ARGUMENTS_SETS];
	size_t set_count;
};

/* Read the command line. Print and exit for --help and similar options, and if
 * it is invalid. */
void arguments_read(int argc, char **argv, struct arguments *ret);

#endif
