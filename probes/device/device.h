/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the devices, the host or a GPU, in whose memory the buffers of a
 * plan are: allocation, streams, kernels, and sharing between processes.
 *
 * A device is a table of calls. "host" is built in. Every other device is a
 * plugin, coalmine-device-NAME.so, opened at run time; its only visible symbol
 * is device_entry. Only a plugin names its vendor and links the vendor's
 * library. A plugin that cannot be opened, or finds no device, is reported and
 * never ends the process.
 *
 * Order of calls: probe, open, any others, close. All objects of a device must
 * be released before it is closed. One thread makes all calls on one device; a
 * device can have internal threads.
 *
 * Calls return 0 or -errno: -ENODEV no such device or driver, -ENOMEM, -EINVAL
 * a violation of the rules below, -ESTALE a handle whose memory is gone, -EIO
 * anything else. After a failure error() returns the vendor's text. The failure
 * of an enqueued operation is returned by a query of its event.
 *
 * Rules for every device, including the host, so that a test without a GPU
 * finds what would fail on a GPU:
 *   - alloc rounds up to whole DEVICE_GRAIN_BYTES, so that no two allocations
 *     share a handle;
 *   - ipc_export accepts only the base of an allocation, never a pointer into
 *     it: a handle names the whole allocation; an offset is sent with it, and
 *     the process that opened the handle adds it;
 *   - ipc_open rejects a handle of this very process (use the pointer), and
 *     returns the same pointer for the same handle until it was closed as
 *     often as opened;
 *   - all other processes close a handle before the owner frees it;
 *   - events are not shared between processes (some runtimes report success
 *     too soon): ranks notify each other through host memory.
 */
#ifndef PROBES_DEVICE_DEVICE_H
#define PROBES_DEVICE_DEVICE_H

#include <stdint.h>

#include "common/err.h"
#include "probes/plan/plan.h"

/* Changes with this file and with enum plan_op and plan_type; a plugin with
 * another number is not used. */
#define DEVICE_ABI 2

#define DEVICE_GRAIN_BYTES (2ULL << 20) /* unit of allocation */
#define DEVICE_IPC_BYTES   128
#define DEVICE_NAME_BYTES  128
#define DEVICE_WHY_BYTES   256

struct device;        /* one device, opened by this process */
struct device_stream; /* a queue of operations that run one after another */
struct device_event;  /* a position in a stream */

/* A handle of an allocation: plain bytes that can be sent to other
 * processes. */
struct device_ipc {
	unsigned char bytes[DEVICE_IPC_BYTES];
};

/* The properties of a device. */
struct device_facts {
	char name[DEVICE_NAME_BYTES]; /* "NVIDIA H200" */
	char pci[16];                 /* "0000:1b:00.0", "" where it has none */
	/* Distinguishes partitions of one card (MIG); "" if unavailable. */
	char part[33];
	uint64_t memory_bytes;
	uint64_t free_bytes; /* when facts was called */
	/* Specified memory bandwidth; 0: unknown. */
	double memory_bytes_per_s;
};

/* The calls of a device. */
struct device_ops {
	uint32_t abi;       /* DEVICE_ABI when compiled; always first */
	uint32_t ops_bytes; /* sizeof(struct device_ops), also compared */
	const char *name;   /* "host", "cuda", "hip" */
	/* 1: the processor can read and write device memory by its pointers. */
	int host_access;

	/* Count the devices that this process can use. Return 0; or -ENODEV
	 * with the reason in err if there are none, and *ret_count is 0,
	 * whatever the driver wrote. */
	int (*probe)(int *ret_count, struct err *err);
	/* Open device number index, from 0. The caller frees *ret with
	 * close. */
	int (*open)(int index, struct device **ret, struct err *err);
	void (*close)(struct device *d); /* d can be NULL */
	/* Return the vendor's text for the last failure. */
	const char *(*error)(const struct device *d);
	int (*facts)(struct device *d, struct device_facts *ret);

	/* Allocate memory of the device. Its contents are undefined; it is
	 * aligned to 256 bytes or better. */
	int (*alloc)(struct device *d, uint64_t bytes, void **ret_base);
	void (*free)(struct device *d, void *base); /* base can be NULL */
	/* Allocate host memory that the device can copy from and to without
	 * staging (pinned). */
	int (*host_alloc)(struct device *d, uint64_t bytes, void **ret_base);
	void (*host_free)(struct device *d, void *base); /* base can be NULL */
	/* Pin existing host memory, such as shared memory, as if host_alloc had
	 * returned it, until host_unpin. */
	int (*host_pin)(struct device *d, void *base, uint64_t bytes);
	void (*host_unpin)(struct device *d, void *base);

