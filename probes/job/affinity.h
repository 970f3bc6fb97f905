/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.h - the cores that a rank may run on, and the ones near its NIC.
 *
 * Launchers bind to cores without knowing the rank's NIC. A rank that its
 * launcher allows on several NUMA nodes therefore restricts itself to the one
 * of its NIC, under every launcher. The data comes from the kernel, not from
 * hwloc: MPIs bring their own hwloc, and one process cannot load two of them.
 */
#ifndef PROBES_JOB_AFFINITY_H
#define PROBES_JOB_AFFINITY_H

#include <jansson.h>

#define AFFINITY_CORES_BYTES 96
#define AFFINITY_NUMA_BYTES  32

struct affinity {
	int node, local;                  /* node of the world; -1: none */
	char cores[AFFINITY_CORES_BYTES]; /* "0-15,32-47" */
	char numa[AFFINITY_NUMA_BYTES];   /* "0"; "" where nothing is known */
};

/* Of this thread. root is "", or a folder with a sys/ for tests. */
void affinity_look(const char *root, struct affinity *ret);
/* Keep this thread to the NUMA node of a network device, "mlx5_0", "mlx5_0:1"
 * or "eth1", of those cores that it has. 1 when that changed something. */
int affinity_near(const char *root, const char *device);
/* By COALMINE_NICS or COALMINE_DEVICES the device of this rank, before
 * MPI_Init, so that the MPI's threads and memory are there too; unless
 * COALMINE_BIND is another than auto. */
void affinity_set(void);
/* The member affinity of a begin record: ranks by node and local number that
 * have the same cores, a row each. names are those of nodes. Sorts rows. */
json_t *affinity_json(struct affinity *rows, size_t count,
    const char *const *names);

#endif
