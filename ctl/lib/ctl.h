/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl.h - what every verb gets: options, arguments, the collector; and what
 * verbs share: messages, requests, files.
 *
 * A function returns 0 or an exit code (names_verdict.h), and has printed the
 * reason on stderr where it is not 0.
 */
#ifndef CTL_LIB_CTL_H
#define CTL_LIB_CTL_H

#include <jansson.h>
#include <stddef.h>

#include "common/str.h"
#include "ctl/lib/client.h"
#include "ctl/lib/opts.h"
#include "schema/names_verdict.h"

struct ctl {
	struct opts opts;
	char **args; /* without noun and verb; ends with NULL */
	int args_count;
	struct client *client; /* opened by ctl_client */
};

/* Return the client of the collector of --url or the environment. With
 * --cluster it is the active collector of that cluster; ctl_client_any ignores
 * --cluster. Exits on failure. */
struct client *ctl_client(struct ctl *c);
struct client *ctl_client_any(struct ctl *c);
/* Return the path of a program of the same installation, "bin/NAME" below the
 * parent of coalctl's folder, or NAME for PATH; the caller frees. */
char *ctl_beside(const char *below);
/* Print an error on stderr. Return EXIT_CODE_UNKNOWN. */
int ctl_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Write text to a file, which changes atomically; path NULL or "-" is the
 * standard output. Return 0 or an exit code. */
int ctl_write(const char *path, const char *text);
/* Check --state against the words of a verb's table. Return 0, or an exit code
 * after a message with the valid words. NULL is any state. */
#define CTL_STATE_CHECK(word, rows)                                            \
	ctl_state_check(word, rows, ARRAY_LEN(rows), sizeof((rows)[0]))
int ctl_state_check(const char *word, const void *rows, size_t count,
    size_t row_bytes);
/* Write the parameter from_unix_ns of --since into ret; *ret_from is NULL where
 * since is. Return 0 or an exit code. */
int ctl_since(const char *since, char ret[32], const char **ret_from);
/* Print the client's last error as the server wrote it. Return
 * EXIT_CODE_UNKNOWN. */
int ctl_fail_client(struct ctl *c);
/* GET part, in which arg replaces "*"; a list is arranged by --where and --sort
 * (arrange.h). 0, or EXIT_CODE_UNKNOWN after a message. */
int ctl_get(struct ctl *c, const char *part, const char *arg, json_t **ret);
/* The same with parameters: name and value of each, then NULL. A parameter
 * without value is not sent. */
int ctl_list(struct ctl *c, json_t **ret, const char *part, ...)
    __attribute__((sentinel));
/* Arrange a list by --where and --sort. 0, or EXIT_CODE_UNKNOWN after a
 * message, and the list is released. */
int ctl_arrange(struct ctl *c, json_t *list);
/* POST to part; body may be NULL. Returns as ctl_list. */
int ctl_post(struct ctl *c, const char *part, const char *arg,
    const json_t *body, json_t **ret);

#endif
