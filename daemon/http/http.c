/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - the doors, and which request goes where.
 */
#include "daemon/http/http.h"

#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/http/http_route.h"

#define PART_MAX 512 /* bytes of a name in a path, escaped */

/* coalmine-output(7) tells the same. */
static const struct http_route http_routes[] = {
	{ "page", HTTP_GET, "/", HTTP_MAY_READ, http_get_page },
	{ "page", HTTP_GET, "/page/*", HTTP_MAY_READ, http_get_asset },
	{ "metrics", HTTP_GET, "/metrics", HTTP_MAY_READ, http_get_metrics },
	{ "healthz", HTTP_GET, "/healthz", HTTP_MAY_READ, http_get_health },
	{ "version", HTTP_GET, "/api/v1/version", HTTP_MAY_READ,
	    http_get_version },
	{ "nodes", HTTP_GET, "/api/v1/nodes", HTTP_MAY_READ, http_get_nodes },
	{ "node", HTTP_GET, "/api/v1/nodes/*", HTTP_MAY_READ, http_get_node },
	{ "targets", HTTP_GET, "/api/v1/sd/prometheus", HTTP_MAY_READ,
	    http_get_targets },
	{ "campaigns", HTTP_GET, "/api/v1/campaigns", HTTP_MAY_READ,
	    http_get_campaigns },
	{ "validate", HTTP_POST, "/api/v1/campaigns/validate", HTTP_MAY_READ,
	    http_post_validate },
	{ "campaign", HTTP_GET, "/api/v1/campaigns/*", HTTP_MAY_READ,
	    http_get_campaign },
	{ "run-campaign", HTTP_POST, "/api/v1/campaigns/*/run", HTTP_MAY_ORDER,
	    http_post_run },
	{ "runs", HTTP_GET, "/api/v1/runs", HTTP_MAY_READ, http_get_runs },
	{ "run", HTTP_GET, "/api/v1/runs/*", HTTP_MAY_READ, http_get_run },
	{ "records", HTTP_GET, "/api/v1/runs/*/records", HTTP_MAY_READ,
	    http_get_records },
	{ "counters", HTTP_GET, "/api/v1/runs/*/counters", HTTP_MAY_READ,
	    http_get_counters },
	{ "cancel", HTTP_POST, "/api/v1/runs/*/cancel", HTTP_MAY_ORDER,
	    http_post_cancel },
	{ "events", HTTP_GET, "/api/v1/events", HTTP_MAY_READ,
	    http_get_events },
	{ "schedule", HTTP_GET, "/api/v1/schedule", HTTP_MAY_READ,
	    http_get_schedule },
	{ "forecast", HTTP_GET, "/api/v1/forecast", HTTP_MAY_READ,
	    http_get_forecast },
	{ "budget", HTTP_GET, "/api/v1/budget", HTTP_MAY_READ,
	    http_get_budget },
	{ "coverage", HTTP_GET, "/api/v1/coverage", HTTP_MAY_READ,
	    http_get_coverage },
	{ "enable", HTTP_POST, "/api/v1/schedule/*/enable", HTTP_MAY_ORDER,
	    http_post_enable },
	{ "disable", HTTP_POST, "/api/v1/schedule/*/disable", HTTP_MAY_ORDER,
	    http_post_disable },
	{ "diags", HTTP_GET, "/api/v1/diags", HTTP_MAY_READ, http_get_diags },
	{ "impacts", HTTP_GET, "/api/v1/impacts", HTTP_MAY_READ,
	    http_get_impacts },
	{ "canaries", HTTP_GET, "/api/v1/canaries", HTTP_MAY_READ,
	    http_get_canaries },
	{ "baselines", HTTP_GET, "/api/v1/baselines", HTTP_MAY_READ,
	    http_get_baselines },
	{ "baseline", HTTP_GET, "/api/v1/baselines/*", HTTP_MAY_READ,
	    http_get_baseline },
	{ "pin", HTTP_POST, "/api/v1/baselines/*", HTTP_MAY_ORDER,
	    http_post_baseline },
	{ "unpin", HTTP_POST, "/api/v1/baselines/*/drop", HTTP_MAY_ORDER,
	    http_post_unpin },
	{ "verdicts", HTTP_GET, "/api/v1/verdicts", HTTP_MAY_READ,
	    http_get_verdicts },
	{ "verdict-history", HTTP_GET, "/api/v1/verdicts/history",
	    HTTP_MAY_READ, http_get_verdict_history },
	{ "check", HTTP_GET, "/api/v1/db/check", HTTP_MAY_ORDER,
	    http_get_check },
	{ "backup", HTTP_POST, "/api/v1/db/backup", HTTP_MAY_ORDER,
	    http_post_backup },
	{ "stop", HTTP_POST, "/api/v1/stop", HTTP_MAY_ORDER, http_post_stop },
	{ NULL, HTTP_GET, NULL, HTTP_MAY_NOTHING, NULL },
};

/* 1 when path fits pattern; the segment that stood for '*' goes to part, still
 * escaped. A segment of nothing does not fit. */
static int
route_fits(const char *pattern, const char *path, char part[PART_MAX])
{
	part[0] = '\0';
	for (; *pattern != '\0'; pattern++) {
		size_t len;

		if (*pattern != '*') {
			if (*path++ != *pattern)
				return 0;
			continue;
		}
		len = strcspn(path, "/");
		if (len == 0 || len >= PART_MAX)
			return 0;
		memcpy(part, path, len);
		part[len] = '\0';
		path += len;
	}
	return *path == '\0';
}

