/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.c - preloaded into a program under test_chaos.sh. It copies the plain
 * text of each session, in both directions, to a file in COALMINE_WITNESS, so
 * that the test does not depend on the programs' own counts of acknowledged
 * records. It shifts wall clocks by the seconds in the file COALMINE_CLOCK,
 * which may change at any time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_BYTES 32 /* a number, blanks and a newline */

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;

/* Functions of OpenSSL that this library overrides. */
SSL *SSL_new(SSL_CTX *ctx);
int SSL_read(SSL *ssl, void *bytes, int n);
int SSL_write(SSL *ssl, const void *bytes, int n);

static void *
next_of(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (f == NULL)
		abort();
	return f;
}

/* ISO C cannot convert a pointer to data into one to a function. */
#define NEXT(name)                                                             \
	static union {                                                         \
		void *data;                                                    \
		__typeof__(&name) call;                                        \
	} next;                                                                \
	if (next.data == NULL)                                                 \
	next.data = next_of(#name)

/* A piece of one direction of a session: n(ew), r(ead) or w(ritten). */
static void
note(char what, const SSL *ssl, const void *bytes, int n)
{
	static int file = -1;
	struct {
		char what[4];
		uint32_t len;
		uint64_t session;
	} head = { { what, 0, 0, 0 }, (uint32_t)n, (uint64_t)(uintptr_t)ssl };
	struct iovec iov[2] = { { &head, sizeof(head) },
		{ (void *)(uintptr_t)bytes, (size_t)n } };
	const char *dir = getenv("COALMINE_WITNESS");
	char path[4096], host[65] = "";
	struct timespec now;

	if (dir == NULL)
		return;
	if (file < 0) {
		(void)gethostname(host, sizeof(host) - 1);
		clock_gettime(CLOCK_MONOTONIC, &now);
		snprintf(path, sizeof(path), "%s/%s.%lld.%09ld", dir, host,
		    (long long)now.tv_sec, now.tv_nsec);
		file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	}
	if (writev(file, iov, 2) != (ssize_t)sizeof(head) + n)
		abort();
}

SSL *
SSL_new(SSL_CTX *ctx)
{
	NEXT(SSL_new);
	SSL *ssl = next.call(ctx);

	note('n', ssl, "", 0);
	return ssl;
}

/* Write the data to the file before the program receives them, so that its
 * reactions always follow in the file. */
int
SSL_read(SSL *ssl, void *bytes, int n)
{
	NEXT(SSL_read);
	int got = next.call(ssl, bytes, n);

	if (got > 0)
		note('r', ssl, bytes, got);
	return got;
}

int
SSL_write(SSL *ssl, const void *bytes, int n)
{
	NEXT(SSL_write);
	int put = next.call(ssl, bytes, n);

	if (put > 0)
		note('w', ssl, bytes, put);
	return put;
}

static time_t
off_s(void)
{
	static const char *_Atomic text;
	const char *path = getenv("COALMINE_CLOCK");
	const char *map = atomic_load(&text);
	int fd;

	if (path == NULL)
		return 0;
	if (map == NULL) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		map = mmap(NULL, CLOCK_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		if (fd < 0 || map == MAP_FAILED)
			abort();
		close(fd);
		atomic_store(&text, map);
	}
	return (time_t)strtoll(map, NULL, 10);
}

int
clock_gettime(clockid_t id, struct timespec *ret)
{
	NEXT(clock_gettime);
	int rc = next.call(id, ret);

	if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ret->tv_sec += off_s();
	return rc;
}

int
gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	NEXT(gettimeofday);
	int rc = next.call(ret, zone);

	if (rc == 0)
		ret->tv_sec += off_s();
	return rc;
}

time_t
time(time_t *ret)
{
	NEXT(time);
	time_t now = next.call(NULL) + off_s();

	if (ret != NULL)
		*ret = now;
	return now;
}
