/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_data.h - fill and verify the buffers of a plan; end the job if the
 * device fails.
 */
#ifndef PROBES_EXECUTE_EXEC_DATA_H
#define PROBES_EXECUTE_EXEC_DATA_H

#include "common/err.h"

struct exec;

/* Prepare the data of a plan. Return 0; -ENOTSUP, with the reason in err, if
 * the data cannot be verified; or -ENOMEM. exec_data_close frees it. */
int exec_data_open(struct exec *e, struct err *err);
void exec_data_close(struct exec *e);
/* End the job if rc, the result of a call of the device, is an error. */
void exec_device_check(const struct exec *e, int rc, const char *what);

#endif
