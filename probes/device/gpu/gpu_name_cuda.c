/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_name_cuda.c - a card's name from the driver. The runtime has it only in a
 * struct whose layout changes between versions. The driver also identifies
 * partitions of a card. The card is found by PCI address, so that the numbering
 * of devices does not matter.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#include "probes/device/gpu/gpu.h"

void
gpu_name(int index, const char *pci, char *ret, size_t cap_bytes)
{
	int (*by_pci)(int *device, const char *pci) = NULL;
	int (*get_name)(char *name, int cap, int device) = NULL;
	void *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	int device;

	(void)index;
	ret[0] = '\0';
	if (so == NULL)
		return;
	*(void **)&by_pci = dlsym(so, "cuDeviceGetByPCIBusId");
	*(void **)&get_name = dlsym(so, "cuDeviceGetName");
	if (by_pci == NULL || get_name == NULL || by_pci(&device, pci) != 0 ||
	    get_name(ret, (int)cap_bytes, device) != 0)
		ret[0] = '\0';
	dlclose(so); /* the runtime holds it too */
}

/* The runtime numbers devices as the driver does. */
void
gpu_part(int index, char ret[33])
{
	void *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*get)(int *device, int index) = NULL;
	int (*get_uuid)(unsigned char ret[16], int device) = NULL;
	unsigned char uuid[16];
	int device;

	ret[0] = '\0';
	if (so == NULL)
		return;
	*(void **)&get = dlsym(so, "cuDeviceGet");
	*(void **)&get_uuid = dlsym(so, "cuDeviceGetUuid_v2");
	if (get != NULL && get_uuid != NULL && get(&device, index) == 0 &&
	    get_uuid(uuid, device) == 0)
		for (int i = 0; i < 16; i++)
			snprintf(ret + (size_t)2 * i, 3, "%02x", uuid[i]);
	dlclose(so);
}

/* Its runtime says so itself: "no kernel image". */
int
gpu_covered(struct err *err)
{
	(void)err;
	return 0;
}
