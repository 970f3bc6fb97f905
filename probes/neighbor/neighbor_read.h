/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor_read.h - read the specification of a neighborhood collective.
 */
#ifndef PROBES_NEIGHBOR_NEIGHBOR_READ_H
#define PROBES_NEIGHBOR_NEIGHBOR_READ_H

#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/neighbor/neighbor.h"
#include "probes/pattern/numbers.h"

/* Read the section of the probe. ranks: the existing ranks; 0: as many as the
 * options need. Return 0, or -EINVAL (or -errno) with the reason in err. The
 * caller frees *ret with neighbor_clear. */
int neighbor_read(const struct conf *c, uint32_t ranks, struct neighbor *ret,
    struct err *err);
/* Free the contents. */
void neighbor_clear(struct neighbor *nb);

/* Parse a list of sizes in bytes, one per rank, into nb->sizes and nb->ranks.
 * least, most: valid counts. Return 0, or -EINVAL with "NAME:LINE: ..." in
 * err. */
int neighbor_sizes_parse(const struct numbers_text *from, uint32_t least,
    uint32_t most, struct neighbor *nb, struct err *err);

#endif
