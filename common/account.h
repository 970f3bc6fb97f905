/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - fair shares of work for peers: the time that this process has
 * spent on work for a peer, minus a share of the time that has passed since.
 * The caller delays or rejects work of a peer whose account is high.
 */
#ifndef COMMON_ACCOUNT_H
#define COMMON_ACCOUNT_H

#include <stdint.h>

/* The account of a peer. Begins as all 0. */
struct account {
	/* The value of the account, and the time of the last charge. */
	uint64_t owed_ns, at_ns;
};

/* Reduce the account by (now_ns - at_ns) / share, but not below 0; then add
 * cost_ns. Return the new value. */
uint64_t account_charge(struct account *a, uint64_t cost_ns, unsigned share,
    uint64_t now_ns);

#endif
