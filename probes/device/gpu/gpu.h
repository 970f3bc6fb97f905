/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - declarations shared by the files of the plugin: one source for CUDA
 * and HIP.
 *
 * Only the runtime API is linked (CUDA's statically). Only gpu_name_*.c calls
 * the driver, for the card's name: the runtime's structure with the name
 * changes its layout between versions.
 */
#ifndef PROBES_DEVICE_GPU_GPU_H
#define PROBES_DEVICE_GPU_GPU_H

#include <stdint.h>
#include <sys/queue.h>

#include "common/err.h"
#include "probes/device/device.h"
#include "probes/device/gpu/gpu_port.h"

struct gpu_area;
SLIST_HEAD(gpu_areas, gpu_area);

struct device {
	int index;
	char pci[16], part[33];
	struct gpu_areas own, opened;
	uint64_t serial; /* of the last allocation */
	char error[DEVICE_WHY_BYTES];
};

struct device_stream {
	struct device *d;
	GPU_STREAM native;
	GPU_EVENT asleep; /* to wait for its end without spinning */
	void *scratch;    /* partial results of very many inputs */
	uint64_t scratch_bytes;
};

struct device_event {
	struct device *d;
	GPU_EVENT native;
};

/* 0 for success, else error() is "what: the vendor's text" and the result what
 * device.h says. */
int gpu_check(struct device *d, int code, const char *what);
int gpu_fail(struct device *d, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* d is the current device of this thread from now on. */
int gpu_use(struct device *d);

/* "NVIDIA H200", or "" if the driver does not report it. */
void gpu_name(int index, const char *pci, char *ret, size_t cap_bytes);
/* As device_facts.part. */
void gpu_part(int index, char ret[33]);
/* Before the runtime's first call: -ENODEV where that would end the process. */
int gpu_covered(struct err *err);

#endif
