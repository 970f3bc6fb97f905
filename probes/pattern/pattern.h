/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - builders: pure functions from a few options to a plan.
 *
 * Each is a row with a name; its options are the rows of that section in
 * schema/patterns.h. What no row can say (k at most g, divisors) the builder
 * checks; every complaint reads "where: section.key = value: allowed is ...".
 */
#ifndef PROBES_PATTERN_PATTERN_H
#define PROBES_PATTERN_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/plan/plan.h"

struct pattern {
	const char *name;
	const char *text; /* one sentence */
	/* Build from c; ranks 0: as many as it takes. -EINVAL and why for
	 * options that are wrong, and nothing is built. The plan is sorted;
	 * the caller ends it with plan_free. By pattern_build only. */
	int (*build)(const struct conf *c, uint32_t ranks, struct plan **ret,
	    struct err *err);
};

extern const struct pattern *const patterns[];        /* ends with NULL */
const struct pattern *pattern_find(const char *name); /* NULL: none */

/* Read "name=value" words. The caller ends *ret with conf_free. */
int pattern_options(const struct pattern *pt, char *const *words, int count,
    struct conf **ret, struct err *err);
/* As pt builds it, with what all plans are given. */
int pattern_build(const struct pattern *pt, const struct conf *c,
    uint32_t ranks, struct plan **ret, struct err *err);
/* Words to a plan in one go. */
int pattern_plan(const char *name, char *const *words, int count,
    uint32_t ranks, struct plan **ret, struct err *err);

/* For builders. Complain about one option; -EINVAL. fmt says what is
 * allowed. */
int pattern_refuse(const struct conf *c, const char *section, const char *key,
    struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* need ranks of those that there are: ranks, or need where that is 0. */
int pattern_ranks(const struct conf *c, const char *section, const char *key,
    uint64_t need, uint32_t *ranks, struct err *err);
/* Transports of count steps: one word for all of them, or one for each. */
int pattern_vias(const struct conf *c, const char *section, uint32_t count,
    uint8_t *ret, struct err *err);
/* The options of a section as a plan's title; the caller frees. */
char *pattern_title(const struct conf *c, const char *section);

#endif
