/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor.h - how sensors read files of the kernel, and the rows of counters
 * that they fill: {"nic": name, "counters": {...}}.
 */
#ifndef AGENTS_SENSOR_SENSOR_H
#define AGENTS_SENSOR_SENSOR_H

#include <jansson.h>
#include <stdint.h>

/* Read the whole number in dir/file, optionally followed by "@SECONDS". Return
 * 0, -ENOENT or -EPROTO. */
int sensor_file(const char *dir, const char *file, int64_t *ret);
/* Read the number after a word at the start of a line; errors as above. */
int sensor_words(const char *dir, const char *file, const char *word,
    int64_t *ret);
/* Append a row to nics; return its counters. */
json_t *sensor_row(json_t *nics, const char *nic);
/* Return the counters in the row of that name; NULL if not found. */
json_t *sensor_counters(json_t *nics, const char *nic);
/* Every number in dir becomes prefix + file name; files without a number are
 * skipped. */
void sensor_dir(const char *dir, const char *prefix, json_t *counters);
/* Add aer_correctable, aer_nonfatal and aer_fatal of the PCI device with this
 * folder, if its slot reports errors. */
void sensor_aer(const char *device, json_t *counters);

#endif
