/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic_bytes.h - bytes that this node's network interfaces have carried, all but
 * the loopback's, as the kernel counts them: of each packet what is behind its
 * headers of Ethernet, IPv4 and TCP with time stamps, so acknowledgements count
 * nothing. Traffic of others is in it; what an adapter carries past the kernel
 * is not.
 *
 * What a queue on the way drops, TCP sends again: that leaves this node twice.
 * Every process can ask for it, of its own connections.
 */
#ifndef PROBES_JOB_NIC_BYTES_H
#define PROBES_JOB_NIC_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define NIC_BYTES_HEADER_BYTES (14 + 20 + 32)

struct nic_bytes {
	uint64_t out_bytes, in_bytes; /* of the node */
	uint64_t resent_bytes;        /* of out_bytes, by this process */
};

/* -errno where the kernel does not say. */
int nic_bytes_read(struct nic_bytes *ret);
/* The same from the text of /proc/net/dev; -EPROTO. */
int nic_bytes_parse(const char *text, struct nic_bytes *ret);

#endif
