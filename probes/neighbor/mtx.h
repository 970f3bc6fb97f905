/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mtx.h - square sparse matrices from Matrix Market files that are not
 * trusted (Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats",
 * NISTIR 5935, 1996): coordinate, real, integer or pattern (all values 1),
 * general, symmetric or skew-symmetric. Entries of one place add up.
 */
#ifndef PROBES_NEIGHBOR_MTX_H
#define PROBES_NEIGHBOR_MTX_H

#include "common/err.h"
#include "probes/neighbor/csr.h"

/* -EINVAL and "name:line: what is wrong and what is allowed"; -errno and
 * "path: why". The caller ends *ret with csr_clear. */
int mtx_parse(const char *name, const char *text, size_t len_bytes,
    struct csr *ret, struct err *err);
int mtx_load(const char *path, struct csr *ret, struct err *err);

#endif
