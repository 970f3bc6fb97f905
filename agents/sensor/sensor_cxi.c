/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor_cxi.c - Slingshot: /sys/class/cxi/DEV/device/telemetry/NAME, each
 * "VALUE@SECONDS.NANOSECONDS". Names are the device's own.
 */
#include <dirent.h>
#include <stdio.h>

#include "agents/sensor/sensor.h"

static void
cxi_read(const char *root, json_t *nics)
{
	struct dirent *de;
	char top[400], dir[800];
	DIR *d;

	snprintf(top, sizeof(top), "%s/sys/class/cxi", root);
	d = opendir(top);
	while (d != NULL && (de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		snprintf(dir, sizeof(dir), "%s/%s/device/telemetry", top,
		    de->d_name);
		sensor_dir(dir, "", sensor_row(nics, de->d_name));
	}
	if (d != NULL)
		closedir(d);
}

const struct sensor sensor_cxi = { "cxi", cxi_read };
