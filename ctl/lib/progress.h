/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far a run is, on stderr: a bar that is redrawn on a
 * terminal, else one line for every change.
 */
#ifndef CTL_LIB_PROGRESS_H
#define CTL_LIB_PROGRESS_H

#include <jansson.h>

struct progress;

struct progress *progress_new(const char *run);
/* run: as GET runs/RUN answers. */
void progress_show(struct progress *p, const json_t *run);
/* The collector does not answer; said once until it does again. */
void progress_away(struct progress *p);
/* Clears the bar; NULL is allowed. */
void progress_free(struct progress *p);

/* 1 where UTF-8 can be drawn. */
int progress_utf8(void);

#endif
