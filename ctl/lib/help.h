/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - print help, manual page and completions from the tables of verbs and
 * options. all: a list of tables of verbs that ends with a row without verbs.
 */
#ifndef CTL_LIB_HELP_H
#define CTL_LIB_HELP_H

#include <stdio.h>

#include "ctl/lib/verb.h"

/* Return the names of all nouns, or of the verbs of one noun, separated by
 * blanks; the caller frees them. */
char *help_names(const struct verb_table *all, const char *noun);
/* Print all verbs below the headings of their groups, or the verbs of one noun
 * with their options. */
void help_print(const struct verb_table *all, const char *noun, FILE *to);
/* Print a list in mdoc, for the manual page. what: "verbs" or "options". Return
 * 0 or an exit code. */
int help_dump(const struct verb_table *all, const char *what);
/* Print the completions of the last of words ("" between two words): lines of a
 * word, a tab and its meaning; or ":file" for names of files. Nothing is
 * printed if the collector does not answer. Return an exit code. */
int help_complete(const struct verb_table *all, struct ctl *c,
    char *const *words);

#endif
