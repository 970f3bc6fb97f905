/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_read.h - the output of a job as tables of nccl-tests and OSU.
 */
#ifndef CTL_LIB_BENCH_READ_H
#define CTL_LIB_BENCH_READ_H

#include "common/err.h"
#include "common/str.h"
#include "ctl/lib/bench.h"

/* Read all tables of a file, each as a series. Other lines are skipped. notes
 * gets a line of text for each thing that was skipped or is understood in part.
 * -EINVAL and err: a row that is cut off, or no table. The caller clears ret
 * and notes in any case. */
int bench_read(const char *path, struct bench_list *ret, struct strbuf *notes,
    struct err *err);

#endif
