/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl.c - what several verbs need: the connection that the options name,
 * requests, messages and files.
 */
#include "ctl/lib/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/arrange.h"
#include "ctl/lib/client.h"
#include "ctl/lib/opts.h"

char *
ctl_beside(const char *below)
{
	char self[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (strrchr(self, '/') != NULL)
		*strrchr(self, '/') = '\0';
	path = xasprintf("%s/../%s", self, below);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return xstrdup(strrchr(below, '/') + 1);
}

int
ctl_fail(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("coalctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_CODE_UNKNOWN;
}

int
ctl_write(const char *path, const char *text)
{
	char *temporary;
	FILE *to;
	int bad;

	if (path == NULL || strcmp(path, "-") == 0) {
		fputs(text, stdout);
		return fflush(stdout) == 0
		    ? 0
		    : ctl_fail("standard output: %s", strerror(errno));
	}
	temporary = xasprintf("%s.new", path);
	to = fopen(temporary, "we");
	bad = to == NULL || fputs(text, to) < 0;
	bad = (to != NULL && fflush(to) != 0) || bad;
	bad = (to != NULL && fsync(fileno(to)) < 0) || bad;
	bad = (to != NULL && fclose(to) != 0) || bad;
	if (bad || rename(temporary, path) < 0)
		bad = ctl_fail("%s: %s", path, strerror(errno));
	if (bad)
		unlink(temporary);
	free(temporary);
	return bad;
}

double
ctl_gbps(const struct ctl *c)
{
	const char *text = opts_value(&c->opts, OPT_GBPS);

	return text == NULL ? 0 : strtod(text, NULL);
}

const char *
ctl_since(const struct ctl *c, uint64_t otherwise_ns, char ret[32])
{
	uint64_t span_ns = opts_span_ns(&c->opts, OPT_SINCE, otherwise_ns);

	if (span_ns == 0 && !opts_given(&c->opts, OPT_SINCE))
		return NULL;
	snprintf(ret, 32, "%" PRIu64, clk_unix_ns() - span_ns);
	return ret;
}

int
ctl_fail_client(struct ctl *c)
{
	return ctl_fail("%s", client_why(c->client));
}

/* An option, else its variable, else the fallback where that can be read. */
static const char *
ctl_setting(const struct ctl *c, enum opt id, const char *variable,
    const char *fallback)
{
	const char *value = opts_value(&c->opts, id);

	if (value == NULL)
		value = getenv(variable);
	if (value != NULL && value[0] != '\0')
		return value;
	return fallback;
}

/* Path of crl.pem in the folder of ca; NULL: no such file. The caller frees. */
static char *
ctl_crl_beside(const char *ca)
{
	const char *slash = ca == NULL ? NULL : strrchr(ca, '/');
	char *path;

	if (slash == NULL)
		return NULL;
	path = xasprintf("%.*s/crl.pem", (int)(slash - ca), ca);
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* url NULL: that of --url. */
static void
ctl_connect_to(struct ctl *c, const char *url)
{
	static const char ca[] = "/etc/coalmine/pki/ca.pem";
	struct client_options o;
	struct err err;
	char *crl;

	o.url = url != NULL
	    ? url
	    : ctl_setting(c, OPT_URL, "COALMINE_URL", CLIENT_URL);
	o.ca = ctl_setting(c, OPT_CA, "COALMINE_CA",
	    access(ca, R_OK) == 0 ? ca : NULL);
	crl = ctl_crl_beside(o.ca);
	o.crl = ctl_setting(c, OPT_CRL, "COALMINE_CRL", crl);
	o.cert = ctl_setting(c, OPT_CERT, "COALMINE_CERT", NULL);
	o.key = ctl_setting(c, OPT_KEY, "COALMINE_KEY", NULL);
	client_free(c->client);
	c->client = client_new(&o, &err);
	free(crl);
	if (c->client == NULL)
		exit(ctl_fail("%s", err.text));
}

struct client *
ctl_client_any(struct ctl *c)
{
	if (c->client == NULL)
		ctl_connect_to(c, NULL);
	return c->client;
}

/* A URL that the user gave may lead to another cluster. */
static void
ctl_cluster_pick(struct ctl *c, const char *name)
{
	const json_t *found = NULL;
	struct strbuf others = { 0 };
	const char *url;
	json_t *list, *row, *version;
	size_t i;

	if (client_get(c->client, "/clusters", &list) < 0)
		exit(ctl_fail_client(c));
	json_array_foreach (list, i, row) {
		if (strcmp(member_text(row, "cluster"), name) == 0)
			found = row;
		strbuf_addf(&others, "%s%s", i == 0 ? "" : ", ",
		    member_text(row, "cluster"));
	}
	if (found == NULL)
		exit(ctl_fail("--cluster %.60s: unknown cluster; the collector "
			      "at %s has "
			      "%s",
		    name, client_url(c->client),
		    others.len_bytes > 0 ? others.text : "none"));
	strbuf_clear(&others);
	url = member_text(found, "url");
	if (!member_bool(found, "active"))
		exit(ctl_fail("cluster %.60s has no active collector", name));
	if (!member_bool(found, "self") && url[0] == '\0')
		exit(ctl_fail("cluster %.60s: the address of its collector is "
			      "unknown: "
			      "set cluster.url in its coalmined.conf",
		    name));
	if (!member_bool(found, "self")) {
		ctl_connect_to(c, url);
		if (client_get(c->client, "/version", &version) < 0)
			exit(ctl_fail_client(c));
		if (strcmp(member_text(version, "cluster"), name) != 0)
			exit(ctl_fail("cluster %.60s: the collector at %.200s "
				      "belongs to another "
				      "cluster: correct cluster.url in "
				      "coalmined.conf",
			    name, url));
		json_decref(version);
	}
	json_decref(list);
}

struct client *
ctl_client(struct ctl *c)
{
	const char *name = ctl_setting(c, OPT_CLUSTER, "COALMINE_CLUSTER",
	    NULL);

	if (c->client == NULL) {
		ctl_client_any(c);
		if (name != NULL)
			ctl_cluster_pick(c, name);
	}
	return c->client;
}

static void
ctl_path_make(struct strbuf *path, const char *part, const char *arg)
{
	for (const char *p = part; *p != '\0';) {
		char name[64];
		size_t n = strcspn(p, "/");

		snprintf(name, sizeof(name), "%.*s", (int)n, p);
		client_part(path, strcmp(name, "*") == 0 ? arg : name);
		p += n + (p[n] == '/');
	}
}

int
ctl_arrange(struct ctl *c, json_t *list)
{
	struct err err;

	if (arrange_list(&c->opts, list, &err) == 0)
		return 0;
	json_decref(list);
	return ctl_fail("%s", err.text);
}

int
ctl_list(struct ctl *c, json_t **ret, const char *part, ...)
{
	struct strbuf path = { 0 };
	const char *name;
	va_list ap;
	int rc;

	ctl_path_make(&path, part, NULL);
	va_start(ap, part);
	while ((name = va_arg(ap, const char *)) != NULL)
		client_param(&path, name, va_arg(ap, const char *));
	va_end(ap);
	rc = client_get(ctl_client(c), path.text, ret);
	strbuf_clear(&path);
	return rc == 0 ? ctl_arrange(c, *ret) : ctl_fail_client(c);
}

int
ctl_post(struct ctl *c, const char *part, const char *arg, const json_t *body,
    json_t **ret)
{
	struct strbuf path = { 0 };
	int rc;

	ctl_path_make(&path, part, arg);
	rc = client_post(ctl_client(c), path.text, body, ret);
	strbuf_clear(&path);
	return rc == 0 ? 0 : ctl_fail_client(c);
}

int
ctl_get(struct ctl *c, const char *part, const char *arg, json_t **ret)
{
	struct strbuf path = { 0 };
	int rc;

	ctl_path_make(&path, part, arg);
	rc = client_get(ctl_client(c), path.text, ret);
	strbuf_clear(&path);
	if (rc == -ENOENT && arg != NULL)
		return ctl_fail("%s: %s", arg, client_why(c->client));
	return rc == 0 ? ctl_arrange(c, *ret) : ctl_fail_client(c);
}
