/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vary.h - one option of a probe in several values, as "rsg 0.05 0.2 0.4", or
 * of one among several probes, as "allreduce.form flat hierarchical". Pure.
 */
#ifndef PROBES_PATTERN_VARY_H
#define PROBES_PATTERN_VARY_H

#include <stddef.h>

#include "common/err.h"

#define VARY_MAX 64 /* values */

struct vary {
	char *text;          /* owns the words below */
	const char *section; /* NULL: of every probe */
	const char *key;
	const char *values[VARY_MAX];
	size_t count; /* 0: nothing varies */
};

/* An option and at least one value, with blanks between, or an empty text.
 * -EINVAL and why, and *ret is empty. The caller ends *ret with vary_clear. */
int vary_parse(const char *text, struct vary *ret, struct err *err);
void vary_clear(struct vary *v); /* frees */
/* Is it an option of the probe with this section? */
int vary_is_of(const struct vary *v, const char *section);

#endif
