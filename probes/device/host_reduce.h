/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_reduce.h - reductions on the processor. Pure.
 */
#ifndef PROBES_DEVICE_HOST_REDUCE_H
#define PROBES_DEVICE_HOST_REDUCE_H

#include <stdint.h>

#include "probes/plan/plan.h"

/* As reduce of device.h: ((a op b) op c) ...; to may be one of inputs. */
void host_reduce(enum plan_op op, enum plan_type type, void *to,
    const void *const *inputs, uint32_t inputs_count, uint64_t elements);

#endif
