/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP interface over real sockets: routes, rights, limits, answers that
 * come late. TLS and its roles: test_http_tls.c; metrics: test_metrics.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <zlib.h>

#include "daemon/http/http.h"
#include "daemon/http/http_read.c"

#include "tests/unit/daemon/http/fake_api.h"
#include "tests/unit/daemon/http/fake_clock.h"
#include "tests/unit/daemon/store/store_fix.h"

#define PLACES 8 /* connections_max here */

struct env {
	struct fix f;
	struct http *http;
	uint16_t port;
	char socket[128];
};

static int
listening(uint16_t *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 64), 0);
	getsockname(fd, (struct sockaddr *)&at, &len);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static int
setup(void **state)
{
	static struct env e;
	struct http_options o = { .listen = "",
		.socket = e.socket,
		.tls_listen = "",
		.connections_max = PLACES };

	memset(&fake, 0, sizeof(fake));
	fake.nodes = 12;
	fix_folder(&e.f);
	/* Some rows of tests are of 1970: the writer would delete them. */
	e.f.options.retention_ns = e.f.options.raw_retention_ns = 0;
	fix_open(&e.f);
	snprintf(e.socket, sizeof(e.socket), "%s/sock", e.f.dir);
	o.listen_fd = listening(&e.port);
	assert_int_equal(http_open(&o, e.f.base, NULL, e.f.st, &e.http), 0);
	http_start(e.http);
	*state = &e;
	return 0;
}

static int
teardown(void **state)
{
	struct env *e = *state;

	fake_clock_start();
	http_close(e->http);
	fix_close(&e->f);
	return 0;
}

static int
dial(struct env *e)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(e->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	connect(fd, (struct sockaddr *)&at, sizeof(at));
	return fd;
}

static int
dial_unix(struct env *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(at.sun_path, e->socket);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* Return the data until the peer closes, or until want is in it. */
static char *
receive(struct env *e, int fd, const char *want)
{
	uint64_t end_ns = fake_clock_real_ns() + WAIT_NS;
	struct strbuf got = { 0 };
	char piece[65536];
	ssize_t n;

	strbuf_add(&got, "", 0);
	while (fake_clock_real_ns() < end_ns) {
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
		n = recv(fd, piece, sizeof(piece), 0);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != ENOTCONN))
			return got.text != NULL ? got.text : xstrdup("");
		if (n > 0)
			strbuf_add(&got, piece, (size_t)n);
		if (want != NULL && got.text != NULL &&
		    strstr(got.text, want) != NULL)
			return got.text;
		usleep(200);
	}
	fail_msg("no answer: %s", got.text);
	return NULL;
}

static void
say(struct env *e, int fd, const char *text, size_t len)
{
	uint64_t end_ns = fake_clock_real_ns() + WAIT_NS;

	while (len > 0 && fake_clock_real_ns() < end_ns) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n > 0) {
			text += n;
			len -= (size_t)n;
		} else if (errno == EPIPE || errno == ECONNRESET) {
			return;
		}
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
	}
}

/* One request on one connection; the caller frees the answer. */
static char *
talk(struct env *e, int fd, const char *text)
{
	char *answer;

	say(e, fd, text, strlen(text));
	answer = receive(e, fd, NULL);
	close(fd);
	return answer;
}

static int
status_of(const char *answer)
{
	int status = 0;

	sscanf(answer, "HTTP/1.1 %d", &status);
	return status;
}

static char *
get(struct env *e, const char *path)
{
	char *text = xasprintf("GET %s HTTP/1.1\r\nHost: localhost\r\n"
			       "Connection: close\r\n\r\n",
	    path);
	char *answer = talk(e, dial(e), text);

	free(text);
	return answer;
}

static int
get_status(struct env *e, const char *path)
{
	char *answer = get(e, path);
	int status = status_of(answer);

	free(answer);
	return status;
}

static json_t *
get_json(struct env *e, const char *path, int want)
{
	char *answer = get(e, path);
	json_t *v;

	assert_int_equal(status_of(answer), want);
	v = json_loads(strstr(answer, "\r\n\r\n"), JSON_DECODE_ANY, NULL);
	assert_non_null(v);
	free(answer);
	return v;
}

static char *
post(struct env *e, int fd, const char *path, const char *body)
{
	char *text =
	    xasprintf("POST %s HTTP/1.1\r\nHost: localhost\r\n"
		      "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		path, strlen(body), body);
	char *answer = talk(e, fd, text);

	free(text);
	return answer;
}

static void
test_every_get(void **state)
{
	static const char *const paths[] = { "/", "/metrics", "/healthz",
		"/api/v1/version", "/api/v1/nodes", "/api/v1/nodes/node1",
		"/api/v1/campaigns", "/api/v1/campaigns/quick", "/api/v1/runs",
		"/api/v1/events", "/api/v1/schedule", "/api/v1/diags",
		"/api/v1/impacts", "/api/v1/nodes?brief=yes",
		"/api/v1/sd/prometheus", "/api/v1/faults" };

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		char *answer = get(*state, paths[i]);

		assert_int_equal(status_of(answer), 200);
		assert_non_null(strstr(answer,
		    "Content-Security-Policy: "
		    "default-src 'none'"));
		assert_non_null(strstr(answer, "X-Content-Type-Options"));
		free(answer);
	}
}

