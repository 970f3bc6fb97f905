/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/gpu_runtime.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/device/host_reduce.h"

#ifdef GPU_HIP
typedef hipError_t error_t_;
typedef hipDeviceAttribute_t attr_t_;
typedef hipMemcpyKind kind_t_;
#else
typedef cudaError_t error_t_;
typedef enum cudaDeviceAttr attr_t_;
typedef enum cudaMemcpyKind kind_t_;
#endif
#define FAKE __attribute__((visibility("default"))) error_t_

static int calls;

static int
fails(void)
{
	const char *at = getenv("COALMINE_FAKE_FAIL");

	return ++calls == (at == NULL ? -1 : atoi(at));
}

/* A number of the environment, or none. */
static size_t
limit(const char *name)
{
	const char *at = getenv(name);

	return at == NULL ? SIZE_MAX : (size_t)atoll(at);
}

#define MAY_FAIL()                                                             \
	do {                                                                   \
		if (fails())                                                   \
			return GPU(ErrorUnknown);                              \
	} while (0)

/* ---- streams ---- */

struct op {
	STAILQ_ENTRY(op) next;
	enum { COPY, FILL, REDUCE, MARK, WAIT } what;
	void *to;
	const void *from;
	uint64_t bytes; /* or elements */
	int byte;
	enum plan_op op;
	enum plan_type type;
	uint32_t inputs_count;
	const void *inputs[64];
	struct event *event;
	uint64_t number; /* of a mark */
};

struct stream {
	STAILQ_HEAD(, op) ops;
	SLIST_ENTRY(stream) next;
};

struct event {
	struct stream *stream; /* NULL: never recorded */
	uint64_t recorded, done;
	int interrupts; /* at each recording, for who waits asleep */
};

static SLIST_HEAD(, stream) streams = SLIST_HEAD_INITIALIZER(streams);

static void step(struct stream *s);

static void
run_until(struct event *e, uint64_t number)
{
	while (e->done < number)
		step(e->stream);
}

static void
step(struct stream *s)
{
	struct op *op = STAILQ_FIRST(&s->ops);

	if (op == NULL)
		return;
	switch (op->what) {
	case COPY:
		memcpy(op->to, op->from, op->bytes);
		break;
	case FILL:
		memset(op->to, op->byte, op->bytes);
		break;
	case REDUCE:
		host_reduce(op->op, op->type, op->to, op->inputs,
		    op->inputs_count, op->bytes);
		break;
	case MARK:
		op->event->done = op->number;
		break;
	case WAIT:
		run_until(op->event, op->number);
		break;
	}
	STAILQ_REMOVE_HEAD(&s->ops, next);
	free(op);
}

static struct op *
enqueue(void *stream, int what)
{
	struct stream *s = stream;
	struct op *op = calloc(1, sizeof(*op));

	op->what = what;
	STAILQ_INSERT_TAIL(&s->ops, op, next);
	return op;
}

void
fake_drain(void *stream)
{
	struct stream *s = stream;

	while (!STAILQ_EMPTY(&s->ops))
		step(s);
}

FAKE
GPU(StreamCreateWithFlags)(GPU_STREAM *ret, unsigned flags)
{
	struct stream *s;

	(void)flags;
	MAY_FAIL();
	s = calloc(1, sizeof(*s));
	STAILQ_INIT(&s->ops);
	SLIST_INSERT_HEAD(&streams, s, next);
	*ret = (GPU_STREAM)s;
	return GPU(Success);
}

FAKE
GPU(StreamDestroy)(GPU_STREAM stream)
{
	struct stream *s = (struct stream *)stream;

	fake_drain(s);
	SLIST_REMOVE(&streams, s, stream, next);
	free(s);
	return GPU(Success);
}

FAKE
GPU(MemcpyAsync)(void *to, const void *from, size_t bytes, kind_t_ kind,
    GPU_STREAM stream)
{
	struct op *op;

	MAY_FAIL();
	if (kind != GPU(MemcpyDefault))
		return GPU(ErrorInvalidValue);
	op = enqueue(stream, COPY);
	op->to = to;
	op->from = from;
	op->bytes = bytes;
	return GPU(Success);
}

FAKE
GPU(MemsetAsync)(void *to, int byte, size_t bytes, GPU_STREAM stream)
{
	struct op *op;

	MAY_FAIL();
	op = enqueue(stream, FILL);
	op->to = to;
	op->byte = byte;
	op->bytes = bytes;
	return GPU(Success);
}

