/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostlist.h - lists of hosts, "n[001-016,020],login1", in the syntax of Slurm
 * and pdsh.
 *
 * Limits: 65536 hosts; 255 bytes per name; letters, digits, '.', '-', '_'.
 */
#ifndef COMMON_HOSTLIST_H
#define COMMON_HOSTLIST_H

#include <stddef.h>

#include "common/err.h"

#define HOSTLIST_MAX      65536
#define HOSTLIST_NAME_MAX 255

/* A parsed list. */
struct hostlist {
	char **names; /* in the order written, duplicates dropped */
	size_t count;
};

/* Parse a list. Return 0 and the names, which the caller frees with
 * hostlist_clear; or -EINVAL or -E2BIG, with the reason and the place in err,
 * which can be NULL. */
int hostlist_parse(const char *text, struct hostlist *ret, struct err *err);
/* Parse a list as hostlist_parse does, with at most max hosts, for a text of
 * another user: a longer list is rejected with -E2BIG before it takes time or
 * memory. */
int hostlist_parse_max(const char *text, size_t max, struct hostlist *ret,
    struct err *err);
/* Return names as a list, in which names with the same prefix, width and suffix
 * are folded; the caller frees it. */
char *hostlist_format(const char *const *names, size_t count);
/* Return 1 if the name is in the list, 0 if not. */
int hostlist_has(const struct hostlist *hl, const char *name);
/* Return 0, or -EINVAL if the name is not a valid name of a host. */
int hostlist_name_check(const char *name);
/* Free the names, which can be NULL. */
void hostlist_clear(struct hostlist *hl);
/* Compare names in natural order, in which digits compare as numbers: n2 < n10.
 * The result is as of strcmp. */
int hostlist_compare(const char *a, const char *b);
/* Sort names in natural order. */
void hostlist_sort(const char **names, size_t count);

#endif
