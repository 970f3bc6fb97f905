/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_runtime.h - a GPU's runtime on the processor, for tests: as CUDA's for a
 * plugin that is linked with it, as HIP's in a libamdhip64 of its own.
 *
 * Nothing runs when it is enqueued: a stream moves on by one operation each
 * time one of its events is asked for, and to the event when it is waited
 * for, so that who does not wait reads old bytes. Memory is real, and other
 * processes open it by handle; handles of what was freed, of the own process
 * and of inner pointers are refused.
 *
 * Environment: COALMINE_FAKE_GPUS, how many (2); "old" is a driver that is too
 * old for the runtime. COALMINE_FAKE_PEERS, how many reach each other (all).
 * COALMINE_FAKE_WAKE_MS=N: who waits asleep is woken that late.
 * COALMINE_FAKE_PINNED=BYTES: no more memory of the host at once.
 * COALMINE_FAKE_FAIL=N: call N after the devices were counted fails, and no
 * other.
 */
#ifndef TESTS_FAKE_GPU_RUNTIME_H
#define TESTS_FAKE_GPU_RUNTIME_H

#include <stdint.h>

#include "probes/device/gpu/gpu_port.h"
#include "probes/plan/plan.h"

/* Enqueue, as of a kernel; the inputs are copied. */
int fake_reduce(void *stream, enum plan_op op, enum plan_type type, void *to,
    const void *const *inputs, uint32_t inputs_count, uint64_t elements);

/* For what is built on the runtime: everything before this is done now. */
void fake_drain(void *stream);

#endif
