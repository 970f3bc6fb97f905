/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_memory.c - allocations, local and shared by other processes.
 *
 * A vendor's handle alone does not identify an allocation (on HIP several
 * handles open the same memory), so it is sent with the owner's process and a
 * serial number, by which open allocations are found. Only plain allocations
 * can be shared: pools and managed memory cannot.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "probes/device/gpu/gpu_memory.h"
#include "common/err.h"
#include "probes/device/gpu/gpu.h"

#define HANDLE_MAGIC 0x31766367 /* "gcv1" */

struct handle {
	uint32_t magic;
	int32_t pid;
	uint64_t process; /* a random number of the owner's: pids come again */
	uint64_t serial;
	GPU(IpcMemHandle_t) native;
};
_Static_assert(sizeof(struct handle) <= DEVICE_IPC_BYTES, "fits");

struct gpu_area {
	SLIST_ENTRY(gpu_area) next;
	void *base;
	struct handle handle; /* of our own: without native */
	int opens;            /* of another's: how often */
};

static uint64_t
gpu_memory_this_process(void)
{
	static uint64_t number;

	while (number == 0)
		if (getrandom(&number, sizeof(number), 0) < 0)
			number = (uint64_t)getpid();
	return number;
}

static struct gpu_area *
gpu_memory_find(struct gpu_areas *list, const void *base)
{
	struct gpu_area *a;

	SLIST_FOREACH (a, list, next)
		if (a->base == base)
			return a;
	return NULL;
}

/* ---- our own ---- */

int
gpu_alloc(struct device *d, uint64_t bytes, void **ret_base)
{
	struct gpu_area *a;
	int rc;

	if (bytes == 0 || bytes > PLAN_BYTES_MAX)
		return gpu_fail(d, -EINVAL, "invalid allocation of %llu bytes",
		    (unsigned long long)bytes);
	bytes = (bytes + DEVICE_GRAIN_BYTES - 1) & ~(DEVICE_GRAIN_BYTES - 1);
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return -ENOMEM;
	rc = gpu_use(d);
	if (rc == 0)
		rc = gpu_check(d, GPU(Malloc)(&a->base, bytes), "allocating");
	if (rc < 0) {
		free(a);
		return rc;
	}
	a->handle = (struct handle){ .magic = HANDLE_MAGIC,
		.pid = getpid(),
		.process = gpu_memory_this_process(),
		.serial = ++d->serial };
	SLIST_INSERT_HEAD(&d->own, a, next);
	*ret_base = a->base;
	return 0;
}

void
gpu_free(struct device *d, void *base)
{
	struct gpu_area *a = gpu_memory_find(&d->own, base);

	if (a == NULL)
		return;
	gpu_use(d);
	SLIST_REMOVE(&d->own, a, gpu_area, next);
	gpu_check(d, GPU(Free)(a->base), "freeing");
	free(a);
}

int
gpu_host_alloc(struct device *d, uint64_t bytes, void **ret_base)
{
	int rc = gpu_use(d);

	if (rc == 0 && bytes == 0)
		return gpu_fail(d, -EINVAL, "invalid allocation of 0 bytes");
	if (rc == 0)
		rc = gpu_check(d, GPU_HOST_ALLOC(ret_base, bytes, 0),
		    "cannot allocate pinned memory");
	return rc;
}

void
gpu_host_free(struct device *d, void *base)
{
	if (base == NULL)
		return;
	gpu_use(d);
	gpu_check(d, GPU_HOST_FREE(base), "cannot free pinned memory");
}

/* Device and host have one address for it. */
int
gpu_host_pin(struct device *d, void *base, uint64_t bytes)
{
	int rc = gpu_use(d);

	return rc == 0 ? gpu_check(d, GPU(HostRegister)(base, bytes, 0),
			     "cannot pin memory")
		       : rc;
}

void
gpu_host_unpin(struct device *d, void *base)
{
	gpu_use(d);
	gpu_check(d, GPU(HostUnregister)(base), "cannot unpin memory");
}

/* ---- others' ---- */

int
gpu_ipc_usable(struct device *d, const char *pci, const char *part,
    struct err *err)
{
	int here = -1, can = 0;

