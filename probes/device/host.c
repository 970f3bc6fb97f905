/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - memory of the host as if it were a device's, and threads as its
 * streams.
 *
 * Each allocation is a separate anonymous file in memory (memfd), mapped and
 * shared. A handle has the process and its descriptor; another process opens it
 * through /proc. So nothing has a name, a killed process leaves nothing behind,
 * and the size of /dev/shm does not matter. Access needs the permissions of a
 * debugger: processes of the same user.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
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
#include "probes/device/host_reduce.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define PAST_BYTES (1UL << 20) /* of a copy: past the caches from here on */
#define LINE_BYTES 64UL
/* Where ranks share cores, a thread waits longer for its turn than shorter
 * work takes: 24 ranks on two cores reduce 4 MiB in 219 ms, with 16 KiB here
 * in 235. */
#define INLINE_BYTES (256ULL << 10)
#define RING_FIRST   16
#define THREAD_STACK (256 * 1024)

#define HANDLE_MAGIC 0x31766368 /* "hcv1" */

/* The contents of a handle; ino is never reused while the system is up. */
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
host_fail(struct device *d, int rc, const char *fmt, ...)
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
		return err_set(err, -ENODEV,
		    "invalid device %d: host has device 0 only", index);
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
		return host_fail(d, -errno, "cannot read /proc/meminfo: %s",
		    strerror(errno));
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

/* It is the device's own kind. */
static int
host_pin(struct device *d, void *base, uint64_t bytes)
{
	(void)d;
	(void)base;
	(void)bytes;
	return 0;
}

static void
host_unpin(struct device *d, void *base)
{
	(void)d;
	(void)base;
}

static struct area *
host_area_find(struct areas *list, const void *base)
{
	struct area *a;

	SLIST_FOREACH (a, list, next)
		if (a->base == base)
			return a;
	return NULL;
}

static int
host_alloc(struct device *d, uint64_t bytes, void **ret_base)
{
	struct area *a;
	struct stat st;
	int fd, rc = 0;

	if (bytes == 0 || bytes > PLAN_BYTES_MAX)
		return host_fail(d, -EINVAL,
		    "cannot allocate %llu bytes: unsupported size",
		    (unsigned long long)bytes);
	a = xcalloc(1, sizeof(*a));
	a->bytes = (bytes + DEVICE_GRAIN_BYTES - 1) & ~(DEVICE_GRAIN_BYTES - 1);
	fd = memfd_create("coalmine", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)a->bytes) < 0 || fstat(fd, &st) < 0)
		rc = -errno;
	if (rc == 0) {
		a->base = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
		rc = a->base == MAP_FAILED ? -errno : 0;
	}
	if (rc < 0) {
		if (fd >= 0)
			close(fd);
		free(a);
		return host_fail(d, rc, "cannot allocate %llu bytes: %s",
		    (unsigned long long)bytes, strerror(-rc));
	}
	a->handle = (struct handle){ .magic = HANDLE_MAGIC,
		.pid = getpid(),
		.fd = fd,
		.ino = st.st_ino,
		.bytes = a->bytes };
	SLIST_INSERT_HEAD(&d->own, a, next);
	*ret_base = a->base;
	return 0;
}

static void
host_free(struct device *d, void *base)
{
	struct area *a = host_area_find(&d->own, base);

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
host_ipc_usable(struct device *d, const char *pci, const char *part,
    struct err *err)
{
	(void)d;
	(void)part;
	if (pci[0] == '\0')
		return 0;
	return err_set(err, -ENOTSUP, "host memory is not on the device %s",
	    pci);
}

static int
host_ipc_export(struct device *d, void *base, struct device_ipc *ret)
{
	struct area *a = host_area_find(&d->own, base);

	if (a == NULL)
		return host_fail(d, -EINVAL,
		    "%p is not the base of an allocation: export the base and "
		    "send the offset with it",
		    base);
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->bytes, &a->handle, sizeof(a->handle));
	return 0;
}

/* Open the descriptor of another process, if it still matches the handle. */
static int
host_handle_fd(struct device *d, const struct handle *h)
{
	char path[64];
	struct stat st;
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", h->pid, h->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		rc = errno == ENOENT || errno == ENXIO ? -ESTALE : -errno;
		return host_fail(d, rc, "cannot open memory of process %d: %s",
		    h->pid, rc == -ESTALE ? "it was freed" : strerror(-rc));
	}
	if (fstat(fd, &st) < 0 || st.st_ino != h->ino ||
	    (uint64_t)st.st_size != h->bytes) {
		close(fd);
		return host_fail(d, -ESTALE,
		    "cannot open memory of process %d: it was "
		    "freed",
		    h->pid);
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
		return host_fail(d, -EINVAL, "not a handle of host memory");
	if (h.pid == getpid())
		return host_fail(d, -EINVAL,
		    "a handle cannot be opened by the process that made it");
	fd = host_handle_fd(d,
	    &h); /* check an open one too: it may have been freed */
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
			return host_fail(d, rc,
			    "cannot map memory of process %d: %s", h.pid,
			    strerror(-rc));
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
	struct area *a = host_area_find(&d->opened, base);

	if (a == NULL)
		return host_fail(d, -EINVAL, "%p is not an opened handle",
		    base);
	if (--a->opens > 0)
		return 0;
	SLIST_REMOVE(&d->opened, a, area, next);
	munmap(a->base, a->bytes);
	free(a);
	return 0;
}