static const char *
text_at(const json_t *list, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(list, i), key));
}

static void
test_nodes_in_few_words(void **state)
{
	json_t *list = get_json(*state, "/api/v1/nodes?brief=yes", 200);

	assert_int_equal(json_array_size(list), 12);
	assert_string_equal(text_at(list, 8, "node"), "node9");
	assert_string_equal(text_at(list, 8, "state"), "lost");
	assert_string_equal(text_at(list, 8, "leaf"), "leaf3");
	assert_null(text_at(list, 0, "addr"));
	json_decref(list);
}

static void
test_service_discovery(void **state)
{
	json_t *list = get_json(*state, "/api/v1/sd/prometheus?port=9400", 200);
	const json_t *first = json_array_get(list, 0);
	const char *target, *node, *leaf, *how;

	assert_int_equal(json_array_size(list), 12);
	assert_int_equal(json_unpack((json_t *)(uintptr_t)first,
			     "{s:[s],s:{s:s,s:s,s:s}}", "targets", &target,
			     "labels", "__meta_coalmine_node", &node,
			     "__meta_coalmine_leaf", &leaf,
			     "__meta_coalmine_state", &how),
	    0);
	assert_string_equal(target, "node1:9400");
	assert_string_equal(node, "node1");
	assert_string_equal(leaf, "leaf1");
	assert_string_equal(how, "ok");
	json_decref(list);
}

/* Lost, unmeasured or without a collector is never ok. */
static void
test_clusters_are_judged(void **state)
{
	static const struct {
		int nodes, reporting, lost, ok, warn, bad, incidents;
		int64_t silent_s, lease_s, age_s;
		const char *verdict, *text;
	} rows[] = {
		{ 4, 4, 0, 4, 0, 0, 0, 0, 0, 3, "ok", "4 of 4 nodes report" },
		{ 4, 4, 0, 0, 2, 0, 0, 0, 0, 3, "warn", "2 outliers" },
		{ 4, 4, 0, 0, 0, 0, 0, 0, 0, 3, "unknown",
		    "no measurement yet" },
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, "unknown", "0 of 0" },
		{ 4, 3, 1, 4, 0, 0, 0, 0, 0, 3, "warn", "1 lost" },
		{ 4, 3, 0, 4, 0, 0, 0, 0, 0, 3, "warn", "3 of 4" },
		{ 4, 4, 0, 3, 1, 0, 0, 0, 0, 3, "warn", "report, 1 outlier" },
		{ 4, 4, 0, 4, 0, 0, 1, 0, 0, 3, "warn",
		    "report, 1 open incident" },
		{ 4, 4, 0, 3, 0, 1, 1, 0, 0, 3, "bad", "1 bad, 1 open" },
		{ 4, 0, 4, 4, 0, 0, 0, 0, 0, 3, "bad", "4 lost" },
		{ 4, 4, 0, 4, 0, 0, 0, 3, 4, 3, "ok", "" },
		{ 4, 4, 0, 4, 0, 0, 0, 5, 4, 3, "bad", "no collector" },
		{ 4, 4, 0, 4, 0, 0, 0, 29, 0, 3, "ok", "" },
		{ 4, 4, 0, 4, 0, 0, 0, 31, 0, 3, "bad", "no collector" },
		{ 4, 4, 0, 4, 0, 0, 0, 0, 0, 95, "bad", "no collector" },
		{ 4, 4, 0, 4, 0, 0, 0, 0, 0, -30, "ok", "" },
		{ 4, 4, 0, 4, 0, 0, 0, -1, 0, 3, "bad", "no collector" },
	};
	const int64_t s = CLK_NS_PER_S, now = 1000 * s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char told[300];
		json_t *row, *o;

		snprintf(told, sizeof(told),
		    "{\"at_unix_ns\": %" PRId64 ", \"nodes\": %d,"
		    " \"reporting\": %d, \"lost\": %d, \"verdicts\": {"
		    "\"ok\": %d, \"warn\": %d, \"bad\": %d},"
		    " \"incidents\": %d}",
		    now - rows[i].age_s * s, rows[i].nodes, rows[i].reporting,
		    rows[i].lost, rows[i].ok, rows[i].warn, rows[i].bad,
		    rows[i].incidents);
		row = json_pack("{s:s, s:I, s:I, s:s}", "cluster", "a",
		    "lease_ns", (json_int_t)(rows[i].lease_s * s), "silent_ns",
		    (json_int_t)(rows[i].silent_s * s), "told", told);
		o = http_read_cluster_json(row, (uint64_t)now);
		if (strcmp(member_text(o, "verdict"), rows[i].verdict) != 0 ||
		    strstr(member_text(o, "text"), rows[i].text) == NULL)
			fail_msg("row %zu: %s: %s", i,
			    member_text(o, "verdict"), member_text(o, "text"));
		json_decref(o);
		json_decref(row);
	}
}

