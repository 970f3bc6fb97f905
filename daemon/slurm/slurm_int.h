/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_int.h - nodes as Slurm lists them: pure, for slurm.c alone.
 */
#ifndef DAEMON_SLURM_SLURM_INT_H
#define DAEMON_SLURM_SLURM_INT_H

#include <stddef.h>

#include "common/err.h"
#include "daemon/slurm/slurm.h"

/* Options of sinfo for the lines that slurm_table_parse reads. The reason is
 * the last, for it may have any character. */
#define SLURM_SINFO_FORMAT "%T|%R|%N|%E"

struct slurm_table;

/* Lines of sinfo, and of scontrol -o show reservation. Nothing that is printed
 * there is an error: what cannot be read is no idle node. */
struct slurm_table *slurm_table_parse(const char *sinfo,
    const char *reservations);
void slurm_table_free(struct slurm_table *t); /* NULL is allowed */
enum slurm_node slurm_table_look(const struct slurm_table *t, const char *node,
    const char *partition, const char *reservation, struct err *err);

#endif
