/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.c - where the inventory has no rails, the fastest NIC is used.
 */
#include "ctl/verbs/nic.h"

#include <math.h>
#include <string.h>

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

json_int_t
nic_mtu(const json_t *node)
{
	const json_t *inventory = json_object_get(node, "inventory");
	const json_t *rail, *nic;
	json_int_t ret = 0, mtu;
	size_t i, k;

	member_foreach (inventory, "rails", i, rail)
		member_foreach (inventory, "nics", k, nic) {
			mtu = member_int(nic, "mtu");
			if (strcmp(member_text(nic, "name"),
				member_text(rail, "netdev")) == 0 &&
			    mtu > 0 && (ret == 0 || mtu < ret))
				ret = mtu;
		}
	return ret > 0 ? ret : member_int(nic_of_mpi(node), "mtu");
}
