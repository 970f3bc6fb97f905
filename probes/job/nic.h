/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.h - the network interface of a rank, if one is configured, and the byte
 * counters of the interfaces of its node.
 *
 * COALMINE_NICS lists the interfaces of a node in the order of its ranks, and
 * the list repeats: with "a,a,b,b" two ranks share each of two interfaces, with
 * "a,b" the ranks alternate. The probe binding measures such bindings if they
 * are not configured.
 */
#ifndef PROBES_JOB_NIC_H
#define PROBES_JOB_NIC_H

#include <stdint.h>

#include "common/err.h"

#define NIC_NAME_BYTES 64

/* Choose the interface of rank number `local` of a node. Return 0; -ENOENT for
 * an empty list; -EINVAL for a malformed list or a name that is too long.
 * Pure. */
int nic_choose(const char *list, int local, char ret[NIC_NAME_BYTES]);

/* Set the variables of all MPI implementations from COALMINE_NICS; call it
 * before MPI_Init. Return 0, also if COALMINE_NICS is not set, or -EINVAL with
 * the reason in err. */
int nic_set(struct err *err);

/* The bytes that this node's network interfaces have carried, without the
 * loopback, according to the kernel. The Ethernet, IPv4 and TCP headers with
 * time stamps of each packet are subtracted, so that acknowledgements count
 * nothing. Traffic of other programs is included. Traffic that an adapter
 * carries past the kernel is not.
 *
 * TCP retransmits bytes that a queue drops; they leave this node twice. A
 * process can query only the retransmissions of its own connections. */
#define NIC_BYTES_HEADER_BYTES (14 + 20 + 32)

struct nic_bytes {
	uint64_t out_bytes, in_bytes; /* bytes of all interfaces of the node */
	/* Part of out_bytes: retransmissions of this process. */
	uint64_t resent_bytes;
};

/* Read the counters. Return 0, or -errno if the kernel does not report them. */
int nic_bytes_read(struct nic_bytes *ret);

/* Read the bytes that the TCP connections of this process have sent, each byte
 * counted once, including those to other processes of this machine; and the
 * retransmitted bytes. Both are 0 if the kernel is too old. */
struct nic_tcp {
	uint64_t sent_bytes, resent_bytes;
};
void nic_tcp_read(struct nic_tcp *ret);

#endif
