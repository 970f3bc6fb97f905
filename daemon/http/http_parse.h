/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_parse.h - the head of an HTTP/1.x request. Pure.
 */
#ifndef DAEMON_HTTP_HTTP_PARSE_H
#define DAEMON_HTTP_HTTP_PARSE_H

#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX   8192          /* bytes, with the empty line */
#define HTTP_BODY_MAX   (1024 * 1024) /* bytes */
#define HTTP_TARGET_MAX 2048
#define HTTP_PARAMS_MAX 16

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_METHOD_OTHER };

/* A parameter of the query. */
struct http_param {
	const char *name; /* decoded */
	const char *value;
};

/* The head of a request. */
struct http_head {
	enum http_method method;
	const char *path; /* as sent, without query; starts with '/' */
	struct http_param params[HTTP_PARAMS_MAX];
	size_t param_count;
	uint64_t body_bytes;
	int keep_alive;
	int minor; /* HTTP/1.minor */
	int accepts_gzip;
	int expects_continue;
	int has_origin;           /* a browser's page sent it */
	const char *user;         /* X-Forwarded-User, as sent; or NULL */
	char etag[48];            /* If-None-Match, if short enough */
	const char *host;         /* as sent, without its port; or NULL */
	char text[HTTP_HEAD_MAX]; /* memory of path and params */
};

/* Return the length of the head; 0: it is incomplete; -EPROTO: *ret_status is
 * the answer (400, 413, 414, 431, 501 or 505) and *ret_why a constant sentence.
 */
long http_parse_head(const char *bytes, size_t len_bytes, struct http_head *ret,
    int *ret_status, const char **ret_why);
/* Return the value of a query parameter, or NULL. */
const char *http_param(const struct http_head *head, const char *name);
/* Decode %XX (and '+' as blank in a query) in place. -EINVAL for a bad escape
 * or a NUL. */
int http_unescape(char *text, int plus_is_blank);

#endif
