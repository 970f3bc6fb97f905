/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_runtime_api.h - a substitute: the part of CUDA's runtime that the plugin
 * uses, so that its code is compiled and run without CUDA. Numbers are CUDA's.
 * tests/fake/gpu_runtime.c implements it.
 */
#ifndef FAKE_CUDA_RUNTIME_API_H
#define FAKE_CUDA_RUNTIME_API_H

#include <stddef.h>

typedef enum {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInsufficientDriver = 35,
	cudaErrorNoDevice = 100,
	cudaErrorInvalidDevice = 101,
	cudaErrorPeerAccessUnsupported = 217,
	cudaErrorInvalidResourceHandle = 400,
	cudaErrorNotReady = 600,
	cudaErrorIllegalAddress = 700,
	cudaErrorUnknown = 999
} cudaError_t;

enum cudaDeviceAttr {
	cudaDevAttrMemoryClockRate = 36,
	cudaDevAttrGlobalMemoryBusWidth = 37
};
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum { cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaStreamNonBlocking = 1, cudaIpcMemLazyEnablePeerAccess = 1 };

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct {
	char reserved[64];
} cudaIpcMemHandle_t;

const char *cudaGetErrorString(cudaError_t code);
cudaError_t cudaGetLastError(void);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetPCIBusId(char *id, int cap, int device);
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr,
    int device);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *bytes);
cudaError_t cudaMalloc(void **base, size_t bytes);
cudaError_t cudaFree(void *base);
cudaError_t cudaHostAlloc(void **base, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *base);
cudaError_t cudaHostRegister(void *base, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *base);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
    unsigned flags);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
    enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes,
    cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *base);
cudaError_t cudaIpcOpenMemHandle(void **base, cudaIpcMemHandle_t handle,
    unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void *base);

#endif