/* ---- streams ----
 *
 * A stream is a thread and a growing ring of operations; the caller adds, the
 * thread removes, and both hold the lock only to move an index. Number n of its
 * operations is done when `done` has reached n; an event is a stream and such a
 * number. The caller itself runs a small operation on an idle stream: waking a
 * thread would cost more than the work. */

struct host_op {
	void (*run)(const struct host_op *o);
	void *to;
	const void *from;    /* of a copy */
	const void **inputs; /* of a reduction; owned */
	uint64_t count;      /* bytes, elements, or an event's number */
	uint32_t inputs_count;
	int byte;
	enum plan_op op;
	enum plan_type type;
	struct device_stream *other; /* of a wait */
};

struct device_stream {
	pthread_mutex_t lock;
	pthread_cond_t work;  /* something to do, or the end */
	pthread_cond_t moved; /* done has grown */
	pthread_t thread;
	int threaded, ending;
	struct host_op *ring;
	size_t ring_cap;    /* a power of two */
	uint64_t put, done; /* operations so far */
};

struct device_event {
	struct device_stream *stream; /* NULL: never recorded */
	uint64_t number;
};

/* memcpy, with non-temporal stores if the data exceeds the caches: a normal
 * store first fetches its line and evicts others, which costs a third of the
 * memory traffic. The C library does so only above most of the last-level
 * cache, which is hundreds of MiB on a large server although many processes
 * share it. */
static void
host_run_copy(const struct host_op *o)
{
	char *to = o->to;
	const char *from = o->from;
	size_t bytes = o->count;

#ifdef __SSE2__
	if (bytes >= PAST_BYTES) {
		size_t head = -(uintptr_t)to % LINE_BYTES;

		memcpy(to, from, head);
		to += head;
		from += head;
		bytes -= head;
		for (; bytes >= LINE_BYTES; bytes -= LINE_BYTES) {
			__m128i a = _mm_loadu_si128((const __m128i *)from);
			__m128i b = _mm_loadu_si128(
			    (const __m128i *)(from + 16));
			__m128i c = _mm_loadu_si128(
			    (const __m128i *)(from + 32));
			__m128i d = _mm_loadu_si128(
			    (const __m128i *)(from + 48));

			_mm_stream_si128((__m128i *)to, a);
			_mm_stream_si128((__m128i *)(to + 16), b);
			_mm_stream_si128((__m128i *)(to + 32), c);
			_mm_stream_si128((__m128i *)(to + 48), d);
			to += LINE_BYTES;
			from += LINE_BYTES;
		}
		/* Complete the stores before any thread is notified of the
		 * data. */
		_mm_sfence();
	}
#endif
	memcpy(to, from, bytes);
}

static void
host_run_fill(const struct host_op *o)
{
	memset(o->to, o->byte, o->count);
}

static void
host_run_reduce(const struct host_op *o)
{
	host_reduce(o->op, o->type, o->to, o->inputs, o->inputs_count,
	    o->count);
}

