/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hip_nvidia.h - included before HIP's headers for NVIDIA of before CUDA 13, so
 * that they compile with CUDA 13: removed or changed declarations are restored
 * as far as those headers name them. The plugin uses none of them. In C only;
 * needs -fms-extensions.
 */
#ifndef TESTS_GPU_HIP_NVIDIA_H
#define TESTS_GPU_HIP_NVIDIA_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000
struct hip_nvidia_prop {
	struct cudaDeviceProp;
	int clockRate, memoryClockRate, computeMode, kernelExecTimeoutEnabled;
	int cooperativeMultiDeviceLaunch;
};
#define cudaDeviceProp                          hip_nvidia_prop
#define cudaDevAttrCooperativeMultiDeviceLaunch cudaDevAttrCooperativeLaunch
#define cudaMemAdvise(at, bytes, advice, device)                               \
	cudaMemAdvise(at, bytes, advice,                                       \
	    (struct cudaMemLocation){ cudaMemLocationTypeDevice, device })
#define cudaMemPrefetchAsync(at, bytes, device, stream)                        \
	cudaMemPrefetchAsync(at, bytes,                                        \
	    (struct cudaMemLocation){ cudaMemLocationTypeDevice, device }, 0,  \
	    stream)
#undef cuCtxCreate
#define cuCtxCreate(ret, flags, device) cuCtxCreate_v4(ret, NULL, flags, device)
#endif

#endif
