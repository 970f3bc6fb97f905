/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_cache.h - the shapes that tune = auto has chosen, with the evidence,
 * stored in a file between runs.
 *
 * The file has one record of probe "tuning" per line. The last line of a key is
 * valid. A key is the machine, the options except for the size, the number of
 * ranks and the size class. All functions but those that access the file are
 * pure.
 */
#ifndef PROBES_TUNE_SHAPE_CACHE_H
#define PROBES_TUNE_SHAPE_CACHE_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"

/* The key of a stored shape. */
struct shape_cache_key {
	const char *machine;
	const char *asked; /* "collective name=broadcast type=float" */
	uint32_t ranks;
	uint32_t size_class; /* k: the bytes are 2^k to 2^(k+1) - 1 */
};

/* Return the size class of this many bytes. */
uint32_t shape_cache_class(double bytes);
/* Return a new record for a key, with member "why" "measured" and an empty
 * array "tried", to which the caller adds; the caller decrefs it. */
json_t *shape_cache_record(const struct shape_cache_key *key, double bytes);
/* Find the last record of a key in the file. Return 0 with the record in *ret,
 * which the caller decrefs, or with NULL if no such record or no file exists.
 * Return -EPROTO or -errno, with "FILE:LINE: ..." or the reason in err. */
int shape_cache_find(const char *path, const struct shape_cache_key *key,
    json_t **ret, struct err *err);
/* Append a record to the file. Return 0, or -errno with the reason in err. */
int shape_cache_keep(const char *path, const json_t *record, struct err *err);

#endif
