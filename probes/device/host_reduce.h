/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_reduce.h - reductions on the processor. The functions are pure.
 */
#ifndef PROBES_DEVICE_HOST_REDUCE_H
#define PROBES_DEVICE_HOST_REDUCE_H

#include <stdint.h>

#include "probes/plan/plan.h"

/* Compute ((a op b) op c) ..., as the call reduce of device.h; `to` can be one
 * of the inputs. */
void host_reduce(enum plan_op op, enum plan_type type, void *to,
    const void *const *inputs, uint32_t inputs_count, uint64_t elements);

#endif
