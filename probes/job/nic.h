/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.h - which network interface a rank uses, where somebody says so.
 *
 * COALMINE_NICS names those of a node in the order of its ranks, from the
 * front again behind the last: with "a,a,b,b" two ranks share each of two
 * interfaces, with "a,b" the ranks take turns. Bindings like these are what
 * the probe binding finds out where nobody says them.
 */
#ifndef PROBES_JOB_NIC_H
#define PROBES_JOB_NIC_H

#include <stddef.h>

#include "common/err.h"

#define NIC_NAME_BYTES 64

/* That of the local-th rank of a node. 0; -ENOENT for an empty list; -EINVAL
 * for one that is none, or a name that is too long. Pure. */
int nic_choose(const char *list, int local, char ret[NIC_NAME_BYTES]);

/* Before MPI_Init: what COALMINE_NICS says, in the words of every
 * implementation. 0 where it is not set; -EINVAL and why. */
int nic_set(struct err *err);

#endif
