/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h - members of JSON objects that may be absent or of another type.
 */
#ifndef COMMON_MEMBER_H
#define COMMON_MEMBER_H

#include <jansson.h>
#include <math.h>
#include <stdint.h>

/* Return the text of a member, or otherwise, which may be NULL, if it is not a
 * text. Borrowed from o. */
static inline const char *
member_text_or(const json_t *o, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text != NULL ? text : otherwise;
}

/* Return "" if it is not a text. */
static inline const char *
member_text(const json_t *o, const char *key)
{
	return member_text_or(o, key, "");
}

/* Return 0 if it is not an integer. */
static inline json_int_t
member_int(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* 0 when it is negative too. */
static inline uint64_t
member_unsigned(const json_t *o, const char *key)
{
	json_int_t v = member_int(o, key);

	return v < 0 ? 0 : (uint64_t)v;
}

/* Return 0 if it is not a boolean. */
static inline int
member_bool(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

/* Return NAN if it is not a number. */
static inline double
member_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Each element v of o's array, which is looked up once. */
#define member_foreach(o, key, i, v)                                           \
	MEMBER_FOREACH_(o, key, i, v, MEMBER_NAME_(__LINE__))
#define MEMBER_NAME_(line)  MEMBER_NAME__(line)
#define MEMBER_NAME__(line) member_list_##line
#define MEMBER_FOREACH_(o, key, i, v, list)                                    \
	for (const json_t *list = json_object_get(o, key); list != NULL;       \
	     list = NULL)                                                      \
		json_array_foreach (list, i, v)

#endif
