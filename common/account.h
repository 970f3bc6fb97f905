/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - time that the work for a peer took and that the peer has not paid
 * back yet. It pays back a share of the time that passes.
 */
#ifndef COMMON_ACCOUNT_H
#define COMMON_ACCOUNT_H

#include <stdint.h>

/* Zeros: nothing is owed. */
struct account {
	uint64_t owed_ns, at_ns;
};

/* Subtract (now_ns - at_ns) / share, add cost_ns, and return the sum, which is
 * never below 0. */
uint64_t account_charge(struct account *a, uint64_t cost_ns, unsigned share,
    uint64_t now_ns);

#endif
