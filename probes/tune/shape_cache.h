/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_cache.h - what tune = auto has chosen, with the evidence, kept between
 * runs.
 *
 * The table is a file of records of probe "tuning", one a line; the last line
 * of a machine, a question and a size class counts. A question is what was
 * asked for but the size. Pure but for the file.
 */
#ifndef PROBES_TUNE_SHAPE_CACHE_H
#define PROBES_TUNE_SHAPE_CACHE_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"

struct shape_cache_key {
	const char *machine;
	const char *asked; /* "collective name=broadcast type=float" */
	uint32_t ranks;
	uint32_t size_class; /* of 2^k to 2^(k+1) - 1 bytes */
};

uint32_t shape_cache_class(double bytes);
/* A record, "why" being "measured"; the caller adds to its array "tried". */
json_t *shape_cache_record(const struct shape_cache_key *key, double bytes);
/* Find the last record of that key in the table. *ret is NULL if it or the file
 * does not exist; the caller decrefs it. Return -EPROTO or -errno, and the
 * reason with "file:line: ...". */
int shape_cache_find(const char *path, const struct shape_cache_key *key,
    json_t **ret, struct err *err);
/* Append it; -errno and why. */
int shape_cache_keep(const char *path, const json_t *record, struct err *err);

#endif
