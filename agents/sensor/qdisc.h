/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qdisc.h - the packets that wait or are dropped at the queueing disciplines of
 * the kernel's interfaces. In an emulated cluster these queues are the
 * switches.
 */
#ifndef AGENTS_SENSOR_QDISC_H
#define AGENTS_SENSOR_QDISC_H

#include <jansson.h>

/* Add the counters qdisc_* to the rows of their interfaces. */
void qdisc_read(json_t *nics);

#endif
