/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - run a program of the site and time it: the canary test "command".
 *
 * The program's input is the null device. Its environment has no variables by
 * which an MPI in the program would join this job. Its child processes end with
 * it, or at the time limit.
 */
#ifndef PROBES_JOB_COMMAND_H
#define PROBES_JOB_COMMAND_H

#include <stdint.h>

#define COMMAND_TAIL_BYTES 400

/* The arguments. */
struct command_ask {
	char *const *argv; /* NULL-ended; argv[0] is searched in PATH */
	/* Additional variables "NAME=value", NULL-ended. */
	char *const *env;
	uint64_t timeout_ns;
	/* Called regularly while the program runs; NULL: none. */
	void (*idle)(void);
};

/* The result. */
struct command_result {
	double elapsed_s;
	int status; /* exit code; 128 + signal; 127: could not be started */
	int timed_out;
	char tail[COMMAND_TAIL_BYTES]; /* the end of its stderr, in one line */
};

/* Run the program and wait for its end. */
void command_run(const struct command_ask *ask, struct command_result *ret);
/* Split a line at blanks into words, NULL-ended. The caller frees them with
 * command_words_free. */
char **command_words(const char *line);
void command_words_free(char **words); /* words can be NULL */

#endif
