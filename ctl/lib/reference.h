/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - published results of collectives, and a site's own, with their
 * source: files of rows in a folder.
 */
#ifndef CTL_LIB_REFERENCE_H
#define CTL_LIB_REFERENCE_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "ctl/lib/bench.h"

/* What is compared with the rows. */
struct reference_class {
	const char *gpu, *fabric; /* of the machine; "": not described */
	const char *op;
	double gbps; /* of a node's NICs together; 0: not described */
	double bytes;
	int nodes, ranks;
};

/* Add the rows of a text to an array: {gpu fabric gbps nodes ranks op bytes
 * busbw_bytes_per_s source date read about}; a member that the source does not
 * state is absent. path: for errors. -EINVAL. */
int reference_parse(const char *path, char *text, json_t *rows,
    struct err *err);
/* All *.conf of $COALMINE_REFERENCE, else of the installation; an array that
 * the caller decrefs. Without a folder it is empty. */
int reference_read(json_t **ret, struct err *err);
/* Return the nearest rows of the same class, the best of each source, at most
 * REFERENCE_ROWS. The caller decrefs. */
#define REFERENCE_ROWS 3
json_t *reference_match(const json_t *rows, const struct reference_class *c);

/* Print a series as rows of such a file with this source. Return 0, or -EINVAL
 * where the operation or the number of ranks is unknown. Wrong results are
 * skipped. */
int reference_print(const struct bench_series *s, const char *source);

#endif
