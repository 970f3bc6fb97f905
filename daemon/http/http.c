/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - the listening sockets, and the checks of a request before its route.
 */
#include "daemon/http/http_int.h"
#include "daemon/http/http_answer.h"
#include "daemon/http/http_parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
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

#define PART_MAX 512 /* bytes of a name in a path, escaped */
/* An answer that takes the loop longer than KEEP_MIN_NS is cached for
 * KEEP_TIMES as long, so that equal requests use at most a tenth of the loop.
 * Answers that differ by parameters may use a fifth. */
#define KEEP_MIN_NS      (2 * CLK_NS_PER_MS)
#define KEEP_TIMES       10
#define KEPT_MAX         16
#define SPENT_SHARE      5
#define SPENT_SHARE_BODY 20
#define SPENT_MAX        CLK_NS_PER_S

struct http_kept {
	TAILQ_ENTRY(http_kept) link;
	char *target;
	struct evbuffer *body; /* gzipped if target ends so */
	struct http_answer answer;
	uint64_t until_ns;
};

/* Return 1 if path matches pattern; part is the segment that matches '*', still
 * escaped. An empty segment does not match. */
static int
http_route_fits(const char *pattern, const char *path, char part[PART_MAX])
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

/* Return 1 unless the Host header has an unknown name, which may be another
 * site's (DNS rebinding). */
static int
http_host_fits(const struct http *h, const struct http_request *req)
{
	const char *host = req->head.host, *list = h->hosts;
	size_t len = host != NULL ? strlen(host) : 0;
	struct in_addr v4;

	if (host == NULL || req->door != HTTP_DOOR_TCP || host[0] == '[' ||
	    inet_pton(AF_INET, host, &v4) == 1 ||
	    strcasecmp(host, "localhost") == 0 ||
	    strcasecmp(host, h->own_name) == 0)
		return 1;
	while (*list != '\0') {
		size_t n;

		list += strspn(list, ", ");
		n = strcspn(list, ", ");
		if (n == len && n > 0 && strncasecmp(list, host, n) == 0)
			return 1;
		list += n;
	}
	return 0;
}

/* ---- cached answers ---- */

static void
http_kept_free(struct http *h, struct http_kept *k)
{
	TAILQ_REMOVE(&h->kept, k, link);
	evbuffer_free(k->body);
	free(k->target);
	free(k);
}

static char *
http_target_of(const struct http_request *req)
{
	struct strbuf s = { 0 };

	strbuf_addf(&s, "%d %s", req->head.accepts_gzip, req->head.path);
	for (size_t i = 0; i < req->head.param_count; i++)
		strbuf_addf(&s, " %zu %s=%s", strlen(req->head.params[i].name),
		    req->head.params[i].name, req->head.params[i].value);
	return s.text;
}

/* Drop expired answers. */
static const struct http_kept *
http_kept_find(struct http *h, const struct http_request *req)
{
	struct http_kept *k, *next, *found = NULL;
	uint64_t now_ns = clk_ns();
	char *target;

	if (TAILQ_EMPTY(&h->kept))
		return NULL;
	target = http_target_of(req);
	for (k = TAILQ_FIRST(&h->kept); k != NULL; k = next) {
		next = TAILQ_NEXT(k, link);
		if (now_ns > k->until_ns)
			http_kept_free(h, k);
		else if (strcmp(k->target, target) == 0)
			found = k;
	}
	free(target);
	return found;
}

/* Answers that depend on parameters or on a body cannot all be cached. Return
 * the account that such a request of a reader is charged to, or NULL. Requests
 * with a body have a smaller share of the loop. */
static struct account *
http_account_of(struct http *h, const struct http_request *req,
    const struct http_route *r, unsigned *ret_share)
{
	int has_body = r->method == HTTP_POST;

	*ret_share = has_body ? SPENT_SHARE_BODY : SPENT_SHARE;
	if (has_body
		? req->right == HTTP_MAY_ORDER
		: req->door == HTTP_DOOR_UNIX || req->head.param_count == 0)
		return NULL;
	return &h->spent[has_body];
}

