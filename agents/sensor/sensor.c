/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor.c - values of files, and rows of counters.
 */
#include "agents/sensor/sensor.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/text.h"

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
