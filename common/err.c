/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.c - a sentence may quote a peer, and goes into JSON, logs and terminals:
 * invalid characters are replaced.
 */
#include "common/err.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

void
err_vsay(struct err *err, const char *fmt, va_list ap)
{
	char text[ERR_TEXT_BYTES];

	if (err == NULL)
		return;
	/* The sentence may quote the one that err holds. */
	vsnprintf(text, sizeof(text), fmt, ap);
	utf8_clean(text);
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
