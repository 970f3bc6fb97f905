/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - help, manual page and completion, made of the tables of verbs and
 * options. all: a list of tables of verbs that ends with NULL; each table ends
 * with a row without noun.
 */
#ifndef CTL_LIB_HELP_H
#define CTL_LIB_HELP_H

#include <stdio.h>

#include "ctl/lib/verb.h"

/* Return the names of all nouns, or of one noun's verbs, with blanks between;
 * the caller frees. */
char *help_names(const struct verb *const *all, const char *noun);
/* All verbs under the headings of groups (one a table of all, NULL: none), or
 * those of one noun with their options. */
void help_print(const struct verb *const *all, const char *const *groups,
    const char *noun, FILE *to);
/* what: "verbs" or "options", lists in mdoc. */
int help_dump(const struct verb *const *all, const char *what);
/* Print the completions of the last of words ("" between two words): lines of a
 * word, a tab and its meaning; or ":file". Prints nothing where the collector
 * does not answer. */
int help_complete(const struct verb *const *all, struct ctl *c,
    char *const *words);

#endif
