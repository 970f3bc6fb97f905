/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - whether somebody computes on this node's GPUs: a job may leave the
 * cores idle and the GPUs not.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "agents/sensor/sensor.h"
#include "common/str.h"

#define NVML_INSUFFICIENT_SIZE                                                 \
	7 /* there are more than the room that was given */

struct nvml {
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *ret);
	int (*at)(unsigned i, void **ret);
	int (*processes)(void *gpu, unsigned *count, void *ret);
};

/* A process is counted, not read, so that no layout matters. */
static int
nvml_count(const struct nvml *n, unsigned *ret_gpu)
{
	unsigned gpus = 0, found;
	void *gpu;
	int rc, busy = 0;

	if (n->count(&gpus) != 0)
		return 0;
	for (unsigned i = 0; i < gpus && !busy; i++) {
		found = 0;
		if (n->at(i, &gpu) != 0)
			continue;
		rc = n->processes(gpu, &found, NULL);
		busy = (rc == 0 && found > 0) || rc == NVML_INSUFFICIENT_SIZE;
		*ret_gpu = i;
	}
	return busy;
}

static int
nvidia_busy(struct err *err)
{
	static const char *const names[] = { "nvmlInit_v2", "nvmlShutdown",
		"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2",
		"nvmlDeviceGetComputeRunningProcesses" };
	void *so = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *f;
	void *calls[ARRAY_LEN(names)];
	struct nvml n;
	unsigned gpu = 0;
	int known = so != NULL, busy = 0;

	for (size_t i = 0; known && i < ARRAY_LEN(names); i++) {
		f = dlsym(so, names[i]);
		calls[i] = f;
		known = f != NULL;
	}
	_Static_assert(sizeof(n) == sizeof(calls), "a member each");
	if (known) {
		memcpy(&n, calls, sizeof(n));
		if (n.init() == 0) {
			busy = nvml_count(&n, &gpu);
			n.shutdown();
		}
	}
	if (so != NULL)
		dlclose(so);
	if (busy)
		err_say(err, "NVIDIA GPU %u: a process computes on it", gpu);
	return busy;
}

int
gpu_busy(const char *root, struct err *err)
{
	struct dirent *de;
	char top[400];
	int busy = 0;
	DIR *d;

	/* AMD's driver has a folder for each process that has opened it. */
	snprintf(top, sizeof(top), "%s/sys/class/kfd/kfd/proc", root);
	d = opendir(top);
	while (d != NULL && !busy && (de = readdir(d)) != NULL)
		if (de->d_name[0] >= '0' && de->d_name[0] <= '9') {
			err_say(err, "AMD GPU: process %.20s computes on it",
			    de->d_name);
			busy = 1;
		}
	if (d != NULL)
		closedir(d);
	return busy || nvidia_busy(err);
}
