/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promised.h - the bandwidth that an accepted cluster must keep, from the
 * report of coalctl accept.
 */
#ifndef DAEMON_OBJECTIVE_PROMISED_H
#define DAEMON_OBJECTIVE_PROMISED_H

#include <jansson.h>

#include "common/err.h"

/* The promise in terms of rounds of bandwidth. The report has the rates of
 * these rounds at the time of the acceptance. Their upper quartile is the
 * expected rate, as the upper quartile of pairs is the efficiency of the
 * report. */
struct promised {
	json_t *nodes;    /* {node: true} of the report */
	double node_rate; /* in B/s */
	double leaf_rate; /* to the nearest leaf, in B/s; NAN: unknown */
};

/* Read a report. path: for error messages. Return 0 and a structure for
 * promised_free; -EINVAL with the reason in err. */
int promised_parse(const char *path, const char *text, struct promised **ret,
    struct err *err);
void promised_free(struct promised *p); /* NULL is allowed */

#endif
