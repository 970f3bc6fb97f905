/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - a class of devices is a row: where its counters are. The counters
 * of bytes are rows as well, for drivers name them differently.
 */
#include "agents/sensor/device.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/sensor/sensor.h"
#include "common/str.h"
#include "common/sysfs.h"

#define FOLDERS_MAX 3

/* Of the two dozen that the kernel keeps of an interface. */
static const char *const net_names[] = { "rx_bytes", "tx_bytes", "rx_packets",
	"tx_packets", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors",
	"rx_missed_errors", "rx_over_errors", "rx_crc_errors",
	"rx_frame_errors", "tx_carrier_errors", "collisions", "multicast",
	NULL };

static const struct {
	const char *name; /* below /sys/class */
	int has_ports;    /* ports/N below the device */
	const char *folders[FOLDERS_MAX];
	const char *const *counters; /* NULL: all files of the folders */
} classes[DEVICE_CLASS_MAX] = {
	[DEVICE_NET] = { "net", 0, { "statistics" }, net_names },
	/* the last: Intel's drivers count for the device */
	[DEVICE_RDMA] = { "infiniband", 1,
	    { "counters", "hw_counters", "../../hw_counters" }, NULL },
	/* each "VALUE@SECONDS.NANOSECONDS" */
	[DEVICE_CXI] = { "cxi", 0, { "device/telemetry" }, NULL },
};

/* Counters of bytes by class and driver: the first driver whose counters a port
 * has, and the sum of its rows. Few files are opened, as every heartbeat asks.
 */
static const struct {
	enum device_class class;
	const char *driver, *rx, *tx;
	int unit_bytes;
	int folder; /* of the class, or the one behind it */
} bytes_rows[] = {
	{ DEVICE_NET, "", "rx_bytes", "tx_bytes", 1, 0 },
	{ DEVICE_CXI, "cxi", "hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets", 1,
	    0 },
	{ DEVICE_RDMA, "efa, bnxt_re", "rx_bytes", "tx_bytes", 1, 1 },
	/* words of four octets on every lane */
	{ DEVICE_RDMA, "mlx5, hfi1", "port_rcv_data", "port_xmit_data", 4, 0 },
	{ DEVICE_RDMA, "irdma", "ip4InOctets", "ip4OutOctets", 1, 1 },
	{ DEVICE_RDMA, "irdma", "ip6InOctets", "ip6OutOctets", 1, 1 },
	{ DEVICE_RDMA, "erdma", "hw_rx_bytes_cnt", "hw_tx_bytes_cnt", 1, 1 },
	{ DEVICE_RDMA, "ionic", "rx_rdma_ucast_bytes", "tx_rdma_ucast_bytes", 1,
	    1 },
	{ DEVICE_RDMA, "ionic", "rx_rdma_mcast_bytes", "tx_rdma_mcast_bytes", 1,
	    1 },
};

static int
device_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* List the folders in a folder, sorted by name; -1 if it does not exist. The
 * bonding module puts a regular file among the interfaces. */
static int
device_folders(const char *dir, struct dirent ***ret)
{
	char path[DEVICE_PATH_BYTES];
	struct dirent **all;
	int n = scandir(dir, &all, NULL, versionsort), count = 0;

	for (int i = 0; i < n; i++) {
		if (all[i]->d_name[0] != '.' &&
		    str_format(path, sizeof(path), "%s/%s", dir,
			all[i]->d_name) >= 0 &&
		    device_is_folder(path))
			all[count++] = all[i];
		else
			free(all[i]);
	}
	*ret = n < 0 ? NULL : all;
	return n < 0 ? -1 : count;
}

static void
device_ports_walk(struct device *d, const char *top, device_cb *each, void *arg)
{
	struct dirent **ports;
	char dir[DEVICE_PATH_BYTES];
	int n;

	if (str_format(dir, sizeof(dir), "%s/ports", top) < 0)
		return;
	n = device_folders(dir, &ports);
	for (int i = 0; i < n; free(ports[i++])) {
		d->is_first = i == 0;
		if (str_format(d->port, sizeof(d->port), "%s",
			ports[i]->d_name) >= 0 &&
		    str_format(d->label, sizeof(d->label), "%s/%s", d->name,
			d->port) >= 0 &&
		    str_format(d->dir, sizeof(d->dir), "%s/%s", dir, d->port) >=
			0)
			each(d, arg);
	}
	free(ports);
}

void
device_walk(const char *root, device_cb *each, void *arg)
{
	for (int class = 0; class < DEVICE_CLASS_MAX; class ++) {
		char top[DEVICE_PATH_BYTES], dir[DEVICE_PATH_BYTES];
		struct dirent **names = NULL;
		int n = -1;

		if (str_format(top, sizeof(top), "%s/sys/class/%s", root,
			classes[class].name) >= 0)
			n = device_folders(top, &names);
		for (int i = 0; i < n; free(names[i++])) {
			struct device d = { .class = (enum device_class) class,
				.is_first = 1 };
			const char *name = names[i]->d_name;

			if (strcmp(name, "lo") == 0 ||
			    str_format(d.name, sizeof(d.name), "%s", name) <
				0 ||
			    str_format(dir, sizeof(dir), "%s/%s", top, name) <
				0 ||
			    str_format(d.slot, sizeof(d.slot), "%s/device",
				dir) < 0)
				continue;
			d.is_hardware = class != DEVICE_NET ||
			    access(d.slot, F_OK) == 0;
			if (classes[class].has_ports) {
				device_ports_walk(&d, dir, each, arg);
				continue;
			}
			strcpy(d.label, d.name);
			strcpy(d.dir, dir);
			each(&d, arg);
		}
		free(names);
	}
}

