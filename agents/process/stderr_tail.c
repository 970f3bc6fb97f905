/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stderr_tail.c - a ring of the last bytes; of it, the lines that say
 * something.
 */
#include "agents/process/stderr_tail.h"

#include <string.h>

#include "common/str.h"
#include "common/utf8.h"
#include "common/xalloc.h"

/* A line that contains one of these says nothing about the run. */
static const char *const noise[] = {
	/* every mpirun -np larger than the cores of an emulated cluster */
	"A high-performance Open MPI point-to-point messaging module",
	/* a frame of a stack, of UCX, Open MPI and glibc alike */
	"[0x",
};

/* A line that turns out to be noise is removed again when it ends. */
static void
stderr_tail_line_end(struct stderr_tail *t)
{
	char line[512];
	size_t len = t->line_bytes, at = t->start + t->len_bytes - len;

	t->line_bytes = 0;
	if (len > sizeof(line))
		return;
	for (size_t i = 0; i < len; i++)
		line[i] = t->bytes[(at + i) % STDERR_TAIL_MAX];
	for (size_t i = 0; i < ARRAY_LEN(noise); i++)
		if (memmem(line, len, noise[i], strlen(noise[i])) != NULL) {
			t->len_bytes -= len;
			return;
		}
}

void
stderr_tail_add(struct stderr_tail *t, const char *bytes, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++) {
		size_t at = (t->start + t->len_bytes) % STDERR_TAIL_MAX;

		t->bytes[at] = bytes[i];
		if (t->len_bytes < STDERR_TAIL_MAX) {
			t->len_bytes++;
		} else {
			t->start = (t->start + 1) % STDERR_TAIL_MAX;
			t->is_cut = 1;
		}
		if (t->line_bytes < STDERR_TAIL_MAX)
			t->line_bytes++;
		if (bytes[i] == '\n')
			stderr_tail_line_end(t);
	}
}

char *
stderr_tail_lines(const struct stderr_tail *t)
{
	struct strbuf sb = { 0 };
	char flat[STDERR_TAIL_MAX];
	size_t at = 0;

	for (size_t i = 0; i < t->len_bytes; i++)
		flat[i] = t->bytes[(t->start + i) % STDERR_TAIL_MAX];
	utf8_clean_bytes(flat, t->len_bytes);
	if (t->is_cut && t->len_bytes > 0) { /* the first line may be a half */
		char *nl = memchr(flat, '\n', t->len_bytes - 1);

		at = nl != NULL ? (size_t)(nl - flat) + 1 : 0;
	}
	while (at < t->len_bytes) {
		char *nl = memchr(flat + at, '\n', t->len_bytes - at);
		size_t end = nl != NULL ? (size_t)(nl - flat) + 1
					: t->len_bytes;

		strbuf_add(&sb, flat + at, end - at);
		at = end;
	}
	return sb.text != NULL ? sb.text : xstrdup("");
}
