/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - the devices "cuda" and "hip": finding and opening one.
 */
#include "probes/device/gpu/gpu.h"
#include "probes/device/gpu/gpu_stream.h"
#include "probes/device/gpu/gpu_memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
gpu_fail(struct device *d, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->error, sizeof(d->error), fmt, ap);
	va_end(ap);
	return rc;
}

int
gpu_check(struct device *d, int code, const char *what)
{
	if (code == GPU(Success))
		return 0;
	(void)GPU(GetLastError)(); /* or the next launch reports it again */
	gpu_fail(d, 0, "%s: %s", what, GPU(GetErrorString)(code));
	switch (code) {
	case GPU_OUT_OF_MEMORY:
		return -ENOMEM;
	case GPU(ErrorInvalidValue):
		return -EINVAL;
	case GPU(ErrorNoDevice):
		return -ENODEV;
	default:
		return -EIO;
	}
}

int
gpu_use(struct device *d)
{
	return gpu_check(d, GPU(SetDevice)(d->index),
	    "cannot select the device");
}

/* The runtime may leave the count as it was, and its codes for a missing, an
 * old and a stand-in driver differ: any failure is "none", with its text. */
static int
gpu_probe(int *ret_count, struct err *err)
{
	int count = 0, code, rc = gpu_covered(err);

	*ret_count = 0;
	if (rc < 0)
		return rc;
	code = GPU(GetDeviceCount)(&count);
	if (code != GPU(Success)) {
		(void)GPU(GetLastError)();
		return err_set(err, -ENODEV, "no %s device: %s", GPU_WHAT,
		    GPU(GetErrorString)(code));
	}
	if (count <= 0)
		return err_set(err, -ENODEV, "no %s device is visible",
		    GPU_WHAT);
	*ret_count = count;
	return 0;
}

static int
gpu_open_device(int index, struct device **ret, struct err *err)
{
	struct device *d;
	int count, rc = gpu_probe(&count, err);

	if (rc < 0)
		return rc;
	if (index < 0 || index >= count)
		return err_set(err, -ENODEV,
		    GPU_NAME " has devices 0 to %d, not %d", count - 1, index);
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return -ENOMEM;
	d->index = index;
	SLIST_INIT(&d->own);
	SLIST_INIT(&d->opened);
	/* The runtime creates its context with the first call that needs one.
	 */
	rc = gpu_use(d);
	if (rc == 0)
		rc = gpu_check(d, GPU(Free)(NULL),
		    "cannot initialise the device");
	if (rc == 0)
		rc = gpu_check(d,
		    GPU(DeviceGetPCIBusId)(d->pci, sizeof(d->pci), d->index),
		    "cannot read the PCI address");
	for (char *c = d->pci; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	gpu_part(index, d->part);
	if (rc < 0) {
		err_say(err, GPU_NAME " device %d: %s", index, d->error);
		free(d);
		return rc;
	}
	*ret = d;
	return 0;
}

static void
gpu_close_device(struct device *d)
{
	if (d == NULL)
		return;
	gpu_memory_close(d);
	free(d);
}

static const char *
gpu_error(const struct device *d)
{
	return d->error;
}

static int
gpu_facts(struct device *d, struct device_facts *ret)
{
	size_t free_bytes = 0, bytes = 0;
	int khz = 0, bits = 0, rc = gpu_use(d);

	if (rc == 0)
		rc = gpu_check(d, GPU(MemGetInfo)(&free_bytes, &bytes),
		    "cannot read the memory size");
	if (rc < 0)
		return rc;
	memset(ret, 0, sizeof(*ret));
	gpu_name(d->index, d->pci, ret->name, sizeof(ret->name));
	memcpy(ret->pci, d->pci, sizeof(ret->pci));
	memcpy(ret->part, d->part, sizeof(ret->part));
	ret->memory_bytes = bytes;
	ret->free_bytes = free_bytes;
	/* Two transfers a clock, each as wide as the bus. */
	if (GPU(DeviceGetAttribute)(&khz, GPU_CLOCK_KHZ, d->index) ==
		GPU(Success) &&
	    GPU(DeviceGetAttribute)(&bits, GPU_BUS_BITS, d->index) ==
		GPU(Success))
		ret->memory_bytes_per_s = 2.0 * khz * 1e3 * bits / 8;
	return 0;
}

static const struct device_ops ops = {
	.abi = DEVICE_ABI,
	.ops_bytes = sizeof(struct device_ops),
	.name = GPU_NAME,
	.host_access = 0,
	.probe = gpu_probe,
	.open = gpu_open_device,
	.close = gpu_close_device,
	.error = gpu_error,
	.facts = gpu_facts,
	.alloc = gpu_alloc,
	.free = gpu_free,
	.host_alloc = gpu_host_alloc,
	.host_free = gpu_host_free,
	.host_pin = gpu_host_pin,
	.host_unpin = gpu_host_unpin,
	.stream_new = gpu_stream_new,
	.stream_free = gpu_stream_free,
	.stream_native = gpu_stream_native,
	.stream_sync = gpu_stream_sync,
	.copy = gpu_copy,
	.fill = gpu_fill,
	.reduce = gpu_reduce,
	.event_new = gpu_event_new,
	.event_free = gpu_event_free,
	.event_record = gpu_event_record,
	.event_query = gpu_event_query,
	.event_wait = gpu_event_wait,
	.stream_wait = gpu_stream_wait,
	.ipc_usable = gpu_ipc_usable,
	.ipc_export = gpu_ipc_export,
	.ipc_open = gpu_ipc_open,
	.ipc_close = gpu_ipc_close,
};

device_entry_fn device_entry __attribute__((visibility("default")));

const struct device_ops *
device_entry(uint32_t abi)
{
	return abi == DEVICE_ABI ? &ops : NULL;
}
