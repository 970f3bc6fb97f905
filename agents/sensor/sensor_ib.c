/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor_ib.c - /sys/class/infiniband/DEV/ports/N/{counters,hw_counters}.
 *
 * port_{rcv,xmit}_data count words of four octets on every lane; they are
 * also given in bytes, as all others are as the kernel names them.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "agents/sensor/sensor.h"
#include "common/str.h"

#define WORD_BYTES 4

static void
sensor_ib_device_read(const char *top, const char *dev, json_t *nics)
{
	char ports[600], dir[900], name[600];
	struct dirent *de;
	json_t *counters;
	DIR *d;

	if (str_format(ports, sizeof(ports), "%s/%s/ports", top, dev) < 0)
		return;
	d = opendir(ports);
	while (d != NULL && (de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", dev, de->d_name);
		counters = sensor_row(nics, name);
		snprintf(dir, sizeof(dir), "%s/%s/counters", ports, de->d_name);
		sensor_dir(dir, "", counters);
		snprintf(dir, sizeof(dir), "%s/%s/hw_counters", ports,
		    de->d_name);
		sensor_dir(dir, "", counters);
		sensor_bytes(counters, "port_rcv_data", "port_xmit_data",
		    WORD_BYTES);
		/* The slot is that of all ports: its errors count once. */
		snprintf(dir, sizeof(dir), "%s/%s/device", top, dev);
		if (strcmp(de->d_name, "1") == 0)
			sensor_aer(dir, counters);
	}
	if (d != NULL)
		closedir(d);
}

static void
sensor_ib_read(const char *root, json_t *nics)
{
	struct dirent *de;
	char top[400];
	DIR *d;

	snprintf(top, sizeof(top), "%s/sys/class/infiniband", root);
	d = opendir(top);
	while (d != NULL && (de = readdir(d)) != NULL)
		if (de->d_name[0] != '.')
			sensor_ib_device_read(top, de->d_name, nics);
	if (d != NULL)
		closedir(d);
}

const struct sensor sensor_ib = { "ib", sensor_ib_read };
