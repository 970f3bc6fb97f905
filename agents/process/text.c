/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - foreign bytes become text that JSON can carry; of a child's last
 * bytes, the lines that say something.
 */
#include "agents/process/text.h"

#include <stdint.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"

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

/* A line that contains one of these says nothing about the run. */
static const char *const noise[] = {
	/* Open MPI races with its own child; see docs/launch.md section 1 */
	"plm:rsh: Warning: setpgid(",
	/* every mpirun -np larger than the cores of an emulated cluster */
	"A high-performance Open MPI point-to-point messaging module",
};

void
stderr_tail_add(struct stderr_tail *t, const char *bytes, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++) {
		size_t at = (t->start + t->len_bytes) % STDERR_TAIL_MAX;

		t->bytes[at] = bytes[i];
		if (t->len_bytes < STDERR_TAIL_MAX)
			t->len_bytes++;
		else
			t->start = (t->start + 1) % STDERR_TAIL_MAX;
	}
}

char *
stderr_tail_lines(const struct stderr_tail *t, const char *mark)
{
	struct strbuf sb = { 0 };
	char flat[STDERR_TAIL_MAX];
	size_t at = 0;

	for (size_t i = 0; i < t->len_bytes; i++)
		flat[i] = t->bytes[(t->start + i) % STDERR_TAIL_MAX];
	if (t->len_bytes ==
	    STDERR_TAIL_MAX) { /* the first line may be a half */
		char *nl = memchr(flat, '\n', t->len_bytes - 1);

		at = nl != NULL ? (size_t)(nl - flat) + 1 : 0;
	}
	while (at < t->len_bytes) {
		char *nl = memchr(flat + at, '\n', t->len_bytes - at);
		size_t end = nl != NULL ? (size_t)(nl - flat) + 1
					: t->len_bytes;
		int wanted = mark == NULL ||
		    memmem(flat + at, end - at, mark, strlen(mark)) != NULL;

		for (size_t i = 0; i < ARRAY_LEN(noise); i++)
			if (memmem(flat + at, end - at, noise[i],
				strlen(noise[i])))
				wanted = 0;
		if (wanted)
			text_clean(&sb, flat + at, end - at);
		at = end;
	}
	return sb.text != NULL ? sb.text : xstrdup("");
}
