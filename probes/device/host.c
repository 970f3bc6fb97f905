/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - memory of the host as if it were a device's.
 *
 * An allocation is an anonymous file in memory (memfd) of its own, mapped and
 * shared. A handle says whose it is and which descriptor of that process; who
 * opens it goes through /proc. So nothing has a name, nothing has to be swept
 * up after a killed process, and a small /dev/shm does not matter. What may be
 * opened so is what a debugger might read: processes of the same user.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/device/device.h"
#include "probes/device/host_stream.h"

#define HANDLE_MAGIC 0x31766368 /* "hcv1" */

/* What a handle holds; ino is never given twice while the system is up. */
struct handle {
	uint32_t magic;
	int32_t pid, fd;
	uint32_t pad;
	uint64_t ino;
	uint64_t bytes;
};
_Static_assert(sizeof(struct handle) <= DEVICE_IPC_BYTES, "fits");

struct area {
	SLIST_ENTRY(area) next;
	void *base;
	uint64_t bytes;
	struct handle handle;
	int opens; /* of another's: how often */
};
SLIST_HEAD(areas, area);

struct device {
	struct areas own, opened;
	char error[DEVICE_WHY_BYTES];
};

static int __attribute__((format(printf, 3, 4)))
fail(struct device *d, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->error, sizeof(d->error), fmt, ap);
	va_end(ap);
	return rc;
}

static int
host_probe(int *ret_count, struct err *err)
{
	(void)err;
	*ret_count = 1;
	return 0;
}

static int
host_open(int index, struct device **ret, struct err *err)
{
	if (index != 0)
		return err_set(err, -ENODEV, "host has device 0 only, not %d",
		    index);
	*ret = xcalloc(1, sizeof(**ret));
	SLIST_INIT(&(*ret)->own);
	SLIST_INIT(&(*ret)->opened);
	return 0;
}

static const char *
host_error(const struct device *d)
{
	return d->error;
}

static int
host_facts(struct device *d, struct device_facts *ret)
{
	char line[128];
	unsigned long long kb;
	FILE *fp = fopen("/proc/meminfo", "re");

	if (fp == NULL)
		return fail(d, -errno, "/proc/meminfo: %s", strerror(errno));
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->name, sizeof(ret->name), "host memory");
	while (fgets(line, sizeof(line), fp) != NULL) {
		if (sscanf(line, "MemTotal: %llu", &kb) == 1)
			ret->memory_bytes = kb * 1024;
		if (sscanf(line, "MemAvailable: %llu", &kb) == 1)
			ret->free_bytes = kb * 1024;
	}
	fclose(fp);
	return 0;
}

/* ---- memory ---- */

static struct area *
area_find(struct areas *list, const void *base)
{
	struct area *a;

	SLIST_FOREACH (a, list, next)
		if (a->base == base)
			return a;
	return NULL;
}

static int
area_make(struct area *a)
{
	struct stat st;
	int fd = memfd_create("coalmine", MFD_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)a->bytes) < 0 || fstat(fd, &st) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	a->base = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	if (a->base == MAP_FAILED) {
		rc = -errno;
		close(fd);
		return rc;
	}
	a->handle = (struct handle){ .magic = HANDLE_MAGIC,
		.pid = getpid(),
		.fd = fd,
		.ino = st.st_ino,
		.bytes = a->bytes };
	return 0;
}

static int
host_alloc(struct device *d, uint64_t bytes, void **ret_base)
{
	struct area *a;
	int rc;

	if (bytes == 0 || bytes > PLAN_BYTES_MAX)
		return fail(d, -EINVAL, "%llu bytes cannot be allocated",
		    (unsigned long long)bytes);
	a = xcalloc(1, sizeof(*a));
	a->bytes = (bytes + DEVICE_GRAIN_BYTES - 1) & ~(DEVICE_GRAIN_BYTES - 1);
	rc = area_make(a);
	if (rc < 0) {
		free(a);
		return fail(d, rc, "allocating %llu bytes: %s",
		    (unsigned long long)bytes, strerror(-rc));
	}
	SLIST_INSERT_HEAD(&d->own, a, next);
	*ret_base = a->base;
	return 0;
}

static void
host_free(struct device *d, void *base)
{
	struct area *a = area_find(&d->own, base);

	if (a == NULL)
		return;
	SLIST_REMOVE(&d->own, a, area, next);
	munmap(a->base, a->bytes);
	close(a->handle.fd);
	free(a);
}

