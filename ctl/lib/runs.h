/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - find the run that a user means, get it, and wait for its end.
 */
#ifndef CTL_LIB_RUNS_H
#define CTL_LIB_RUNS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl/lib/ctl.h"

/* Conditions for the runs of a list. */
struct runs_filter {
	const char *campaign, *state; /* NULL: any */
	int is_brief;                 /* 1: without names of nodes */
};

/* Get up to limit runs, the newest first, arranged by --where and --sort. The
 * collector limits an answer by its size, so this sends one request for each
 * part. Return 0 and the list, which the caller decrefs; or an exit code after
 * a message. */
int runs_list(struct ctl *c, const struct runs_filter *f, int64_t limit,
    json_t **ret);
/* Find the id of a run. text: an id, the unique beginning of one, "last", or
 * "last:CAMPAIGN". Return 0 and the id, which the caller frees; or an exit
 * code. */
int runs_find(struct ctl *c, const char *text, char **ret_run);
/* Get runs/RUN; the caller decrefs *ret. Return 0 or an exit code. */
int runs_get(struct ctl *c, const char *run, json_t **ret);
/* Return 1 if the state of a run is final, 0 if not. */
int runs_final(const json_t *run);
/* Return the exit code of a run's state. */
int runs_exit_code(const json_t *run);
/* Wait until a run is final, with progress on stderr. Return 0 and the run,
 * which the caller decrefs; or an exit code. */
int runs_wait(struct ctl *c, const char *run, json_t **ret);
/* Print the last line about a run: its state and the reason. */
void runs_print_end(const json_t *run, FILE *to);

#endif
