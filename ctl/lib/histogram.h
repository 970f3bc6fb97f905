/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h - two histograms next to each other. Lines are ranges of value; a
 * bar is the share of that histogram's samples. Either may be empty.
 */
#ifndef CTL_LIB_HISTOGRAM_H
#define CTL_LIB_HISTOGRAM_H

#include <stdio.h>

#include "common/hist.h"

void histogram_print(const struct hist *left, const char *left_title,
    const struct hist *right, const char *right_title, const char *unit,
    int ascii, FILE *to);

#endif
