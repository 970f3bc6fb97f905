/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - all that a campaign asks of a probe: measure.vary sets one of its
 * options to every value, and measure.sizes its message size within each.
 */
#ifndef PROBES_CATALOG_SWEEP_H
#define PROBES_CATALOG_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/pattern/pattern.h"

/* Message sizes as a sweep, "4K..64M x4", or a list, "4,64K". */
#define SIZES_MAX 64

/* Parse message sizes in bytes: a list, or a sweep, which ascends and ends at
 * its last size at most. Return 0, with a count of 0 for an empty text; -EINVAL
 * and the reason if it is malformed. */
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

/* Call use for each value in turn; once if nothing varies. The options in c
 * keep the last value. Return -EINVAL and the reason, perhaps after some
 * calls. */
int sweep_each(struct conf *c, const struct pattern *pt, sweep_cb use,
    void *arg, struct err *err);

#endif
