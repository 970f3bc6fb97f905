/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - run a program of the site and time it: the application canary.
 *
 * The program runs like any other: the null device is its input, and its
 * environment has no variables by which an MPI in it would join this job. Its
 * child processes end with it, or at the time limit.
 */
#ifndef PROBES_JOB_COMMAND_H
#define PROBES_JOB_COMMAND_H

#include <stdint.h>

#define COMMAND_TAIL_BYTES 400

struct command_ask {
	char *const *argv; /* NULL-ended; [0] is looked for in PATH */
	/* "NAME=value" more, NULL-ended */
	char *const *env;
	uint64_t timeout_ns;
	void (*idle)(void); /* called now and then while it runs, or NULL */
};

struct command_result {
	double elapsed_s;
	int status; /* exit code, 128 + signal, 127: could not be started */
	int timed_out;
	char tail[COMMAND_TAIL_BYTES]; /* the end of its stderr, in one line */
};

void command_run(const struct command_ask *ask, struct command_result *ret);
/* The words of a line, split at blanks. The caller ends them with
 * command_words_free. */
char **command_words(const char *line);
void command_words_free(char **words); /* NULL is allowed */

#endif
