/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plugin.c - NAME FOLDER: a shipped plugin, with the vendor's own runtime,
 * on any machine: it loads, and it has devices or reports why not.
 */
#include "common/err.h"
#include "probes/device/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
wrong(const char *what)
{
	fprintf(stderr, "%s\n", what);
	return 1;
}

int
main(int argc, char **argv)
{
	const struct device_ops *ops = NULL;
	char path[512];
	struct err err = { 0 };
	struct device *d = NULL;
	int count = -1, rc;

	if (argc != 3)
		return wrong("usage: test_device_plugin NAME FOLDER");
	setenv("COALMINE_PLUGIN_DIR", argv[2], 1);
	snprintf(path, sizeof(path), "%s/coalmine-device-%s.so", argv[2],
	    argv[1]);
	if (access(path, R_OK) < 0) {
		printf("skipped: %s was not built here\n", argv[1]);
		return 77;
	}
	if (device_find(argv[1], &ops, &err) < 0)
		return wrong(err.text);
	if (strcmp(ops->name, argv[1]) != 0)
		return wrong("another name");
	rc = ops->probe(&count, &err);
	printf("%s: %d devices%s%s\n", argv[1], count, rc < 0 ? ", " : "",
	    err.text);
	if (rc == 0)
		return count > 0 ? 0 : wrong("no error, and no device");
	if (rc != -ENODEV || count != 0 || err.text[0] == '\0')
		return wrong("no device, and no reason");
	return ops->open(0, &d, &err) == -ENODEV
	    ? 0
	    : wrong("opened a missing device");
}