/* With a store in a file only this collector is known: its own state. */
static void
test_own_cluster(void **state)
{
	for (int named = 0; named < 2; named++) {
		json_t *list;

		fake.cluster = named ? "east" : NULL;
		list = get_json(*state, "/api/v1/clusters", 200);
		assert_int_equal(json_array_size(list), 1);
		assert_string_equal(text_at(list, 0, "cluster"),
		    named ? "east" : "");
		assert_true(member_bool(json_array_get(list, 0), "self"));
		assert_string_equal(text_at(list, 0, "verdict"), "ok");
		json_decref(list);
	}
	fake.cluster = NULL;
}

static void
test_refusals(void **state)
{
	static const struct {
		const char *request;
		int status;
	} rows[] = {
		{ "GET /none HTTP/1.0\r\n\r\n", 404 },
		{ "GET /api/v1/runs/ HTTP/1.0\r\n\r\n", 404 },
		{ "GET /api/v1/runs/no HTTP/1.0\r\n\r\n", 404 },
		{ "GET /api/v1/runs/no/records HTTP/1.0\r\n\r\n", 404 },
		{ "GET /api/v1/nodes/no HTTP/1.0\r\n\r\n", 404 },
		{ "GET /api/v1/runs?limit=x HTTP/1.0\r\n\r\n", 400 },
		{ "GET /api/v1/nodes?brief=perhaps HTTP/1.0\r\n\r\n", 400 },
		{ "GET /api/v1/sd/prometheus?port=0 HTTP/1.0\r\n\r\n", 400 },
		{ "GET /api/v1/nodes/%zz HTTP/1.0\r\n\r\n", 400 },
		{ "GET /api/v1/nodes/%00 HTTP/1.0\r\n\r\n", 400 },
		{ "GET /api/v1/baselines/%ff HTTP/1.0\r\n\r\n", 404 },
		{ "DELETE /api/v1/runs/a HTTP/1.0\r\n\r\n", 405 },
		{ "POST /metrics HTTP/1.0\r\n\r\n", 405 },
		{ "POST /api/v1/stop HTTP/1.0\r\n\r\n", 403 },
		{ "POST /api/v1/db/check HTTP/1.0\r\n\r\n", 403 },
		{ "GET / HTTP/1.0\r\nHost: a.example\r\n\r\n", 421 },
		{ "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\nHost: a\r\n\r\n", 400 },
		{ "GET / HTTP/2.0\r\n\r\n", 505 },
		{ "GET / HTTP/1.1\n\n\r\n\r\n", 400 },
		{ "GET /\r\n\r\n", 400 },
		{ "\x16\x03\x01\x02 \x01 \r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nbad header\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
		    501 },
		{ "POST / HTTP/1.1\r\nContent-Length: 1\r\n"
		  "Content-Length: 1\r\n\r\nx",
		    400 },
		{ "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n",
		    413 },
	};
	struct env *e = *state;
	json_t *body = json_object();

	/* A name that is not a text does not select the only one. */
	store_put_baseline(e->f.st, "ship", body);
	json_decref(body);
	fix_put_run(&e->f, fix_run("a", "x", "finished", clk_unix_ns()));
	assert_int_equal(get_status(e, "/api/v1/baselines/ship"), 200);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *answer = talk(e, dial(e), rows[i].request);

		if (status_of(answer) != rows[i].status)
			fail_msg("%s: %s", rows[i].request, answer);
		assert_non_null(strstr(answer, "{\"error\":{\"cause\":"));
		free(answer);
	}
}

static void
test_head_too_large(void **state)
{
	char *text = xcalloc(1, 20000), *answer;

	strcpy(text, "GET / HTTP/1.1\r\nX: ");
	memset(text + strlen(text), 'a', 19000);
	answer = talk(*state, dial(*state), text);
	assert_int_equal(status_of(answer), 431);
	free(answer);
	free(text);
}

static void
test_body_too_large_is_told(void **state)
{
	size_t len = 3 * 1024 * 1024;
	char *text = xcalloc(1, len + 256), *answer;
	int fd = dial_unix(*state);

	sprintf(text,
	    "POST /api/v1/stop HTTP/1.1\r\nContent-Length: %zu\r\n"
	    "\r\n",
	    len);
	memset(text + strlen(text), ' ', len);
	say(*state, fd, text, strlen(text));
	answer = receive(*state, fd, NULL);
	close(fd);
	assert_int_equal(status_of(answer), 413);
	assert_int_equal(fake.stopped, 0);
	free(answer);
	free(text);
}

static void
test_orders_need_rights(void **state)
{
	static const char *const paths[] = { "/api/v1/campaigns/quick/run",
		"/api/v1/runs/live-1/cancel", "/api/v1/schedule/quick/enable",
		"/api/v1/schedule/quick/disable", "/api/v1/stop",
		"/api/v1/db/backup", "/api/v1/nodes/node1/forget" };
	struct env *e = *state;
	char *answer;

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		answer = post(e, dial(e), paths[i], "{}");
		assert_int_equal(status_of(answer), 403);
		free(answer);
	}
	assert_int_equal(fake.stopped, 0);
	answer = post(e, dial_unix(e), "/api/v1/stop", "");
	assert_int_equal(status_of(answer), 200);
	assert_non_null(strstr(answer, "{\"ended\":2}"));
	free(answer);
	assert_int_equal(fake.stopped, 1);
}

