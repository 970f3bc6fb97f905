/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - builders by their names: pure functions from a few options to a
 * plan.
 *
 * Each is a row with a name; its options are the rows of that section in
 * schema/patterns.c. What no row can say (k at most g, divisors) the builder
 * checks; every complaint reads "where: section.key = value: allowed is ...".
 */
#ifndef PROBES_PATTERN_PATTERN_H
#define PROBES_PATTERN_PATTERN_H

#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/plan/plan.h"

struct machine;

/* For whom a plan is built. */
struct pattern_site {
	uint32_t ranks; /* 0: as many as the probe takes */
	/* What options that are auto are chosen for. nodes: of the ranks, where
	 * the machine is the one that we are on; 0 is 1. */
	const struct machine *machine; /* NULL: none was named or measured */
	uint32_t nodes;
};

struct pattern {
	const char *name;
	const char *text; /* one sentence */
	/* Build from c. -EINVAL and why for options that are wrong, and nothing
	 * is built. The plan is sorted; the caller ends it with plan_free. By
	 * pattern_build only. */
	int (*build)(const struct conf *c, const struct pattern_site *site,
	    struct plan **ret, struct err *err);
};

extern const struct pattern *const patterns[];        /* ends with NULL */
const struct pattern *pattern_find(const char *name); /* NULL: none */

/* Read "name=value" words. The caller ends *ret with conf_free. */
int pattern_options(const struct pattern *pt, char *const *words, int count,
    struct conf **ret, struct err *err);
/* As pt builds it, with what all plans are given. */
int pattern_build(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct plan **ret, struct err *err);
/* Words to a plan in one go. */
int pattern_plan(const char *name, char *const *words, int count,
    uint32_t ranks, struct plan **ret, struct err *err);

/* ---- sweep.c: all that a campaign asks of a probe: measure.vary sets one of
 * its options to every value, and measure.sizes its message size within each
 * ---- */

/* Message sizes as a sweep, "4K..64M x4", or a list, "4,64K". */
#define SIZES_MAX 64

/* Bytes, ascending in a sweep, whose last one is at most its end. 0 sizes for
 * an empty text; -EINVAL and why for one that is none. */
int sizes_parse(const char *text, uint64_t ret[SIZES_MAX], int *ret_count,
    struct err *err);

/* One option of a probe in several values, as "rsg 0.05 0.2 0.4", or of one
 * among several probes, as "allreduce.form flat hierarchical". */
#define VARY_MAX 64 /* values */

struct vary {
	char *text;          /* owns the words below */
	const char *section; /* NULL: of every probe */
	const char *key;
	const char *values[VARY_MAX];
	size_t count; /* 0: nothing varies */
};

void vary_clear(struct vary *v); /* frees */

/* c is now that of one of them. */
typedef void (*sweep_cb)(const struct pattern *pt, void *arg);

/* Each in turn; once where nothing varies. The options in c stay those of the
 * last. -EINVAL and why, perhaps after some. */
int sweep_each(struct conf *c, const struct pattern *pt, sweep_cb use,
    void *arg, struct err *err);

#endif