int
fake_reduce(void *stream, enum plan_op what, enum plan_type type, void *to,
    const void *const *inputs, uint32_t inputs_count, uint64_t elements)
{
	struct op *op;

	MAY_FAIL();
	if (inputs_count > 64)
		return GPU(ErrorInvalidValue);
	op = enqueue(stream, REDUCE);
	op->op = what;
	op->type = type;
	op->to = to;
	op->inputs_count = inputs_count;
	op->bytes = elements;
	memcpy(op->inputs, inputs, inputs_count * sizeof(*inputs));
	return GPU(Success);
}

/* ---- events ---- */

FAKE
GPU(EventCreateWithFlags)(GPU_EVENT *ret, unsigned flags)
{
	struct event *e;

	MAY_FAIL();
	e = calloc(1, sizeof(*e));
	e->interrupts = flags == GPU_BLOCKING_EVENT;
	*ret = (GPU_EVENT)e;
	return GPU(Success);
}

/* Some stream may still wait for it. */
FAKE
GPU(EventDestroy)(GPU_EVENT event)
{
	struct stream *s;

	SLIST_FOREACH (s, &streams, next)
		fake_drain(s);
	free(event);
	return GPU(Success);
}

FAKE
GPU(EventRecord)(GPU_EVENT event, GPU_STREAM stream)
{
	struct event *e = (struct event *)event;
	struct op *op;

	MAY_FAIL();
	if (e->stream != NULL)
		run_until(e, e->recorded); /* one place at a time */
	op = enqueue(stream, MARK);
	op->event = e;
	op->number = ++e->recorded;
	e->stream = (struct stream *)stream;
	return GPU(Success);
}

FAKE
GPU(EventQuery)(GPU_EVENT event)
{
	struct event *e = (struct event *)event;

	MAY_FAIL();
	if (e->interrupts) /* of who never sleeps on it */
		return GPU(ErrorInvalidValue);
	if (e->done == e->recorded)
		return GPU(Success);
	step(e->stream);
	return GPU(ErrorNotReady);
}

FAKE
GPU(EventSynchronize)(GPU_EVENT event)
{
	struct event *e = (struct event *)event;

	MAY_FAIL();
	if (getenv("COALMINE_FAKE_WAKE_MS") != NULL)
		usleep((unsigned)limit("COALMINE_FAKE_WAKE_MS") * 1000);
	if (e->stream != NULL)
		run_until(e, e->recorded);
	return GPU(Success);
}

FAKE
GPU(StreamWaitEvent)(GPU_STREAM stream, GPU_EVENT event, unsigned flags)
{
	struct event *e = (struct event *)event;
	struct op *op;

	(void)flags;
	MAY_FAIL();
	if (e->done == e->recorded)
		return GPU(Success);
	op = enqueue(stream, WAIT);
	op->event = e;
	op->number = e->recorded;
	return GPU(Success);
}

/* ---- memory ---- */

struct native {
	int pid, fd;
	uint64_t ino, bytes;
};

struct area {
	SLIST_ENTRY(area) next;
	void *base;
	struct native native; /* fd -1: another's */
};

static SLIST_HEAD(, area) areas = SLIST_HEAD_INITIALIZER(areas);

static struct area *
area_find(const void *base, int own)
{
	struct area *a;

	SLIST_FOREACH (a, &areas, next)
		if (a->base == base && (a->native.fd >= 0) == own)
			return a;
	return NULL;
}

static void
area_end(struct area *a)
{
	SLIST_REMOVE(&areas, a, area, next);
	munmap(a->base, a->native.bytes);
	if (a->native.fd >= 0)
		close(a->native.fd);
	free(a);
}

FAKE
GPU(Malloc)(void **base, size_t bytes)
{
	struct area *a;
	struct stat st;
	int fd;

	MAY_FAIL();
	fd = memfd_create("fake-gpu", MFD_CLOEXEC);
	if (bytes > 1ULL << 40 || ftruncate(fd, (off_t)bytes) < 0 ||
	    fstat(fd, &st) < 0) {
		close(fd);
		return GPU_OUT_OF_MEMORY;
	}
	a = calloc(1, sizeof(*a));
	a->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	a->native = (struct native){ getpid(), fd, st.st_ino, bytes };
	SLIST_INSERT_HEAD(&areas, a, next);
	*base = a->base;
	return GPU(Success);
}

FAKE
GPU(Free)(void *base)
{
	struct area *a = area_find(base, 1);
	struct stream *s;

	MAY_FAIL();
	if (base == NULL)
		return GPU(Success);
	if (a == NULL)
		return GPU(ErrorInvalidValue);
	SLIST_FOREACH (s, &streams, next)
		fake_drain(s);
	area_end(a);
	return GPU(Success);
}

