/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_stream.h - streams and events of a GPU, and the operations on streams.
 * The functions are the calls of the same names in struct device_ops
 * (device.h).
 */
#ifndef PROBES_DEVICE_GPU_GPU_STREAM_H
#define PROBES_DEVICE_GPU_GPU_STREAM_H

#include "probes/device/gpu/gpu.h"

int gpu_stream_new(struct device *d, struct device_stream **ret);
void gpu_stream_free(struct device_stream *s);
void *gpu_stream_native(struct device_stream *s);
int gpu_stream_sync(struct device_stream *s);
int gpu_copy(struct device_stream *s, void *to, const void *from,
    uint64_t bytes);
int gpu_fill(struct device_stream *s, void *to, int byte, uint64_t bytes);
int gpu_reduce(struct device_stream *s, enum plan_op op, enum plan_type type,
    void *to, const void *const *inputs, uint32_t inputs_count,
    uint64_t elements);
int gpu_event_new(struct device *d, struct device_event **ret);
void gpu_event_free(struct device_event *e);
int gpu_event_record(struct device_event *e, struct device_stream *s);
int gpu_event_query(struct device_event *e);
int gpu_event_wait(struct device_event *e);
int gpu_stream_wait(struct device_stream *s, struct device_event *e);

#endif