/* Return the folder of a port; counters of the whole device belong to the first
 * port. */
static const char *
device_folder(const struct device *d, int i)
{
	const char *folder = classes[d->class].folders[i];

	return folder != NULL && folder[0] == '.' && !d->is_first ? NULL
								  : folder;
}

/* One counter of a port, from the given folder or one behind it. */
static int
device_counter(const struct device *d, int first, const char *name,
    int64_t *ret)
{
	char dir[DEVICE_PATH_BYTES];

	for (int i = first; i < FOLDERS_MAX; i++)
		if (device_folder(d, i) != NULL &&
		    str_format(dir, sizeof(dir), "%s/%s", d->dir,
			device_folder(d, i)) >= 0 &&
		    sensor_file(dir, name, ret) == 0)
			return 0;
	return -ENOENT;
}

/* -1: the port has no such counters. */
static int64_t
device_bytes_sum(const struct device *d, int is_tx)
{
	const char *driver = NULL;
	int64_t sum = -1, n;

	for (size_t i = 0; i < ARRAY_LEN(bytes_rows); i++) {
		int64_t unit = bytes_rows[i].unit_bytes;

		if (bytes_rows[i].class != d->class ||
		    (driver != NULL &&
			strcmp(driver, bytes_rows[i].driver) != 0) ||
		    device_counter(d, bytes_rows[i].folder,
			is_tx ? bytes_rows[i].tx : bytes_rows[i].rx, &n) < 0 ||
		    n < 0 || n > INT64_MAX / 4 / unit)
			continue;
		driver = bytes_rows[i].driver;
		sum = (sum < 0 ? 0 : sum) + n * unit;
	}
	return sum;
}

int
device_bytes(const struct device *d, int64_t *ret_rx, int64_t *ret_tx)
{
	int64_t rx = device_bytes_sum(d, 0), tx = device_bytes_sum(d, 1);

	if (rx < 0 || tx < 0)
		return -ENOENT;
	*ret_rx = rx;
	*ret_tx = tx;
	return 0;
}

void
device_counters(const struct device *d, json_t *counters)
{
	const char *const *name = classes[d->class].counters;
	char dir[DEVICE_PATH_BYTES];
	int64_t value;

	for (int i = 0; name == NULL && i < FOLDERS_MAX; i++)
		if (device_folder(d, i) != NULL &&
		    str_format(dir, sizeof(dir), "%s/%s", d->dir,
			device_folder(d, i)) >= 0)
			sensor_dir(dir, "", counters);
	for (; name != NULL && *name != NULL; name++)
		if (device_counter(d, 0, *name, &value) == 0)
			json_object_set_new(counters, *name,
			    json_integer(value));
	for (int is_tx = 0; is_tx <= 1; is_tx++) {
		value = device_bytes_sum(d, is_tx);
		if (value >= 0)
			json_object_set_new(counters,
			    is_tx ? "tx_bytes" : "rx_bytes",
			    json_integer(value));
	}
	if (d->class == DEVICE_NET &&
	    sysfs_int(d->dir, "carrier_changes", &value) == 0)
		json_object_set_new(counters, "carrier_changes",
		    json_integer(value));
}

/* The speed of an interface, Mbit/s. */
static double
device_net_rate_bps(const char *dir)
{
	int64_t mbit;

	return sysfs_int(dir, "speed", &mbit) == 0 && mbit > 0
	    ? (double)mbit * 1e6
	    : 0;
}

double
device_rate_bps(const struct device *d)
{
	char dir[DEVICE_PATH_BYTES], path[DEVICE_PATH_BYTES], text[64];
	struct dirent **names = NULL;
	double rate = 0;
	int n = -1;

	switch (d->class) {
	case DEVICE_NET:
		/* The speed that a virtual device reports has no meaning. */
		return d->is_hardware ? device_net_rate_bps(d->dir) : 0;
	case DEVICE_RDMA: /* "200 Gb/sec (4X HDR)" */
		(void)sysfs_line(d->dir, "rate", text, sizeof(text));
		rate = atof(text) * 1e9;
		return rate > 0 ? rate : 0;
	case DEVICE_CXI: /* by its interface */
	default:
		if (str_format(dir, sizeof(dir), "%s/net", d->slot) >= 0)
			n = device_folders(dir, &names);
		for (int i = 0; i < n; free(names[i++]))
			if (rate <= 0 &&
			    str_format(path, sizeof(path), "%s/%s", dir,
				names[i]->d_name) >= 0)
				rate = device_net_rate_bps(path);
		free(names);
		return rate;
	}
}