FAKE
GPU_HOST_ALLOC(void **base, size_t bytes, unsigned flags)
{
	(void)flags;
	MAY_FAIL();
	if (bytes > limit("COALMINE_FAKE_PINNED"))
		return GPU_OUT_OF_MEMORY;
	*base = malloc(bytes);
	return GPU(Success);
}

FAKE
GPU_HOST_FREE(void *base)
{
	free(base);
	return GPU(Success);
}

FAKE
GPU(IpcGetMemHandle)(GPU(IpcMemHandle_t) * handle, void *base)
{
	struct area *a = area_find(base, 1);

	MAY_FAIL();
	if (a == NULL)
		return GPU(ErrorInvalidValue);
	memset(handle, 0, sizeof(*handle));
	memcpy(handle, &a->native, sizeof(a->native));
	return GPU(Success);
}

FAKE
GPU(IpcOpenMemHandle)(void **base, GPU(IpcMemHandle_t) handle, unsigned flags)
{
	char path[64];
	struct native n;
	struct area *a;
	struct stat st;
	int fd;

	(void)flags;
	MAY_FAIL();
	memcpy(&n, &handle, sizeof(n));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", n.pid, n.fd);
	fd = n.pid == getpid() ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != n.ino) {
		if (fd >= 0)
			close(fd);
		return GPU(ErrorInvalidValue);
	}
	a = calloc(1, sizeof(*a));
	a->native = n;
	a->native.fd = -1;
	a->base = mmap(NULL, n.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	close(fd);
	SLIST_INSERT_HEAD(&areas, a, next);
	*base = a->base;
	return GPU(Success);
}

FAKE
GPU(IpcCloseMemHandle)(void *base)
{
	struct area *a = area_find(base, 0);

	MAY_FAIL();
	if (a == NULL)
		return GPU(ErrorInvalidValue);
	area_end(a);
	return GPU(Success);
}

/* ---- devices ---- */

static int
devices(void)
{
	const char *text = getenv("COALMINE_FAKE_GPUS");

	return text == NULL ? 2 : atoi(text);
}

FAKE
GPU(GetDeviceCount)(int *count)
{
	const char *text = getenv("COALMINE_FAKE_GPUS");

	calls = 0;
	if (text != NULL && strcmp(text, "old") == 0)
		return GPU(ErrorInsufficientDriver); /* count is left alone */
	if (devices() == 0)
		return GPU(ErrorNoDevice);
	*count = devices();
	return GPU(Success);
}

FAKE
GPU(SetDevice)(int device)
{
	MAY_FAIL();
	return device >= 0 && device < devices() ? GPU(Success)
						 : GPU(ErrorInvalidDevice);
}

FAKE
GPU(DeviceGetPCIBusId)(char *id, int cap, int device)
{
	MAY_FAIL();
	snprintf(id, (size_t)cap, "0000:%02X:00.0", 0x1a + device);
	return GPU(Success);
}

FAKE
GPU(DeviceGetByPCIBusId)(int *device, const char *id)
{
	unsigned bus = 0;

	MAY_FAIL();
	if (sscanf(id, "0000:%x:00.0", &bus) != 1 || bus < 0x1a ||
	    bus >= 0x1aU + (unsigned)devices())
		return GPU(ErrorInvalidDevice);
	*device = (int)bus - 0x1a;
	return GPU(Success);
}

FAKE
GPU(DeviceGetAttribute)(int *value, attr_t_ attr, int device)
{
	(void)device;
	MAY_FAIL();
	*value = attr == GPU_CLOCK_KHZ ? 1000000 : 1024; /* 256 GB/s */
	return GPU(Success);
}

/* COALMINE_FAKE_PEERS: so many, the first, see each other; else all. */
FAKE
GPU(DeviceCanAccessPeer)(int *can, int device, int peer)
{
	const char *text = getenv("COALMINE_FAKE_PEERS");
	int peers = text == NULL ? devices() : atoi(text);

	MAY_FAIL();
	*can = device != peer && device < peers && peer < peers;
	return GPU(Success);
}

FAKE
GPU(MemGetInfo)(size_t *free_bytes, size_t *bytes)
{
	MAY_FAIL();
	*free_bytes = 3ULL << 30;
	*bytes = 4ULL << 30;
	return GPU(Success);
}

FAKE
GPU(GetLastError)(void)
{
	return GPU(Success);
}

__attribute__((visibility("default"))) const char *
GPU(GetErrorString)(error_t_ code)
{
	static char text[32];

	snprintf(text, sizeof(text), "stand-in error %d", (int)code);
	return text;
}