static void
test_orders(void **state)
{
	static const struct {
		const char *path, *body;
		int status;
		const char *part; /* of the answer */
	} rows[] = {
		{ "/api/v1/campaigns/quick/run", "", 200,
		    "{\"run\":\"quick-1\"}" },
		{ "/api/v1/campaigns/quick/run",
		    "{\"overrides\":{\"canary.time\":\"5s\"}}", 200,
		    "quick-1" },
		{ "/api/v1/campaigns/quick/run", "{\"overrides\":{\"a\":1}}",
		    400, "section.key" },
		{ "/api/v1/campaigns/quick/run", "[1]", 400, "invalid body" },
		{ "/api/v1/campaigns/quick/run", "{", 400, "invalid body" },
		{ "/api/v1/campaigns/quick/run", "{\"a\":1,\"a\":2}", 400,
		    "invalid body" },
		{ "/api/v1/campaigns/no/run", "{}", 404, "no campaign no" },
		{ "/api/v1/campaigns/validate", "{\"text\":\"[x]\"}", 200,
		    "{\"ok\":true}" },
		{ "/api/v1/campaigns/validate", "{}", 400, "name and text" },
		{ "/api/v1/runs/live-1/cancel", "{}", 200, "live-1" },
		{ "/api/v1/runs/old/cancel", "{}", 409, "old is over" },
		{ "/api/v1/schedule/quick/enable", "{}", 200,
		    "\"enabled\":true" },
		{ "/api/v1/db/backup", "{\"path\":\"relative\"}", 400,
		    "absolute" },
	};
	struct env *e = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *answer = post(e, dial_unix(e), rows[i].path,
		    rows[i].body);

		if (status_of(answer) != rows[i].status ||
		    strstr(answer, rows[i].part) == NULL)
			fail_msg("%s %s: %s", rows[i].path, rows[i].body,
			    answer);
		free(answer);
	}
	assert_non_null(strstr(fake.last_by, "uid "));
}

static void
test_no_orders_from_web_pages(void **state)
{
	struct env *e = *state;
	char *answer = talk(e, dial_unix(e),
	    "POST /api/v1/stop HTTP/1.1\r\n"
	    "Origin: http://evil\r\nConnection: close\r\n\r\n");

	assert_int_equal(status_of(answer), 403);
	assert_int_equal(fake.stopped, 0);
	free(answer);
}

static void
test_backup_and_check_over_http(void **state)
{
	struct env *e = *state;
	char *body = xasprintf("{\"path\":\"%s/copy.db\"}", e->f.dir);
	char *answer = post(e, dial_unix(e), "/api/v1/db/backup", body);

	assert_int_equal(status_of(answer), 200);
	free(answer);
	answer = post(e, dial_unix(e), "/api/v1/db/backup", body);
	assert_int_equal(status_of(answer), 409);
	free(answer);
	free(body);
	answer = post(e, dial_unix(e), "/api/v1/db/check", "{}");
	assert_non_null(strstr(answer, "{\"ok\":true,\"text\":\"ok\"}"));
	free(answer);
}

static void
put_records(struct env *e, const char *run, int count)
{
	for (int seq = 1; seq < count; seq++) {
		json_t *record = fix_canary(run, seq, "lat", "isolated", 1e-5);

		store_put_record(e->f.st, record, NULL, NULL, NULL);
		json_decref(record);
	}
	fix_put_record(&e->f, fix_canary(run, count, "lat", "isolated", 1));
}

static void
test_records(void **state)
{
	struct env *e = *state;
	json_t *list;

	put_records(e, "r-1", 30);
	list = get_json(e, "/api/v1/runs/r-1/records", 200);
	assert_int_equal(json_array_size(list), 30);
	assert_non_null(json_object_get(json_array_get(list, 0), "hist"));
	json_decref(list);
	list = get_json(e, "/api/v1/runs/r-1/records?after_seq=25&limit=3",
	    200);
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(json_integer_value(
			     json_object_get(json_array_get(list, 0), "seq")),
	    26);
	json_decref(list);
	list = get_json(e, "/api/v1/runs/r-1/records?probe=impact", 200);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
}

/* Join the pieces of a chunked body in place. */
static void
unchunk(char *body)
{
	char *to = body, *from = body;

	for (;;) {
		char *end;
		size_t len = strtoul(from, &end, 16);

		assert_memory_equal(end, "\r\n", 2);
		if (len == 0)
			break;
		memmove(to, end + 2, len);
		to += len;
		from = end + 2 + len + 2;
	}
	*to = '\0';
}

