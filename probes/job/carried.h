/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carried.h - the library, transport and devices that carried the bytes of the
 * ranks, according to the library and to the kernel's counters. Independent of
 * MPI.
 */
#ifndef PROBES_JOB_CARRIED_H
#define PROBES_JOB_CARRIED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/job/nic.h"

#define CARRIED_DEVICES_MAX 64

/* The library, transport and devices that carried the bytes. */
struct carried {
	char library[16];      /* ob1, ucx, ofi, psm2, psm; "": unknown */
	const char *transport; /* "tcp" or "rdma"; NULL: unknown */
	char devices[512];     /* separated by commas; "": unknown */
	uint64_t wanted_bytes; /* bytes that had to go between nodes; 0: none */
	/* Bytes that were observed, by transport. */
	uint64_t tcp_bytes, rdma_bytes;
};

/* A device that sends: a network interface, or a port of an RDMA device, as
 * "mlx5_0:1". */
struct carried_device {
	char name[NIC_NAME_BYTES];
	uint64_t out_bytes; /* since the machine was started */
	int rdma;           /* 1: a port of an RDMA device */
};

/* Read all devices below root ("" for this machine) except the loopback. Return
 * their number. */
size_t carried_devices_read(const char *root,
    struct carried_device ret[CARRIED_DEVICES_MAX]);
/* Write the names, separated by commas, of the devices that sent at least
 * `share` bytes between two readings. */
void carried_devices_used(const struct carried_device *before,
    size_t before_count, const struct carried_device *now, size_t count,
    uint64_t share, char *ret, size_t cap_bytes);
/* Write the name of the library in a version text such as "MPICH Device:
 * ch4:ucx", or "" for any other text. */
void carried_library(const char *version, char *ret, size_t cap_bytes);
/* Return the transport that carried at least half of the bytes; NULL:
 * unknown. */
const char *carried_transport(const struct carried *c);

/* Return 1 with the reason in err if the fabric, or the devices (a list; "" for
 * any), are not the required ones; 0 if they are. An unknown fabric or device
 * is accepted. If TCP is required, bytes that TCP did not carry are not. */
int carried_wrong(const struct carried *c, const char *fabric,
    const char *devices, struct err *err);
/* Return the member "carried" of a record: a new reference. */
json_t *carried_json(const struct carried *c, const char *fabric);

#endif
