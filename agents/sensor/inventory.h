/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h - the hardware and software of this node.
 *
 * {hostname kernel cores memory_bytes
 *  numa:  [{node cpus memory_bytes}, ...]
 *  nics:  [{name kind state mtu speed_bps pcie_bps pcie pcie_max numa_node
 *           driver addrs: [...]}, ...]; pcie: "gen 4 x16"
 *  gpus:  [{pci vendor driver numa_node pcie_bps pcie pcie_max}, ...]
 *  mpi:   [{name launcher version engine}, ...]
 *  rails: [{name netdev}, ...], the nics that carry the bytes of jobs: as
 *   mpi.nics has it, or all active ports of InfiniBand and Slingshot; missing
 *   without any, or if the site chooses the nics of its ranks
 *  nvswitch_nics: [names], of adapters that lead to NVSwitches only; missing
 *   without any, or if unknown
 *  ucx, its version
 *  settings: {name: text, ...}, as settings.h
 *  mesh_bytes, the largest datagram of the mesh that is answered
 *  links, true: error counters are sent if the welcome requests them}
 * Unknown members are omitted. kind is ethernet, infiniband or virtual; addrs
 * are numeric, without link-local ones.
 */
#ifndef AGENTS_SENSOR_INVENTORY_H
#define AGENTS_SENSOR_INVENTORY_H

#include <jansson.h>

#include "common/conf.h"

struct child_spec;

/* Return the machine below root, "" for this one. Addresses and MPI builds are
 * only read for this one. Launchers print their versions, run by the keeper
 * with the user of as. This takes a moment: call it before the loop. */
json_t *inventory_read(const char *root, const struct conf *c,
    const struct child_spec *as);

/* Return only the member "nics", which can change while the agent runs: a new
 * reference. */
json_t *inventory_nics(const char *root);

#endif
