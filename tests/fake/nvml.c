/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - a stand-in for libnvidia-ml.so.1 with two GPUs, 0000:1a:00.0 and
 * 0000:1b:00.0, that are joined by three NVLinks of the third generation, and
 * have one each to a switch. COALMINE_FAKE_NVML=fail: no driver; busy: two
 * processes compute on the second; sick: the second has a row that could not be
 * remapped and is too hot; lost: it fell off the bus; hang: no call returns for
 * seconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum {
	OK = 0,
	INVALID = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	NO_DRIVER = 9,
	LOST = 15
};

struct pci_info {
	char bus_id_legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

PUBLIC int nvmlInit_v2(void);
PUBLIC int nvmlShutdown(void);
PUBLIC const char *nvmlErrorString(int code);
PUBLIC int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **ret);
PUBLIC int nvmlDeviceGetName(void *gpu, char *ret, unsigned cap);
PUBLIC int nvmlDeviceGetNvLinkState(void *gpu, unsigned link, int *ret);
PUBLIC int nvmlDeviceGetNvLinkVersion(void *gpu, unsigned link, unsigned *ret);
PUBLIC int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *gpu, unsigned link,
    struct pci_info *ret);
PUBLIC int nvmlDeviceGetNvLinkRemoteDeviceType(void *gpu, unsigned link,
    int *ret);

/* nvmlFieldValue_t. */
struct field {
	unsigned id, scope;
	long long at_us, took_us;
	int type, code;
	unsigned long long value;
};
PUBLIC int nvmlDeviceGetFieldValues(void *gpu, int count, struct field *ret);
PUBLIC int nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu,
    unsigned long long *ret);
PUBLIC int nvmlDeviceGetCount_v2(unsigned *ret);
PUBLIC int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **ret);
PUBLIC int nvmlDeviceGetComputeRunningProcesses(void *gpu, unsigned *count,
    void *ret);

static int up; /* between init and shutdown */

static int
fake_is(const char *word)
{
	const char *at = getenv("COALMINE_FAKE_NVML");

	return at != NULL && strcmp(at, word) == 0;
}

int
nvmlDeviceGetCount_v2(unsigned *ret)
{
	*ret = 2;
	return OK;
}

int
nvmlDeviceGetHandleByIndex_v2(unsigned i, void **ret)
{
	return nvmlDeviceGetHandleByPciBusId_v2(i == 0 ? "0000:1a:00.0"
						       : "0000:1b:00.0",
	    ret);
}

/* Fields up to 100, and fields of remapped rows, are 1000 plus their number;
 * states are 0; retired pages are unknown. Two fields have unusual types. */
int
nvmlDeviceGetFieldValues(void *gpu, int count, struct field *ret)
{
	int is_second = (uintptr_t)gpu == 0x1b;

	if (is_second && fake_is("lost"))
		return LOST;
	for (int i = 0; i < count; i++) {
		unsigned id = ret[i].id;

		ret[i].code = id == 30 ? NOT_SUPPORTED : OK;
		ret[i].type = id == 52      ? 6
		    : id == 59              ? 5
		    : id == 94 || id >= 142 ? 1
					    : 3;
		ret[i].value = id == 144 || id == 145
		    ? (unsigned)(is_second && fake_is("sick"))
		    : 1000 + id;
		/* Bits above 32 or 16 are not part of the value. */
		if (ret[i].type != 3)
			ret[i].value |= 0xabcdULL << 32;
		if (ret[i].type == 6)
			ret[i].value |= 0xabcdULL << 16;
	}
	return OK;
}

int
nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *ret)
{
	*ret = (uintptr_t)gpu == 0x1b && fake_is("sick") ? 0x40 : 0x4;
	return OK;
}

/* Return the number of processes, or an error if the array is too small. */
int
nvmlDeviceGetComputeRunningProcesses(void *gpu, unsigned *count, void *ret)
{
	void *second;

	nvmlDeviceGetHandleByIndex_v2(1, &second);
	(void)ret;
	if (!fake_is("busy") || gpu != second) {
		*count = 0;
		return OK;
	}
	if (*count < 2) {
		*count = 2;
		return 7;
	}
	return OK;
}

int
nvmlInit_v2(void)
{
	if (fake_is("hang"))
		sleep(6);
	if (fake_is("fail"))
		return NO_DRIVER;
	up++;
	return OK;
}

int
nvmlShutdown(void)
{
	up--;
	return OK;
}

const char *
nvmlErrorString(int code)
{
	return code == NO_DRIVER ? "stand-in driver not loaded" : "?";
}

int
nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **ret)
{
	unsigned bus;

	if (!up || sscanf(pci, "0000:%x:00.0", &bus) != 1)
		return INVALID;
	if (bus != 0x1a && bus != 0x1b)
		return NOT_FOUND;
	*ret = (void *)(uintptr_t)bus;
	return OK;
}

int
nvmlDeviceGetName(void *gpu, char *ret, unsigned cap)
{
	snprintf(ret, cap, "Stand-in %x", (unsigned)(uintptr_t)gpu);
	return OK;
}

/* Links 0 to 2 to each other, 3 down, 4 to the switch, no more. */
int
nvmlDeviceGetNvLinkState(void *gpu, unsigned link, int *ret)
{
	(void)gpu;
	if (link > 4)
		return NOT_SUPPORTED;
	*ret = link != 3;
	return OK;
}

int
nvmlDeviceGetNvLinkVersion(void *gpu, unsigned link, unsigned *ret)
{
	(void)gpu;
	(void)link;
	*ret = 4; /* 3.0 */
	return OK;
}

int
nvmlDeviceGetNvLinkRemotePciInfo_v2(void *gpu, unsigned link,
    struct pci_info *ret)
{
	unsigned other = (unsigned)(uintptr_t)gpu == 0x1a ? 0x1b : 0x1a;

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->bus_id, sizeof(ret->bus_id), "00000000:%02X:00.0",
	    link == 4 ? 0xc0 : other);
	return OK;
}

int
nvmlDeviceGetNvLinkRemoteDeviceType(void *gpu, unsigned link, int *ret)
{
	(void)gpu;
	*ret = link == 4 ? 2 : 0;
	return OK;
}
