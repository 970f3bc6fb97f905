/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h - print two histograms next to each other. Each line is a range
 * of values; a bar is the share of the histogram's samples in this range.
 * Either histogram can be empty.
 */
#ifndef CTL_LIB_HISTOGRAM_H
#define CTL_LIB_HISTOGRAM_H

#include <stdio.h>

#include "common/hist.h"

void histogram_print(const struct hist *left, const char *left_title,
    const struct hist *right, const char *right_title, const char *unit,
    int ascii, FILE *to);

#endif
