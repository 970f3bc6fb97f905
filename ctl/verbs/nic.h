/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.h - the NIC of a node's inventory that probably carries MPI.
 */
#ifndef CTL_VERBS_NIC_H
#define CTL_VERBS_NIC_H

#include <jansson.h>

/* Return the fastest NIC with an address; of several equally fast ones, the one
 * with the largest MTU; NULL: none. node: a row of the collector's list of
 * nodes, to which the result belongs. */
const json_t *nic_of_mpi(const json_t *node);
/* Return the smallest MTU of the NICs of inventory.rails, which carry the bytes
 * of jobs; without rails, that of nic_of_mpi; 0: unknown. */
json_int_t nic_mtu(const json_t *node);

#endif
