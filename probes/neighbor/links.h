/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - how the devices of a node are wired: direct links and hops.
 *
 * A file has one line per device: the number of links from this device to each
 * device (row: sender, column: receiver). As many lines with hops can follow;
 * without them hops are counted along the links.
 */
#ifndef PROBES_NEIGHBOR_LINKS_H
#define PROBES_NEIGHBOR_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define LINKS_DEVICES_MAX 64
#define LINKS_NUMBER_MAX  1000

/* The wiring of a node, by device. */
struct links {
	uint32_t devices;
	uint16_t links[LINKS_DEVICES_MAX][LINKS_DEVICES_MAX];
	/* number of links on the shortest path; `devices`, which is more than
	 * any path has, if there is no path */
	uint16_t hops[LINKS_DEVICES_MAX][LINKS_DEVICES_MAX];
	/* the device in the same package, or itself */
	uint32_t mate[LINKS_DEVICES_MAX];
};

/* Parse a text, or load a file. Return 0; -EINVAL with "NAME:LINE: ..." in err;
 * or -errno with "PATH: ...". */
int links_parse(const char *name, const char *text, size_t len_bytes,
    struct links *ret, struct err *err);
int links_load(const char *path, struct links *ret, struct err *err);
/* Load a shipped file of etc/topologies by its name, for example "mi250".
 * Return 0 or -ENOENT. */
int links_shipped(const char *name, struct links *ret);
/* Set the wiring for unknown links: devices 2i and 2i + 1 share a package, and
 * all devices are equally far from each other. */
void links_none(uint32_t devices, struct links *ret);
/* Read the links of AMD's devices from the kernel's files below root, which is
 * "/sys". Return 0, or -ENODEV with the reason in err if there are none. For a
 * path of one link the kernel gives equal minimal and maximal bandwidths, for a
 * path through other devices or the host it gives none. */
int links_machine(const char *root, struct links *ret, struct err *err);

#endif
