/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meant.h - the word that was mistyped.
 */
#ifndef CTL_LIB_MEANT_H
#define CTL_LIB_MEANT_H

/* Return the one of names (with blanks between) that word was probably meant to
 * be, or NULL; the caller frees. */
char *meant_find(const char *word, const char *names);

#endif
