/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - requests to the collector's API, one at a time, blocking.
 *
 * Every call returns 0, or -errno with a sentence in client_why: -ENOENT where
 * the server does not know the object, -EHOSTUNREACH where it cannot be
 * reached, -EREMOTEIO any other refusal, -EPROTO an invalid answer.
 */
#ifndef CTL_LIB_CLIENT_H
#define CTL_LIB_CLIENT_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "common/str.h"

#define CLIENT_URL "unix:/run/coalmine/coalmined.sock"

struct client_options {
	const char *url; /* unix:PATH, http://... or https://... */
	const char *ca;  /* files in PEM; NULL: none */
	const char *crl; /* of each authority in the collector's chain */
	const char *cert;
	const char *key;
};

struct client;

/* NULL and a sentence in why when url has none of the three forms. */
struct client *client_new(const struct client_options *o, struct err *err);
void client_free(struct client *c); /* NULL is allowed */

/* A path under /api/v1 grows in a strbuf: parts and parameters are escaped;
 * a NULL value adds nothing. */
void client_part(struct strbuf *path, const char *part);
void client_param(struct strbuf *path, const char *name, const char *value);

/* The caller decrefs *ret. */
int client_get(struct client *c, const char *path, json_t **ret);
/* body may be NULL. */
int client_post(struct client *c, const char *path, const json_t *body,
    json_t **ret);
/* Requests that follow take no longer, nor until later than that, of clk_ns().
 */
void client_limit(struct client *c, uint64_t limit_ns, uint64_t until_ns);
const char *client_why(const struct client *c);
const char *client_url(const struct client *c);

#endif
