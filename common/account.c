/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.c - a leaky bucket of nanoseconds.
 */
#include "common/account.h"

uint64_t
account_charge(struct account *a, uint64_t cost_ns, unsigned share,
    uint64_t now_ns)
{
	uint64_t back_ns = now_ns > a->at_ns ? (now_ns - a->at_ns) / share : 0;

	a->at_ns = now_ns;
	a->owed_ns -= back_ns < a->owed_ns ? back_ns : a->owed_ns;
	a->owed_ns += cost_ns;
	return a->owed_ns;
}