static void
host_close(struct device *d)
{
	struct area *a;

	if (d == NULL)
		return;
	while (!SLIST_EMPTY(&d->own))
		host_free(d, SLIST_FIRST(&d->own)->base);
	while (!SLIST_EMPTY(&d->opened)) {
		a = SLIST_FIRST(&d->opened);
		SLIST_REMOVE_HEAD(&d->opened, next);
		munmap(a->base, a->bytes);
		free(a);
	}
	free(d);
}

/* ---- sharing ---- */

static int
host_ipc_usable(struct device *d, int index, const char *pci, struct err *err)
{
	(void)d;
	(void)pci;
	if (index == 0)
		return 0;
	return err_set(err, -ENOTSUP, "host has device 0 only, not %d", index);
}

static int
host_ipc_export(struct device *d, void *base, struct device_ipc *ret)
{
	struct area *a = area_find(&d->own, base);

	if (a == NULL)
		return fail(d, -EINVAL,
		    "%p is not the base of an allocation: export the base and "
		    "send the offset beside it",
		    base);
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->bytes, &a->handle, sizeof(a->handle));
	return 0;
}

/* The descriptor of another process, if it is still what the handle says. */
static int
handle_fd(struct device *d, const struct handle *h)
{
	char path[64];
	struct stat st;
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", h->pid, h->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		rc = errno == ENOENT || errno == ENXIO ? -ESTALE : -errno;
		return fail(d, rc, "memory of process %d: %s", h->pid,
		    rc == -ESTALE ? "freed" : strerror(-rc));
	}
	if (fstat(fd, &st) < 0 || st.st_ino != h->ino ||
	    (uint64_t)st.st_size != h->bytes) {
		close(fd);
		return fail(d, -ESTALE, "memory of process %d: freed", h->pid);
	}
	return fd;
}

static int
host_ipc_open(struct device *d, const struct device_ipc *handle,
    void **ret_base)
{
	struct handle h;
	struct area *a;
	int fd;

	memcpy(&h, handle->bytes, sizeof(h));
	if (h.magic != HANDLE_MAGIC)
		return fail(d, -EINVAL, "not a handle of host memory");
	if (h.pid == getpid())
		return fail(d, -EINVAL,
		    "a handle cannot be opened by the process that made it");
	fd = handle_fd(d, &h); /* also for what is open: it may be freed */
	if (fd < 0)
		return fd;
	SLIST_FOREACH (a, &d->opened, next)
		if (memcmp(&a->handle, &h, sizeof(h)) == 0)
			break;
	if (a == NULL) {
		a = xcalloc(1, sizeof(*a));
		a->handle = h;
		a->bytes = h.bytes;
		a->base = mmap(NULL, h.bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
		if (a->base == MAP_FAILED) {
			int rc = -errno;

			close(fd);
			free(a);
			return fail(d, rc, "mapping memory of process %d: %s",
			    h.pid, strerror(-rc));
		}
		SLIST_INSERT_HEAD(&d->opened, a, next);
	}
	close(fd);
	a->opens++;
	*ret_base = a->base;
	return 0;
}

static int
host_ipc_close(struct device *d, void *base)
{
	struct area *a = area_find(&d->opened, base);

	if (a == NULL)
		return fail(d, -EINVAL, "%p was not opened", base);
	if (--a->opens > 0)
		return 0;
	SLIST_REMOVE(&d->opened, a, area, next);
	munmap(a->base, a->bytes);
	free(a);
	return 0;
}

static void *
host_stream_native(struct device_stream *s)
{
	(void)s;
	return NULL;
}

const struct device_ops device_host = {
	.abi = DEVICE_ABI,
	.ops_bytes = sizeof(struct device_ops),
	.name = "host",
	.host_access = 1,
	.probe = host_probe,
	.open = host_open,
	.close = host_close,
	.error = host_error,
	.facts = host_facts,
	.alloc = host_alloc,
	.free = host_free,
	.host_alloc = host_alloc,
	.host_free = host_free,
	.stream_new = host_stream_new,
	.stream_free = host_stream_free,
	.stream_native = host_stream_native,
	.stream_sync = host_stream_sync,
	.copy = host_stream_copy,
	.fill = host_stream_fill,
	.reduce = host_stream_reduce,
	.event_new = host_event_new,
	.event_free = host_event_free,
	.event_record = host_event_record,
	.event_query = host_event_query,
	.event_wait = host_event_wait,
	.stream_wait = host_stream_wait,
	.ipc_usable = host_ipc_usable,
	.ipc_export = host_ipc_export,
	.ipc_open = host_ipc_open,
	.ipc_close = host_ipc_close,
};
