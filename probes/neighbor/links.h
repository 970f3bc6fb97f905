/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - how the devices of a node are wired: direct links and hops.
 *
 * A file has a line for each device: how many links lead from it to each
 * other, row sender, column receiver. Behind them as many lines may follow
 * with hops; without these hops are counted along the links.
 */
#ifndef PROBES_NEIGHBOR_LINKS_H
#define PROBES_NEIGHBOR_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define LINKS_DEVICES_MAX 64
#define LINKS_NUMBER_MAX  1000

struct links {
	uint32_t devices;
	uint16_t links[LINKS_DEVICES_MAX][LINKS_DEVICES_MAX];
	/* devices: no way along links, which is further than any way */
	uint16_t hops[LINKS_DEVICES_MAX][LINKS_DEVICES_MAX];
	/* the device in the same package, or itself */
	uint32_t mate[LINKS_DEVICES_MAX];
};

/* -EINVAL and "name:line: ...", -errno and "path: ...". */
int links_parse(const char *name, const char *text, size_t len_bytes,
    struct links *ret, struct err *err);
int links_load(const char *path, struct links *ret, struct err *err);
/* A shipped one, as etc/topologies has it, "mi250" say; -ENOENT. */
int links_shipped(const char *name, struct links *ret);
/* Use defaults for unknown links: packages are devices 2i and 2i+1, all equally
 * far. */
void links_none(uint32_t devices, struct links *ret);
/* Read the links of AMD devices from the kernel's files below root, which is
 * "/sys". Return -ENODEV and the reason if none are found. A path of one link
 * has equal minimal and maximal bandwidth; a path through other devices or the
 * host has none. */
int links_machine(const char *root, struct links *ret, struct err *err);

#endif
