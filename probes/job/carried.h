/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carried.h - the library, transport and devices that carried the bytes of
 * ranks, according to the library and to the kernel's counters. Free of MPI.
 */
#ifndef PROBES_JOB_CARRIED_H
#define PROBES_JOB_CARRIED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/job/nic.h"

#define CARRIED_DEVICES_MAX 64

struct carried {
	char library[16];      /* ob1, ucx, ofi, psm2, psm; "": not known */
	const char *transport; /* "tcp" or "rdma"; NULL: not known */
	char devices[512];     /* commas between; "": not known */
	uint64_t wanted_bytes; /* that were to go between nodes; 0: nothing */
	uint64_t tcp_bytes, rdma_bytes; /* of these, as observed */
};

/* One that sends: a network interface, or a port of an RDMA device as
 * "mlx5_0:1". */
struct carried_device {
	char name[NIC_NAME_BYTES];
	uint64_t out_bytes; /* since the machine was started */
	int rdma;
};

/* All but the loopback, in the tree below root; their number. */
size_t carried_devices_read(const char *root,
    struct carried_device ret[CARRIED_DEVICES_MAX]);
/* Names of those that have sent at least share bytes in between, with commas.
 */
void carried_devices_used(const struct carried_device *before,
    size_t before_count, const struct carried_device *now, size_t count,
    uint64_t share, char *ret, size_t cap_bytes);
/* Out of "MPICH Device: ch4:ucx"; "" for any other text. */
void carried_library(const char *version, char *ret, size_t cap_bytes);
/* Of which at least half was seen there. NULL: not known. */
const char *carried_transport(const struct carried *c);

/* Return 1 and the reason if the fabric, or the devices (a list, "" for any),
 * are not the required ones. An unknown fabric or device passes, but bytes that
 * TCP did not carry do not. */
int carried_wrong(const struct carried *c, const char *fabric,
    const char *devices, struct err *err);
/* The member carried of a record. */
json_t *carried_json(const struct carried *c, const char *fabric);

#endif
