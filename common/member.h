/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h - read members of JSON objects that can be missing or of another
 * type.
 */
#ifndef COMMON_MEMBER_H
#define COMMON_MEMBER_H

#include <jansson.h>
#include <math.h>
#include <stdint.h>

/* Return the text of a member, or fallback (NULL is allowed) if the member is
 * missing or not a text. The text belongs to o. */
static inline const char *
member_text_or(const json_t *o, const char *key, const char *fallback)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text != NULL ? text : fallback;
}

/* Return the text of a member, or "" if it is not a text. */
static inline const char *
member_text(const json_t *o, const char *key)
{
	return member_text_or(o, key, "");
}

/* Return the integer of a member, or 0 if it is not an integer. */
static inline json_int_t
member_int(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* Return the integer of a member, or 0 if it is not an integer or negative. */
static inline uint64_t
member_unsigned(const json_t *o, const char *key)
{
	json_int_t v = member_int(o, key);

	return v < 0 ? 0 : (uint64_t)v;
}

/* Return 1 if a member is true, otherwise 0. */
static inline int
member_bool(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

/* Return the number of a member, or NAN if it is not a number. */
static inline double
member_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Iterate over the elements v of an array that is a member of o, with their
 * index i. The member is looked up once. */
#define member_foreach(o, key, i, v)                                           \
	MEMBER_FOREACH_(o, key, i, v, MEMBER_NAME_(__LINE__))
#define MEMBER_NAME_(line)  MEMBER_NAME__(line)
#define MEMBER_NAME__(line) member_list_##line
#define MEMBER_FOREACH_(o, key, i, v, list)                                    \
	for (const json_t *list = json_object_get(o, key); list != NULL;       \
	     list = NULL)                                                      \
		json_array_foreach (list, i, v)

#endif
