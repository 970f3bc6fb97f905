/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.c - the text of an error is cut where a UTF-8 character ends: it goes
 * into JSON, which refuses half of one.
 */
#include "common/err.h"

#include <stdio.h>
#include <string.h>

void
err_vsay(struct err *err, const char *fmt, va_list ap)
{
	char text[ERR_TEXT_BYTES];
	size_t end = sizeof(text) - 1;

	if (err == NULL)
		return;
	/* The sentence may quote the one that err holds. */
	if (vsnprintf(text, sizeof(text), fmt, ap) >= (int)sizeof(text)) {
		while (end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80)
			end--;
		if (end > 0 && (unsigned char)text[end - 1] >= 0xc0)
			end--;
		text[end] = '\0';
	}
	memcpy(err->text, text, sizeof(text));
}

void
err_say(struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vsay(err, fmt, ap);
	va_end(ap);
}
