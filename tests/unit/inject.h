/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h - one call of the C library fails once. These functions replace the
 * library's, for the test's program and all its libraries. A test repeats this
 * for a sample of the calls: about COALMINE_INJECT (default 4) of each kind.
 * Included by one file of a test, after cmocka.h.
 */
#ifndef TESTS_UNIT_INJECT_H
#define TESTS_UNIT_INJECT_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
	KIND_NONE,
	KIND_OPEN,
	KIND_READ,
	KIND_WRITE,
	KIND_SYNC,
	KIND_TRUNCATE,
	KIND_RENAME,
	KIND_MEMORY,
	KIND_MAX
};

static const char *const inject_kinds[] = { "none", "open", "read", "write",
	"sync", "truncate", "rename", "memory" };

/* How many there were of each kind. */
struct inject_calls {
	_Atomic unsigned long of[KIND_MAX];
};

static struct {
	struct inject_calls *calls; /* NULL: no call fails or is counted */
	enum kind kind;             /* the call that fails */
	unsigned long at;
	int stays; /* all later ones fail, too */
} injected;

/* From now on call `at` of the kind fails. calls: of shared memory. */
static inline void
inject_arm(struct inject_calls *calls, enum kind kind, unsigned long at)
{
	injected.kind = kind;
	injected.at = at;
	injected.calls = calls;
}

static inline unsigned long
inject_step(unsigned long calls)
{
	const char *told = getenv("COALMINE_INJECT");
	unsigned long sample = told != NULL ? strtoul(told, NULL, 10) : 4;

	return calls <= sample ? 1 : calls / sample;
}

static int
inject(enum kind kind)
{
	struct inject_calls *calls = injected.calls;
	unsigned long at = calls != NULL ? ++calls->of[kind] : 0;

	if (calls == NULL || kind != injected.kind ||
	    (at != injected.at && (at < injected.at || !injected.stays)))
		return 0;
	errno = kind == KIND_MEMORY                 ? ENOMEM
	    : kind == KIND_WRITE && injected.at % 2 ? ENOSPC
						    : EIO;
	return 1;
}

ssize_t
pread64(int fd, void *to, size_t n, off64_t at)
{
	return inject(KIND_READ) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

ssize_t
pwrite64(int fd, const void *from, size_t n, off64_t at)
{
	return inject(KIND_WRITE) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}

int
fsync(int fd)
{
	return inject(KIND_SYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
	return inject(KIND_SYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int
ftruncate64(int fd, off64_t len)
{
	return inject(KIND_TRUNCATE) ? -1
				     : (int)syscall(SYS_ftruncate, fd, len);
}

ssize_t
pwritev(int fd, const struct iovec *iov, int count, off_t at)
{
	return inject(KIND_WRITE) ? -1
				  : syscall(SYS_pwritev, fd, iov, count, at, 0);
}

ssize_t
pread(int fd, void *to, size_t n, off_t at)
{
	return inject(KIND_READ) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

int
rename(const char *from, const char *to)
{
	return inject(KIND_RENAME)
	    ? -1
	    : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return inject(KIND_OPEN)
	    ? -1
	    : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return inject(KIND_OPEN)
	    ? -1
	    : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

void *
malloc(size_t bytes)
{
	return inject(KIND_MEMORY) ? NULL : __libc_malloc(bytes);
}

void *
calloc(size_t count, size_t bytes)
{
	return inject(KIND_MEMORY) ? NULL : __libc_calloc(count, bytes);
}

void *
realloc(void *old, size_t bytes)
{
	return inject(KIND_MEMORY) ? NULL : __libc_realloc(old, bytes);
}
#endif

/* Zeros that a child and its parent share. */
static inline void *
inject_shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* Redirect stderr of the child to this file. */
static inline void
inject_log_to(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, 2) < 0)
		abort();
}

static inline int
inject_log_has(const char *path, const char *word)
{
	FILE *fp = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	int has = 0;

	while (fp != NULL && !has && getline(&line, &cap, fp) >= 0)
		has = strstr(line, word) != NULL;
	if (fp != NULL)
		fclose(fp);
	free(line);
	return has;
}

#endif
