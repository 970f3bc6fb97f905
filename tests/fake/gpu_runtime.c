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
static size_t steps; /* operations that ran; both since devices were counted */

static int
fails(void)
{
	const char *at = getenv("COALMINE_FAKE_FAIL");

	return ++calls == (at == NULL ? -1 : atoi(at));
}

/* Return a number from the environment; SIZE_MAX if it is not set. */
static size_t
limit(const char *name)
{
	const char *at = getenv(name);

	return at == NULL ? SIZE_MAX : (size_t)atoll(at);
}

/* A stream has failed. This is permanent, as on a card. */
static int broken;

#define MAY_FAIL()                                                             \
	do {                                                                   \
		if (broken)                                                    \
			return GPU(ErrorIllegalAddress);                       \
		if (fails())                                                   \
			return GPU(ErrorUnknown);                              \
	} while (0)

/* ---- counters, for COALMINE_FAKE_STATS ---- */

static struct {
	unsigned streams, waits, queries;
} stats;

__attribute__((destructor)) static void
stats_write(void)
{
	const char *path = getenv("COALMINE_FAKE_STATS");
	FILE *fp = path == NULL ? NULL : fopen(path, "ae");

	if (fp == NULL)
		return;
	fprintf(fp, "gpu streams %u waits %u queries %u\n", stats.streams,
	    stats.waits, stats.queries);
	fclose(fp);
}

/* ---- devices ---- */

static int
devices(void)
{
	const char *text = getenv("COALMINE_FAKE_GPUS");

	return text == NULL ? 2 : atoi(text);
}

/* COALMINE_FAKE_PEERS: number of the first devices with peer access. Default:
 * all. */
static int
peers(void)
{
	const char *text = getenv("COALMINE_FAKE_PEERS");

	return text == NULL ? devices() : atoi(text);
}

/* Return the number of the index-th card that is visible to this process; -1:
 * not found. The vendor's variable lists visible cards; the first missing one
 * ends the list. */
static int
physical(int index)
{
	const char *at = getenv(GPU_VISIBLE);
	char *end;
	long card;

	if (at == NULL)
		return index >= 0 && index < devices() ? index : -1;
	for (int i = 0; index >= 0; i++, at = end + 1) {
		card = strtol(at, &end, 10);
		if (end == at || card < 0 || card >= devices())
			return -1;
		if (i == index)
			return (int)card;
		if (*end != ',')
			return -1;
	}
	return -1;
}

static int
visible(void)
{
	int count = 0;

	while (physical(count) >= 0)
		count++;
	return count;
}

/* ---- memory, as mapped for the program and for the device ---- */

struct native {
	int pid, fd, device;
	uint64_t ino, bytes;
};

struct area {
	SLIST_ENTRY(area) next;
	char *base;           /* out of the processor's reach */
	char *inside;         /* the same bytes, for what streams do */
	struct native native; /* fd -1: another's, -2: pinned, of the host */
};

static SLIST_HEAD(, area) areas = SLIST_HEAD_INITIALIZER(areas);

static struct area *
area_find(const void *base, int fd)
{
	struct area *a;

	SLIST_FOREACH (a, &areas, next)
		if (a->base == base &&
		    (fd < 0 ? a->native.fd == fd : a->native.fd >= 0))
			return a;
	return NULL;
}

static struct area *
area_add(char *base, char *inside, struct native native)
{
	struct area *a = calloc(1, sizeof(*a));

	a->base = base;
	a->inside = inside;
	a->native = native;
	SLIST_INSERT_HEAD(&areas, a, next);
	return a;
}

/* COALMINE_FAKE_OPEN: the program can access the memory, as required by a fake
 * GPU-aware MPI. */
