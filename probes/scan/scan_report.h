/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_report.h - the result of a scan for people, and its exit code.
 */
#ifndef PROBES_SCAN_SCAN_REPORT_H
#define PROBES_SCAN_SCAN_REPORT_H

#include <jansson.h>

#include "probes/job/world.h"
#include "probes/scan/scan.h"

/* Return the exit code of a result. */
enum scan_status scan_status_of(const json_t *result);
/* Print the member "carried" of the begin record as one line. */
void scan_print_fabric(const json_t *carried, const struct world *w);
/* Print the result for people. */
void scan_print(const json_t *result);

#endif
