/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a rank to the PMI server of its node, and data put by ranks of
 * other nodes. */
#include "agents/wireup/pmi.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

/* Return the next message, split as by the agent, or NULL. */
static char *
next(const char **at, const char *end)
{
	size_t left = (size_t)(end - *at), len;
	const char *nl;
	long body;
	char *one;

	if (left < PMI_HEAD_BYTES || (body = pmi_length(*at)) < 0)
		return NULL;
	nl = memchr(*at, '\n', left);
	if (body == 0 && nl == NULL)
		return NULL;
	len = body == 0 ? (size_t)(nl - *at) : PMI_HEAD_BYTES + (size_t)body;
	if (len > left)
		return NULL;
	one = xcalloc(1, len + 1);
	memcpy(one, *at, len);
	*at += len + (body == 0);
	return one;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct pmi *p = pmi_new(2, 2, 6);
	const char *at = (const char *)data, *end = at + len_bytes;
	char why[PMI_TEXT_MAX], *one;
	int i = 0;

	while ((one = next(&at, end)) != NULL) {
		struct strbuf reply = { 0 };
		int waits = p->waits[i % 2].what;
		enum pmi_event event = pmi_message(p, i++ % 2, one, &reply,
		    why);

		/* One reply to each message, and none to a waiting rank. */
		if (reply.text != NULL && reply.text[0] == 'c')
			assert(strchr(reply.text, '\n') ==
			    reply.text + reply.len_bytes - 1);
		else if (reply.text != NULL)
			assert(pmi_length(reply.text) ==
			    (long)reply.len_bytes - PMI_HEAD_BYTES);
		assert(reply.text == NULL || waits == WAIT_NONE);
		assert(strlen(why) < sizeof(why));
		free(one);
		if (event == PMI_FENCE) {
			char *all = xstrdup(
			    pmi_puts(p)->text != NULL ? pmi_puts(p)->text : "");

			pmi_fenced(p, all, strlen(all));
			assert(pmi_puts(p)->len_bytes == 0);
			free(all);
		}
		for (int k = 0; k < 2; k++)
			pmi_waited(p, k, &reply);
		strbuf_clear(&reply);
	}
	pmi_fenced(p, (const char *)data, len_bytes);
	pmi_free(p);
	return 0;
}
