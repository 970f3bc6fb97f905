/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - show the progress of a run on stderr: a bar that is redrawn on a
 * terminal, otherwise one line for every change.
 */
#ifndef CTL_LIB_PROGRESS_H
#define CTL_LIB_PROGRESS_H

#include <jansson.h>

struct progress;

/* Begin to show a run; progress_free ends it. */
struct progress *progress_new(const char *run);
/* Show the state of the run; run: the answer of GET runs/RUN. */
void progress_show(struct progress *p, const json_t *run);
/* Show that the collector does not answer; printed once until it answers
 * again. */
void progress_away(struct progress *p);
/* Clear the bar and free p, which can be NULL. */
void progress_free(struct progress *p);

/* Return 1 if the terminal can show UTF-8, 0 if not. */
int progress_utf8(void);
/* Return 1 if the user wants colours on a terminal, 0 if not. */
int progress_has_colour(void);

#endif
