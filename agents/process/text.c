/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/process/text.h"

#include <stdint.h>
#include <string.h>

size_t
text_utf8_len(const char *bytes, size_t len_bytes)
{
	/* smallest code point by length: shorter forms only (RFC 3629) */
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *b = (const unsigned char *)bytes;
	uint32_t code;
	size_t want;

	if (len_bytes == 0)
		return 0;
	if (b[0] < 0x80)
		return 1;
	want = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
	if (b[0] < 0xc2 || b[0] > 0xf4 || len_bytes < want)
		return 0;
	code = b[0] & (0x7fu >> want);
	for (size_t i = 1; i < want; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (b[i] & 0x3fu);
	}
	if (code < least[want] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return want;
}

void
text_clean(struct strbuf *sb, const char *bytes, size_t len_bytes)
{
	size_t i = 0;

	while (i < len_bytes) {
		size_t n = text_utf8_len(bytes + i, len_bytes - i);
		unsigned char c = (unsigned char)bytes[i];

		if (n == 0 || (n == 1 && c < ' ' && c != '\n' && c != '\t') ||
		    c == 0x7f) {
			strbuf_add(sb, "?", 1);
			i++;
			continue;
		}
		strbuf_add(sb, bytes + i, n);
		i += n;
	}
}

json_t *
text_json(const char *text)
{
	struct strbuf sb = { 0 };
	json_t *value;

	text_clean(&sb, text, strlen(text));
	value = json_string(sb.text != NULL ? sb.text : "");
	strbuf_clear(&sb);
	return value;
}
