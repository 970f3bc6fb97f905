/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strvec.c - a variable that is set twice keeps the last value, in its first
 * place: lists are ready for execve at all times.
 */
#include "agents/process/strvec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xalloc.h"

/* Takes word. */
static void
strvec_take(struct strvec *w, char *word)
{
	w->list = xreallocarray(w->list, w->count + 2, sizeof(*w->list));
	w->list[w->count++] = word;
	w->list[w->count] = NULL;
}

static char *__attribute__((format(printf, 1, 0)))
strvec_text_make(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		fatalx("out of memory: formatting a text");
	return text;
}

void
strvec_add(struct strvec *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strvec_take(w, strvec_text_make(fmt, ap));
	va_end(ap);
}

void
strvec_env(struct strvec *w, const char *name, const char *fmt, ...)
{
	size_t len = strlen(name);
	char *value, *word;
	va_list ap;

	va_start(ap, fmt);
	value = strvec_text_make(fmt, ap);
	va_end(ap);
	word = xasprintf("%s=%s", name, value);
	free(value);
	for (size_t i = 0; i < w->count; i++) {
		if (strncmp(w->list[i], name, len) != 0 ||
		    w->list[i][len] != '=')
			continue;
		free(w->list[i]);
		w->list[i] = word;
		return;
	}
	strvec_take(w, word);
}

void
strvec_clear(struct strvec *w)
{
	while (w->count > 0)
		free(w->list[--w->count]);
	free(w->list);
	w->list = NULL;
}
