/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - the verb "list": every test, congestor and option, from the tables
 * of schema/.
 */
#ifndef PROBES_VERBS_LIST_H
#define PROBES_VERBS_LIST_H

#include <stdio.h>

void list_print(FILE *to);

#endif
