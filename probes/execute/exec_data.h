/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_data.h - fill and verify the buffers of a plan, and end the job if the
 * device fails.
 */
#ifndef PROBES_EXECUTE_EXEC_DATA_H
#define PROBES_EXECUTE_EXEC_DATA_H

#include "common/err.h"

struct exec;

/* Return -ENOTSUP if the data of a plan cannot be verified, -ENOMEM. */
int exec_data_open(struct exec *e, struct err *err);
void exec_data_close(struct exec *e);
/* Ends the job where a call of the device has failed. */
void exec_device_check(const struct exec *e, int rc, const char *what);

#endif
