/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - health and use of this node's GPUs.
 */
#ifndef AGENTS_SENSOR_GPU_H
#define AGENTS_SENSOR_GPU_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"

/* Append a row with the counters of names_link_counters for every GPU of an
 * inventory, identified by its PCI address. */
void gpu_read(const char *root, const json_t *gpus, json_t *rows);
/* Add the throttling by heat that AMD's driver reports in the file
 * gpu_metrics. */
void gpu_metrics_take(const void *bytes, size_t len_bytes, json_t *counters);
/* Process a line of the kernel's log: add the error of a GPU to its row, or the
 * error of an NVSwitch to a row that is created for it. */
void gpu_log_take(const char *line, json_t *rows);
/* Return 1 with the reason if a process computes on a GPU of this node, by the
 * kernel for AMD and by NVML for NVIDIA; 0 if not or unknown. */
int gpu_busy(const char *root, struct err *err);

#endif
