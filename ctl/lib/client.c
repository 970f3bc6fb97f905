/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - libcurl as a client of the API: over a unix socket, or TLS with
 * the name that every collector's certificate has.
 */
#include "ctl/lib/client.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <arpa/inet.h>
#include <curl/curl.h>

#include "common/member.h"
#include "common/clk.h"
#include "common/file.h"
#include "common/str.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#define CONNECT_LIMIT_S 10L
#define REQUEST_LIMIT_S 600L /* a backup copies the whole store */
#define ANSWER_MAX      (512u * 1024 * 1024)
/* Every collector's certificate carries this name, so that one reached by its
 * IP address can be verified. */
#define COLLECTOR_NAME "coalmine-collector"

struct client {
	CURL *curl;
	char *url; /* as given */
	int has_cert;
	char *base; /* what paths are appended to */
	struct curl_slist *connect_to;
	uint64_t limit_ns, until_ns; /* until_ns 0: as long as it takes */
	int64_t next; /* Coalmine-Next of the last answer; 0: none */
	char curl_why[CURL_ERROR_SIZE];
	struct err err;
	struct strbuf answer;
};

static size_t
client_write_cb(char *data, size_t size, size_t count, void *arg)
{
	struct client *c = arg;

	if (c->answer.len_bytes + size * count > ANSWER_MAX)
		return 0;
	strbuf_add(&c->answer, data, size * count);
	return size * count;
}

static size_t
client_head_cb(char *data, size_t size, size_t count, void *arg)
{
	static const char name[] = "Coalmine-Next:";
	struct client *c = arg;
	size_t n = size * count, at = sizeof(name) - 1;
	char text[24];

	if (n <= at || strncasecmp(data, name, at) != 0)
		return n;
	while (at < n && data[at] == ' ')
		at++;
	snprintf(text, sizeof(text), "%.*s", (int)(n - at), data + at);
	text[strcspn(text, "\r\n")] = '\0';
	if (str_to_int(text, 1, INT64_MAX, &c->next) < 0)
		c->next = 0;
	return n;
}

/* The host of https://HOST[:PORT] when it is an IP address, else NULL. */
static char *
client_ip_host(const char *url, const char **ret_rest)
{
	const char *from = url + strlen("https://");
	int v6 = *from == '[';
	size_t n = v6 ? strcspn(from, "]") : strcspn(from, ":/");
	char *host = xstrndup(from + v6, n - (size_t)v6);
	unsigned char addr[sizeof(struct in6_addr)];

	*ret_rest = from + n + (v6 && from[n] == ']');
	if (inet_pton(v6 ? AF_INET6 : AF_INET, host, addr) == 1)
		return host;
	free(host);
	return NULL;
}

static void
client_setup_tls(struct client *c, const struct client_options *o)
{
	const char *rest;
	char *host = client_ip_host(o->url, &rest);

	if (host != NULL) {
		int v6 = strchr(host, ':') != NULL;
		char *to = xasprintf("::%s%s%s:", v6 ? "[" : "", host,
		    v6 ? "]" : "");

		c->connect_to = curl_slist_append(NULL, to);
		curl_easy_setopt(c->curl, CURLOPT_CONNECT_TO, c->connect_to);
		free(c->base);
		c->base = xasprintf("https://%s%s", COLLECTOR_NAME, rest);
		free(to);
		free(host);
	}
	if (o->ca != NULL)
		curl_easy_setopt(c->curl, CURLOPT_CAINFO, o->ca);
	if (o->crl != NULL)
		curl_easy_setopt(c->curl, CURLOPT_CRLFILE, o->crl);
	c->has_cert = o->cert != NULL;
	if (o->cert != NULL)
		curl_easy_setopt(c->curl, CURLOPT_SSLCERT, o->cert);
	if (o->key != NULL)
		curl_easy_setopt(c->curl, CURLOPT_SSLKEY, o->key);
}

int
client_url_check(const char *url)
{
	static const char *const schemes[] = { "unix:/", "http://",
		"https://" };

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (strncmp(url, schemes[i], strlen(schemes[i])) == 0 &&
		    url[strlen(schemes[i])] != '\0')
			return 0;
	return -EINVAL;
}