static void
http_route_answer(struct http *h, struct http_request *req,
    const struct http_route *r, char *part)
{
	json_t *value;

	if (r->handle != NULL) {
		r->handle(h, req, part[0] != '\0' ? part : NULL);
	} else if (r->args != NULL) {
		value = json_object();
		if (http_args(req, value, r->args) == 0)
			http_ask(h, req, r->ask, value);
		else
			json_decref(value);
	} else {
		value = r->list != NULL ? r->list(h->api)
					: r->one(h->api, part);
		if (value == NULL && r->one != NULL)
			http_fail(req, 404, "not-found", r->missing);
		else
			http_reply_json(req, 200, value);
	}
}

void
http_fail_standby(struct http *h, struct http_request *req)
{
	char why[200];

	snprintf(why, sizeof(why),
	    "this collector is a standby: the active one is %s",
	    store_leader(h->store));
	http_fail(req, 503, "busy", why);
}

/* Return the route of a request, or NULL after sending an error. */
static const struct http_route *
http_route_of(struct http_request *req, enum http_method method,
    char ret_part[PART_MAX])
{
	static const struct http_route *const tables[] = { http_routes,
		http_orders_routes };
	int known = 0;

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (const struct http_route *r = tables[i]; r->name != NULL;
		     r++) {
			if (!http_route_fits(r->pattern, req->head.path,
				ret_part))
				continue;
			known = 1;
			if (r->method == method)
				return r;
		}
	if (known)
		http_fail(req, 405, "unsupported",
		    "method not allowed for this path");
	else
		http_fail(req, 404, "not-found", "unknown path");
	return NULL;
}

/* Return 1 if the client is permitted; 0 after sending an error. */
static int
http_route_may(struct http_request *req, const struct http_route *r)
{
	if (req->right < r->right) {
		http_fail(req, 403, "forbidden",
		    r->right == HTTP_MAY_ORDER
			? "permission denied: changes need root or the "
			  "collector's user on the unix socket, or a "
			  "certificate with role operator"
			: "the role in this certificate does not permit "
			  "reading");
		return 0;
	}
	/* Our pages send no POST requests, so a POST from a browser comes from
	 * another site. */
	if (r->method == HTTP_POST && req->head.has_origin) {
		http_fail(req, 403, "forbidden",
		    "orders from web pages are rejected");
		return 0;
	}
	return 1;
}

static void
http_on_request_cb(struct http_request *req, void *arg)
{
	enum http_method method = req->head.method == HTTP_HEAD
	    ? HTTP_GET
	    : req->head.method;
	const struct http_route *r;
	const struct http_kept *k;
	struct http *h = arg;
	char part[PART_MAX], why[400];
	uint64_t began_ns = clk_ns();
	struct account *account;
	unsigned share;

	if (!http_host_fits(h, req)) {
		snprintf(why, sizeof(why),
		    "unknown host name %.200s: add it to http.hosts",
		    req->head.host);
		http_fail(req, 421, "forbidden", why);
		return;
	}
	r = http_route_of(req, method, part);
	if (r == NULL)
		return;
	req->name = r->name;
	if (!http_route_may(req, r))
		return;
	if (http_unescape(part, 0) < 0) {
		http_fail(req, 400, "config", "invalid percent-escape in path");
		return;
	}
	if ((r->right == HTTP_MAY_ORDER || r->is_live) &&
	    !store_leads(h->store)) {
		http_fail_standby(h, req);
		return;
	}
	k = method == HTTP_GET ? http_kept_find(h, req) : NULL;
	if (k != NULL) {
		struct evbuffer *body = evbuffer_new();

		evbuffer_add_buffer_reference(body, k->body);
		h->giving = 1;
		http_reply(req, &k->answer, body);
		h->giving = 0;
		return;
	}
	account = http_account_of(h, req, r, &share);
	if (account != NULL &&
	    account_charge(account, 0, share, clk_ns()) > SPENT_MAX) {
		http_fail(req, 503, "busy",
		    "too many requests: retry in a second");
		return;
	}
	req->account = account;
	http_route_answer(h, req, r, part);
	if (account != NULL)
		account->owed_ns += clk_ns() - began_ns;
}