static void
host_wait_for(struct device_stream *s, uint64_t number)
{
	pthread_mutex_lock(&s->lock);
	while (s->done < number)
		pthread_cond_wait(&s->moved, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void
host_run_wait(const struct host_op *o)
{
	host_wait_for(o->other, o->count);
}

static void *
host_stream_thread(void *arg)
{
	struct device_stream *s = arg;
	struct host_op o;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (s->done == s->put && !s->ending)
			pthread_cond_wait(&s->work, &s->lock);
		if (s->done == s->put)
			break;
		o = s->ring[s->done & (s->ring_cap - 1)];
		pthread_mutex_unlock(&s->lock);
		o.run(&o);
		free(o.inputs);
		pthread_mutex_lock(&s->lock);
		s->done++;
		pthread_cond_broadcast(&s->moved);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Takes o->inputs, also on failure. */
static int
host_put(struct device_stream *s, const struct host_op *o)
{
	size_t cap = s->ring_cap == 0 ? RING_FIRST : 2 * s->ring_cap;
	sigset_t all, old;
	pthread_attr_t attr;
	struct host_op *ring;
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	if (!s->threaded) {
		sigfillset(&all); /* signals are the main thread's */
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, THREAD_STACK);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		rc = -pthread_create(&s->thread, &attr, host_stream_thread, s);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		pthread_attr_destroy(&attr);
		s->threaded = rc == 0;
	}
	if (rc == 0 && s->put - s->done == s->ring_cap) {
		ring = xcalloc(cap, sizeof(*ring));
		for (uint64_t i = s->done; i < s->put; i++)
			ring[i & (cap - 1)] = s->ring[i & (s->ring_cap - 1)];
		free(s->ring);
		s->ring = ring;
		s->ring_cap = cap;
	}
	if (rc == 0) {
		s->ring[s->put++ & (s->ring_cap - 1)] = *o;
		pthread_cond_signal(&s->work);
	} else {
		free(o->inputs);
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* Only the caller puts, so a stream that is idle stays so until it does. */
static int
host_put_or_run(struct device_stream *s, const struct host_op *o,
    uint64_t bytes)
{
	int idle;

	if (bytes > INLINE_BYTES)
		return host_put(s, o);
	pthread_mutex_lock(&s->lock);
	idle = s->done == s->put;
	pthread_mutex_unlock(&s->lock);
	if (!idle)
		return host_put(s, o);
	o->run(o);
	free(o->inputs);
	return 0;
}

static int
host_stream_new(struct device *d, struct device_stream **ret)
{
	struct device_stream *s = xcalloc(1, sizeof(*s));

	(void)d;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->moved, NULL);
	*ret = s;
	return 0;
}

static void
host_stream_free(struct device_stream *s)
{
	if (s == NULL)
		return;
	pthread_mutex_lock(&s->lock);
	s->ending = 1;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
	if (s->threaded)
		pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->moved);
	pthread_cond_destroy(&s->work);
	pthread_mutex_destroy(&s->lock);
	free(s->ring);
	free(s);
}

static int
host_stream_sync(struct device_stream *s)
{
	host_wait_for(s, s->put);
	return 0;
}

static int
host_stream_copy(struct device_stream *s, void *to, const void *from,
    uint64_t bytes)
{
	struct host_op o = { .run = host_run_copy,
		.to = to,
		.from = from,
		.count = bytes };

	return host_put_or_run(s, &o, bytes);
}

static int
host_stream_fill(struct device_stream *s, void *to, int byte, uint64_t bytes)
{
	struct host_op o = { .run = host_run_fill,
		.to = to,
		.byte = byte,
		.count = bytes };

	return host_put_or_run(s, &o, bytes);
}

static int
host_stream_reduce(struct device_stream *s, enum plan_op op,
    enum plan_type type, void *to, const void *const *inputs,
    uint32_t inputs_count, uint64_t elements)
{
	struct host_op o = { .run = host_run_reduce,
		.to = to,
		.inputs_count = inputs_count,
		.count = elements,
		.op = op,
		.type = type };

	if (op == PLAN_COPY || op >= PLAN_OP_MAX || type >= PLAN_BYTE ||
	    inputs_count == 0)
		return -EINVAL;
	o.inputs = xcalloc(inputs_count, sizeof(*o.inputs));
	memcpy(o.inputs, inputs, inputs_count * sizeof(*inputs));
	return host_put_or_run(s, &o,
	    elements * plan_types[type].bytes * inputs_count);
}

/* ---- events ---- */

static int
host_event_new(struct device *d, struct device_event **ret)
{
	(void)d;
	*ret = xcalloc(1, sizeof(**ret));
	return 0;
}

static void
host_event_free(struct device_event *e)
{
	free(e);
}

static int
host_event_record(struct device_event *e, struct device_stream *s)
{
	e->stream = s;
	e->number = s->put; /* only the caller changes it */
	return 0;
}

static int
host_event_query(struct device_event *e)
{
	int done;

	if (e->stream == NULL)
		return 1;
	pthread_mutex_lock(&e->stream->lock);
	done = e->stream->done >= e->number;
	pthread_mutex_unlock(&e->stream->lock);
	return done;
}

static int
host_event_wait(struct device_event *e)
{
	if (e->stream != NULL)
		host_wait_for(e->stream, e->number);
	return 0;
}

static int
host_stream_wait(struct device_stream *s, struct device_event *e)
{
	struct host_op o = { .run = host_run_wait,
		.other = e->stream,
		.count = e->number };

	if (e->stream == NULL || e->stream == s || host_event_query(e))
		return 0;
	return host_put(s, &o);
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
	.host_pin = host_pin,
	.host_unpin = host_unpin,
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
