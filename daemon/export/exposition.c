/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.c - Prometheus text format: escapes, numbers, histograms.
 */
#include "daemon/export/exposition.h"
#include "daemon/export/metrics_cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIRST_OCTAVE -20 /* seconds: 2^-20 is about 1 us */

void
exposition_family(struct strbuf *to, const char *name, const char *type,
    const char *help)
{
	strbuf_addf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
exposition_add(struct strbuf *to, const char *text)
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
		exposition_add(to,
		    *value == '\n'      ? "\\n"
			: *value == '"' ? "\\\""
					: "\\\\");
		value++;
	}
}

void
exposition_value(struct strbuf *to, double value)
{
	char text[40], *at = text + sizeof(text), *comma;
	uint64_t rest = fabs(value) < 0x1p53 ? (uint64_t)fabs(value) : 0;

	if (isnan(value) || isinf(value)) {
		exposition_add(to,
		    isnan(value)    ? "NaN"
			: value > 0 ? "+Inf"
				    : "-Inf");
	} else if (value == floor(value) && fabs(value) < 0x1p53) {
		/* Used for most values, ten thousand times a page: printf takes
		 * longer. */
		do {
			*--at = (char)('0' + rest % 10);
			rest /= 10;
		} while (rest > 0);
		if (value < 0)
			*--at = '-';
		strbuf_add(to, at, (size_t)(text + sizeof(text) - at));
	} else {
		/* Nine digits of a time stamp would be tens of seconds. */
		snprintf(text, sizeof(text),
		    fabs(value) < 1e6 ? "%.9g" : "%.3f", value);
		comma = strchr(text, ','); /* of the locale */
		if (comma != NULL)
			*comma = '.';
		exposition_add(to, text);
	}
}

void
exposition_sample(struct strbuf *to, const char *name,
    const struct exposition_label *labels, double value)
{
	const char *open = "{";

	exposition_add(to, name);
	for (; labels != NULL && labels->name != NULL; labels++) {
		exposition_add(to, open);
		exposition_add(to, labels->name);
		exposition_add(to, "=\"");
		exposition_escape(to, labels->value);
		exposition_add(to, "\"");
		open = ",";
	}
	exposition_add(to, *open == ',' ? "} " : " ");
	exposition_value(to, value);
	exposition_add(to, "\n");
}

void
exposition_labelled(struct strbuf *to, const char *name, const char *labels,
    double value)
{
	exposition_add(to, name);
	exposition_add(to, labels);
	exposition_add(to, " ");
	exposition_value(to, value);
	exposition_add(to, "\n");
}

void
exposition_histogram(struct strbuf *to, const char *name, const char *labels,
    const struct hist *h, int last_octave)
{
	int inner = (int)strlen(labels) - 1; /* without the last brace */
	char family[128];
	uint64_t sum = 0;
	int i = HIST_FIRST;

	for (int octave = FIRST_OCTAVE; octave <= last_octave; octave++) {
		for (; i <= octave * HIST_PER_OCTAVE; i++)
			sum += h->bucket[i - HIST_FIRST];
		strbuf_addf(to, "%s_bucket%.*s,le=\"%.17g\"} ", name, inner,
		    labels, ldexp(1, octave));
		exposition_value(to, (double)sum);
		exposition_add(to, "\n");
	}
	strbuf_addf(to, "%s_bucket%.*s,le=\"+Inf\"} ", name, inner, labels);
	exposition_value(to, (double)h->count);
	exposition_add(to, "\n");
	snprintf(family, sizeof(family), "%s_sum", name);
	exposition_labelled(to, family, labels, h->sum);
	snprintf(family, sizeof(family), "%s_count", name);
	exposition_labelled(to, family, labels, (double)h->count);
}

void
exposition_single(struct strbuf *to, const char *name, const char *type,
    const char *help, double value)
{
	exposition_family(to, name, type, help);
	exposition_sample(to, name, NULL, value);
}
