/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor.c - what the sensors have in common.
 */
#include "agents/sensor/sensor.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/sensor/device.h"
#include "agents/sensor/qdisc.h"
#include "common/member.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/text.h"

/* About 400 bytes each in a message. */
#define DEVICES_MAX 1000

static void
sensor_device_cb(const struct device *d, void *arg)
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
sensor_read(const char *root)
{
	json_t *nics = json_array();

	device_walk(root, sensor_device_cb, nics);
	if (root[0] == '\0')
		qdisc_read(nics);
	return nics;
}

int
sensor_file(const char *dir, const char *file, int64_t *ret)
{
	char text[64];

	if (sysfs_text(dir, file, text, sizeof(text)) < 0)
		return -ENOENT;
	/* Slingshot's telemetry adds "@seconds" */
	text[strcspn(text, "@\n")] = '\0';
	return str_to_int(text, INT64_MIN, INT64_MAX, ret) < 0 ? -EPROTO : 0;
}

json_t *
sensor_row(json_t *nics, const char *nic)
{
	json_t *counters = json_object();

	json_array_append_new(nics,
	    json_pack("{s:o, s:o}", "nic", text_json(nic), "counters",
		counters));
	return counters;
}

json_t *
sensor_counters(json_t *nics, const char *nic)
{
	json_t *row;
	size_t i;

	json_array_foreach (nics, i, row)
		if (strcmp(member_text(row, "nic"), nic) == 0)
			return json_object_get(row, "counters");
	return NULL;
}

void
sensor_dir(const char *dir, const char *prefix, json_t *counters)
{
	struct dirent *de;
	char name[300];
	int64_t value;
	DIR *d = opendir(dir);

	while (d != NULL && (de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.' ||
		    sensor_file(dir, de->d_name, &value) < 0)
			continue;
		snprintf(name, sizeof(name), "%s%s", prefix, de->d_name);
		json_object_set_new(counters, name, json_integer(value));
	}
	if (d != NULL)
		closedir(d);
}

int
sensor_words(const char *dir, const char *file, const char *word, int64_t *ret)
{
	char text[4096];
	const char *at = text;

	if (sysfs_text(dir, file, text, sizeof(text)) < 0)
		return -ENOENT;
	while ((at = strstr(at, word)) != NULL && at != text && at[-1] != '\n')
		at++;
	return at == NULL || sscanf(at + strlen(word), "%" SCNd64, ret) != 1
	    ? -EPROTO
	    : 0;
}

void
sensor_aer(const char *device, json_t *counters)
{
	static const char *const rows[][3] = {
		{ "aer_dev_correctable", "TOTAL_ERR_COR", "aer_correctable" },
		{ "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", "aer_nonfatal" },
		{ "aer_dev_fatal", "TOTAL_ERR_FATAL", "aer_fatal" },
	};
	int64_t value;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (sensor_words(device, rows[i][0], rows[i][1], &value) == 0)
			json_object_set_new(counters, rows[i][2],
			    json_integer(value));
}
