/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sizes.h - message sizes as a sweep: "4K..64M x4" or "4,64K". Pure.
 */
#ifndef PROBES_PATTERN_SIZES_H
#define PROBES_PATTERN_SIZES_H

#include "common/conf.h"
#include "common/err.h"

#define SIZES_MAX 64

/* Bytes, ascending in a sweep, whose last one is at most its end. 0 sizes for
 * an empty text; -EINVAL and why for one that is none. */
int sizes_parse(const char *text, uint64_t ret[SIZES_MAX], int *ret_count,
    struct err *err);

/* Let the message of the probe that section describes have so many bytes:
 * bytes where it counts those, elements of its type where it counts these.
 * -EINVAL and why. */
int sizes_set(struct conf *c, const char *section, uint64_t bytes,
    struct err *err);

#endif