struct client *
client_new(const struct client_options *o, struct err *err)
{
	struct client *c;
	size_t n = strlen(o->url);

	if (client_url_check(o->url) < 0) {
		err_say(err, "invalid URL \"%.200s\": expected " CLIENT_FORMS,
		    o->url);
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	c->curl = curl_easy_init();
	c->url = xstrdup(o->url);
	while (n > 0 && o->url[n - 1] == '/')
		n--;
	c->base = xstrndup(o->url, n);
	if (strncmp(o->url, "unix:/", 6) == 0) {
		free(c->base);
		c->base = xstrdup("http://coalmined");
		curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH,
		    o->url + strlen("unix:"));
	} else if (strncmp(o->url, "https://", 8) == 0) {
		const struct {
			const char *path, *variable;
		} files[] = {
			{ o->ca, "COALMINE_CA" },
			{ o->crl, "COALMINE_CRL" },
			{ o->cert, "COALMINE_CERT" },
			{ o->key, "COALMINE_KEY" },
		};
		struct err why;

		/* Options were checked before. OpenSSL would block on a
		 * pipe. */
		for (size_t i = 0; i < ARRAY_LEN(files); i++)
			if (files[i].path != NULL &&
			    file_check(files[i].path, &why) < 0) {
				err_say(err, "%s %.300s", files[i].variable,
				    why.text);
				client_free(c);
				return NULL;
			}
		client_setup_tls(c, o);
	}
	curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->curl_why);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, client_write_cb);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(c->curl, CURLOPT_HEADERFUNCTION, client_head_cb);
	curl_easy_setopt(c->curl, CURLOPT_HEADERDATA, c);
	curl_easy_setopt(c->curl, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_LIMIT_S);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, REQUEST_LIMIT_S);
	curl_easy_setopt(c->curl, CURLOPT_USERAGENT,
	    "coalctl/" COALMINE_VERSION);
	return c;
}

void
client_free(struct client *c)
{
	if (c == NULL)
		return;
	curl_easy_cleanup(c->curl);
	curl_slist_free_all(c->connect_to);
	strbuf_clear(&c->answer);
	free(c->url);
	free(c->base);
	free(c);
}

const char *
client_why(const struct client *c)
{
	return c->err.text;
}

const char *
client_url(const struct client *c)
{
	return c->url;
}

static void
client_escape(struct strbuf *path, const char *text)
{
	for (; *text != '\0'; text++)
		if (isalnum((unsigned char)*text) ||
		    strchr("-_.~", *text) != NULL)
			strbuf_add(path, text, 1);
		else
			strbuf_addf(path, "%%%02X", (unsigned char)*text);
}

void
client_part(struct strbuf *path, const char *part)
{
	strbuf_add(path, "/", 1);
	/* A segment of dots alone would be taken for a way up. */
	if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
		strbuf_add(path, "%2E", 3);
	client_escape(path, part);
}

void
client_param(struct strbuf *path, const char *name, const char *value)
{
	if (value == NULL)
		return;
	strbuf_addf(path, "%c%s=", strchr(path->text, '?') == NULL ? '?' : '&',
	    name);
	client_escape(path, value);
}

/* NULL: the text is clean, as nearly all are. The caller frees. */
static char *
client_cleaned(const char *text)
{
	const char *c = text;
	char *clean;

	while (*c >= ' ' && *c < 0x7f)
		c++;
	if (*c == '\0')
		return NULL;
	clean = xstrdup(text);
	utf8_clean(clean);
	return clean;
}

/* Names of nodes and campaigns reach a terminal, or a file that is viewed on
 * one: remove control characters other than line feed and tab. */
static void
client_clean_texts(json_t *v)
{
	char *text = json_is_string(v) ? client_cleaned(json_string_value(v))
				       : NULL;
	const char *key;
	size_t i;
	json_t *part;
	void *next;

	if (text != NULL)
		json_string_set_nocheck(v, text);
	free(text);
	json_array_foreach (v, i, part)
		client_clean_texts(part);
	json_object_foreach_safe(v, next, key, part)
	{
		client_clean_texts(part);
		text = client_cleaned(key);
		if (text != NULL && strcmp(text, key) != 0) {
			json_object_set_nocheck(v, text, part);
			json_object_del(v, key);
		}
		free(text);
	}
}

/* Return what failed, for words of libcurl and OpenSSL that do not show what to
 * do; NULL: their text does. */
static const char *
client_reason(const struct client *c, CURLcode code)
{
	static const struct {
		const char *word, *text;
	} rows[] = {
		{ "alert certificate required",
		    "the collector requires a certificate: give --cert and "
		    "--key" },
		{ "alert unknown ca",
		    "the collector does not trust the certificate of --cert: "
		    "expected one that its authority has issued" },
		{ "alert certificate expired",
		    "the certificate of --cert has expired: coalctl pki renew "
		    "issues a new one" },
		{ "alert certificate revoked",
		    "the certificate of --cert was revoked: coalctl pki issue "
		    "issues a new one" },
		{ "wrong version number",
		    "the server does not use TLS on this port: use http:// in "
		    "--url, or the port of http.tls_listen" },
	};

	if (strncmp(c->url, "https:", 6) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcasestr(c->curl_why, rows[i].word) != NULL)
			return rows[i].text;
	/* The alert of the server may be lost with the connection. */
	if (code != CURLE_SEND_ERROR && code != CURLE_RECV_ERROR &&
	    code != CURLE_GOT_NOTHING)
		return NULL;
	return c->has_cert
	    ? "the server closed the connection: the collector rejects "
	      "certificates that are revoked, expired, or of another authority"
	    : "the server closed the connection: the collector's port for "
	      "https requires --cert and --key; for a port without TLS use "
	      "http:// in --url";
}

