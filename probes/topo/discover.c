/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.c - the machine that we are on, as far as its wiring can be seen
 * without measuring: sockets, and the ranks of each.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "probes/topo/machine.h"

#define SOCKETS_MAX 16

static int
read_number(const char *path, int64_t *ret)
{
	char text[32] = "";
	FILE *f = fopen(path, "r");

	if (f == NULL)
		return -errno;
	if (fgets(text, sizeof(text), f) == NULL)
		text[0] = '\0';
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return str_to_int(text, 0, SOCKETS_MAX - 1, ret);
}

/* Sockets that have processors, 1 when the kernel says nothing. */
static uint32_t
sockets_count(const char *root)
{
	char path[400];
	uint32_t seen = 0, count = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/devices/system/cpu", root);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int64_t socket;

		if (strncmp(entry->d_name, "cpu", 3) != 0)
			continue;
		snprintf(path, sizeof(path),
		    "%s/devices/system/cpu/%.40s/topology/physical_package_id",
		    root, entry->d_name);
		if (read_number(path, &socket) == 0)
			seen |= 1U << socket;
	}
	if (dir != NULL)
		closedir(dir);
	for (; seen != 0; seen &= seen - 1)
		count++;
	return count > 0 ? count : 1;
}

int
machine_discover(const char *root, uint32_t ranks, struct machine **ret)
{
	uint32_t sockets = sockets_count(root), each;
	char why[MACHINE_WHY_BYTES];
	struct strbuf sb = { 0 };
	int rc;

	if (ranks < 1 || ranks > 256)
		return -ERANGE;
	each = ranks % sockets == 0 ? ranks / sockets : ranks;
	strbuf_addf(&sb, "[node]\ndevices = %u\nhosts = %u\n", ranks,
	    each == ranks ? 1 : sockets);
	if (each > 1 && each < ranks) {
		strbuf_addf(&sb, "[bus]\nrate = 1\npairs = ");
		for (uint32_t a = 0; a < ranks; a++)
			for (uint32_t b = a + 1; b / each == a / each; b++)
				strbuf_addf(&sb, "%s%u-%u", b > 1 ? "," : "", a,
				    b);
		strbuf_addf(&sb, "\n");
	}
	rc = machine_parse("this machine", sb.text, ret, why, sizeof(why));
	strbuf_clear(&sb);
	if (rc == 0)
		(*ret)->unrated = 1;
	return rc;
}
