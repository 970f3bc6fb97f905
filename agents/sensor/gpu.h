/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - health and use of this node's GPUs.
 */
#ifndef AGENTS_SENSOR_GPU_H
#define AGENTS_SENSOR_GPU_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"

/* Append a row for every GPU of an inventory, by its PCI address, with
 * names_link_counters. */
void gpu_read(const char *root, const json_t *gpus, json_t *rows);
/* Add what AMD's driver reports of heat in gpu_metrics. */
void gpu_metrics_take(const void *bytes, size_t len_bytes, json_t *counters);
/* Add the error of a GPU that a line of the kernel's log reports to its row,
 * and that of an NVSwitch to a row that it gets. */
void gpu_log_take(const char *line, json_t *rows);
/* 1 and why when a process computes on a GPU of this node, as the kernel
 * reports of AMD's and NVML of NVIDIA's; 0 where neither can. */
int gpu_busy(const char *root, struct err *err);

#endif
