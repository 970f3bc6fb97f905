/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - what the tables of verbs and options say to people and shells.
 */
#ifndef CTL_HELP_H
#define CTL_HELP_H

#include <stdio.h>

#include "ctl/ctl.h"

/* Names of all nouns, or of one noun's verbs, with blanks; caller frees. */
char *help_names(const char *noun);
/* All verbs, or those of one noun with their options. */
void help_print(const char *noun, FILE *to);
/* what: "bash" the completion, "verbs" and "options" lists in mdoc. */
int help_dump(const char *what);
/* Names for the shell, one a line; silent when there is no answer. */
int help_complete(struct ctl *c, const char *kind);

#endif
