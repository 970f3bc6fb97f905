/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_kernels.h - the one kernel of the project, for every op and type, as C
 * sees it. gpu_kernels.cu is compiled by nvcc and by hipcc unchanged.
 */
#ifndef PROBES_DEVICE_GPU_GPU_KERNELS_H
#define PROBES_DEVICE_GPU_GPU_KERNELS_H

#include <stdint.h>

#include "probes/plan/plan.h"

/* Pointers travel with the launch, 4 KiB of arguments at most. */
#define GPU_INPUTS_MAX 64

/* Of an element, in the order of enum plan_type. */
static const unsigned gpu_kernels_bytes[PLAN_BYTE] = { 4, 8, 4, 8, 2, 2 };

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueue the reduce of device.h on the current device; stream is the
 * vendor's. 2 <= inputs_count <= GPU_INPUTS_MAX, elements > 0. 0 or the
 * vendor's error. */
int gpu_kernels_reduce(void *stream, enum plan_op op, enum plan_type type,
    void *to, const void *const *inputs, uint32_t inputs_count,
    uint64_t elements);

#ifdef __cplusplus
}
#endif

#endif
