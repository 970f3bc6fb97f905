/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl.h - what every verb gets (options, arguments, the collector), and
 * functions that verbs share: messages, requests, files.
 *
 * A function that returns an exit code (names_verdict.h) returns 0, or has
 * printed the reason on stderr.
 */
#ifndef CTL_LIB_CTL_H
#define CTL_LIB_CTL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/str.h"
#include "ctl/lib/client.h"
#include "ctl/lib/opts.h"
#include "schema/names_verdict.h"

/* A call of coalctl. */
struct ctl {
	struct opts opts;
	char **args; /* without noun and verb; ends with NULL */
	int args_count;
	struct client *client; /* opened by ctl_client */
};

/* Return the client of the collector that --url or the environment names. With
 * --cluster it is the active collector of that cluster; ctl_client_any ignores
 * --cluster. Exits on failure. */
struct client *ctl_client(struct ctl *c);
struct client *ctl_client_any(struct ctl *c);
/* Return the path of a program of the same installation. below: "bin/NAME",
 * below the parent of coalctl's folder. If it does not exist there, return
 * NAME, for a search in PATH. The caller frees the path. */
char *ctl_beside(const char *below);
/* Print an error on stderr. Return EXIT_CODE_UNKNOWN. */
int ctl_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Write text to a file, which changes atomically. path NULL or "-": standard
 * output. Return 0 or an exit code. */
int ctl_write(const char *path, const char *text);
/* Return the rate of --gbps, or 0 if it was not given. */
double ctl_gbps(const struct ctl *c);
/* Convert --since to the parameter from_unix_ns, in ret. Without --since it is
 * the time otherwise_ns ago, or NULL if that is 0. */
const char *ctl_since(const struct ctl *c, uint64_t otherwise_ns, char ret[32]);
/* Print the client's last error as the server wrote it. Return
 * EXIT_CODE_UNKNOWN. */
int ctl_fail_client(struct ctl *c);
/* GET part, in which arg replaces "*"; a list is arranged by --where and --sort
 * (arrange.h). Return 0 and the answer, which the caller decrefs; or
 * EXIT_CODE_UNKNOWN after a message. */
int ctl_get(struct ctl *c, const char *part, const char *arg, json_t **ret);
/* GET part as ctl_get does, with parameters: pairs of name and value, ended by
 * NULL. A parameter with value NULL is not sent. */
int ctl_list(struct ctl *c, json_t **ret, const char *part, ...)
    __attribute__((sentinel));
/* Arrange a list by --where and --sort. Return 0, or EXIT_CODE_UNKNOWN after a
 * message; the list is then released. */
int ctl_arrange(struct ctl *c, json_t *list);
/* POST to part; body can be NULL. The result is as for ctl_get. */
int ctl_post(struct ctl *c, const char *part, const char *arg,
    const json_t *body, json_t **ret);

#endif
