/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files; the first byte chooses the kind. */
#include "common/err.h"
#include "common/utf8.h"
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "schema/options.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	static const struct conf_row *const kinds[] = { options_campaign,
		options_daemon, options_agent };
	const struct conf_row *rows;
	char *text, *once, *twice;
	struct err err;
	struct conf *c, *back;

	if (len_bytes == 0)
		return 0;
	rows = kinds[data[0] % 3];
	text = fuzz_text(data + 1, len_bytes - 1);
	err.text[0] = '\0';
	if (conf_parse(rows, "fuzz", text, &c, &err) < 0) {
		assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
		free(text);
		return 0;
	}
	/* An accepted file can be written, and reads as the same. */
	once = conf_render(c);
	assert(once[utf8_check(once, strlen(once))] == '\0');
	assert(conf_parse(rows, "again", once, &back, &err) == 0);
	twice = conf_render(back);
	assert(strcmp(once, twice) == 0);
	if (rows == options_campaign)
		options_campaign_check(c, &err);
	conf_free(c);
	conf_free(back);
	free(once);
	free(twice);
	free(text);
	return 0;
}
