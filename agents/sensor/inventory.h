/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h - what this node is made of.
 *
 * {hostname kernel cores memory_bytes
 *  numa:  [{node cpus memory_bytes}, ...]
 *  nics:  [{name kind state mtu speed_bps pcie_bps pcie pcie_max numa_node
 *           driver addrs: [...]}, ...]; pcie: "gen 4 x16"
 *  gpus:  [{pci vendor driver numa_node pcie_bps pcie pcie_max}, ...]
 *  mpi:   [{name launcher version engine}, ...]
 *  rails: [{name netdev}, ...], the nics that carry the bytes of jobs: as
 *   mpi.nics says, or all active ports of InfiniBand and Slingshot; left out
 *   where there are none, or the site tells its ranks which to take
 *  nvswitch_nics: [names], of adapters that lead to NVSwitches only; left out
 *   where there are none, or they cannot be told
 *  mesh_bytes, the largest datagram of the mesh that is answered
 *  links, true: error counters are told where the welcome asks for them}
 * Members that cannot be known are left out. kind is ethernet, infiniband or
 * virtual; addrs are numeric, without link-local ones.
 */
#ifndef AGENTS_SENSOR_INVENTORY_H
#define AGENTS_SENSOR_INVENTORY_H

#include <jansson.h>

#include "common/conf.h"

struct child_spec;

/* The machine below root, "" for the one we run on. Addresses and MPI builds
 * are only looked for there. Versions are asked of the launchers, by the
 * keeper and the user of as, so this takes a moment: before the loop. */
json_t *inventory_read(const char *root, const struct conf *c,
    const struct child_spec *as);

/* Its "nics" alone, which may change while we run. */
json_t *inventory_nics(const char *root);

#endif
