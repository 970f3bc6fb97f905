/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - what the tables of verbs and options say. all: the tables of verbs,
 * each of which ends with a row without noun; the list ends with NULL.
 */
#ifndef CTL_LIB_HELP_H
#define CTL_LIB_HELP_H

#include <stdio.h>

#include "ctl/lib/verb.h"

/* Names of all nouns, or of one noun's verbs, with blanks; caller frees. */
char *help_names(const struct verb *const *all, const char *noun);
/* All verbs, or those of one noun with their options. */
void help_print(const struct verb *const *all, const char *noun, FILE *to);
/* what: "verbs" or "options", lists in mdoc. */
int help_dump(const struct verb *const *all, const char *what);
/* What the last of words, which is "" between two words, can become: lines of a
 * word, a tab and its meaning; or ":file". Silent when there is no answer. */
int help_complete(const struct verb *const *all, struct ctl *c,
    char *const *words);

#endif
