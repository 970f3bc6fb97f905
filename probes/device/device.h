/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the memory of a plan: allocation, streams, kernels, sharing.
 *
 * A device is a table of calls. "host" is built in; every other is a plugin,
 * coalmine-device-NAME.so, opened at run time, whose one visible symbol is
 * device_entry. Only a plugin names its vendor and links the vendor's library;
 * a plugin that cannot be opened or finds no device is reported and never ends
 * the process.
 *
 * Order of calls: probe, open, any others, close. Release all objects of a
 * device before closing it. One thread makes all calls on one device; a device
 * may have internal threads.
 *
 * Calls return 0 or -errno: -ENODEV no such device or driver, -ENOMEM, -EINVAL
 * a violation of the rules below, -ESTALE a handle whose memory is gone, -EIO
 * anything else. After a failure error() returns the vendor's text. A failure
 * of an enqueued operation is returned by a query of its event.
 *
 * Rules for every device, the host too, so that a test without a GPU finds what
 * would fail on a GPU:
 *   - alloc rounds up to whole DEVICE_GRAIN_BYTES, so that no two allocations
 *     share a handle;
 *   - ipc_export takes the base of an allocation only, never a pointer
 *     into one: a handle names the whole allocation, an offset is sent with
 *     it and is added by the process that opened it;
 *   - ipc_open refuses a handle of this very process (use the pointer), and
 *     gives the same pointer for the same handle until as many ipc_close;
 *   - a handle is closed by all others before the owner frees it;
 *   - events do not cross processes (some runtimes report success too soon):
 *     ranks notify each other through host memory.
 */
#ifndef PROBES_DEVICE_DEVICE_H
#define PROBES_DEVICE_DEVICE_H

#include <stdint.h>

#include "common/err.h"
#include "probes/plan/plan.h"

/* Changes with this file and with enum plan_op and plan_type; a plugin of
 * another number is not used. */
#define DEVICE_ABI 2

#define DEVICE_GRAIN_BYTES (2ULL << 20)
#define DEVICE_IPC_BYTES   128
#define DEVICE_NAME_BYTES  128
#define DEVICE_WHY_BYTES   256

struct device;        /* one device, opened by this process */
struct device_stream; /* operations run one after another, in this order */
struct device_event;  /* a place in a stream */

/* Plain bytes, sent to other processes as they are. */
struct device_ipc {
	unsigned char bytes[DEVICE_IPC_BYTES];
};

struct device_facts {
	char name[DEVICE_NAME_BYTES]; /* "NVIDIA H200" */
	char pci[16];                 /* "0000:1b:00.0", "" where it has none */
	/* Distinguishes partitions of one card (MIG); "" if unavailable. */
	char part[33];
	uint64_t memory_bytes;
	uint64_t free_bytes; /* at the time of asking */
	/* Rated memory bandwidth; 0 if unknown. */
	double memory_bytes_per_s;
};

struct device_ops {
	uint32_t abi;       /* DEVICE_ABI when compiled; always first */
	uint32_t ops_bytes; /* sizeof(struct device_ops), checked too */
	const char *name;   /* "host", "cuda", "hip" */
	/* 1: the processor reads and writes device memory by its pointers. */
	int host_access;

	/* Count the devices of this process. Return -ENODEV and the reason
	 * without any; *ret_count is then 0, whatever the driver wrote. */
	int (*probe)(int *ret_count, struct err *err);
	/* index from 0. The caller ends *ret with close. */
	int (*open)(int index, struct device **ret, struct err *err);
	void (*close)(struct device *d); /* NULL is allowed */
	const char *(*error)(const struct device *d);
	int (*facts)(struct device *d, struct device_facts *ret);

	/* Memory of the device; contents undefined, aligned to 256 bytes or
	 * better. */
	int (*alloc)(struct device *d, uint64_t bytes, void **ret_base);
	void (*free)(struct device *d, void *base); /* NULL is allowed */
	/* Memory of the host that the device copies from and to without
	 * staging (pinned). */
	int (*host_alloc)(struct device *d, uint64_t bytes, void **ret_base);
	void (*host_free)(struct device *d, void *base); /* NULL: nothing */
	/* Memory of the host that is there already, shared memory say, as if
	 * host_alloc had given it, until host_unpin. */
	int (*host_pin)(struct device *d, void *base, uint64_t bytes);
	void (*host_unpin)(struct device *d, void *base);

