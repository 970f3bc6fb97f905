/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netload.c - network load for the lab's tests, without MPI: bulk bytes,
 * ping-pong, echoes, and many idle connections.
 *
 *   netload serve PORT                    until killed
 *   netload bulk HOST PORT SECONDS        prints Mbit/s, as received
 *   netload both HOST PORT SECONDS MBIT   Mbit/s in each direction; 0: no limit
 *   netload ping HOST PORT COUNT          prints mean, p50, p99 in us
 *   netload echo PORT SECONDS HOST...     a line for each second and host: UNIX
 *                                         time, host, median us without hosts
 *   netload idle HOST PORT COUNT SECONDS  prints the number of connections
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
#include <sys/prctl.h>
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
dial_as(const char *host, const char *port, int type)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = type };
	struct addrinfo *ai;
	int fd;

	if (getaddrinfo(host, port, &hints, &ai) != 0) {
		fprintf(stderr, "netload: no address for %s\n", host);
		exit(1);
	}
	fd = socket(ai->ai_family, type, 0);
	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen) != 0)
		die(host);
	freeaddrinfo(ai);
	return fd;
}

static int
dial(const char *host, const char *port)
{
	int fd = dial_as(host, port, SOCK_STREAM);

	nodelay(fd);
	return fd;
}

/* Send this many bytes a second, in small parts, until the time is over or the
 * peer closes the connection. 0: no limit. */
static uint64_t
pour(int fd, double seconds, double bytes_per_s)
{
	static char buf[1 << 16];
	size_t part = bytes_per_s > 0 ? 1400 : sizeof(buf);
	int64_t start = now_ns(), span_ns = (int64_t)(seconds * 1e9);
	uint64_t total = 0;
	ssize_t n;

	while (now_ns() - start < span_ns) {
		int64_t ahead_ns = start - now_ns();

		if (bytes_per_s > 0)
			ahead_ns += (int64_t)((double)total * 1e9 /
			    bytes_per_s);
		if (ahead_ns > 0) {
			nanosleep(&(struct timespec){ ahead_ns / 1000000000,
				      ahead_ns % 1000000000 },
			    NULL);
			continue;
		}
		n = write(fd, buf, part);
		if (n < 0)
			break;
		total += (uint64_t)n;
	}
	return total;
}

/* ---- echoes: their time in the network ---- */

struct echo {
	uint64_t seq;
	int64_t waited_ns; /* in the socket that answers, and until it did */
	char rest[48];
};

/* Read a datagram. Return the time that it waited in the socket. */
static int64_t
echo_read(int fd, struct echo *e, struct sockaddr_in *from)
{
	_Alignas(struct cmsghdr) char control[256];
	struct iovec iov = { e, sizeof(*e) };
	struct msghdr mh = { .msg_name = from,
		.msg_namelen = from == NULL ? 0 : sizeof(*from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	struct timespec stamp, now;

	if (recvmsg(fd, &mh, 0) != sizeof(*e))
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	stamp = now;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&mh); c != NULL;
	     c = CMSG_NXTHDR(&mh, c))
		if (c->cmsg_type == SCM_TIMESTAMPNS)
			memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
	return (int64_t)(now.tv_sec - stamp.tv_sec) * 1000000000 + now.tv_nsec -
	    stamp.tv_nsec;
}

static void
stamped(int fd)
{
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
}

static _Noreturn void
answer_echoes(const struct sockaddr_in *sin)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in from;
	struct echo e;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stamped(fd);
	if (bind(fd, (const struct sockaddr *)sin, sizeof(*sin)) != 0)
		die("echoes");
	for (;;) {
		int64_t waited_ns = echo_read(fd, &e, &from), read_ns;

		if (waited_ns < 0)
			continue;
		read_ns = now_ns();
		e.waited_ns = waited_ns + now_ns() - read_ns;
		(void)!sendto(fd, &e, sizeof(e), 0, (struct sockaddr *)&from,
		    sizeof(from));
	}
}

