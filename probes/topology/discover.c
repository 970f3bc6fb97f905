/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.c - the machine that we are on, as far as its wiring can be seen
 * without measuring: sockets and the ranks of each, or GPUs and how near they
 * are to each other.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/topology/local.h"
#include "probes/topology/machine.h"

#define SOCKETS_MAX 16

/* Sockets that have processors, 1 when the kernel says nothing. */
static uint32_t
sockets_count(const char *root)
{
	char path[400];
	uint32_t seen = 0, count = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu", root);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char text[32] = "";
		int64_t socket;
		FILE *f;

		if (strncmp(entry->d_name, "cpu", 3) != 0)
			continue;
		snprintf(path, sizeof(path),
		    "%s/sys/devices/system/cpu/%.40s/topology/"
		    "physical_package_id",
		    root, entry->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(text, sizeof(text), f) == NULL)
			text[0] = '\0';
		fclose(f);
		text[strcspn(text, "\n")] = '\0';
		if (str_to_int(text, 0, SOCKETS_MAX - 1, &socket) == 0)
			seen |= 1U << socket;
	}
	if (dir != NULL)
		closedir(dir);
	for (; seen != 0; seen &= seen - 1)
		count++;
	return count > 0 ? count : 1;
}

/* Links of one kind between all pairs of a group. */
static void
pair_add(struct strbuf *pairs, uint32_t a, uint32_t b)
{
	strbuf_addf(pairs, "%s%u-%u", pairs->len_bytes > 0 ? "," : "", a, b);
}

static void
link_add(struct strbuf *to, const char *kind, int rate, struct strbuf *pairs)
{
	if (pairs->len_bytes > 0)
		strbuf_addf(to, "[%s]\nrate = %d\npairs = %s\n", kind, rate,
		    pairs->text);
	strbuf_clear(pairs);
}

/* Ranks are dealt to sockets in blocks. Where rank i has the i-th GPU, those of
 * one PCI switch are nearest, then those of one socket; their rates only say
 * which is nearer. */
int
machine_discover(const char *root, uint32_t ranks, int gpus,
    struct machine **ret)
{
	struct local *l = xcalloc(1, sizeof(*l));
	struct err err;
	struct strbuf sb = { 0 }, near = { 0 }, far = { 0 };
	uint32_t sockets, each;
	int rc = -ERANGE;

	local_read(root, l);
	if (ranks < 1 || ranks > 256)
		goto out;
	strbuf_addf(&sb, "[node]\ndevices = %u\n", ranks);
	gpus = gpus && l->gpus_count >= (int)ranks;
	sockets = gpus ? 1 : sockets_count(root);
	each = ranks % sockets == 0 ? ranks / sockets : ranks;
	strbuf_addf(&sb, "hosts = %u\n", each == ranks ? 1 : sockets);
	for (uint32_t a = 0; a < ranks; a++)
		for (uint32_t b = a + 1; b < ranks; b++) {
			enum local_near how = gpus
			    ? local_near(&l->gpus[a].at, &l->gpus[b].at)
			    : each < ranks && b / each == a / each
			    ? LOCAL_NUMA
			    : LOCAL_SYSTEM;

			if (how <= LOCAL_SWITCHES)
				pair_add(&near, a, b);
			else if (how <= LOCAL_NUMA)
				pair_add(&far, a, b);
		}
	link_add(&sb, "pcie", 2, &near);
	link_add(&sb, "bus", 1, &far);
	rc = machine_parse("this machine", sb.text, ret, &err);
	if (rc == 0)
		(*ret)->unrated = 1;
out:
	strbuf_clear(&sb);
	free(l);
	return rc;
}
