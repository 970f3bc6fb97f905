/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_text.c - parts of the texts of verdicts.
 */
#include "daemon/diagnosis/fault_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* An effect of a factor of two or more is printed as a factor. */
#define FACTOR_FROM 0.6931471805599453

void
fault_text_add(char *text, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, VERDICT_TEXT_MAX - len, fmt, ap);
	va_end(ap);
}

void
fault_text_slower(double effect, int is_rate, char ret[FAULT_TEXT_SLOWER])
{
	if (effect >= FACTOR_FROM)
		snprintf(ret, FAULT_TEXT_SLOWER, "%.1f times",
		    exp(fmin(effect, 30)));
	else
		snprintf(ret, FAULT_TEXT_SLOWER, "%.0f %%",
		    100 * (is_rate ? 1 - exp(-effect) : exp(effect) - 1));
}
