/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meant.h - find the word that a user probably meant when mistyping one.
 */
#ifndef CTL_LIB_MEANT_H
#define CTL_LIB_MEANT_H

/* Return the word of names (separated by blanks) that is most similar to word,
 * which the caller frees; NULL if none is similar enough. */
char *meant_find(const char *word, const char *names);

#endif
