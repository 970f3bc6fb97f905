/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - a machine's /sys and /proc made of a few files in a temporary
 * directory.
 */
#ifndef TESTS_UNIT_TREE_H
#define TESTS_UNIT_TREE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree[64];

static inline int
tree_setup(void **state)
{
	(void)state;
	snprintf(tree, sizeof(tree), "/tmp/coalmine-tree-XXXXXX");
	return mkdtemp(tree) == NULL ? -1 : 0;
}

static inline int
tree_teardown(void **state)
{
	char cmd[128];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", tree);
	return system(cmd);
}

/* Make the directories of tree/path, its last part not. */
static inline void
tree_dirs(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", tree, path);
	for (char *c = full + strlen(tree) + 1; *c != '\0'; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		if (mkdir(full, 0755) < 0 && errno != EEXIST)
			abort();
		*c = '/';
	}
}

static inline void
tree_put(const char *path, const char *text)
{
	char full[512];
	FILE *fp;

	tree_dirs(path);
	snprintf(full, sizeof(full), "%s/%s", tree, path);
	fp = fopen(full, "we");
	if (fp == NULL || fputs(text, fp) < 0 || fclose(fp) != 0)
		abort();
}

static inline void __attribute__((format(printf, 2, 3)))
tree_putf(const char *path, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) >= (int)sizeof(text))
		abort();
	va_end(ap);
	tree_put(path, text);
}

static inline void
tree_link(const char *path, const char *to)
{
	char full[512];

	tree_dirs(path);
	snprintf(full, sizeof(full), "%s/%s", tree, path);
	if (symlink(to, full) < 0)
		abort();
}

#endif
