/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.h - write a promise file from what is known of a cluster.
 */
#ifndef CTL_ACCEPT_PROMISE_H
#define CTL_ACCEPT_PROMISE_H

#include <jansson.h>

#include "schema/topology.h"

struct promise_known {
	const struct topology *topology; /* NULL: none */
	const json_t *nodes;             /* [{node mtu gbps}] of inventories */
	double gbps;                     /* of a NIC, given; 0: not given */
};

/* Return the text of a promise file, in which each guessed value is marked;
 * NULL and the reason if no source has the rate of a NIC. The caller frees. */
char *promise_write(const struct promise_known *known, struct err *err);

#endif
