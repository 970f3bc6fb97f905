/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_parse.c - the accepted part of HTTP/1.x, and the status codes of
 * rejected requests.
 *
 * Strict, because lenient parsers allow request smuggling: CRLF only, no folded
 * lines, no transfer coding, one Content-Length. evhttp is not used: it can
 * neither count nor reject connections, and its timeouts restart with every
 * byte (see http_conn.c).
 */
#include "daemon/http/http_parse.h"
#include "daemon/http/http_int.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

struct fault {
	int status;
	const char *why;
};

static const struct fault no_fault = { 0, NULL };

#define TLS_HANDSHAKE 0x16 /* the first byte of a TLS connection */

/* RFC 9110 tchar: the characters of a method or a header's name. */
static int
http_parse_is_token(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static int
http_parse_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int
http_unescape(char *text, int plus_is_blank)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		int hi, lo;

		if (*text != '%') {
			*to++ = *text == '+' && plus_is_blank ? ' ' : *text;
			continue;
		}
		hi = http_parse_hex_digit(text[1]);
		lo = hi < 0 ? -1 : http_parse_hex_digit(text[2]);
		if (lo < 0 || (hi == 0 && lo == 0))
			return -EINVAL;
		*to++ = (char)(hi * 16 + lo);
		text += 2;
	}
	*to = '\0';
	return 0;
}

static struct fault
http_parse_query(struct http_head *h, char *query)
{
	char *one, *rest = query;

	for (one = strsep(&rest, "&"); one != NULL; one = strsep(&rest, "&")) {
		char *value = strchr(one, '=');

		if (*one == '\0')
			continue;
		if (h->param_count == HTTP_PARAMS_MAX)
			return (struct fault){ 400, "too many parameters" };
		if (value != NULL)
			*value++ = '\0';
		if (http_unescape(one, 1) < 0 ||
		    (value != NULL && http_unescape(value, 1) < 0))
			return (struct fault){ 400,
				"invalid percent-escape in query" };
		h->params[h->param_count].name = one;
		h->params[h->param_count++].value = value != NULL ? value : "";
	}
	return no_fault;
}

