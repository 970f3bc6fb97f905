/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_port.h - CUDA and HIP by one name: GPU(Malloc) is cudaMalloc or
 * hipMalloc. Names that differ in more than the prefix are defined below. At
 * the end is the only kernel of the project, for every op and type, as C code
 * sees it. gpu_kernels.cu is compiled by nvcc and by hipcc unchanged.
 *
 * The build sets GPU_HIP. Calls whose meaning or layout changes between
 * versions (cudaGetDeviceProperties, hipPointerGetAttributes) are not used.
 */
#ifndef PROBES_DEVICE_GPU_GPU_PORT_H
#define PROBES_DEVICE_GPU_GPU_PORT_H

#include <stdint.h>

#include "probes/plan/plan.h"

#ifdef GPU_HIP

#ifdef __cplusplus
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#else
#include <hip/hip_runtime_api.h>
#endif
#define GPU(x)             hip##x
#define GPU_NAME           "hip"
#define GPU_WHAT           "HIP"
#define GPU_STREAM         hipStream_t
#define GPU_EVENT          hipEvent_t
#define GPU_OUT_OF_MEMORY  hipErrorOutOfMemory
#define GPU_HOST_ALLOC     hipHostMalloc
#define GPU_HOST_FREE      hipHostFree
#define GPU_CLOCK_KHZ      hipDeviceAttributeMemoryClockRate
#define GPU_BUS_BITS       hipDeviceAttributeMemoryBusWidth
#define GPU_PEER_REFUSED   hipErrorPeerAccessUnsupported
#define GPU_BLOCKING_EVENT (hipEventBlockingSync | hipEventDisableTiming)
#define GPU_ASKED_EVENT    hipEventDisableTiming

#else

#ifdef __cplusplus
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#else
#include <cuda_runtime_api.h>
#endif
#define GPU(x)             cuda##x
#define GPU_NAME           "cuda"
#define GPU_WHAT           "CUDA"
#define GPU_STREAM         cudaStream_t
#define GPU_EVENT          cudaEvent_t
#define GPU_OUT_OF_MEMORY  cudaErrorMemoryAllocation
#define GPU_HOST_ALLOC     cudaHostAlloc
#define GPU_HOST_FREE      cudaFreeHost
#define GPU_CLOCK_KHZ      cudaDevAttrMemoryClockRate
#define GPU_BUS_BITS       cudaDevAttrGlobalMemoryBusWidth
#define GPU_PEER_REFUSED   cudaErrorPeerAccessUnsupported
#define GPU_BLOCKING_EVENT (cudaEventBlockingSync | cudaEventDisableTiming)
#define GPU_ASKED_EVENT    cudaEventDisableTiming

#endif

/* Inputs of one launch: their pointers are arguments, of which a launch can
 * have 4 KiB. */
#define GPU_INPUTS_MAX 64

/* Bytes of an element, in the order of enum plan_type. */
static const unsigned gpu_kernels_bytes[PLAN_BYTE] = { 4, 8, 4, 8, 2, 2 };

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueue the reduction that device.h describes on the current device. stream
 * is the vendor's. 2 <= inputs_count <= GPU_INPUTS_MAX, elements > 0. Return 0
 * or the vendor's error. */
int gpu_kernels_reduce(void *stream, enum plan_op op, enum plan_type type,
    void *to, const void *const *inputs, uint32_t inputs_count,
    uint64_t elements);

#ifdef __cplusplus
}
#endif

#endif
