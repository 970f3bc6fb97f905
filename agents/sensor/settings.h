/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - settings and versions that nodes of one kind should share: of
 * the kernel, memory, processors, network devices and libraries.
 */
#ifndef AGENTS_SENSOR_SETTINGS_H
#define AGENTS_SENSOR_SETTINGS_H

#include <jansson.h>

/* Return an object of texts by name, a new reference. A setting of a device has
 * its name and a blank before its own: "eth0 mtu". Settings that the node does
 * not have, or that are unreadable, are omitted. root: "" for the machine's own
 * files; devices are only queried then. inventory: kernel, cores, nics, mpi and
 * ucx are taken from it. */
json_t *settings_read(const char *root, const json_t *inventory);

#endif
