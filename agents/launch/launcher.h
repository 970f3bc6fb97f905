/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - programs that start the ranks of a run from its head (the first
 * node of the run), if the agents do not start them. Each program is a row,
 * which option campaign.launcher selects by name.
 *
 *   slurm    srun, which waits for its allocation and is the job
 *   command  a command line of the site, for another batch system
 *
 * A row starts one program in the foreground: when the program is ended, the
 * job ends, and when the job ends, the program ends.
 */
#ifndef AGENTS_LAUNCH_LAUNCHER_H
#define AGENTS_LAUNCH_LAUNCHER_H

#include <stddef.h>

#include "common/err.h"
#include "agents/launch/mpi_impl.h"
#include "agents/process/strvec.h"

/* A program that starts ranks. */
struct launcher {
	const char *name; /* as campaign.launcher */
	/* Write the path of the program to ret_path and its arguments, with
	 * argv[0], to argv; add variables to env, which already has the common
	 * ones. Return 0, or -errno with err. */
	int (*build)(const struct mpi_impl_job *job, char *ret_path,
	    size_t cap_bytes, struct strvec *argv, struct strvec *env,
	    struct err *err);
};
extern const struct launcher launcher_slurm, launcher_command;

/* Check the option children.command. Return 0, or -EINVAL with the error in
 * err. */
int launcher_line_check(const char *line, struct err *err);
/* Return 1 if that command line has {script}, so that the agents start the
 * ranks once the script runs; 0 if not. */
int launcher_wants_script(const struct conf *agent);
/* Return the launcher with this name, or NULL. */
const struct launcher *launcher_find(const char *name);

#endif