/* What to try after a failed connection; "": no advice. */
static const char *
client_advice(const char *url, CURLcode code)
{
	if (strncmp(url, "unix:", 5) == 0)
		return "; is coalmined running here? coalctl init sets it up; "
		       "else give --url";
	if (code == CURLE_COULDNT_CONNECT)
		return "; the API is at http.listen (default 127.0.0.1:17701, "
		       "this host only) and, for https, at http.tls_listen";
	if (strncmp(url, "https:", 6) != 0)
		return code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING
		    ? "; a port with TLS needs https:// in --url, and the port "
		      "of agents (collector.listen, default 17700) does not "
		      "serve the API: see http.listen (default 17701)"
		    : "";
	switch (code) {
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_OPERATION_TIMEDOUT:
		return "; if the port serves http without TLS, use http:// in "
		       "--url";
	case CURLE_SSL_CERTPROBLEM:
		return "; check the files of --cert and --key";
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return "; check the file of --ca, and the host name in --url";
	default:
		return "";
	}
}

static int
client_request(struct client *c, const char *path, json_t **ret)
{
	char *url = xasprintf("%s/api/v1%s", c->base, path);
	uint64_t now_ns = clk_ns(), left_ns = c->limit_ns;
	json_t *answer = NULL;
	json_error_t error;
	long status = 0, os_errno = 0;
	const char *message;
	CURLcode code;
	int rc = 0;

	strbuf_clear(&c->answer);
	c->answer = (struct strbuf){ 0 };
	c->curl_why[0] = '\0';
	c->next = 0;
	curl_easy_setopt(c->curl, CURLOPT_URL, url);
	curl_easy_setopt(c->curl, CURLOPT_PATH_AS_IS, 1L);
	if (c->until_ns != 0) {
		if (now_ns + left_ns > c->until_ns)
			left_ns = c->until_ns > now_ns ? c->until_ns - now_ns
						       : 0;
		/* 0 would be no limit */
		curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS,
		    (long)(left_ns / CLK_NS_PER_MS) + 1);
	}
	code = curl_easy_perform(c->curl);
	free(url);
	message = client_reason(c, code);
	if (code != CURLE_OK && message != NULL)
		return err_set(&c->err, -EHOSTUNREACH,
		    "cannot reach the collector at %s: %s", c->url, message);
	if (code != CURLE_OK) {
		curl_easy_getinfo(c->curl, CURLINFO_OS_ERRNO, &os_errno);
		return err_set(&c->err, -EHOSTUNREACH,
		    "cannot reach the collector at %s: %s%s", c->url,
		    code == CURLE_COULDNT_CONNECT && os_errno != 0
			? strerror((int)os_errno)
			: c->curl_why[0] != '\0' ? c->curl_why
						 : curl_easy_strerror(code),
		    client_advice(c->url, code));
	}
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	answer = json_loadb(c->answer.len_bytes > 0 ? c->answer.text : "",
	    c->answer.len_bytes, JSON_DECODE_ANY, &error);
	client_clean_texts(answer);
	if (status < 200 || status > 299) {
		/* {"error": {"cause", "message"}}, as the server wrote it */
		message = member_text_or(json_object_get(answer, "error"),
		    "message", NULL);
		if (message != NULL)
			err_say(&c->err, "%s", message);
		else
			err_say(&c->err,
			    "the server at %s answered with HTTP status %ld",
			    c->url, status);
		rc = status == 404 ? -ENOENT : -EREMOTEIO;
	} else if (answer == NULL) {
		err_say(&c->err,
		    "the server at %s did not answer with JSON: %.*s", c->url,
		    (int)strcspn(error.text, "\n"), error.text);
		rc = -EPROTO;
	}
	if (rc < 0)
		json_decref(answer);
	else
		*ret = answer; /* handed over */
	return rc;
}

void
client_limit(struct client *c, uint64_t limit_ns, uint64_t until_ns)
{
	c->limit_ns = limit_ns;
	c->until_ns = until_ns;
}

int64_t
client_next(const struct client *c)
{
	return c->next;
}

int
client_get(struct client *c, const char *path, json_t **ret)
{
	curl_easy_setopt(c->curl, CURLOPT_HTTPGET, 1L);
	return client_request(c, path, ret);
}

int
client_post(struct client *c, const char *path, const json_t *body,
    json_t **ret)
{
	char *text = body == NULL ? xstrdup("{}")
				  : json_dumps(body, JSON_COMPACT);
	struct curl_slist *heads = curl_slist_append(NULL,
	    "Content-Type: application/json");
	int rc;

	curl_easy_setopt(c->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(text));
	curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, text);
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, heads);
	rc = client_request(c, path, ret);
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(heads);
	free(text);
	return rc;
}
