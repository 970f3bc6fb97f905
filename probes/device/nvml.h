/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.h - what NVIDIA's management library says of GPUs and their NVLinks.
 * It is opened at run time, by prototypes of our own, and closed again.
 */
#ifndef PROBES_DEVICE_NVML_H
#define PROBES_DEVICE_NVML_H

#include <stddef.h>

#include "common/err.h"

#define NVML_GPUS_MAX 64

struct nvml_gpu {
	char name[96];
	int links;               /* NVLinks that are up */
	double link_bytes_per_s; /* of one, each way; 0: not known */
	int to_switch;           /* how many of them lead to a switch */
	int to[NVML_GPUS_MAX];   /* and to the GPUs of the question */
};

/* The GPUs at these PCI addresses, count of them at most NVML_GPUS_MAX; one
 * that NVML does not know has an empty name. -ENODEV and one sentence why. */
int nvml_read(const char *const *pci, int count, struct nvml_gpu *ret,
    struct err *err);

#endif
