/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netload.c - what the lab's tests need of a network, without MPI: bulk
 * bytes, ping-pong, and many idle connections.
 *
 *   netload serve PORT                    until killed
 *   netload bulk HOST PORT SECONDS        prints Mbit/s, as received
 *   netload ping HOST PORT COUNT          prints mean, p50, p99 in us
 *   netload idle HOST PORT COUNT SECONDS  prints how many were opened
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "netload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void
nodelay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static int
dial(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	int fd;

	if (getaddrinfo(host, port, &hints, &ai) != 0) {
		fprintf(stderr, "netload: no address for %s\n", host);
		exit(1);
	}
	fd = socket(ai->ai_family, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen) != 0)
		die(host);
	freeaddrinfo(ai);
	nodelay(fd);
	return fd;
}

/* The first byte says what a connection is for. Bulk bytes are counted and
 * the count is the answer, so the sender's own buffers do not count. */
static void
serve_one(int fd)
{
	static char buf[1 << 18];
	uint64_t total = 0;
	char mode;
	ssize_t n;

	nodelay(fd);
	if (read(fd, &mode, 1) != 1)
		return;
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		total += (uint64_t)n;
		if (mode == 'p' && write(fd, buf, (size_t)n) != n)
			return;
	}
	if (mode == 'b' && write(fd, &total, sizeof(total)) < 0)
		die("answer");
}

static int
serve(const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0), conn;

	signal(SIGCHLD, SIG_IGN);
	sin.sin_port = htons((uint16_t)atoi(port));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) != 0 ||
	    listen(fd, 64) != 0)
		die(port);
	while ((conn = accept(fd, NULL, NULL)) >= 0) {
		if (fork() == 0) {
			serve_one(conn);
			_exit(0);
		}
		close(conn);
	}
	die("accept");
}

static int
bulk(const char *host, const char *port, double seconds)
{
	static char buf[1 << 16];
	int fd = dial(host, port);
	int64_t start = now_ns(), span_ns = (int64_t)(seconds * 1e9);
	uint64_t total;

	if (write(fd, "b", 1) != 1)
		die("write");
	while (now_ns() - start < span_ns)
		if (write(fd, buf, sizeof(buf)) < 0)
			die("write");
	shutdown(fd, SHUT_WR);
	if (read(fd, &total, sizeof(total)) != sizeof(total))
		die("answer");
	printf("%.1f\n", (double)total * 8e3 / (double)(now_ns() - start));
	return 0;
}

static int
by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int
ping(const char *host, const char *port, int count)
{
	int64_t *rtt_ns, sum_ns = 0;
	int fd = dial(host, port);
	char buf[8] = { 0 };

	if (count < 1 || write(fd, "p", 1) != 1)
		die("write");
	rtt_ns = calloc((size_t)count, sizeof(*rtt_ns));
	if (rtt_ns == NULL)
		die("memory");
	for (int i = 0; i < count; i++) {
		int64_t start = now_ns();

		if (write(fd, buf, sizeof(buf)) != sizeof(buf) ||
		    recv(fd, buf, sizeof(buf), MSG_WAITALL) != sizeof(buf))
			die("ping");
		rtt_ns[i] = now_ns() - start;
		sum_ns += rtt_ns[i];
	}
	qsort(rtt_ns, (size_t)count, sizeof(*rtt_ns), by_size);
	printf("%.1f %.1f %.1f\n", (double)sum_ns / count / 1e3,
	    (double)rtt_ns[count / 2] / 1e3,
	    (double)rtt_ns[(int)(count * 0.99)] / 1e3);
	free(rtt_ns);
	return 0;
}

/* Open connections and say nothing on them. */
static int
idle(const char *host, const char *port, int count, double seconds)
{
	struct rlimit files = { (rlim_t)count + 64, (rlim_t)count + 64 };

	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		die("file limit");
	for (int i = 0; i < count; i++)
		dial(host, port);
	printf("%d\n", count);
	fflush(stdout);
	poll(NULL, 0, (int)(seconds * 1e3));
	return 0;
}

int
main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2]);
	if (argc == 5 && strcmp(argv[1], "bulk") == 0)
		return bulk(argv[2], argv[3], atof(argv[4]));
	if (argc == 5 && strcmp(argv[1], "ping") == 0)
		return ping(argv[2], argv[3], atoi(argv[4]));
	if (argc == 6 && strcmp(argv[1], "idle") == 0)
		return idle(argv[2], argv[3], atoi(argv[4]), atof(argv[5]));
	fprintf(stderr, "netload: see the head of netload.c\n");
	return 3;
}
