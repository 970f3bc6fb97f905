/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.h - write a promise file from what is known about a cluster.
 */
#ifndef CTL_ACCEPT_PROMISE_H
#define CTL_ACCEPT_PROMISE_H

#include <jansson.h>

#include "schema/topology.h"

/* The known properties of the cluster. */
struct promise_known {
	const struct topology *topology; /* NULL: none */
	const json_t *nodes;             /* [{node mtu gbps}] of inventories */
	/* Rate of a NIC in Gbit/s, from the user; 0: not given. */
	double gbps;
};

/* Return the text of a promise file, in which each guessed value is marked; the
 * caller frees it. Return NULL with the reason in err if no source has the rate
 * of a NIC. */
char *promise_write(const struct promise_known *known, struct err *err);

#endif
