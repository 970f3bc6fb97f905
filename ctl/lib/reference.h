/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - published results of collectives, and a site's own results,
 * each with its source: files of rows in a folder.
 */
#ifndef CTL_LIB_REFERENCE_H
#define CTL_LIB_REFERENCE_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "ctl/lib/bench.h"

/* The properties that are compared with the rows. */
struct reference_class {
	/* Classes of the machine; "": not described. */
	const char *gpu, *fabric;
	const char *op;
	double gbps; /* rate of all NICs of a node together; 0: not described */
	double bytes;
	int nodes, ranks;
};

/* Append the rows of a text to an array: {gpu fabric gbps nodes ranks op bytes
 * busbw_bytes_per_s source date read about}. A member that the source does not
 * state is absent. path: for error messages. Return 0, or -EINVAL with err. */
int reference_parse(const char *path, char *text, json_t *rows,
    struct err *err);
/* Read all files *.conf of $COALMINE_REFERENCE, or else of the installation,
 * into an array, which the caller decrefs. Without the folder it is empty.
 * Return 0, or -errno with err. */
int reference_read(json_t **ret, struct err *err);
/* Return the nearest rows of the same class, the best of each source, at most
 * REFERENCE_ROWS: a new reference. */
#define REFERENCE_ROWS 3
json_t *reference_match(const json_t *rows, const struct reference_class *c);

/* Print a series as rows of such a file, with this source. Wrong results are
 * skipped. Return 0, or -EINVAL if the operation or the number of ranks is
 * unknown. */
int reference_print(const struct bench_series *s, const char *source);

#endif
