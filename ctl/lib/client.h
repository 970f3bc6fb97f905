/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - requests to the collector's API, one at a time; calls block.
 *
 * Every request returns 0, or -errno with a sentence in client_why: -ENOENT if
 * the server does not know the object, -EHOSTUNREACH if it cannot be reached,
 * -EREMOTEIO if it refuses for any other reason, -EPROTO if the answer is
 * invalid.
 */
#ifndef CTL_LIB_CLIENT_H
#define CTL_LIB_CLIENT_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "common/str.h"

#define CLIENT_URL   "unix:/run/coalmine/coalmined.sock"
#define CLIENT_FORMS "unix:/PATH, http://HOST:PORT or https://HOST:PORT"

/* The address of the collector, and the files to authenticate with. */
struct client_options {
	const char *url; /* unix:PATH, http://... or https://... */
	const char *ca;  /* PEM files; NULL: none */
	/* Revocation lists of each authority in the collector's chain. */
	const char *crl;
	const char *cert;
	const char *key;
};

struct client;

/* Check that url has one of the three forms. Return 0 or -EINVAL. */
int client_url_check(const char *url);
/* Return a client, which the caller frees; NULL with the reason in err if url
 * has none of the three forms. */
struct client *client_new(const struct client_options *o, struct err *err);
void client_free(struct client *c); /* NULL is allowed */

/* Append to a path below /api/v1: a part, or a parameter of the query. Both are
 * escaped. A parameter with value NULL is not appended. */
void client_part(struct strbuf *path, const char *part);
void client_param(struct strbuf *path, const char *name, const char *value);

/* GET a path. The caller decrefs *ret. */
int client_get(struct client *c, const char *path, json_t **ret);
/* Return the parameter before of the list's next part, in ns since 1970, or 0
 * if the last answer was the whole list. */
int64_t client_next(const struct client *c);
/* POST to a path. body can be NULL. The caller decrefs *ret. */
int client_post(struct client *c, const char *path, const json_t *body,
    json_t **ret);
/* Limit the requests that follow: each takes at most limit_ns, and none lasts
 * beyond until_ns of clk_ns(); until_ns 0: only limit_ns applies. */
void client_limit(struct client *c, uint64_t limit_ns, uint64_t until_ns);
/* Return the reason of the last failure, and the URL. Both belong to c. */
const char *client_why(const struct client *c);
const char *client_url(const struct client *c);

#endif
