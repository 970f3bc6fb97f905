/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - find a device by name: built in, or a plugin.
 *
 * Plugins are never closed: a vendor's runtime leaves threads and exit
 * handlers behind.
 */
#include "probes/device/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "schema/names_gpu.h"

#define PATH_BYTES 4096

/* The folder of the running program; up of them higher. */
static int
device_program_folder(int up, char *ret, size_t cap_bytes)
{
	ssize_t n = readlink("/proc/self/exe", ret, cap_bytes - 1);
	char *slash;

	if (n < 0)
		return -errno;
	ret[n] = '\0';
	for (; up >= 0; up--) {
		slash = strrchr(ret, '/');
		if (slash == NULL)
			return -ENOENT;
		*slash = '\0';
	}
	return 0;
}

/* The path of the plugin in the first folder that has it. One build of the
 * engine lies a folder below the plugins, wherever the tree was moved to. */
static int
device_plugin_path(const char *name, char *ret, size_t cap_bytes)
{
	char beside[PATH_BYTES], above[PATH_BYTES];
	const char *folders[] = { getenv("COALMINE_PLUGIN_DIR"), NULL, NULL,
		COALMINE_PLUGIN_DIR };

	if (device_program_folder(0, beside, sizeof(beside)) == 0)
		folders[1] = beside;
	if (device_program_folder(1, above, sizeof(above)) == 0)
		folders[2] = above;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		if (folders[i] == NULL)
			continue;
		if ((size_t)snprintf(ret, cap_bytes, "%s/coalmine-device-%s.so",
			folders[i], name) < cap_bytes &&
		    access(ret, R_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

int
device_find(const char *name, const struct device_ops **ret, struct err *err)
{
	const struct device_ops *ops = NULL;
	device_entry_fn *entry = NULL;
	char path[PATH_BYTES];
	void *so;

	if (strcmp(name, device_host.name) == 0) {
		*ret = &device_host;
		return 0;
	}
	if (strchr(name, '/') != NULL ||
	    device_plugin_path(name, path, sizeof(path)) < 0)
		return err_set(err, -ENODEV,
		    "device %.40s: plugin coalmine-device-%.40s.so is missing",
		    name, name);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (so == NULL)
		return err_set(err, -ENODEV, "%s", dlerror());
	/* POSIX lets dlsym give a function; ISO C has no cast for it. */
	*(void **)&entry = dlsym(so, DEVICE_ENTRY);
	if (entry != NULL)
		ops = entry(DEVICE_ABI);
	if (ops == NULL || ops->abi != DEVICE_ABI ||
	    ops->ops_bytes != sizeof(*ops))
		return err_set(err, -ENODEV,
		    "%s: built for another version of coalmine-probe", path);
	*ret = ops;
	return 0;
}

/* Open MPI has a call for each kind, MPICH and Cray's one for all. */
int
device_taken_by_mpi(const char *name)
{
	int taken = 0, (*query_kind)(int kind, int *ret) = NULL;
	void *kinds = dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support");
	char call[64];

	memcpy(&query_kind, &kinds, sizeof(query_kind));
	for (size_t i = 0; i < NAMES_GPUS; i++) {
		const struct gpu_row *g = &names_gpus[i];

		if (g->device == NULL || strcmp(g->device, name) != 0)
			continue;
		if (kinds != NULL && query_kind(g->mpich_kind, &taken) != 0)
			taken = 0;
		for (size_t k = 0; k < ARRAY_LEN(g->mpi_words); k++) {
			int (*query)(void) = NULL;
			void *found;

			if (g->mpi_words[k] == NULL)
				continue;
			snprintf(call, sizeof(call), "MPIX_Query_%s_support",
			    g->mpi_words[k]);
			found = dlsym(RTLD_DEFAULT, call);
			memcpy(&query, &found, sizeof(query));
			taken |= found != NULL && query() == 1;
		}
	}
	return taken;
}
