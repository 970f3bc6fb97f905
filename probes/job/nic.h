/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.h - which network interface a rank uses, where somebody says so, and what
 * those of its node have carried.
 *
 * COALMINE_NICS names those of a node in the order of its ranks, from the
 * front again behind the last: with "a,a,b,b" two ranks share each of two
 * interfaces, with "a,b" the ranks take turns. Bindings like these are what
 * the probe binding finds out where nobody says them.
 */
#ifndef PROBES_JOB_NIC_H
#define PROBES_JOB_NIC_H

#include <stdint.h>

#include "common/err.h"

#define NIC_NAME_BYTES 64

/* That of the local-th rank of a node. 0; -ENOENT for an empty list; -EINVAL
 * for one that is none, or a name that is too long. Pure. */
int nic_choose(const char *list, int local, char ret[NIC_NAME_BYTES]);

/* Before MPI_Init: what COALMINE_NICS says, in the words of every
 * implementation. 0 where it is not set; -EINVAL and why. */
int nic_set(struct err *err);

/* Bytes that this node's network interfaces have carried, all but the
 * loopback's, as the kernel counts them: of each packet what is behind its
 * headers of Ethernet, IPv4 and TCP with time stamps, so acknowledgements count
 * nothing. Traffic of others is in it; what an adapter carries past the kernel
 * is not.
 *
 * What a queue on the way drops, TCP sends again: that leaves this node twice.
 * Every process can ask for it, of its own connections. */
#define NIC_BYTES_HEADER_BYTES (14 + 20 + 32)

struct nic_bytes {
	uint64_t out_bytes, in_bytes; /* of the node */
	uint64_t resent_bytes;        /* of out_bytes, by this process */
};

/* -errno where the kernel does not say. */
int nic_bytes_read(struct nic_bytes *ret);

/* What the TCP connections of this process have sent, once each byte, other
 * processes of this machine included; and what of it once more. 0 where the
 * kernel is too old to say. */
struct nic_tcp {
	uint64_t sent_bytes, resent_bytes;
};
void nic_tcp_read(struct nic_tcp *ret);

#endif
