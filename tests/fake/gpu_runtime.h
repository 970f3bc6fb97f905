/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_runtime.h - a GPU's runtime on the processor, for tests: CUDA's for a
 * plugin that is linked with it, HIP's as a separate libamdhip64.
 *
 * Enqueued operations do not run at once: a stream advances by one operation
 * with each query of one of its events, and to the event when it is waited for,
 * so that code that does not wait reads old bytes. Device memory accessed by
 * the processor ends the process; streams can access it, memory opened by
 * handle, and pinned memory only. Handles of freed memory, of the same process,
 * of inner pointers and of cards without peer access are rejected. An event
 * must be recorded on its device, a kernel launched on the device of its
 * stream. A failed operation breaks the device for good.
 *
 * Environment: COALMINE_FAKE_GPUS: the number of devices (2); the vendor's
 * variable (GPU_VISIBLE) can hide some. "old" is a driver that is too old for
 * the runtime. COALMINE_FAKE_PEERS: number of devices with peer access (all).
 * COALMINE_FAKE_WAKE_MS=N: a sleeping waiter wakes up N ms late.
 * COALMINE_FAKE_PINNED=BYTES: limit of pinned memory. COALMINE_FAKE_FAIL=N:
 * call N after the devices were counted fails, and no other.
 * COALMINE_FAKE_FAULT=N: the N-th operation that runs breaks the device.
 * COALMINE_FAKE_OPEN: the processor may access device memory.
 * COALMINE_FAKE_STATS=FILE: counts of objects and calls, one line at the end.
 */
#ifndef TESTS_FAKE_GPU_RUNTIME_H
#define TESTS_FAKE_GPU_RUNTIME_H

#include <stdint.h>

#include "probes/device/gpu/gpu_port.h"
#include "probes/plan/plan.h"

/* Enqueue, as of a kernel; the inputs are copied. */
int fake_reduce(void *stream, enum plan_op op, enum plan_type type, void *to,
    const void *const *inputs, uint32_t inputs_count, uint64_t elements);

#ifdef GPU_HIP
#define GPU_VISIBLE "HIP_VISIBLE_DEVICES"
#else
#define GPU_VISIBLE "CUDA_VISIBLE_DEVICES"
#endif

/* First member of every stream, used by NCCL's stand-in, a separate library. */
struct fake_stream {
	/* Enqueue call. It is called, and repeated while it returns 0, after
	 * all earlier operations are done. */
	void (*enqueue)(void *stream, int (*call)(void *arg), void *arg);
	/* Return the address for a call of bytes of the device; NULL: not
	 * accessible. */
	void *(*reach)(const void *at, uint64_t bytes);
};

#endif
