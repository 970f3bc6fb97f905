/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nics.c - a row for every port of the table of devices.
 */
#include "agents/sensor/nics.h"

#include <stdio.h>
#include <unistd.h>

#include "agents/sensor/device.h"
#include "agents/sensor/qdisc.h"
#include "agents/sensor/sensor.h"

/* About 400 bytes each in a message. */
#define DEVICES_MAX 1000

static void
nics_device_cb(const struct device *d, void *arg)
{
	json_t *nics = arg, *counters;
	char path[DEVICE_PATH_BYTES + 16];
	int is_rdma;

	if (json_array_size(nics) >= DEVICES_MAX)
		return;
	counters = sensor_row(nics, d->label);
	device_counters(d, counters);
	/* The errors of a slot count once: of all its ports with the first,
	 * and of an interface with its RDMA device. */
	snprintf(path, sizeof(path), "%s/infiniband", d->slot);
	is_rdma = access(path, F_OK) == 0;
	snprintf(path, sizeof(path), "%s/cxi", d->slot);
	is_rdma |= access(path, F_OK) == 0;
	if (d->is_first && (d->class != DEVICE_NET || !is_rdma))
		sensor_aer(d->slot, counters);
}

json_t *
nics_read(const char *root)
{
	json_t *nics = json_array();

	device_walk(root, nics_device_cb, nics);
	if (root[0] == '\0')
		qdisc_read(nics);
	return nics;
}