static struct fault
http_parse_request_line(struct http_head *h, char *line)
{
	static const char *const names[] = { "GET", "HEAD", "POST" };
	char *target = strchr(line, ' ');
	char *version = target != NULL ? strchr(target + 1, ' ') : NULL;
	char *query;
	int i;

	if (version == NULL || target == line)
		return (struct fault){ 400, "not an HTTP request" };
	*target++ = '\0';
	*version++ = '\0';
	for (const char *c = line; *c != '\0'; c++)
		if (!http_parse_is_token(*c))
			return (struct fault){ 400, "not an HTTP request" };
	i = STR_FIND(names, line);
	h->method = i < 0 ? HTTP_METHOD_OTHER : (enum http_method)i;
	if (strcmp(version, "HTTP/1.1") == 0)
		h->minor = 1;
	else if (strcmp(version, "HTTP/1.0") != 0)
		return (struct fault){ 505,
			"unsupported version: expected HTTP/1.0 or 1.1" };
	h->keep_alive = h->minor == 1;
	if (strlen(target) > HTTP_TARGET_MAX)
		return (struct fault){ 414, "the path is too long" };
	if (target[0] != '/')
		return (
		    struct fault){ 400, "the request target must be a path" };
	for (const char *c = target; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return (struct fault){ 400, "invalid byte in path" };
	query = strchr(target, '?');
	if (query != NULL)
		*query++ = '\0';
	h->path = target;
	return query != NULL ? http_parse_query(h, query) : no_fault;
}

/* Return 1 if a comma-separated list has token without the parameter q=0; other
 * parameters are ignored. */
static int
http_parse_list_has(const char *list, const char *token)
{
	size_t len = strlen(token);

	while (*list != '\0') {
		size_t one = strcspn(list, ",");
		size_t name = strcspn(list, ",; \t");
		const char *q = strstr(list, "q=0");
		int refused = q != NULL && q < list + one &&
		    strspn(q + 3, ".0") == strcspn(q + 3, ", \t");

		if (name == len && strncasecmp(list, token, len) == 0)
			return !refused;
		list += one;
		list += strspn(list, ", \t");
	}
	return 0;
}

struct header_row {
	const char *name;
	struct fault (*take)(struct http_head *, const char *);
};

static struct fault
http_parse_take_length(struct http_head *h, const char *value)
{
	int64_t bytes;

	if (h->body_bytes != UINT64_MAX)
		return (
		    struct fault){ 400, "more than one Content-Length header" };
	if (value[0] < '0' || value[0] > '9' ||
	    str_to_int(value, 0, INT64_MAX, &bytes) < 0)
		return (struct fault){ 400, "invalid Content-Length" };
	if (bytes > HTTP_BODY_MAX)
		return (struct fault){ 413, "the body is too large" };
	h->body_bytes = (uint64_t)bytes;
	return no_fault;
}

static struct fault
http_parse_take_coding(struct http_head *h, const char *value)
{
	(void)h;
	(void)value;
	return (struct fault){ 501, "transfer codings are unsupported" };
}

static struct fault
http_parse_take_connection(struct http_head *h, const char *value)
{
	if (http_parse_list_has(value, "close"))
		h->keep_alive = 0;
	else if (http_parse_list_has(value, "keep-alive"))
		h->keep_alive = 1;
	return no_fault;
}

static struct fault
http_parse_take_accept_encoding(struct http_head *h, const char *value)
{
	h->accepts_gzip = http_parse_list_has(value, "gzip");
	return no_fault;
}

static struct fault
http_parse_take_expect(struct http_head *h, const char *value)
{
	h->expects_continue = strcasecmp(value, "100-continue") == 0;
	return no_fault;
}

static struct fault
http_parse_take_origin(struct http_head *h, const char *value)
{
	(void)value;
	h->has_origin = 1;
	return no_fault;
}

static struct fault
http_parse_take_host(struct http_head *h, const char *value)
{
	char *port = strrchr(value, ':');

	if (h->host != NULL)
		return (struct fault){ 400, "more than one Host header" };
	if (port != NULL && strchr(port, ']') == NULL)
		*port = '\0';
	h->host = value;
	return no_fault;
}

/* A second one is refused: its sender could choose whose jobs to see. */
static struct fault
http_parse_take_user(struct http_head *h, const char *value)
{
	if (h->user != NULL)
		return (struct fault){ 400, "two X-Forwarded-Users" };
	h->user = value;
	return no_fault;
}

static struct fault
http_parse_take_etag(struct http_head *h, const char *value)
{
	if (strlen(value) < sizeof(h->etag))
		memcpy(h->etag, value, strlen(value) + 1);
	return no_fault;
}

static const struct header_row header_rows[] = {
	{ "Content-Length", http_parse_take_length },
	{ "Transfer-Encoding", http_parse_take_coding },
	{ "Connection", http_parse_take_connection },
	{ "Accept-Encoding", http_parse_take_accept_encoding },
	{ "Expect", http_parse_take_expect },
	{ "Origin", http_parse_take_origin },
	{ "Host", http_parse_take_host },
	{ "If-None-Match", http_parse_take_etag },
	{ "X-Forwarded-User", http_parse_take_user },
};

static struct fault
http_parse_header(struct http_head *h, char *line)
{
	char *value = line, *end;

	while (http_parse_is_token(*value))
		value++;
	if (value == line || *value != ':')
		return (struct fault){ 400, "invalid header" };
	*value++ = '\0';
	value += strspn(value, " \t");
	end = value + strlen(value);
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	for (const char *c = value; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' && *c != '\t')
			return (struct fault){ 400, "invalid byte in header" };
	for (size_t i = 0; i < ARRAY_LEN(header_rows); i++)
		if (strcasecmp(line, header_rows[i].name) == 0)
			return header_rows[i].take(h, value);
	return no_fault;
}

/* text has complete lines, each ended by CRLF, the last one empty. */
static struct fault
http_parse_lines(struct http_head *h, char *text)
{
	struct fault fault = no_fault;
	int first = 1;

	while (fault.status == 0) {
		char *end = strstr(text, "\r\n");

		if (end == NULL || strcspn(text, "\n") < (size_t)(end - text))
			return (struct fault){ 400, "lines must end in CRLF" };
		*end = '\0';
		if (*text == '\0' && !first)
			return no_fault;
		fault = first ? http_parse_request_line(h, text)
			      : http_parse_header(h, text);
		first = 0;
		text = end + 2;
	}
	return fault;
}

long
http_parse_head(const char *bytes, size_t len_bytes, struct http_head *ret,
    int *ret_status, const char **ret_why)
{
	const char *end = memmem(bytes, len_bytes, "\r\n\r\n", 4);
	size_t head_bytes = end != NULL ? (size_t)(end - bytes) + 4 : 0;
	/* A client of TLS would wait for an answer until its timeout. */
	int is_tls = len_bytes > 0 && bytes[0] == TLS_HANDSHAKE;
	struct fault fault;

	if (end == NULL && len_bytes < HTTP_HEAD_MAX && !is_tls)
		return 0;
	if (is_tls) {
		fault = (struct fault){ 400,
			"this port serves http without TLS" };
	} else if (end == NULL || head_bytes >= HTTP_HEAD_MAX) {
		fault = (struct fault){ 431,
			"the request header is too large" };
	} else if (memchr(bytes, '\0', head_bytes) != NULL) {
		fault = (struct fault){ 400,
			"the request header contains a NUL byte" };
	} else {
		memset(ret, 0, offsetof(struct http_head, text));
		memcpy(ret->text, bytes, head_bytes);
		ret->text[head_bytes] = '\0';
		ret->body_bytes = UINT64_MAX;
		fault = http_parse_lines(ret, ret->text);
		if (ret->body_bytes == UINT64_MAX)
			ret->body_bytes = 0;
	}
	if (fault.status == 0)
		return (long)head_bytes;
	*ret_status = fault.status;
	*ret_why = fault.why;
	return -EPROTO;
}

const char *
http_param(const struct http_head *head, const char *name)
{
	for (size_t i = 0; i < head->param_count; i++)
		if (strcmp(head->params[i].name, name) == 0)
			return head->params[i].value;
	return NULL;
}