/* The first byte selects the purpose of a connection. The answer to bulk data
 * is the number of received bytes, to exclude data in the sender's buffers. */
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
	if (mode == 'd') { /* reverse direction, until the peer closes */
		double ask[2];

		if (read(fd, ask, sizeof(ask)) == sizeof(ask))
			pour(fd, ask[0], ask[1]);
		return;
	}
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
	if (fork() == 0)
		answer_echoes(&sin);
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
	int fd = dial(host, port);
	int64_t start = now_ns();
	uint64_t total;

	if (write(fd, "b", 1) != 1)
		die("write");
	pour(fd, seconds, 0);
	shutdown(fd, SHUT_WR);
	if (read(fd, &total, sizeof(total)) != sizeof(total))
		die("answer");
	printf("%.1f\n", (double)total * 8e3 / (double)(now_ns() - start));
	return 0;
}

/* Errors of the connections are ignored: the end of a job closes them. */
static int
both(const char *host, const char *port, double seconds, double mbit)
{
	double ask[2] = { seconds, mbit * 1e6 / 8 };
	static char buf[1 << 18];
	int there = dial(host, port), back = dial(host, port);

	if (write(there, "b", 1) != 1 || write(back, "d", 1) != 1 ||
	    write(back, ask, sizeof(ask)) != sizeof(ask))
		die("write");
	if (fork() == 0) {
		while (read(back, buf, sizeof(buf)) > 0)
			;
		_exit(0);
	}
	close(back);
	pour(there, seconds, ask[1]);
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

/* Send an echo every 10 ms, to each host in turn. Echoes without an answer
 * after 100 ms are lost. The time in hosts, which includes waits for cores, is
 * subtracted. */
#define ECHO_HOSTS_MAX 32
#define ECHO_MAX       200 /* of a host and second */
static int
echo(const char *port, double seconds, char **hosts, int count)
{
	static int64_t rtt_ns[ECHO_HOSTS_MAX][ECHO_MAX];
	int fds[ECHO_HOSTS_MAX], had[ECHO_HOSTS_MAX] = { 0 };
	struct timeval limit = { 0, 100000 };
	int64_t end_ns = now_ns() + (int64_t)(seconds * 1e9);
	time_t second = time(NULL);
	uint64_t seq = 0;

	for (int i = 0; i < count; i++) {
		fds[i] = dial_as(hosts[i], port, SOCK_DGRAM);
		stamped(fds[i]);
		setsockopt(fds[i], SOL_SOCKET, SO_RCVTIMEO, &limit,
		    sizeof(limit));
	}
	for (int i = 0; now_ns() < end_ns; i = (i + 1) % count) {
		struct echo e = { .seq = ++seq };
		int64_t sent_ns = now_ns(), waited_ns;

		(void)!send(fds[i], &e, sizeof(e), 0);
		do
			waited_ns = echo_read(fds[i], &e, NULL);
		while (waited_ns >= 0 && e.seq != seq);
		if (waited_ns >= 0 && had[i] < ECHO_MAX)
			rtt_ns[i][had[i]++] = now_ns() - sent_ns - waited_ns -
			    e.waited_ns;
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
		if (time(NULL) == second)
			continue;
		for (int k = 0; k < count; k++, had[k - 1] = 0) {
			if (had[k] == 0)
				continue;
			qsort(rtt_ns[k], (size_t)had[k], sizeof(rtt_ns[k][0]),
			    by_size);
			printf("%lld %s %.1f\n", (long long)second, hosts[k],
			    (double)rtt_ns[k][had[k] / 2] / 1e3);
		}
		fflush(stdout);
		second = time(NULL);
	}
	return 0;
}

/* Open connections and keep them idle. */
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
	if (argc == 6 && strcmp(argv[1], "both") == 0)
		return both(argv[2], argv[3], atof(argv[4]), atof(argv[5]));
	if (argc >= 5 && argc <= 4 + ECHO_HOSTS_MAX &&
	    strcmp(argv[1], "echo") == 0)
		return echo(argv[2], atof(argv[3]), argv + 4, argc - 4);
	if (argc == 5 && strcmp(argv[1], "ping") == 0)
		return ping(argv[2], argv[3], atoi(argv[4]));
	if (argc == 6 && strcmp(argv[1], "idle") == 0)
		return idle(argv[2], argv[3], atoi(argv[4]), atof(argv[5]));
	fprintf(stderr, "netload: see the head of netload.c\n");
	return 3;
}