	/* Streams run concurrently with each other and with the caller. */
	int (*stream_new)(struct device *d, struct device_stream **ret);
	/* Free a stream after its operations have completed. NULL is
	 * allowed. */
	void (*stream_free)(struct device_stream *s);
	/* The vendor's stream (cudaStream_t, hipStream_t), for xccl; NULL on
	 * the host. */
	void *(*stream_native)(struct device_stream *s);
	int (*stream_sync)(struct device_stream *s); /* asleep */

	/* Enqueue. Pointers: device memory, opened memory of others, and
	 * memory of host_alloc, in any combination; ranges that do not
	 * overlap. They must stay valid until an event behind it is done. */
	int (*copy)(struct device_stream *s, void *to, const void *from,
	    uint64_t bytes);
	int (
	    *fill)(struct device_stream *s, void *to, int byte, uint64_t bytes);
	/* to[i] = ((in[0][i] op in[1][i]) op in[2][i]) ..., elements of type,
	 * always bracketed like this: the result repeats bit for bit. to may
	 * be one of the inputs; else nothing overlaps. half and bfloat16 are
	 * computed in float and rounded after each op, to nearest even; min is
	 * b < a ? b : a, max is a < b ? b : a, the bits as they were; integers
	 * wrap; a NaN that sum or prod gives is the quiet one without sign and
	 * payload: all devices give the same bits. land and lor give 0 and 1
	 * of the type. The array of pointers is copied.
	 * op is not PLAN_COPY, type not PLAN_BYTE. */
	int (*reduce)(struct device_stream *s, enum plan_op op,
	    enum plan_type type, void *to, const void *const *inputs,
	    uint32_t inputs_count, uint64_t elements);

	/* An event that was never recorded is done. */
	int (*event_new)(struct device *d, struct device_event **ret);
	void (*event_free)(struct device_event *e); /* NULL is allowed */
	/* Behind everything enqueued so far; again and again. */
	int (*event_record)(struct device_event *e, struct device_stream *s);
	/* Return 1 when complete, 0 when pending, -errno if an operation
	 * enqueued before the event failed. */
	int (*event_query)(struct device_event *e);
	int (*event_wait)(struct device_event *e); /* asleep, not spinning */
	/* Delay all later operations on s until e is complete. */
	int (*stream_wait)(struct device_stream *s, struct device_event *e);

	/* Can the device of another process on this node be reached? 0, or
	 * -ENOTSUP and why. pci and part: of its facts. */
	int (*ipc_usable)(struct device *d, const char *pci, const char *part,
	    struct err *err);
	int (*ipc_export)(struct device *d, void *base, struct device_ipc *ret);
	int (*ipc_open)(struct device *d, const struct device_ipc *handle,
	    void **ret_base);
	int (*ipc_close)(struct device *d, void *base);
};

/* The entry of a plugin, with default visibility. abi is the caller's
 * DEVICE_ABI; return NULL if the plugin does not support it. The table lives as
 * long as the plugin, which is never closed. */
typedef const struct device_ops *device_entry_fn(uint32_t abi);
#define DEVICE_ENTRY "device_entry"

extern const struct device_ops device_host;

/* Load a device: "host" or the name of a plugin, searched in
 * $COALMINE_PLUGIN_DIR, next to the running program and one folder up, then in
 * the installation. Return -ENODEV and the reason. Loading it twice returns the
 * same table. */
int device_find(const char *name, const struct device_ops **ret,
    struct err *err);

/* Does the MPI of this process say that it takes pointers into memory of a
 * device of this name? It is asked by the names of its calls, so that one which
 * has none links too: it does not. */
int device_taken_by_mpi(const char *name);

/* ---- NVLinks: nvml.c ----
 *
 * What NVIDIA's management library says. It is opened at run time, by
 * prototypes of our own, and closed again. */

#define NVML_GPUS_MAX 64

struct nvml_gpu {
	char name[96];
	int links;               /* NVLinks that are up */
	double link_bytes_per_s; /* of one, in each direction; 0: unknown */
	int to_switch;           /* how many of them lead to a switch */
	int to[NVML_GPUS_MAX];   /* and to the GPUs of the question */
};

/* The GPUs at these PCI addresses, count of them at most NVML_GPUS_MAX; one
 * that NVML does not know has an empty name. -ENODEV and one sentence why. */
int nvml_read(const char *const *pci, int count, struct nvml_gpu *ret,
    struct err *err);

#endif
