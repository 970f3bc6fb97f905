/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.c - the inventory does not name the NIC of MPI; the fastest one is used.
 */
#include "ctl/verbs/nic.h"

#include <math.h>

#include "common/member.h"

const json_t *
nic_of_mpi(const json_t *node)
{
	const json_t *inventory = json_object_get(node, "inventory");
	const json_t *best = NULL, *nic;
	double best_bps = -1;
	size_t i;

	member_foreach (inventory, "nics", i, nic) {
		double bps = fmax(0, member_number(nic, "speed_bps"));

		if (json_array_size(json_object_get(nic, "addrs")) == 0)
			continue;
		if (bps > best_bps ||
		    (!(bps < best_bps) &&
			member_int(nic, "mtu") > member_int(best, "mtu"))) {
			best = nic;
			best_bps = bps;
		}
	}
	return best;
}
