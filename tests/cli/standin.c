/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin SOCKET FIXTURES LOG - a fake collector with fixed answers.
 *
 * GET /api/v1/runs/a?x=1 is answered from FIXTURES/GET_runs_a: the status in
 * the first line, and Coalmine-Next after it if there is one, then the body. If
 * there are files GET_runs_a-1, GET_runs_a-2
 * ... instead, they are the answers to consecutive requests; the last one is
 * repeated. Requests are appended to LOG. One connection at a time, with one
 * request.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

#define REQUEST_MAX (256 * 1024)
#define TURNS_MAX   64

/* Number of requests of a path that has several answers. */
static struct turn {
	char *path;
	int count;
} turns[TURNS_MAX];

static int
listen_at(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (str_format(sun.sun_path, sizeof(sun.sun_path), "%s", path) < 0)
		fatalx("%s: too long for a socket", path);
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0 ||
	    listen(fd, 8) < 0)
		fatal("%s", path);
	return fd;
}

/* Read head and body of one request. Return 0 if the peer disconnected. */
static int
read_request(int fd, char *text)
{
	size_t len = 0, want = 0;

	for (;;) {
		ssize_t n = read(fd, text + len, REQUEST_MAX - 1 - len);
		const char *end, *length;

		if (n <= 0)
			return 0;
		len += (size_t)n;
		text[len] = '\0';
		end = strstr(text, "\r\n\r\n");
		if (end == NULL)
			continue;
		length = strcasestr(text, "\r\nContent-Length:");
		want = (size_t)(end + 4 - text);
		if (length != NULL && length < end)
			want += strtoul(length + 17, NULL, 10);
		if (len >= want)
			return 1;
	}
}

/* Open the next answer of a path that has several. */
static FILE *
open_turn(const char *path)
{
	struct turn *t = turns;
	char *name;
	FILE *from;

	while (t->path != NULL && strcmp(t->path, path) != 0)
		t++;
	if (t - turns >= TURNS_MAX - 1)
		fatalx("more than %d paths", TURNS_MAX);
	if (t->path == NULL)
		t->path = xstrdup(path);
	name = xasprintf("%s-%d", path, t->count + 1);
	from = fopen(name, "re");
	free(name);
	if (from != NULL) {
		t->count++;
	} else if (t->count > 0) {
		name = xasprintf("%s-%d", path, t->count);
		from = fopen(name, "re");
		free(name);
	}
	return from;
}

static void
answer(int fd, const char *dir, const char *method, char *path)
{
	static const char none[] = "{\"error\":{\"cause\":\"config\","
				   "\"message\":\"no such path\"}}";
	struct strbuf body = { 0 };
	char *file, status[48] = "404", part[4096], *next;
	FILE *from;
	size_t n;

	path[strcspn(path, "?")] = '\0';
	for (char *p = path; *p != '\0'; p++)
		if (*p == '/')
			*p = '_';
	file = xasprintf("%s/%s%s", dir, method, path);
	from = fopen(file, "re");
	if (from == NULL)
		from = open_turn(file);
	free(file);
	if (from == NULL) {
		strbuf_add(&body, none, strlen(none));
	} else {
		if (fgets(status, sizeof(status), from) == NULL)
			fatalx("an empty fixture");
		status[strcspn(status, "\n")] = '\0';
		while ((n = fread(part, 1, sizeof(part), from)) > 0)
			strbuf_add(&body, part, n);
		fclose(from);
	}
	next = strchr(status, ' ');
	if (next != NULL)
		*next++ = '\0';
	dprintf(fd,
	    "HTTP/1.1 %s X\r\nContent-Length: %zu\r\n%s%s%s"
	    "Connection: close\r\n\r\n%s",
	    status, body.len_bytes, next != NULL ? "Coalmine-Next: " : "",
	    next != NULL ? next : "", next != NULL ? "\r\n" : "",
	    body.len_bytes == 0 ? "" : body.text);
	strbuf_clear(&body);
}

static void
serve(int fd, const char *dir, FILE *to)
{
	static char text[REQUEST_MAX];
	char method[8], path[512];

	if (!read_request(fd, text) ||
	    sscanf(text, "%7s /api/v1%511s", method, path) != 2)
		return;
	fprintf(to, "%s %s %s\n", method, path, strstr(text, "\r\n\r\n") + 4);
	fflush(to);
	answer(fd, dir, method, path);
}

int
main(int argc, char **argv)
{
	FILE *to;
	int fd;

	log_init("standin", LOG_LEVEL_INFO);
	if (argc != 4)
		fatalx("usage: standin SOCKET FIXTURES LOG");
	to = fopen(argv[3], "ae");
	if (to == NULL)
		fatal("%s", argv[3]);
	fd = listen_at(argv[1]);
	for (;;) {
		int peer = accept(fd, NULL, NULL);

		if (peer < 0)
			fatal("accept");
		serve(peer, argv[2], to);
		close(peer);
	}
}
