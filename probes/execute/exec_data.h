/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_data.h - what fills and verifies the buffers of a plan, and ends the
 * job where the device fails.
 */
#ifndef PROBES_EXECUTE_EXEC_DATA_H
#define PROBES_EXECUTE_EXEC_DATA_H

#include "common/err.h"

struct exec;

/* -ENOTSUP where the data of a plan cannot be proven, -ENOMEM. */
int exec_data_open(struct exec *e, struct err *err);
void exec_data_close(struct exec *e);
/* Ends the job where a call of the device has failed. */
void exec_device_check(const struct exec *e, int rc, const char *what);

#endif
