/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostname.h - when two names are one host.
 *
 * Some programs call a host by its full name and others by the short one. Names
 * that differ by their domain alone are one host, unless several hosts have the
 * same short name: then only equal names are. Case does not matter for the
 * short name. A name that begins with a number and a dot is an address and has
 * no domain.
 */
#ifndef COMMON_HOSTNAME_H
#define COMMON_HOSTNAME_H

#include <stddef.h>
#include <stdint.h>

/* 1 when the names differ by their domain at most. */
int hostname_is_same(const char *a, const char *b);

/* Names of one program, each with a value. */
struct hostname_set;

#define HOSTNAME_NONE SIZE_MAX

struct hostname_set *hostname_set_new(void);
void hostname_set_free(struct hostname_set *s); /* NULL is allowed */
/* name must outlive the set; value is not HOSTNAME_NONE. */
void hostname_set_add(struct hostname_set *s, const char *name, size_t value);
/* Return the value of the host that another program calls name, or
 * HOSTNAME_NONE if it is not in the set or is ambiguous. */
size_t hostname_set_find(const struct hostname_set *s, const char *name);
/* 1 when the set has no other name with the same short name, so that another
 * program may mean name by it. */
int hostname_set_is_alone(const struct hostname_set *s, const char *name);

#endif
