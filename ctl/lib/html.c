/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.c - put a run's data into the template of the HTML report, which the
 * build makes of the page's script (daemon/page/report.cmake).
 */
#include "ctl/lib/html.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/embed.h"
#include "common/str.h"
#include "ctl/lib/headline.h"

#define PLACE "@DATA@"

extern const struct embed embed_report[];

/* The data are inside a script element, which no "<" of them may end. */
static void
html_add_data(struct strbuf *sb, const json_t *data)
{
	char *text = json_dumps(data, JSON_COMPACT);

	for (const char *p = text; p != NULL && *p != '\0';) {
		size_t n = strcspn(p, "<");

		strbuf_add(sb, p, n);
		p += n;
		if (*p == '<') {
			strbuf_add(sb, "\\u003c", 6);
			p++;
		}
	}
	free(text);
}

char *
html_report(const json_t *run, const json_t *records)
{
	const char *template = (const char *)embed_report->bytes;
	const char *place = strstr(template, PLACE);
	struct strbuf sb = { 0 };
	char *sentence = headline(records);
	json_t *data = json_pack("{sO? sO? ss}", "run", run, "records", records,
	    "headline", sentence);

	assert(place != NULL);
	strbuf_add(&sb, template, (size_t)(place - template));
	html_add_data(&sb, data);
	strbuf_addf(&sb, "%s", place + strlen(PLACE));
	json_decref(data);
	free(sentence);
	return sb.text;
}
