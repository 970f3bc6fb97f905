/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_read.h - read the tables of nccl-tests and OSU in the output of a job.
 */
#ifndef CTL_LIB_BENCH_READ_H
#define CTL_LIB_BENCH_READ_H

#include "common/err.h"
#include "common/str.h"
#include "ctl/lib/bench.h"

/* Read all tables of a file, each as a series. Other lines are skipped. notes
 * gets a line of text for everything that was skipped or is only partly
 * understood. Return 0, or -EINVAL with err if a row is cut off, or if there is
 * no table. The caller clears ret and notes in either case. */
int bench_read(const char *path, struct bench_list *ret, struct strbuf *notes,
    struct err *err);

#endif
