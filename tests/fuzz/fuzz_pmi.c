/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank writes to the PMI server of its node, and what other nodes'
 * ranks have put. */
#include "agents/wireup/pmi.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct pmi *p = pmi_new(2, 2, 6);
	char *text = fuzz_text(data, len_bytes), *rest = text, *one;
	char why[PMI_TEXT_MAX];
	int i = 0;

	while ((one = strsep(&rest, "\n")) != NULL) {
		struct strbuf reply = { 0 };
		enum pmi_event event = pmi_line(p, i++ % 2, one, &reply, why);

		/* One line for a line, and none while a barrier waits. */
		assert(reply.text == NULL ||
		    strchr(reply.text, '\n') ==
			reply.text + reply.len_bytes - 1);
		assert(strlen(why) < sizeof(why));
		if (event == PMI_FENCE) {
			char *all = xstrdup(
			    pmi_puts(p)->text != NULL ? pmi_puts(p)->text : "");

			pmi_fenced(p, all, strlen(all), &reply);
			assert(pmi_puts(p)->len_bytes == 0);
			free(all);
		}
		strbuf_clear(&reply);
	}
	pmi_fenced(p, (const char *)data, len_bytes, NULL);
	pmi_free(p);
	free(text);
	return 0;
}
