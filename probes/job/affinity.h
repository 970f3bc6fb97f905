/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.h - the cores on which a rank can run, and the cores near its NIC.
 *
 * Launchers bind ranks to cores without knowing the NIC of each rank. Therefore
 * a rank that its launcher allows on several NUMA nodes restricts itself to the
 * NUMA node of its NIC, under every launcher. The data comes from the kernel
 * and not from hwloc: MPIs bring their own hwloc, and one process cannot load
 * two of them.
 */
#ifndef PROBES_JOB_AFFINITY_H
#define PROBES_JOB_AFFINITY_H

#include <jansson.h>

#define AFFINITY_CORES_BYTES 96
#define AFFINITY_NUMA_BYTES  32

/* The cores of a rank. */
struct affinity {
	/* Node of the world, and number of the rank on it; -1: none. */
	int node, local;
	char cores[AFFINITY_CORES_BYTES]; /* "0-15,32-47" */
	/* NUMA nodes of the cores, "0"; "" if unknown. */
	char numa[AFFINITY_NUMA_BYTES];
};

/* Read the cores of this thread. root: "", or a folder with a sys/ for
 * tests. */
void affinity_look(const char *root, struct affinity *ret);
/* Restrict this thread to those of its cores that are on the NUMA node of a
 * network device ("mlx5_0", "mlx5_0:1" or "eth1"). Return 1 if that changed
 * anything, 0 if not. */
int affinity_near(const char *root, const char *device);
/* Call affinity_near for the device that COALMINE_NICS or COALMINE_DEVICES
 * assigns to this rank. Call it before MPI_Init, so that the MPI's threads and
 * memory are there too. It does nothing if COALMINE_BIND is set to another
 * value than auto. */
void affinity_set(void);
/* Return the member "affinity" of a begin record, a new reference: one row for
 * each group of ranks that have the same number on their nodes and the same
 * cores. names: names of nodes. Sorts rows. */
json_t *affinity_json(struct affinity *rows, size_t count,
    const char *const *names);

#endif