static void
test_many_records_come_in_pieces(void **state)
{
	struct env *e = *state;
	char *answer, *body;
	json_t *list;

	put_records(e, "big", 6000); /* some 4 MiB: two pages */
	answer = get(e, "/api/v1/runs/big/records");
	assert_int_equal(status_of(answer), 200);
	assert_non_null(strstr(answer, "Transfer-Encoding: chunked"));
	body = strstr(answer, "\r\n\r\n") + 4;
	unchunk(body);
	list = json_loads(body, 0, NULL);
	assert_int_equal(json_array_size(list), 6000);
	json_decref(list);
	free(answer);
	/* HTTP/1.0 has no chunks: the end of the connection ends the body. */
	answer = talk(e, dial(e),
	    "GET /api/v1/runs/big/records HTTP/1.0\r\n\r\n");
	list = json_loads(strstr(answer, "\r\n\r\n"), 0, NULL);
	assert_int_equal(json_array_size(list), 6000);
	json_decref(list);
	free(answer);
}

static void
test_runs_merge_memory_and_store(void **state)
{
	struct env *e = *state;
	json_t *list;

	fake.runs = json_pack("[{s:s,s:s,s:s,s:i},{s:s,s:s,s:s}]", "run", "b",
	    "state", "running", "campaign", "x", "live", 1, "run", "new",
	    "state", "pending", "campaign", "x");
	fix_put_run(&e->f, fix_run("a", "x", "finished", 1));
	fix_put_run(&e->f, fix_run("b", "x", "starting", 2));
	list = get_json(e, "/api/v1/runs", 200);
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(json_string_value(
				json_object_get(json_array_get(list, 1),
				    "state")),
	    "running");
	json_decref(list);
	list = get_json(e, "/api/v1/runs?state=finished", 200);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
	list = get_json(e, "/api/v1/runs/b", 200);
	assert_non_null(json_object_get(list, "live"));
	json_decref(list);
	list = get_json(e, "/api/v1/runs/a", 200);
	assert_int_equal(json_integer_value(json_object_get(list, "records")),
	    0);
	json_decref(list);
	json_decref(fake.runs);
	fake.runs = NULL;
}

static void
test_pipelined_and_kept_alive(void **state)
{
	static const char three[] =
	    "GET /healthz HTTP/1.1\r\n\r\n"
	    "GET /api/v1/runs HTTP/1.1\r\n\r\n"
	    "HEAD /api/v1/version HTTP/1.1\r\nConnection: close\r\n\r\n";
	char *answer = talk(*state, dial(*state), three);
	char *second = strstr(answer + 1, "HTTP/1.1 200");
	char *third = strstr(second + 1, "HTTP/1.1 200");

	assert_non_null(third);
	assert_string_equal(strstr(third, "\r\n\r\n"), "\r\n\r\n");
	free(answer);
}

/* Long answers are compressed in pieces. */
static void
test_gzip(void **state)
{
	struct env *e = *state;
	static char packed[1 << 20], plain[1 << 23];
	char *body, text[256];
	json_t *list;

	for (int i = 0; i < 2; i++) {
		const char *path = i == 0 ? "/metrics" : "/api/v1/nodes?x=1";
		z_stream z = { 0 };
		size_t len = 0;
		ssize_t n = 1;
		int fd = dial(e);

		fake.nodes = i == 0 ? 12 : 20000;
		snprintf(text, sizeof(text),
		    "GET %s HTTP/1.1\r\nAccept-Encoding: deflate, "
		    "gzip;q=0.5\r\n"
		    "Connection: close\r\n\r\n",
		    path);
		say(e, fd, text, strlen(text));
		while (n != 0) {
			event_base_loop(e->f.base, EVLOOP_NONBLOCK);
			n = recv(fd, packed + len, sizeof(packed) - 1 - len, 0);
			if (n > 0)
				len += (size_t)n;
		}
		close(fd);
		assert_non_null(strstr(packed, "Content-Encoding: gzip"));
		body = strstr(packed, "\r\n\r\n") + 4;
		z.next_in = (Bytef *)body;
		z.avail_in = (uInt)(len - (size_t)(body - packed));
		z.next_out = (Bytef *)plain;
		z.avail_out = sizeof(plain) - 1;
		inflateInit2(&z, 31);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		inflateEnd(&z);
		plain[z.total_out] = '\0';
		if (i == 0) {
			assert_non_null(strstr(plain, "coalmine_build_info{"));
			continue;
		}
		assert_true(z.total_out > 4 * 65536);
		list = json_loads(plain, 0, NULL);
		assert_int_equal(json_array_size(list), 20000);
		json_decref(list);
	}
}

/* The client disconnects while its answer is compressed. */
static void
test_gone_while_compressed(void **state)
{
	static const char ask[] = "GET /api/v1/nodes HTTP/1.1\r\n"
				  "Accept-Encoding: gzip\r\n\r\n";
	struct env *e = *state;
	char *answer;

	fake.nodes = 20000;
	for (int passes = 1; passes < 12; passes++) {
		int fd = dial_unix(e);

		say(e, fd, ask, strlen(ask));
		for (int i = 0; i < passes; i++)
			event_base_loop(e->f.base, EVLOOP_NONBLOCK);
		close(fd);
	}
	answer = get(e, "/healthz");
	assert_int_equal(status_of(answer), 200);
	free(answer);
}

