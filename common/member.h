/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h - members of JSON objects that may be absent or of another type.
 */
#ifndef DAEMON_CLUSTER_MEMBER_H
#define DAEMON_CLUSTER_MEMBER_H

#include <jansson.h>
#include <math.h>

/* "" when it is no text. Borrowed from o. */
static inline const char *
member_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text != NULL ? text : "";
}

/* NAN when it is no number. */
static inline double
member_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

#endif
