/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_memory.h - a GPU's memory: allocation, pinning, and sharing between
 * processes. The functions are the calls of the same names in struct device_ops
 * (device.h).
 */
#ifndef PROBES_DEVICE_GPU_GPU_MEMORY_H
#define PROBES_DEVICE_GPU_GPU_MEMORY_H

#include "probes/device/gpu/gpu.h"

int gpu_alloc(struct device *d, uint64_t bytes, void **ret_base);
void gpu_free(struct device *d, void *base);
int gpu_host_alloc(struct device *d, uint64_t bytes, void **ret_base);
void gpu_host_free(struct device *d, void *base);
int gpu_host_pin(struct device *d, void *base, uint64_t bytes);
void gpu_host_unpin(struct device *d, void *base);
int gpu_ipc_usable(struct device *d, const char *pci, const char *part,
    struct err *err);
int gpu_ipc_export(struct device *d, void *base, struct device_ipc *ret);
int gpu_ipc_open(struct device *d, const struct device_ipc *handle,
    void **ret_base);
int gpu_ipc_close(struct device *d, void *base);
void gpu_memory_close(struct device *d); /* frees and unmaps all memory of d */

#endif
