/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - write a run as one HTML file.
 */
#ifndef CTL_LIB_HTML_H
#define CTL_LIB_HTML_H

#include <jansson.h>

/* Return the text of the file: the plots and tables of the run's page, their
 * script and the data. It refers to no other file and no address. The caller
 * frees it. */
char *html_report(const json_t *run, const json_t *records);

#endif
