/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.c - the table of launchers. Those of an MPI share one row function:
 * what differs between MPIs is in mpi_*.c.
 */
#include "agents/launch/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"

static int
mpi_build(const struct mpi_impl_job *job, char *ret_path, size_t cap_bytes,
    struct strvec *argv, struct strvec *env, struct err *err)
{
	if (str_format(ret_path, cap_bytes, "%s", job->launcher) < 0)
		return err_set(err, -ENAMETOOLONG,
		    "the launcher's path is too long");
	strvec_add(argv, "%s", job->mpi->argv0);
	job->mpi->build(job, argv, env);
	return 0;
}

static const struct launcher launcher_agents = { "agents", mpi_build };
static const struct launcher launcher_local = { "local", mpi_build };

static const struct launcher *const launchers[] = { &launcher_agents,
	&launcher_local, &launcher_slurm, &launcher_command };

const struct launcher *
launcher_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(launchers); i++)
		if (strcmp(launchers[i]->name, name) == 0)
			return launchers[i];
	return NULL;
}
