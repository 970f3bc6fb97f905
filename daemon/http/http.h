/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - the collector's HTTP interface: page, metrics, API.
 *
 * coalmine-output(7) describes requests, answers and errors.
 */
#ifndef DAEMON_HTTP_HTTP_H
#define DAEMON_HTTP_HTTP_H

#include <openssl/ssl.h>

#include "daemon/store/store.h"
#include "daemon/api/api.h"

struct event_base;
struct http;

/* The sockets on which requests are accepted, and the limits of clients. */
struct http_options {
	const char *listen;     /* "host:port", read-only; "": none */
	int listen_fd;          /* a listening socket instead, or -1; taken */
	const char *socket;     /* path; "": none */
	const char *tls_listen; /* "host:port"; "": none */
	SSL_CTX *tls;           /* for tls_listen; a reference is taken */
	const char *hosts;      /* accepted Host names in addition to our own,
				   separated by commas */
	const char *jobs_proxy; /* certificate name of the client that is
				   trusted for X-Forwarded-User; "" */
	int connections_max;
};

/* Open the sockets. Clients that connect wait until http_start. All arguments
 * must outlive *ret. Return 0, or -errno after logging the error. */
int http_open(const struct http_options *o, struct event_base *base,
    struct api *api, struct store *store, struct http **ret);
/* Begin to accept requests. */
void http_start(struct http *h);
void http_close(struct http *h); /* h can be NULL; call it before store_close */
/* Set the certificates of future connections. */
void http_set_tls(struct http *h, SSL_CTX *tls);

#endif
