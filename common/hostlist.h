/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostlist.h - "n[001-016,020],login1": the syntax of Slurm and pdsh.
 *
 * Limits: 65536 hosts, 255 bytes a name, letters, digits, '.', '-', '_'.
 */
#ifndef COMMON_HOSTLIST_H
#define COMMON_HOSTLIST_H

#include <stddef.h>

#include "common/err.h"

#define HOSTLIST_MAX      65536
#define HOSTLIST_NAME_MAX 255

struct hostlist {
	char **names; /* in the order written, duplicates dropped */
	size_t count;
};

/* Return 0, -EINVAL or -E2BIG; err (may be NULL) then has the reason and the
 * place. */
int hostlist_parse(const char *text, struct hostlist *ret, struct err *err);
/* The same with at most max hosts, for a text of another user: more of them are
 * -E2BIG before they take time or memory. */
int hostlist_parse_max(const char *text, size_t max, struct hostlist *ret,
    struct err *err);
/* Folds runs of equal prefix, width and suffix. The caller frees. */
char *hostlist_format(const char *const *names, size_t count);
/* 1 when the name is in the list. */
int hostlist_has(const struct hostlist *hl, const char *name);
/* 0, or -EINVAL when a name could not be a host's. */
int hostlist_name_check(const char *name);
void hostlist_clear(struct hostlist *hl); /* NULL members are allowed */
/* Human order: digits compare as numbers, so n2 < n10. */
int hostlist_compare(const char *a, const char *b);
void hostlist_sort(const char **names, size_t count);

#endif