static struct area *
area_map(int fd, struct native native)
{
	int reach = getenv("COALMINE_FAKE_OPEN") != NULL
	    ? PROT_READ | PROT_WRITE
	    : PROT_NONE;

	return area_add(mmap(NULL, native.bytes, reach, MAP_SHARED, fd, 0),
	    mmap(NULL, native.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
	    native);
}

static void
area_end(struct area *a)
{
	SLIST_REMOVE(&areas, a, area, next);
	if (a->native.fd != -2)
		munmap(a->base, a->native.bytes);
	if (a->inside != a->base)
		munmap(a->inside, a->native.bytes);
	if (a->native.fd >= 0)
		close(a->native.fd);
	free(a);
}

static void *
reach(const void *at, uint64_t bytes)
{
	const char *p = at;
	struct area *a;

	SLIST_FOREACH (a, &areas, next)
		if (p >= a->base && bytes <= a->native.bytes &&
		    (uint64_t)(p - a->base) <= a->native.bytes - bytes)
			return a->inside + (p - a->base);
	return NULL;
}

/* ---- streams ---- */

struct op {
	STAILQ_ENTRY(op) next;
	enum { COPY, FILL, REDUCE, MARK, WAIT, CALL } what;
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
	int (*call)(void *arg);
};

struct stream {
	struct fake_stream shown; /* first: what NCCL's stand-in sees */
	STAILQ_HEAD(, op) ops;
	SLIST_ENTRY(stream) next;
	int device;
};

struct event {
	struct stream *stream; /* NULL: never recorded */
	uint64_t recorded, done;
	int device;
	int interrupts; /* at each recording, for who waits asleep */
};

static SLIST_HEAD(, stream) streams = SLIST_HEAD_INITIALIZER(streams);
static __thread int current; /* device, of this thread as of CUDA's */

static void step(struct stream *s);

static void
run_until(struct event *e, uint64_t number)
{
	while (!broken && e->done < number)
		step(e->stream);
}

/* Return the device's mapping of the bytes. If the device has no access to
 * them, all later operations fail. */
static void *
touch(const void *at, uint64_t bytes)
{
	void *inside = reach(at, bytes);

	broken |= inside == NULL;
	return inside;
}

static void
reduce(const struct op *op)
{
	uint64_t bytes = op->bytes * plan_types[op->type].bytes;
	const void *inputs[64];
	void *to = touch(op->to, bytes);

	for (uint32_t i = 0; i < op->inputs_count; i++)
		inputs[i] = touch(op->inputs[i], bytes);
	if (!broken)
		host_reduce(op->op, op->type, to, inputs, op->inputs_count,
		    op->bytes);
}

static void
step(struct stream *s)
{
	struct op *op = STAILQ_FIRST(&s->ops);
	const void *from;
	void *to;

	if (op == NULL || broken)
		return;
	if (op->what <= REDUCE && ++steps == limit("COALMINE_FAKE_FAULT"))
		broken = 1;
	switch (op->what) {
	case COPY:
		to = touch(op->to, op->bytes);
		from = touch(op->from, op->bytes);
		if (!broken)
			memcpy(to, from, op->bytes);
		break;
	case FILL:
		to = touch(op->to, op->bytes);
		if (!broken)
			memset(to, op->byte, op->bytes);
		break;
	case REDUCE:
		reduce(op);
		break;
	case CALL:
		if (op->call(op->to) == 0)
			return; /* others have to come first */
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

static void
drain(struct stream *s)
{
	while (!broken && !STAILQ_EMPTY(&s->ops))
		step(s);
}

static void
enqueue_call(void *stream, int (*call)(void *arg), void *arg)
{
	struct op *op = enqueue(stream, CALL);

	op->call = call;
	op->to = arg;
}

FAKE
GPU(StreamCreateWithFlags)(GPU_STREAM *ret, unsigned flags)
{
	struct stream *s;

	(void)flags;
	MAY_FAIL();
	s = calloc(1, sizeof(*s));
	s->shown = (struct fake_stream){ enqueue_call, reach };
	s->device = current;
	stats.streams++;
	STAILQ_INIT(&s->ops);
	SLIST_INSERT_HEAD(&streams, s, next);
	*ret = (GPU_STREAM)s;
	return GPU(Success);
}

FAKE
GPU(StreamDestroy)(GPU_STREAM stream)
{
	struct stream *s = (struct stream *)stream;

	drain(s);
	while (!STAILQ_EMPTY(&s->ops)) { /* of a broken device */
		struct op *op = STAILQ_FIRST(&s->ops);

		STAILQ_REMOVE_HEAD(&s->ops, next);
		free(op);
	}
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
	if (kind != GPU(MemcpyDefault) || reach(to, bytes) == NULL ||
	    reach(from, bytes) == NULL)
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
	if (reach(to, bytes) == NULL)
		return GPU(ErrorInvalidValue);
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
	/* A kernel must be launched on the device of its stream. */
	if (((struct stream *)stream)->device != current)
		return GPU(ErrorInvalidResourceHandle);
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
	e->device = current;
	e->interrupts = flags == GPU_BLOCKING_EVENT;
	*ret = (GPU_EVENT)e;
	return GPU(Success);
}

/* A stream may still wait for the event. */
FAKE
GPU(EventDestroy)(GPU_EVENT event)
{
	struct stream *s;

	SLIST_FOREACH (s, &streams, next)
		drain(s);
	free(event);
	return GPU(Success);
}

FAKE
GPU(EventRecord)(GPU_EVENT event, GPU_STREAM stream)
{
	struct event *e = (struct event *)event;
	struct op *op;

	MAY_FAIL();
	if (((struct stream *)stream)->device != e->device)
		return GPU(ErrorInvalidResourceHandle);
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
	stats.queries++;
	if (e->interrupts) /* of who never sleeps on it */
		return GPU(ErrorInvalidValue);
	if (e->done == e->recorded)
		return GPU(Success);
	step(e->stream);
	return broken ? GPU(ErrorIllegalAddress) : GPU(ErrorNotReady);
}

FAKE
GPU(EventSynchronize)(GPU_EVENT event)
{
	struct event *e = (struct event *)event;

	MAY_FAIL();
	stats.waits++;
	if (getenv("COALMINE_FAKE_WAKE_MS") != NULL)
		usleep((unsigned)limit("COALMINE_FAKE_WAKE_MS") * 1000);
	if (e->stream != NULL)
		run_until(e, e->recorded);
	return broken ? GPU(ErrorIllegalAddress) : GPU(Success);
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

FAKE
GPU(Malloc)(void **base, size_t bytes)
{
	struct stat st;
	int fd;

	MAY_FAIL();
	fd = memfd_create("fake-gpu", MFD_CLOEXEC);
	if (bytes > 1ULL << 40 || ftruncate(fd, (off_t)bytes) < 0 ||
	    fstat(fd, &st) < 0) {
		close(fd);
		return GPU_OUT_OF_MEMORY;
	}
	*base = area_map(fd,
	    (struct native){ getpid(), fd, physical(current), st.st_ino,
		bytes })
		    ->base;
	return GPU(Success);
}

FAKE
GPU(Free)(void *base)
{
	struct area *a = area_find(base, 0);
	struct stream *s;

	MAY_FAIL();
	if (base == NULL)
		return GPU(Success);
	if (a == NULL)
		return GPU(ErrorInvalidValue);
	SLIST_FOREACH (s, &streams, next)
		drain(s);
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
	area_add(*base, *base, (struct native){ getpid(), -2, -1, 0, bytes });
	return GPU(Success);
}

FAKE
GPU_HOST_FREE(void *base)
{
	struct area *a = area_find(base, -2);

	if (a == NULL)
		return GPU(ErrorInvalidValue);
	area_end(a);
	free(base);
	return GPU(Success);
}

/* Pin existing memory of the host. */
FAKE
GPU(HostRegister)(void *base, size_t bytes, unsigned flags)
{
	(void)flags;
	MAY_FAIL();
	if (reach(base, 1) != NULL)
		return GPU(ErrorInvalidValue);
	area_add(base, base, (struct native){ getpid(), -2, -1, 0, bytes });
	return GPU(Success);
}

FAKE
GPU(HostUnregister)(void *base)
{
	struct area *a = area_find(base, -2);

	if (a == NULL)
		return GPU(ErrorInvalidValue);
	area_end(a);
	return GPU(Success);
}

FAKE
GPU(IpcGetMemHandle)(GPU(IpcMemHandle_t) * handle, void *base)
{
	struct area *a = area_find(base, 0);

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
	if (n.device != physical(current) &&
	    (n.device >= peers() || physical(current) >= peers())) {
		close(fd);
		return GPU_PEER_REFUSED;
	}
	n.fd = -1;
	*base = area_map(fd, n)->base;
	close(fd);
	return GPU(Success);
}

FAKE
GPU(IpcCloseMemHandle)(void *base)
{
	struct area *a = area_find(base, -1);

	MAY_FAIL();
	if (a == NULL)
		return GPU(ErrorInvalidValue);
	area_end(a);
	return GPU(Success);
}

/* ---- properties ---- */

FAKE
GPU(GetDeviceCount)(int *count)
{
	const char *text = getenv("COALMINE_FAKE_GPUS");

	calls = 0;
	steps = 0;
	if (text != NULL && strcmp(text, "old") == 0)
		return GPU(ErrorInsufficientDriver); /* count is left alone */
	if (visible() == 0)
		return GPU(ErrorNoDevice);
	*count = visible();
	return GPU(Success);
}

FAKE
GPU(SetDevice)(int device)
{
	MAY_FAIL();
	if (physical(device) < 0)
		return GPU(ErrorInvalidDevice);
	current = device;
	return GPU(Success);
}

FAKE
GPU(DeviceGetPCIBusId)(char *id, int cap, int device)
{
	MAY_FAIL();
	snprintf(id, (size_t)cap, "0000:%02X:00.0", 0x1a + physical(device));
	return GPU(Success);
}

FAKE
GPU(DeviceGetByPCIBusId)(int *device, const char *id)
{
	unsigned bus = 0;

	MAY_FAIL();
	if (sscanf(id, "0000:%x:00.0", &bus) != 1)
		return GPU(ErrorInvalidDevice);
	for (int i = 0; i < visible(); i++)
		if (physical(i) + 0x1a == (int)bus) {
			*device = i;
			return GPU(Success);
		}
	return GPU(ErrorInvalidDevice);
}

FAKE
GPU(DeviceGetAttribute)(int *value, attr_t_ attr, int device)
{
	(void)device;
	MAY_FAIL();
	*value = attr == GPU_CLOCK_KHZ ? 1000000 : 1024; /* 256 GB/s */
	return GPU(Success);
}

FAKE
GPU(DeviceCanAccessPeer)(int *can, int device, int peer)
{
	int a = physical(device), b = physical(peer);

	MAY_FAIL();
	if (a < 0 || b < 0)
		return GPU(ErrorInvalidDevice);
	*can = a != b && a < peers() && b < peers();
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