static enum http_method
method_for_route(const struct http_request *req)
{
	return req->head.method == HTTP_HEAD ? HTTP_GET : req->head.method;
}

static void
take_route(struct http *h, struct http_request *req,
    const struct http_route *route, char *part)
{
	req->name = route->name;
	if (req->right < route->right) {
		http_fail(req, 403, "forbidden",
		    route->right == HTTP_MAY_ORDER
			? "orders need the unix socket as root or the "
			  "collector's user, or an operator's certificate"
			: "this certificate's role may not read");
		return;
	}
	/* No page of ours posts: whoever does from a browser was led here. */
	if (route->method == HTTP_POST && req->head.has_origin) {
		http_fail(req, 403, "forbidden",
		    "orders are not taken from web pages");
		return;
	}
	if (http_unescape(part, 0) < 0) {
		http_fail(req, 400, "config", "bad escape in path");
		return;
	}
	route->handle(h, req, part[0] != '\0' ? part : NULL);
}

static void
request_cb(struct http_request *req, void *arg)
{
	struct http *h = arg;
	char part[PART_MAX];
	int known = 0;

	for (const struct http_route *r = http_routes; r->name != NULL; r++) {
		if (!route_fits(r->pattern, req->head.path, part))
			continue;
		known = 1;
		if (r->method != method_for_route(req))
			continue;
		take_route(h, req, r, part);
		return;
	}
	if (known)
		http_fail(req, 405, "unsupported",
		    "this address does not take that method");
	else
		http_fail(req, 404, "not-found",
		    "there is nothing at this address");
}

static void
answered_cb(const char *name, int status, void *arg)
{
	struct http *h = arg;

	metrics_http_count(&h->counts, name, status);
}

/* Listening sockets at where, "host:port" or "[v6]:port" or ":port". */
static int
open_tcp(struct http *h, enum http_door door, const char *where)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	char *host = xstrdup(where), *port = strrchr(host, ':');
	struct addrinfo *list = NULL;
	int rc, fd = -1, one = 1;

	if (port == NULL) {
		log_warnx("http: %s: must be host:port", where);
		free(host);
		return -EINVAL;
	}
	*port++ = '\0';
	if (host[0] == '[' && port - host > 2 && port[-2] == ']')
		port[-2] = '\0';
	rc = getaddrinfo(host[0] == '[' ? host + 1
		: host[0] != '\0'       ? host
					: NULL,
	    port, &hints, &list);
	free(host);
	if (rc != 0) {
		log_warnx("http: %s: %s", where, gai_strerror(rc));
		return -EINVAL;
	}
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		rc = -errno;
		log_warn("http: %s", where);
		if (fd >= 0)
			close(fd);
	} else {
		rc = http_conns_listen(h->conns, door, fd);
	}
	freeaddrinfo(list);
	return rc;
}

/* 1 when somebody answers at the socket: then it is not ours to replace. */
static int
socket_lives(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int lives = fd >= 0 &&
	    connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0;

	if (fd >= 0)
		close(fd);
	return lives;
}

/* Everybody may connect: rights follow from who the peer is. */
static int
open_unix(struct http *h, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, rc;

	if (strlen(path) >= sizeof(at.sun_path)) {
		log_warnx("http: %s: the path is too long for a socket", path);
		return -ENAMETOOLONG;
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
		if (socket_lives(&at)) {
			log_warnx("http: %s: another collector answers there",
			    path);
			return -EADDRINUSE;
		}
		unlink(path);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    chmod(path, 0666) < 0 || listen(fd, SOMAXCONN) < 0) {
		rc = -errno;
		log_warn("http: %s", path);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	h->socket = xstrdup(path);
	return http_conns_listen(h->conns, HTTP_DOOR_UNIX, fd);
}

static int
open_doors(struct http *h, const struct http_options *o)
{
	int rc = 0;

	if (o->listen_fd >= 0)
		rc = http_conns_listen(h->conns, HTTP_DOOR_TCP, o->listen_fd);
	else if (o->listen[0] != '\0')
		rc = open_tcp(h, HTTP_DOOR_TCP, o->listen);
	if (rc == 0 && o->socket[0] != '\0')
		rc = open_unix(h, o->socket);
	if (rc == 0 && o->tls_listen[0] != '\0')
		rc = open_tcp(h, HTTP_DOOR_TLS, o->tls_listen);
	return rc;
}

int
http_open(const struct http_options *o, struct event_base *base,
    struct view *view, struct store *store, struct http **ret)
{
	struct http *h = xcalloc(1, sizeof(*h));
	int rc;

	h->base = base;
	h->view = view;
	h->store = store;
	h->conns = http_conns_new(base, o->connections_max, request_cb,
	    answered_cb, h);
	http_conns_set_tls(h->conns, o->tls);
	rc = open_doors(h, o);
	if (rc < 0) {
		http_close(h);
		return rc;
	}
	*ret = h;
	return 0;
}

void
http_close(struct http *h)
{
	if (h == NULL)
		return;
	http_conns_free(h->conns);
	if (h->socket != NULL)
		unlink(h->socket);
	free(h->socket);
	free(h);
}

void
http_set_tls(struct http *h, SSL_CTX *tls)
{
	http_conns_set_tls(h->conns, tls);
}
