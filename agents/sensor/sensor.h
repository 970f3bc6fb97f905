/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor.h - counters of this node's network devices.
 *
 * A sensor is one .c file and alone knows its kind of device; what it needs of
 * a vendor it opens at run time. All counters are since boot; who wants a
 * rate takes two readings. Names are the device's own but for two that the
 * collector reads of every device, for the budget and for the busiest one:
 * rx_bytes and tx_bytes. A sensor whose device names them otherwise says
 * which they are with sensor_bytes.
 */
#ifndef AGENTS_SENSOR_SENSOR_H
#define AGENTS_SENSOR_SENSOR_H

#include <jansson.h>
#include <stdint.h>

struct sensor {
	const char *name;
	/* Append {"nic": name, "counters": {...}} for every device in the tree
	 * below root ("" for the machine's own). Devices may come and go. */
	void (*read)(const char *root, json_t *nics);
};

extern const struct sensor sensor_net;       /* the kernel's network devices */
extern const struct sensor sensor_ib;        /* InfiniBand and RoCE ports */
extern const struct sensor sensor_cxi;       /* Slingshot */
extern const struct sensor *const sensors[]; /* NULL-ended */

/* All of them: the nics of a counters message. */
json_t *sensor_read(const char *root);

/* For sensors: the whole number in dir/file, 0 or -ENOENT or -EPROTO. */
int sensor_file(const char *dir, const char *file, int64_t *ret);
/* Likewise, of the number behind a word that begins a line. */
int sensor_words(const char *dir, const char *file, const char *word,
    int64_t *ret);
/* A row of nics that is appended; its counters. */
json_t *sensor_row(json_t *nics, const char *nic);
/* Those of the row of that name; NULL: there is none. */
json_t *sensor_counters(json_t *nics, const char *nic);
/* Every number in dir becomes prefix + file name; files without one are left
 * out. */
void sensor_dir(const char *dir, const char *prefix, json_t *counters);
/* rx_bytes and tx_bytes from counters of those names, where they are there,
 * that count units of so many bytes. */
void sensor_bytes(json_t *counters, const char *rx, const char *tx,
    int unit_bytes);

/* aer_correctable, aer_nonfatal and aer_fatal of a PCI device, whose folder it
 * is; nothing where its slot does not report errors. */
void sensor_aer(const char *device, json_t *counters);

#endif
