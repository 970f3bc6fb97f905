/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - what a peer owes for the time that its messages took: a share of
 * the time that passes pays it back.
 */
#ifndef COMMON_ACCOUNT_H
#define COMMON_ACCOUNT_H

#include <stdint.h>

/* Zeros: nothing is owed. */
struct account {
	uint64_t owed_ns, at_ns;
};

/* Add cost_ns at now_ns, of which one share-th of the time since the last call
 * is paid back. Return what is owed. */
uint64_t account_charge(struct account *a, uint64_t cost_ns, unsigned share,
    uint64_t now_ns);

#endif