static void
http_answered_cb(const struct http_request *req, const struct http_answer *a,
    struct evbuffer *body, int *ret_shared, void *arg)
{
	struct http *h = arg;
	struct http_kept *k, *old;
	int count = 0;

	metrics_http_count(&h->counts, req != NULL ? req->name : "none",
	    a->status);
	*ret_shared = h->giving;
	if (req == NULL || req->head.method == HTTP_POST || body == NULL ||
	    a->headers != NULL || a->status != 200 ||
	    req->made_ns < KEEP_MIN_NS)
		return;
	/* Move body to the cache, and leave a reference in its place. */
	k = xcalloc(1, sizeof(*k));
	k->target = http_target_of(req);
	k->answer = *a;
	k->until_ns = clk_ns() + KEEP_TIMES * req->made_ns;
	k->body = evbuffer_new();
	evbuffer_add_buffer(k->body, body);
	evbuffer_add_buffer_reference(body, k->body);
	TAILQ_INSERT_TAIL(&h->kept, k, link);
	TAILQ_FOREACH (old, &h->kept, link)
		count++;
	if (count > KEPT_MAX)
		http_kept_free(h, TAILQ_FIRST(&h->kept));
	*ret_shared = 1;
}

/* The client has disconnected: abandon the query. */
static void
http_gone_cb(struct http_request *req, void *arg)
{
	struct http *h = arg;

	store_abandon(h->store, req);
}

static const struct http_conns_ops conns_ops = { http_on_request_cb,
	http_gone_cb, http_answered_cb };

/* Open listening sockets at where, "host:port" or "[v6]:port" or ":port". */
static int
http_open_tcp(struct http *h, enum http_door door, const char *where)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list = NULL;
	struct str_address at;
	int rc = EAI_NONAME, fd = -1, one = 1;

	if (str_address_parse(where, &at) == 0)
		rc = getaddrinfo(at.host[0] == '\0' ? NULL : at.host, at.port,
		    &hints, &list);
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

/* All users may connect: rights depend on the peer's user. */
static int
http_open_unix(struct http *h, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, rc, taken;

	if (strlen(path) >= sizeof(at.sun_path)) {
		log_warnx("http: %s: the path is too long for a socket", path);
		return -ENAMETOOLONG;
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
		/* Another process uses the socket: do not take it over. */
		taken = connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
		close(fd);
		if (taken) {
			log_warnx("http: %s: another collector uses this "
				  "socket",
			    path);
			return -EADDRINUSE;
		}
		unlink(path);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
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

int
http_open(const struct http_options *o, struct event_base *base,
    struct api *api, struct store *store, struct http **ret)
{
	struct http *h = xcalloc(1, sizeof(*h));
	int rc = 0;

	h->base = base;
	h->api = api;
	h->store = store;
	h->hosts = xstrdup(o->hosts != NULL ? o->hosts : "");
	h->jobs_proxy = xstrdup(o->jobs_proxy != NULL ? o->jobs_proxy : "");
	gethostname(h->own_name, sizeof(h->own_name) - 1);
	TAILQ_INIT(&h->kept);
	h->conns = http_conns_new(base, o->connections_max, &conns_ops, h);
	http_conns_set_tls(h->conns, o->tls);
	if (o->listen_fd >= 0)
		rc = http_conns_listen(h->conns, HTTP_DOOR_TCP, o->listen_fd);
	else if (o->listen[0] != '\0')
		rc = http_open_tcp(h, HTTP_DOOR_TCP, o->listen);
	if (rc == 0 && o->socket[0] != '\0')
		rc = http_open_unix(h, o->socket);
	if (rc == 0 && o->tls_listen[0] != '\0')
		rc = http_open_tcp(h, HTTP_DOOR_TLS, o->tls_listen);
	if (rc < 0) {
		http_close(h);
		return rc;
	}
	*ret = h;
	return 0;
}

void
http_start(struct http *h)
{
	http_conns_start(h->conns);
}

void
http_close(struct http *h)
{
	if (h == NULL)
		return;
	http_conns_free(h->conns);
	while (!TAILQ_EMPTY(&h->kept))
		http_kept_free(h, TAILQ_FIRST(&h->kept));
	free(h->hosts);
	free(h->jobs_proxy);
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