static void
test_page_is_not_sent_again(void **state)
{
	char *answer = get(*state, "/"), *etag, *text;

	assert_non_null(strstr(answer, "<!doctype html>"));
	etag = xstrndup(strstr(answer, "ETag: ") + 6, 10);
	free(answer);
	text = xasprintf("GET / HTTP/1.1\r\nIf-None-Match: %s\r\n"
			 "Connection: close\r\n\r\n",
	    etag);
	answer = talk(*state, dial(*state), text);
	assert_int_equal(status_of(answer), 304);
	free(answer);
	free(text);
	free(etag);
}

static void
test_idle_ones_make_room(void **state)
{
	struct env *e = *state;
	int fds[PLACES * 3];

	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = dial(e);
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
	}
	assert_true(http_conns_count(e->http->conns) <= PLACES);
	assert_int_equal(get_status(e, "/healthz"), 200);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
}

/* Connections that never end a request are closed too. A client on the socket
 * of this host is never closed for one of them. */
static void
test_slow_senders_make_room(void **state)
{
	struct env *e = *state;
	int fds[PLACES * 3], local = dial_unix(e);
	char *answer, piece[16];

	event_base_loop(e->f.base, EVLOOP_NONBLOCK);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = dial(e);
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
		say(e, fds[i], "GET / HT", 8); /* and nothing else */
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
	}
	assert_int_equal(get_status(e, "/healthz"), 200);
	assert_true(
	    recv(fds[0], piece, sizeof(piece), 0) >= 0 || errno != EAGAIN);
	answer = post(e, local, "/api/v1/stop", "");
	assert_int_equal(status_of(answer), 200);
	free(answer);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
}

/* A client that waits for an answer, or reads one, is not closed for others. */
static void
test_busy_ones_do_not_but_orders_pass(void **state)
{
	static const char ask[] = "GET /api/v1/nodes HTTP/1.0\r\n\r\n";
	struct env *e = *state;
	size_t name_bytes = 6 << 20; /* more than a socket buffers */
	char *name = xcalloc(1, name_bytes + 1), *answer;
	int fds[PLACES];

	fake.nodes = 1;
	fake.first_node = memset(name, 'x', name_bytes);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = dial(e);
		say(e, fds[i], ask, strlen(ask));
		while (recv(fds[i], (char[1]){ 0 }, 1, MSG_PEEK) < 0)
			event_base_loop(e->f.base, EVLOOP_NONBLOCK);
	}
	answer = get(e, "/healthz");
	assert_int_equal(status_of(answer), 503);
	assert_non_null(strstr(answer, "too many connections"));
	free(answer);
	answer = post(e, dial_unix(e), "/api/v1/stop", "");
	assert_int_equal(status_of(answer), 200);
	free(answer);
	fake.first_node = NULL;
	free(name);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
}

static void
test_slow_sender_is_ended(void **state)
{
	struct env *e = *state;
	uint64_t end_ns = fake_clock_real_ns() + WAIT_NS;
	int fd = dial(e), unsent = 0;
	char piece[1024] = "";
	ssize_t n = -1;

	fake_clock_stop();
	while (http_conns_count(e->http->conns) == 0 &&
	    fake_clock_real_ns() < end_ns)
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
	send(fd, "G", 1, MSG_NOSIGNAL);
	/* A byte every 100 ms is progress, and still too slow. The clock
	 * advances when the last byte has arrived, and stops at 12 s. */
	while (n < 0 && fake_clock_real_ns() < end_ns) {
		ioctl(fd, SIOCOUTQ, &unsent);
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
		n = recv(fd, piece, sizeof(piece) - 1, 0);
		if (unsent > 0 || fake.made_ns >= 12 * CLK_NS_PER_S)
			continue;
		fake.made_ns += 100 * CLK_NS_PER_MS;
		send(fd, "G", 1, MSG_NOSIGNAL);
	}
	close(fd);
	assert_int_equal(status_of(piece), 408);
	assert_true(fake.made_ns >= 10 * CLK_NS_PER_S);
}

static void
test_peer_gone_before_the_answer(void **state)
{
	struct env *e = *state;
	static const char text[] = "GET /api/v1/runs HTTP/1.1\r\n\r\n";

	for (int i = 0; i < 20; i++) {
		int fd = dial(e);
		struct linger now = { .l_onoff = 1 };

		say(e, fd, text, strlen(text));
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		close(fd);
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
	}
	/* And some that stay unanswered until the interface ends. */
	for (int i = 0; i < 4; i++)
		say(e, dial(e), text, strlen(text));
	event_base_loop(e->f.base, EVLOOP_NONBLOCK);
}

static void
test_half_closed_peer_gets_its_answer(void **state)
{
	struct env *e = *state;
	static const char text[] = "GET /api/v1/runs HTTP/1.1\r\n\r\n";
	int fd = dial(e);
	char *answer;

	event_base_loop(e->f.base, EVLOOP_NONBLOCK);
	say(e, fd, text, strlen(text));
	shutdown(fd, SHUT_WR);
	answer = receive(e, fd, NULL);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(fd);
}

