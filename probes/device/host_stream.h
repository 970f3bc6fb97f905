/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_stream.h - streams and events of the host device.
 *
 * A stream is a thread and a list of what it has to do. What is small, and
 * comes while the stream has nothing to do, the caller does at once: waking a
 * thread would cost more than the work.
 */
#ifndef PROBES_DEVICE_HOST_STREAM_H
#define PROBES_DEVICE_HOST_STREAM_H

#include "probes/device/device.h"

int host_stream_new(struct device *d, struct device_stream **ret);
void host_stream_free(struct device_stream *s);
int host_stream_sync(struct device_stream *s);
int host_stream_copy(struct device_stream *s, void *to, const void *from,
    uint64_t bytes);
int host_stream_fill(struct device_stream *s, void *to, int byte,
    uint64_t bytes);
int host_stream_reduce(struct device_stream *s, enum plan_op op,
    enum plan_type type, void *to, const void *const *inputs,
    uint32_t inputs_count, uint64_t elements);
int host_event_new(struct device *d, struct device_event **ret);
void host_event_free(struct device_event *e);
int host_event_record(struct device_event *e, struct device_stream *s);
int host_event_query(struct device_event *e);
int host_event_wait(struct device_event *e);
int host_stream_wait(struct device_stream *s, struct device_event *e);

#endif
