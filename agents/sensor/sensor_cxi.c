/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor_cxi.c - Slingshot: /sys/class/cxi/DEV/device/telemetry/NAME, each
 * "VALUE@SECONDS.NANOSECONDS", the octets of good frames among them.
 */
#include <dirent.h>
#include <stdio.h>

#include "agents/sensor/sensor.h"

static void
sensor_cxi_read(const char *root, json_t *nics)
{
	struct dirent *de;
	char top[400], dir[800];
	json_t *counters;
	DIR *d;

	snprintf(top, sizeof(top), "%s/sys/class/cxi", root);
	d = opendir(top);
	while (d != NULL && (de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		snprintf(dir, sizeof(dir), "%s/%s/device/telemetry", top,
		    de->d_name);
		counters = sensor_row(nics, de->d_name);
		sensor_dir(dir, "", counters);
		sensor_bytes(counters, "hni_sts_rx_ok_octets",
		    "hni_sts_tx_ok_octets", 1);
		snprintf(dir, sizeof(dir), "%s/%s/device", top, de->d_name);
		sensor_aer(dir, counters);
	}
	if (d != NULL)
		closedir(d);
}

const struct sensor sensor_cxi = { "cxi", sensor_cxi_read };