	if (strcmp(pci, d->pci) == 0 && strcmp(part, d->part) == 0)
		return 0;
	if (strcmp(pci, d->pci) == 0)
		return err_set(err, -ENOTSUP,
		    "%s is partitioned (MIG); its instances cannot access each "
		    "other's memory",
		    pci);
	/* A device hidden from this process can still be opened by handle. */
	if (GPU(DeviceGetByPCIBusId)(&here, pci) != GPU(Success)) {
		(void)GPU(GetLastError)();
		return 0;
	}
	if (GPU(DeviceCanAccessPeer)(&can, d->index, here) == GPU(Success) &&
	    can)
		return 0;
	(void)GPU(GetLastError)();
	return err_set(err, -ENOTSUP,
	    "%s cannot access the memory of %s: no peer access", d->pci, pci);
}

int
gpu_ipc_export(struct device *d, void *base, struct device_ipc *ret)
{
	struct gpu_area *a = gpu_memory_find(&d->own, base);
	struct handle h;
	int rc;

	if (a == NULL)
		return gpu_fail(d, -EINVAL,
		    "%p is not the base of an allocation", base);
	h = a->handle;
	rc = gpu_use(d);
	if (rc == 0)
		rc = gpu_check(d, GPU(IpcGetMemHandle)(&h.native, base),
		    "exporting");
	if (rc < 0)
		return rc;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->bytes, &h, sizeof(h));
	return 0;
}

static int
gpu_memory_map(struct device *d, struct gpu_area *a)
{
	int code, rc = gpu_use(d);

	if (rc < 0)
		return rc;
	code = GPU(IpcOpenMemHandle)(&a->base, a->handle.native,
	    GPU(IpcMemLazyEnablePeerAccess));
	rc = gpu_check(d, code, "cannot open memory of another process");
	if (code == GPU_PEER_REFUSED)
		return -ENOTSUP;
	/* The handle is well formed. */
	if (rc == -EINVAL || code == GPU(ErrorInvalidResourceHandle))
		return gpu_fail(d, -ESTALE,
		    "cannot open memory of another process: %s: it was freed, "
		    "or "
		    "a control group hides its GPU from this process (Slurm: "
		    "--gpu-bind=none)",
		    GPU(GetErrorString)(code));
	return rc;
}

int
gpu_ipc_open(struct device *d, const struct device_ipc *handle, void **ret_base)
{
	struct gpu_area *a;
	struct handle h;
	int rc;

	memcpy(&h, handle->bytes, sizeof(h));
	if (h.magic != HANDLE_MAGIC)
		return gpu_fail(d, -EINVAL, "not a handle of %s memory",
		    GPU_WHAT);
	if (h.pid == getpid() && h.process == gpu_memory_this_process())
		return gpu_fail(d, -EINVAL,
		    "a handle cannot be opened by the process that exported "
		    "it");
	SLIST_FOREACH (a, &d->opened, next)
		if (a->handle.pid == h.pid && a->handle.process == h.process &&
		    a->handle.serial == h.serial)
			break;
	if (a == NULL) {
		a = calloc(1, sizeof(*a));
		if (a == NULL)
			return -ENOMEM;
		a->handle = h;
		rc = gpu_memory_map(d, a);
		if (rc < 0) {
			free(a);
			return rc;
		}
		SLIST_INSERT_HEAD(&d->opened, a, next);
	}
	a->opens++;
	*ret_base = a->base;
	return 0;
}

int
gpu_ipc_close(struct device *d, void *base)
{
	struct gpu_area *a = gpu_memory_find(&d->opened, base);

	if (a == NULL)
		return gpu_fail(d, -EINVAL, "%p is not an opened handle", base);
	if (--a->opens > 0)
		return 0;
	SLIST_REMOVE(&d->opened, a, gpu_area, next);
	free(a);
	gpu_use(d);
	return gpu_check(d, GPU(IpcCloseMemHandle)(base),
	    "cannot close memory of another process");
}

void
gpu_memory_close(struct device *d)
{
	while (!SLIST_EMPTY(&d->opened)) {
		SLIST_FIRST(&d->opened)->opens = 1;
		gpu_ipc_close(d, SLIST_FIRST(&d->opened)->base);
	}
	while (!SLIST_EMPTY(&d->own))
		gpu_free(d, SLIST_FIRST(&d->own)->base);
}
