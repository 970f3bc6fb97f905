/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor.h - read files of the kernel, and fill rows of counters: {"nic": name,
 * "counters": {...}}.
 */
#ifndef AGENTS_SENSOR_SENSOR_H
#define AGENTS_SENSOR_SENSOR_H

#include <jansson.h>
#include <stdint.h>

/* Read the integer in dir/file, which can be followed by "@SECONDS". Return 0,
 * -ENOENT or -EPROTO. */
int sensor_file(const char *dir, const char *file, int64_t *ret);
/* Read the number after a word at the start of a line. The result is as for
 * sensor_file. */
int sensor_words(const char *dir, const char *file, const char *word,
    int64_t *ret);
/* Append a row to nics. Return its counters, which belong to it. */
json_t *sensor_row(json_t *nics, const char *nic);
/* Return the counters in the row with that name; NULL: not found. They belong
 * to the row. */
json_t *sensor_counters(json_t *nics, const char *nic);
/* Add every number in dir, with prefix and the file's name as its name; files
 * without a number are skipped. */
void sensor_dir(const char *dir, const char *prefix, json_t *counters);
/* Add aer_correctable, aer_nonfatal and aer_fatal of the PCI device with this
 * folder, if its slot reports errors. */
void sensor_aer(const char *device, json_t *counters);

#endif
