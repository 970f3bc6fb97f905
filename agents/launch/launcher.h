/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - programs that bring ranks to run from the head of a run, where
 * the agents do not start them themselves, as rows.
 *
 *   slurm    srun, which waits for its allocation and is the job
 *   command  a line of the site for another batch system
 *
 * Whatever a row starts is one program in the foreground: when it is ended,
 * the job ends, and when the job ends, it does.
 */
#ifndef AGENTS_LAUNCH_LAUNCHER_H
#define AGENTS_LAUNCH_LAUNCHER_H

#include <stddef.h>

#include "common/err.h"
#include "agents/launch/mpi_impl.h"
#include "agents/process/strvec.h"

struct launcher {
	const char *name; /* as campaign.launcher */
	/* Write the program to start, its argv with argv[0], and add to env,
	 * which has the base. Return 0, or -errno with err. */
	int (*build)(const struct mpi_impl_job *job, char *ret_path,
	    size_t cap_bytes, struct strvec *argv, struct strvec *env,
	    struct err *err);
};
extern const struct launcher launcher_slurm, launcher_command;

/* Check children.command: return 0, or -EINVAL and the fault. */
int launcher_line_check(const char *line, struct err *err);
/* Return 1 if that line has {script}: the agents start the ranks once it runs.
 */
int launcher_wants_script(const struct conf *agent);
/* NULL if none. */
const struct launcher *launcher_find(const char *name);

#endif
