/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headline.h - the result of a run in one sentence, the first line of a report.
 */
#ifndef CTL_LIB_HEADLINE_H
#define CTL_LIB_HEADLINE_H

#include <jansson.h>

/* Return the sentence for the records of a run: the impact of congestion,
 * otherwise the canaries, otherwise the speed-ups, otherwise the plan with the
 * highest bandwidth, otherwise that there is no result. The caller frees it. */
char *headline(const json_t *records);

#endif