static void
test_socket_of_another(void **state)
{
	struct env *e = *state;
	struct http_options o = { .listen = "",
		.listen_fd = -1,
		.socket = e->socket,
		.tls_listen = "",
		.connections_max = 4 };
	struct http *second = NULL;

	assert_int_equal(http_open(&o, e->f.base, NULL, e->f.st, &second),
	    -EADDRINUSE);
	assert_int_equal(access(e->socket, F_OK), 0);
	o.socket = "";
	o.listen = "127.0.0.1";
	assert_int_equal(http_open(&o, e->f.base, NULL, e->f.st, &second),
	    -EINVAL);
	assert_null(second);
}

/* ---- the cost of many readers ---- */

/* An expensive reply is made once for all clients, and again after ten times as
 * long. */
static void
test_dear_answers_are_kept(void **state)
{
	struct env *e = *state;
	char *first, *next;

	fake.nodes = 20000;
	fake.make_ns = 300 * CLK_NS_PER_MS;
	fake_clock_stop();
	first = get(e, "/api/v1/nodes");
	assert_int_equal(status_of(first), 200);
	fake.nodes = 3;
	fake.made_ns += 10 * fake.make_ns;
	next = get(e, "/api/v1/nodes");
	assert_int_equal(strlen(next), strlen(first));
	free(next);
	fake.made_ns += 1;
	next = get(e, "/api/v1/nodes");
	assert_int_equal(status_of(next), 200);
	assert_true(strlen(next) < strlen(first));
	free(first);
	free(next);
}

/* Each set of parameters is a different request: clients that repeat such
 * requests are delayed as long as necessary. Operators and scrapes are not. */
static void
test_askers_have_a_share(void **state)
{
	struct env *e = *state;
	int status = 200, asked = 0;
	char *answer, path[64];

	fake.nodes = 20;
	fake.make_ns = 300 * CLK_NS_PER_MS;
	fake_clock_stop();
	for (; status == 200 && asked < 100; asked++) {
		snprintf(path, sizeof(path), "/api/v1/nodes?brief=no&x=%d",
		    asked);
		answer = get(e, path);
		status = status_of(answer);
		free(answer);
	}
	assert_int_equal(status, 503);
	assert_int_equal(asked, 6); /* a fifth of the time is credited */
	answer = talk(e, dial_unix(e),
	    "GET /api/v1/nodes?brief=yes HTTP/1.0\r\n\r\n");
	assert_int_equal(status_of(answer), 200);
	free(answer);
	assert_int_equal(get_status(e, "/metrics"), 200);
	fake.made_ns += 2 * CLK_NS_PER_S;
	assert_int_equal(get_status(e, "/api/v1/nodes?brief=no&x=again"), 200);
}

static void
note_made_cb(evutil_socket_t fd, short what, void *arg)
{
	uint64_t *made_ns = arg;

	(void)fd;
	(void)what;
	*made_ns = fake.made_ns;
}

/* Eight readers request long answers at once: the loop makes one, then looks
 * for other work, and a scrape is served before the other seven. */
static void
test_readers_take_turns(void **state)
{
	struct env *e = *state;
	uint64_t made_ns = UINT64_MAX;
	struct event *got;
	char *answer, text[128];
	int fds[9];

	fake.nodes = 20;
	fake.make_ns = 300 * CLK_NS_PER_MS;
	fake_clock_stop();
	for (int i = 0; i < 9; i++) { /* the loop does not run meanwhile */
		fds[i] = dial_unix(e);
		snprintf(text, sizeof(text), "GET %s%c HTTP/1.0\r\n\r\n",
		    i < 8 ? "/api/v1/nodes?x=" : "/health",
		    i < 8 ? '0' + i : 'z');
		assert_int_equal(send(fds[i], text, strlen(text), 0),
		    strlen(text));
	}
	got = event_new(e->f.base, fds[8], EV_READ, note_made_cb, &made_ns);
	event_add(got, NULL);
	answer = receive(e, fds[8], "ok\n");
	assert_int_equal(status_of(answer), 200);
	assert_in_range(made_ns, 0, 3 * fake.make_ns);
	event_free(got);
	free(answer);
	for (int i = 0; i < 8; i++) {
		answer = receive(e, fds[i], NULL);
		assert_int_equal(status_of(answer), 200);
		free(answer);
	}
	assert_int_equal(fake.made_ns, 8 * fake.make_ns);
	for (int i = 0; i < 9; i++)
		close(fds[i]);
}

