/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_runtime.h - a GPU's runtime on the processor, for tests: as CUDA's for a
 * plugin that is linked with it, as HIP's in a libamdhip64 of its own.
 *
 * Nothing runs when it is enqueued: a stream moves on by one operation each
 * time one of its events is asked for, and to the event when it is waited
 * for, so that who does not wait reads old bytes. The processor that touches
 * device memory dies of it; streams reach it, what other processes opened by
 * handle, and pinned memory, and nothing else. Handles of what was freed, of
 * the own process, of inner pointers and of cards without peer access are
 * refused; an event is recorded on its own device, a kernel launched on that of
 * its stream. An operation that fails breaks the device for good.
 *
 * Environment: COALMINE_FAKE_GPUS, how many (2), of which the vendor's variable
 * (GPU_VISIBLE) hides some; "old" is a driver that is too old for the runtime.
 * COALMINE_FAKE_PEERS, how many reach each other (all).
 * COALMINE_FAKE_WAKE_MS=N: who waits asleep is woken that late.
 * COALMINE_FAKE_PINNED=BYTES: no more memory of the host at once.
 * COALMINE_FAKE_FAIL=N: call N after the devices were counted fails, and no
 * other. COALMINE_FAKE_FAULT=N: the N-th operation that runs breaks the device.
 * COALMINE_FAKE_OPEN: the processor may touch device memory after all.
 * COALMINE_FAKE_STATS=FILE: what was made and asked, a line at the end.
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

/* The first of every stream, for NCCL's stand-in, which is another library. */
struct fake_stream {
	/* call is made, and made again as long as it gives 0, when all before
	 * it is done. */
	void (*enqueue)(void *stream, int (*call)(void *arg), void *arg);
	/* Where a call finds bytes of the device; NULL: they are not its. */
	void *(*reach)(const void *at, uint64_t bytes);
};

#endif
