/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - which run is meant, how it ends, and waiting for that.
 */
#ifndef CTL_LIB_RUNS_H
#define CTL_LIB_RUNS_H

#include <jansson.h>
#include <stdio.h>

#include "ctl/lib/ctl.h"

/* The id of the run that text means: an id, the unique beginning of one,
 * "last" or "last:CAMPAIGN". 0 and *ret_run for the caller to free, else an
 * exit code after a message. */
int runs_find(struct ctl *c, const char *text, char **ret_run);
/* runs/RUN; the caller decrefs *ret. 0 or an exit code. */
int runs_get(struct ctl *c, const char *run, json_t **ret);
/* 1 when a run in this state never changes again. */
int runs_final(const json_t *run);
/* Return the exit code of a run's state. */
int runs_exit_code(const json_t *run);
/* Wait until a run is final; progress on stderr. 0 and *ret, else an exit
 * code. */
int runs_wait(struct ctl *c, const char *run, json_t **ret);
/* The last line about a run: its state and why. */
void runs_print_end(const json_t *run, FILE *to);

#endif
