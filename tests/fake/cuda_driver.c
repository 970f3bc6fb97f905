/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_driver.c - a stand-in for libcuda.so.1: names, and identifiers of the
 * parts of a card. COALMINE_FAKE_MIG: every rank of a node has a separate part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int cuDeviceGet(int *ret, int index);
PUBLIC int cuDeviceGetUuid_v2(unsigned char ret[16], int device);
PUBLIC int cuDeviceGetByPCIBusId(int *ret, const char *pci);
PUBLIC int cuDeviceGetName(char *ret, int cap, int device);

int
cuDeviceGet(int *ret, int index)
{
	*ret = index;
	return 0;
}

int
cuDeviceGetUuid_v2(unsigned char ret[16], int device)
{
	const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");

	if (local == NULL)
		local = getenv("MPI_LOCALRANKID");
	memset(ret, 0, 16);
	ret[0] = (unsigned char)(device + 1);
	if (getenv("COALMINE_FAKE_MIG") != NULL && local != NULL)
		ret[15] = (unsigned char)(atoi(local) + 1);
	return 0;
}

int
cuDeviceGetByPCIBusId(int *ret, const char *pci)
{
	unsigned bus;

	if (sscanf(pci, "0000:%x:", &bus) != 1)
		return 1;
	*ret = (int)bus - 0x1a;
	return 0;
}

int
cuDeviceGetName(char *ret, int cap, int device)
{
	snprintf(ret, (size_t)cap, "Stand-in GPU %d", device);
	return 0;
}
