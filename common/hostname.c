/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostname.c - the set is a hash table by short name, so that all names of one
 * short name are found in one search.
 */
#include "common/hostname.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/xalloc.h"

struct entry {
	const char *name; /* NULL: free */
	size_t value;
};

struct hostname_set {
	struct entry *slots; /* open addressing */
	size_t slot_count;   /* a power of two, at least twice count */
	size_t count;
};

/* Bytes of the name without its domain. */
static size_t
hostname_short_bytes(const char *name)
{
	size_t bytes = strcspn(name, ".");

	return bytes > 0 && strspn(name, "0123456789") == bytes ? strlen(name)
								: bytes;
}

int
hostname_is_same(const char *a, const char *b)
{
	size_t bytes = hostname_short_bytes(a);

	return bytes == hostname_short_bytes(b) &&
	    strncasecmp(a, b, bytes) == 0;
}

struct hostname_set *
hostname_set_new(void)
{
	struct hostname_set *s = xcalloc(1, sizeof(*s));

	s->slot_count = 64;
	s->slots = xcalloc(s->slot_count, sizeof(*s->slots));
	return s;
}

void
hostname_set_free(struct hostname_set *s)
{
	if (s == NULL)
		return;
	free(s->slots);
	free(s);
}

/* Where the search for a name begins. */
static size_t
hostname_slot(const struct hostname_set *s, const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL; /* FNV-1a */
	size_t bytes = hostname_short_bytes(name);

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ (uint64_t)tolower((unsigned char)name[i])) *
		    0x100000001b3ULL;
	return (size_t)(h ^ h >> 32) & (s->slot_count - 1);
}

void
hostname_set_add(struct hostname_set *s, const char *name, size_t value)
{
	struct entry *old = s->slots;
	size_t had = s->slot_count, i;

	if ((s->count + 1) * 2 > s->slot_count) {
		s->slot_count *= 2;
		s->slots = xcalloc(s->slot_count, sizeof(*s->slots));
		s->count = 0;
		for (i = 0; i < had; i++)
			if (old[i].name != NULL)
				hostname_set_add(s, old[i].name, old[i].value);
		free(old);
	}
	for (i = hostname_slot(s, name); s->slots[i].name != NULL;)
		i = (i + 1) & (s->slot_count - 1);
	s->slots[i] = (struct entry){ name, value };
	s->count++;
}

size_t
hostname_set_find(const struct hostname_set *s, const char *name)
{
	size_t same = 0, value = HOSTNAME_NONE;

	for (size_t i = hostname_slot(s, name); s->slots[i].name != NULL;
	     i = (i + 1) & (s->slot_count - 1)) {
		if (strcmp(s->slots[i].name, name) == 0)
			return s->slots[i].value;
		if (hostname_is_same(s->slots[i].name, name)) {
			value = s->slots[i].value;
			same++;
		}
	}
	return same == 1 ? value : HOSTNAME_NONE;
}

int
hostname_set_is_alone(const struct hostname_set *s, const char *name)
{
	for (size_t i = hostname_slot(s, name); s->slots[i].name != NULL;
	     i = (i + 1) & (s->slot_count - 1))
		if (strcmp(s->slots[i].name, name) != 0 &&
		    hostname_is_same(s->slots[i].name, name))
			return 0;
	return 1;
}
