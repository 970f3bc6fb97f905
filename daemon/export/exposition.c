/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/export/exposition.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void
exposition_family(struct strbuf *to, const char *name, const char *type,
    const char *help)
{
	strbuf_addf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
add(struct strbuf *to, const char *text)
{
	strbuf_add(to, text, strlen(text));
}

void
exposition_escape(struct strbuf *to, const char *value)
{
	for (;;) {
		size_t plain = strcspn(value, "\\\"\n");

		strbuf_add(to, value, plain);
		value += plain;
		if (*value == '\0')
			return;
		add(to,
		    *value == '\n'      ? "\\n"
			: *value == '"' ? "\\\""
					: "\\\\");
		value++;
	}
}

/* Most of what there is, ten thousand times a page: printf takes longer. */
static void
add_whole(struct strbuf *to, long long value)
{
	unsigned long long rest = value < 0 ? -(unsigned long long)value
					    : (unsigned long long)value;
	char text[24], *at = text + sizeof(text);

	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0)
		*--at = '-';
	strbuf_add(to, at, (size_t)(text + sizeof(text) - at));
}

/* The locale may write commas. */
static void
add_fraction(struct strbuf *to, double value)
{
	char text[40], *comma;

	/* Nine digits of a time stamp would be tens of seconds. */
	snprintf(text, sizeof(text), fabs(value) < 1e6 ? "%.9g" : "%.3f",
	    value);
	comma = strchr(text, ',');
	if (comma != NULL)
		*comma = '.';
	add(to, text);
}

void
exposition_value(struct strbuf *to, double value)
{
	if (isnan(value))
		add(to, "NaN");
	else if (isinf(value))
		add(to, value > 0 ? "+Inf" : "-Inf");
	else if (value == floor(value) && fabs(value) < 9007199254740992.0)
		add_whole(to, (long long)value);
	else
		add_fraction(to, value);
}

void
exposition_sample(struct strbuf *to, const char *name,
    const struct exposition_label *labels, double value)
{
	const char *open = "{";

	add(to, name);
	for (; labels != NULL && labels->name != NULL; labels++) {
		add(to, open);
		add(to, labels->name);
		add(to, "=\"");
		exposition_escape(to, labels->value);
		add(to, "\"");
		open = ",";
	}
	add(to, *open == ',' ? "} " : " ");
	exposition_value(to, value);
	add(to, "\n");
}

void
exposition_single(struct strbuf *to, const char *name, const char *type,
    const char *help, double value)
{
	exposition_family(to, name, type, help);
	exposition_sample(to, name, NULL, value);
}
