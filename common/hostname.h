/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostname.h - decide whether two names are one host.
 *
 * Some programs call a host by its full name, others by its short name. Names
 * that differ only by their domain are one host, unless several hosts have the
 * same short name; then only equal names are. Case does not matter in the short
 * name. A name that begins with a number and a dot is an address and has no
 * domain.
 */
#ifndef COMMON_HOSTNAME_H
#define COMMON_HOSTNAME_H

#include <stddef.h>
#include <stdint.h>

/* Return 1 if the names differ at most by their domain, 0 if not. */
int hostname_is_same(const char *a, const char *b);

/* The names of the hosts that one program knows, each with a value. */
struct hostname_set;

#define HOSTNAME_NONE SIZE_MAX

/* Return an empty set, which the caller frees. */
struct hostname_set *hostname_set_new(void);
void hostname_set_free(struct hostname_set *s); /* s can be NULL */
/* Add a name, which must outlive the set. value must not be HOSTNAME_NONE. */
void hostname_set_add(struct hostname_set *s, const char *name, size_t value);
/* Return the value of the host that another program calls name, or
 * HOSTNAME_NONE if it is not in the set or is ambiguous. */
size_t hostname_set_find(const struct hostname_set *s, const char *name);
/* Return 1 if no other name in the set has the same short name, so that another
 * program can call this host by its short name; 0 if not. */
int hostname_set_is_alone(const struct hostname_set *s, const char *name);

#endif