/* Parsing a body costs the same account its time, and a smaller share of it. */
static void
test_bodies_have_a_share(void **state)
{
	static const char body[] = "{\"name\": \"a\", \"text\": \"x\"}";
	struct env *e = *state;
	int status = 200, asked = 0;
	char *answer;

	fake.nodes = 20;
	fake.make_ns = 300 * CLK_NS_PER_MS;
	fake_clock_stop();
	for (; status == 200 && asked < 100; asked++) {
		answer = post(e, dial(e), "/api/v1/campaigns/validate", body);
		status = status_of(answer);
		free(answer);
	}
	assert_int_equal(status, 503);
	assert_in_range(asked, 4, 6);
	/* Others are not put off for it. */
	assert_int_equal(get_status(e, "/api/v1/nodes?brief=no&x=1"), 200);
	answer = post(e, dial_unix(e), "/api/v1/campaigns/validate", body);
	assert_int_equal(status_of(answer), 200);
	free(answer);
}

/* Silent connections of another user of this host on its socket use no slot of
 * another listener, and no slot of operators. */
static void
test_unix_has_own_places(void **state)
{
	struct env *e = *state;
	int fds[80];
	char *answer;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(e->f.dir, 0755), 0);
	assert_int_equal(chmod(e->socket, 0666), 0);
	assert_int_equal(seteuid(65534), 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = dial_unix(e);
		assert_int_equal(seteuid(0), 0);
		event_base_loop(e->f.base, EVLOOP_NONBLOCK);
		assert_int_equal(seteuid(65534), 0);
	}
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(get_status(e, "/healthz"), 200);
	answer = post(e, dial_unix(e), "/api/v1/stop", "");
	assert_int_equal(status_of(answer), 200);
	free(answer);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
}

/* Clients that do not read: the memory of their replies is limited. The stopped
 * clock prevents shared replies, and timeouts of the clients. A reply with one
 * long name is large and made at once. */
static void
test_slow_readers_share_memory(void **state)
{
	static const char ask[] = "GET /api/v1/nodes HTTP/1.0\r\n\r\n";
	size_t name_bytes = 17 << 20; /* four are above the limit */
	char *name = xcalloc(1, name_bytes + 1);
	struct env *e = *state;
	char piece[256] = "";
	int fds[5];

	fake.nodes = 1;
	fake.first_node = memset(name, 'x', name_bytes);
	fake_clock_stop();
	for (int i = 0; i < 5; i++) {
		fds[i] = dial(e);
		while (send(fds[i], ask, strlen(ask), MSG_NOSIGNAL) < 0)
			event_base_loop(e->f.base, EVLOOP_NONBLOCK);
		while (recv(fds[i], piece, sizeof(piece) - 1, MSG_PEEK) < 0)
			event_base_loop(e->f.base, EVLOOP_NONBLOCK);
		assert_int_equal(status_of(piece), i < 3 ? 200 : 503);
	}
	fake.first_node = NULL;
	free(name);
	for (int i = 0; i < 5; i++)
		close(fds[i]);
}

/* Above that limit no answer in pieces begins. The stopped clock prevents a
 * timeout of the client that does not read. */
static void
test_streams_share_memory(void **state)
{
	static const char ask[] = "GET /api/v1/nodes HTTP/1.0\r\n\r\n";
	size_t name_bytes = 68 << 20; /* above the limit alone */
	char *name = xcalloc(1, name_bytes + 1), *answer;
	struct env *e = *state;
	int fd;

	put_records(e, "big", 6000);
	fake.nodes = 1;
	fake.first_node = memset(name, 'x', name_bytes);
	fake_clock_stop();
	fd = dial_unix(e);
	say(e, fd, ask, strlen(ask));
	answer = receive(e, fd, "HTTP/1.1 200");
	assert_int_equal(status_of(answer), 200);
	free(answer);
	answer = get(e, "/api/v1/runs/big/records");
	assert_int_equal(status_of(answer), 503);
	assert_non_null(strstr(answer, "too many slow clients"));
	free(answer);
	close(fd);
	assert_int_equal(get_status(e, "/api/v1/runs/big/records"), 200);
	fake.first_node = NULL;
	free(name);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_every_get),
		T(test_nodes_in_few_words),
		T(test_clusters_are_judged),
		T(test_own_cluster),
		T(test_service_discovery),
		T(test_refusals),
		T(test_head_too_large),
		T(test_body_too_large_is_told),
		T(test_orders_need_rights),
		T(test_orders),
		T(test_no_orders_from_web_pages),
		T(test_backup_and_check_over_http),
		T(test_records),
		T(test_many_records_come_in_pieces),
		T(test_runs_merge_memory_and_store),
		T(test_pipelined_and_kept_alive),
		T(test_gzip),
		T(test_gone_while_compressed),
		T(test_page_is_not_sent_again),
		T(test_idle_ones_make_room),
		T(test_slow_senders_make_room),
		T(test_busy_ones_do_not_but_orders_pass),
		T(test_slow_sender_is_ended),
		T(test_peer_gone_before_the_answer),
		T(test_half_closed_peer_gets_its_answer),
		T(test_socket_of_another),
		T(test_dear_answers_are_kept),
		T(test_askers_have_a_share),
		T(test_readers_take_turns),
		T(test_bodies_have_a_share),
		T(test_unix_has_own_places),
		T(test_slow_readers_share_memory),
		T(test_streams_share_memory),
	};

	signal(SIGPIPE, SIG_IGN); /* as the collector does */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
