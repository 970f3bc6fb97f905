/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_text.h - values as compact JSON text. What json_dumps() does, several
 * times faster: a record has tens of thousands of reals, and a printf of each
 * was most of what the writer did. Threads: any.
 */
#ifndef DAEMON_STORE_STORE_TEXT_H
#define DAEMON_STORE_STORE_TEXT_H

#include <jansson.h>

/* An object or array. without: a member of the object itself that is left out,
 * or NULL. Reals come back as they are, bit by bit: as few digits as say them
 * where they are whole billionths, which clocks count, else 17. The caller
 * frees; NULL of NULL. */
char *store_text(const json_t *value, const char *without);

#endif
