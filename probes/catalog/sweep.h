/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - all variants of a probe that a campaign requests: measure.vary sets
 * one of its options to every value of a list, and measure.sizes its message
 * size within each.
 */
#ifndef PROBES_CATALOG_SWEEP_H
#define PROBES_CATALOG_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/pattern/pattern.h"

/* Message sizes as a sweep, "4K..64M x4", or as a list, "4,64K". */
#define SIZES_MAX 64

/* Parse message sizes in bytes: a list, or a sweep, which ascends to its last
 * size at most. Return 0, with a count of 0 for an empty text; or -EINVAL with
 * the reason in err if it is malformed. */
int sizes_parse(const char *text, uint64_t ret[SIZES_MAX], int *ret_count,
    struct err *err);

/* Several values of one option of a probe, as "rsg 0.05 0.2 0.4", or of the
 * option of one among several probes, as "allreduce.form flat hierarchical". */
#define VARY_MAX 64 /* largest number of values */

struct vary {
	char *text;          /* owns the words below */
	const char *section; /* name of the probe; NULL: every probe */
	const char *key;
	const char *values[VARY_MAX];
	size_t count; /* 0: nothing varies */
};

void vary_clear(struct vary *v); /* frees the text */

/* Called for each variant; the options now have its values. */
typedef void (*sweep_cb)(const struct pattern *pt, void *arg);

/* Call use(pt, arg) for each variant of the probe; once if nothing varies. The
 * options in c keep the last values. Return 0, or -EINVAL with the reason in
 * err, possibly after some calls. */
int sweep_each(struct conf *c, const struct pattern *pt, sweep_cb use,
    void *arg, struct err *err);

#endif
