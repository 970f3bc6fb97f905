/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qdisc.h - waiting and dropped packets at the queueing disciplines of the
 * kernel's interfaces; in an emulated cluster these are the switches.
 */
#ifndef AGENTS_SENSOR_QDISC_H
#define AGENTS_SENSOR_QDISC_H

#include <jansson.h>

/* Add qdisc_* to the rows of their interfaces. */
void qdisc_read(json_t *nics);

#endif