	/* Streams run concurrently with each other and with the caller. */
	int (*stream_new)(struct device *d, struct device_stream **ret);
	/* Free a stream after its operations have completed. s can be NULL. */
	void (*stream_free)(struct device_stream *s);
	/* Return the vendor's stream (cudaStream_t, hipStream_t), for xccl;
	 * NULL for the host. */
	void *(*stream_native)(struct device_stream *s);
	/* Wait asleep for its operations. */
	int (*stream_sync)(struct device_stream *s);

	/* Enqueue a copy, or a fill with a byte. Pointers can be device memory,
	 * opened memory of others and memory of host_alloc, in any combination.
	 * Ranges must not overlap, and must stay valid until an event behind
	 * the operation is complete. */
	int (*copy)(struct device_stream *s, void *to, const void *from,
	    uint64_t bytes);
	int (
	    *fill)(struct device_stream *s, void *to, int byte, uint64_t bytes);
	/* Enqueue to[i] = ((in[0][i] op in[1][i]) op in[2][i]) ... for elements
	 * of a type. Operations are always grouped like this, so that the
	 * result is the same bit for bit. `to` can be one of the inputs;
	 * otherwise nothing may overlap. half and bfloat16 are computed in
	 * float and rounded after each op, to nearest even. min is b < a ? b :
	 * a, max is a < b ? b : a, with unchanged bits. Integers wrap. A NaN
	 * that sum or prod gives is the quiet NaN without sign and payload, so
	 * that all devices give the same bits. land and lor give 0 and 1 of the
	 * type. The array of pointers is copied. op must not be PLAN_COPY, type
	 * must not be PLAN_BYTE. */
	int (*reduce)(struct device_stream *s, enum plan_op op,
	    enum plan_type type, void *to, const void *const *inputs,
	    uint32_t inputs_count, uint64_t elements);

	/* An event that was never recorded is complete. */
	int (*event_new)(struct device *d, struct device_event **ret);
	void (*event_free)(struct device_event *e); /* e can be NULL */
	/* Place the event behind everything that is enqueued so far. It can be
	 * recorded repeatedly. */
	int (*event_record)(struct device_event *e, struct device_stream *s);
	/* Return 1 when complete, 0 when pending, -errno if an operation
	 * enqueued before the event failed. */
	int (*event_query)(struct device_event *e);
	/* Wait asleep until e is complete. */
	int (*event_wait)(struct device_event *e);
	/* Delay all later operations on s until e is complete. */
	int (*stream_wait)(struct device_stream *s, struct device_event *e);

	/* Return 0 if the device of another process on this node can be
	 * reached, or -ENOTSUP with the reason in err. pci and part: of that
	 * device's facts. */
	int (*ipc_usable)(struct device *d, const char *pci, const char *part,
	    struct err *err);
	/* Make a handle for an allocation of this process, by its base. */
	int (*ipc_export)(struct device *d, void *base, struct device_ipc *ret);
	/* Map the allocation of a handle; ipc_close ends the mapping. */
	int (*ipc_open)(struct device *d, const struct device_ipc *handle,
	    void **ret_base);
	int (*ipc_close)(struct device *d, void *base);
};

/* The entry of a plugin, with default visibility. abi is the caller's
 * DEVICE_ABI; the function returns NULL if the plugin does not support it. The
 * table is valid as long as the plugin, which is never closed. */
typedef const struct device_ops *device_entry_fn(uint32_t abi);
#define DEVICE_ENTRY "device_entry"

extern const struct device_ops device_host;

/* Load a device: "host" or the name of a plugin, which is searched in
 * $COALMINE_PLUGIN_DIR, next to the running program and one folder up, and in
 * the installation. Return 0, or -ENODEV with the reason in err. Loading a
 * device twice returns the same table. */
int device_find(const char *name, const struct device_ops **ret,
    struct err *err);

/* Return 1 if the MPI of this process reports that it accepts pointers into
 * memory of a device of this name, 0 if not. The MPI's query functions are
 * looked up by name at run time, because not every MPI has them; without them
 * the result is 0. */
int device_taken_by_mpi(const char *name);

/* ---- NVLinks: nvml.c ----
 *
 * What NVIDIA's management library (NVML) reports. The library is opened at run
 * time, called through our own prototypes, and closed again. */

#define NVML_GPUS_MAX 64

/* A GPU and its NVLinks. */
struct nvml_gpu {
	char name[96];
	int links; /* number of NVLinks that are up */
	/* Rate of one link in each direction; 0: unknown. */
	double link_bytes_per_s;
	int to_switch;         /* how many of the links lead to a switch */
	int to[NVML_GPUS_MAX]; /* how many lead to each GPU of the call */
};

/* Read the GPUs at these PCI addresses; count <= NVML_GPUS_MAX. A GPU that NVML
 * does not know has an empty name. Return 0, or -ENODEV with the reason in
 * err. */
int nvml_read(const char *const *pci, int count, struct nvml_gpu *ret,
    struct err *err);

#endif
