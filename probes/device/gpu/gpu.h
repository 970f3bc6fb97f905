/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - declarations that the files of the GPU plugin share: one source for
 * CUDA and HIP.
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

/* An allocation. */
struct gpu_area;
SLIST_HEAD(gpu_areas, gpu_area);

/* An open GPU: see device.h. */
struct device {
	int index;
	char pci[16], part[33];
	struct gpu_areas own, opened;
	uint64_t serial; /* number of the last allocation */
	char error[DEVICE_WHY_BYTES];
};

/* A stream of a GPU. */
struct device_stream {
	struct device *d;
	GPU_STREAM native;
	GPU_EVENT asleep; /* event to wait asleep for the stream's end */
	/* Partial results of a reduction with very many inputs. */
	void *scratch;
	uint64_t scratch_bytes;
};

/* An event of a GPU. */
struct device_event {
	struct device *d;
	GPU_EVENT native;
};

/* Return 0 if code is the vendor's success. Otherwise set the text of error()
 * to "WHAT: the vendor's text", and return the error number of device.h. */
int gpu_check(struct device *d, int code, const char *what);
/* Set the text of error() (printf format). Return rc. */
int gpu_fail(struct device *d, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Make d the current device of this thread. Return 0 or -errno. */
int gpu_use(struct device *d);

/* Write the card's name, "NVIDIA H200", or "" if the driver does not report
 * it. */
void gpu_name(int index, const char *pci, char *ret, size_t cap_bytes);
/* Write device_facts.part. */
void gpu_part(int index, char ret[33]);
/* Call before the first call of the runtime. Return 0, or -ENODEV with the
 * reason in err if the runtime would end the process. */
int gpu_covered(struct err *err);

#endif
