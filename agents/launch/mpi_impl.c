/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/launch/mpi_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/str.h"

const struct mpi_impl_mpi *const launch_mpis[] = { &launch_openmpi,
	&launch_mpich, NULL };

const struct mpi_impl_mpi *
mpi_impl_find(const char *name)
{
	for (size_t i = 0; launch_mpis[i] != NULL; i++)
		if (strcmp(launch_mpis[i]->name, name) == 0)
			return launch_mpis[i];
	return NULL;
}

static int
in_dir(const char *dir, const char *file, char *ret, size_t cap_bytes)
{
	if (str_format(ret, cap_bytes, "%s/%s", dir, file) < 0 ||
	    access(ret, X_OK) < 0)
		return -ENOENT;
	return 0;
}

int
mpi_impl_path(const struct mpi_impl_mpi *mpi, const struct conf *c,
    char *ret_launcher, char *ret_engine, size_t cap_bytes, struct err *err)
{
	const char *dir = conf_string(c, "children", mpi->name);
	char engine[80];
	size_t i;

	if (dir[0] == '\0')
		return err_set(err, -ENOENT, "%s is not offered", mpi->name);
	for (i = 0; mpi->launchers[i] != NULL; i++)
		if (in_dir(dir, mpi->launchers[i], ret_launcher, cap_bytes) ==
		    0)
			break;
	if (mpi->launchers[i] == NULL)
		return err_set(err, -ENOENT, "%s/%s is missing", dir,
		    mpi->launchers[0]);
	snprintf(engine, sizeof(engine), "%s/coalmine-probe", mpi->name);
	if (in_dir(conf_string(c, "children", "libexec"), engine, ret_engine,
		cap_bytes) < 0)
		return err_set(err, -ENOENT, "%s/%s is missing",
		    conf_string(c, "children", "libexec"), engine);
	return 0;
}

int
mpi_impl_daemon(const struct mpi_impl_mpi *mpi, const struct conf *c, char *ret,
    size_t cap_bytes)
{
	const char *dir = conf_string(c, "children", mpi->name);

	if (dir[0] == '\0')
		return -ENOENT;
	return in_dir(dir, mpi->daemon, ret, cap_bytes);
}

void
mpi_impl_env(const struct mpi_impl_mpi *mpi, const struct conf *c,
    struct strvec *env)
{
	const char *dir = conf_string(c, "children", mpi->name);

	if (strcmp(dir, "/usr/bin") == 0) {
		strvec_env(env, "PATH", "/usr/bin:/bin");
		return;
	}
	strvec_env(env, "PATH", "%s:/usr/bin:/bin", dir);
	strvec_env(env, "LD_LIBRARY_PATH", "%s/../lib:%s/../lib64", dir, dir);
}
