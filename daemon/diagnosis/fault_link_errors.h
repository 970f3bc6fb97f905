/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_link_errors.h - a port or GPU whose error counters increase.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_LINK_ERRORS_H
#define DAEMON_DIAGNOSIS_FAULT_LINK_ERRORS_H

#include "daemon/diagnosis/incident.h"

#include "daemon/diagnosis/stats/link_errors.h"

/* Append a sentence with the errors of a port in all readings since the first
 * error. */
void fault_link_errors_add(const struct link_sum *s, char *text);

#endif
