/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_probe.c - a ring of slots holds the requests in flight, in the order of
 * sending; timeouts start at its old end. The socket is always read before a
 * request is counted as lost, so an agent that was not scheduled for a while
 * loses nothing: the kernel's time stamps show when answers arrived.
 */
#include "agents/mesh/mesh_probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/rng.h"
#include "common/robust.h"
#include "common/xalloc.h"

#define SLOTS        8192 /* on their way at once, a power of 2 */
#define PAUSE_MIN_NS (100 * CLK_NS_PER_US)
#define STRETCH_MAX  8.0

enum slot_state { SLOT_FREE, SLOT_SENT, SLOT_LOST };

struct slot {
	uint64_t sent_ns;
	uint64_t seq;
	uint32_t target;
	enum slot_state state;
	int is_large;
};

struct mesh_probe {
	struct event_base *base;
	struct event *readable, *beat, *expiry;
	int fd;
	double (*pressure)(void *arg);
	void *arg;
	struct rng rng;
	struct mesh_pace pace;
	uint64_t epoch;
	struct mesh_target *targets;
	size_t count;
	int *order;
	size_t next;          /* in order */
	uint64_t seq, oldest; /* the next to send; the first not settled */
	uint64_t floor;       /* below it: of earlier targets */
	struct slot slots[SLOTS];
	uint32_t drops, drops_told;
	struct mesh_tally tally[MESH_CLASS_MAX];
	struct hist waits_s;
};

static struct slot *
mesh_probe_slot_of(struct mesh_probe *p, uint64_t seq)
{
	return &p->slots[seq & (SLOTS - 1)];
}

/* The answer was late because a host was slow: not a loss. */
static void
mesh_probe_unknown(struct mesh_probe *p, struct slot *s)
{
	struct mesh_target *t = &p->targets[s->target];
	struct mesh_tally *tally = &p->tally[t->class];

	if (s->is_large) {
		t->large_lost -= s->state == SLOT_LOST && t->large_lost > 0;
		s->state = SLOT_FREE;
		return;
	}
	if (s->state == SLOT_LOST && t->lost > 0 && tally->lost > 0) {
		t->lost--;
		tally->lost--;
	}
	t->unknown++;
	tally->unknown++;
	s->state = SLOT_FREE;
}

static void
mesh_probe_take_answer(struct mesh_probe *p, const struct mesh_got *got,
    uint64_t now_ns)
{
	uint64_t total_ns, hosts_ns, at;
	struct mesh_packet answer;
	struct mesh_target *t;
	struct slot *s;
	double rtt_s;

	/* An answer to no request of ours, or to a settled one, has no slot. */
	if (mesh_packet_get(got->raw, &answer) < 0 ||
	    answer.kind != MESH_ANSWER || answer.seq < p->floor ||
	    answer.seq >= p->seq)
		return;
	s = mesh_probe_slot_of(p, answer.seq);
	if (s->state == SLOT_FREE || s->seq != answer.seq)
		return;
	t = &p->targets[s->target];
	if (memcmp(&t->peer.addr, &got->from.addr, sizeof(t->peer.addr)) != 0 ||
	    t->peer.port != got->from.port || !mesh_signed(got->raw, t->token))
		return;
	if (got->len_bytes != MESH_PACKET_BYTES &&
	    (!s->is_large || got->len_bytes != t->large_bytes))
		return;
	total_ns = now_ns - s->sent_ns;
	if (got->waited_ns > total_ns || answer.turn_ns > total_ns) {
		mesh_probe_unknown(p,
		    s); /* a clock was set, or a responder lies */
		return;
	}
	hist_add(&p->waits_s, (double)got->waited_ns / 1e9);
	if (total_ns - got->waited_ns > p->pace.timeout_ns) {
		if (total_ns - got->waited_ns - answer.turn_ns <=
		    p->pace.timeout_ns)
			mesh_probe_unknown(p, s);
		return; /* else it is lost, or will be */
	}
	hosts_ns = got->waited_ns + answer.turn_ns;
	if (hosts_ns >= total_ns)
		hosts_ns = total_ns - 1;
	if (s->state != SLOT_SENT)
		return;
	s->state = SLOT_FREE;
	if (s->is_large) {
		if (got->len_bytes > MESH_PACKET_BYTES)
			t->large_answered++;
		else
			t->large_unsent++;
		return;
	}
	rtt_s = (double)(total_ns - hosts_ns) / 1e9;
	hist_add(&p->tally[t->class].rtt_s, rtt_s);
	p->tally[t->class].answered++;
	/* Reservoir sampling (Vitter's algorithm R): each answer is kept with
	 * the same chance. */
	at = t->answered++;
	if (at >= MESH_SAMPLES)
		at = rng_below(&p->rng, at + 1);
	if (at < MESH_SAMPLES)
		t->rtt_s[at] = (float)rtt_s;
}

static void
mesh_probe_drain(struct mesh_probe *p)
{
	struct mesh_got got;

	for (int i = 0; i < SLOTS; i++) {
		if (!mesh_sock_get(p->fd, &got, &p->drops))
			return;
		mesh_probe_take_answer(p, &got, clk_ns());
	}
}

/* Everything that is older than the timeout, with the socket empty. */
static void
mesh_probe_expire(struct mesh_probe *p)
{
	uint64_t now_ns = clk_ns();
	struct mesh_target *t;

	mesh_probe_drain(p);
	for (; p->oldest < p->seq; p->oldest++) {
		struct slot *s = mesh_probe_slot_of(p, p->oldest);

		if (s->seq != p->oldest || s->state != SLOT_SENT)
			continue;
		if (now_ns - s->sent_ns <= p->pace.timeout_ns)
			break;
		s->state = SLOT_LOST;
		t = &p->targets[s->target];
		if (s->is_large) {
			t->large_lost++;
			continue;
		}
		t->lost++;
		p->tally[t->class].lost++;
	}
}

/* Armed only while something is on its way. */
static void
mesh_probe_expiry_arm(struct mesh_probe *p)
{
	struct timeval tv = clk_timeval(p->pace.timeout_ns + CLK_NS_PER_MS);

	if (p->oldest < p->seq && !evtimer_pending(p->expiry, NULL))
		event_add(p->expiry, &tv);
}

static void
mesh_probe_expiry_cb(evutil_socket_t fd, short what, void *arg)
{
	struct mesh_probe *p = arg;

	(void)fd;
	(void)what;
	mesh_probe_expire(p);
	mesh_probe_expiry_arm(p);
}

static void
mesh_probe_readable_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	mesh_probe_drain(arg);
}

/* The pause until the next burst: jittered around an even spread of the round,
 * stretched under pressure, and never shorter than the rates allow. */
static uint64_t
mesh_probe_pause_ns(struct mesh_probe *p)
{
	const struct mesh_pace *pace = &p->pace;
	const struct mesh_target *t = &p->targets[p->order[p->next]];
	double least = (double)pace->burst / pace->rate * 1e9;
	double even = (double)pace->round_ns / (double)p->count;
	double stretch = p->pressure(p->arg);
	uint64_t now_ns = clk_ns(), again_ns, ns;

	if (!(stretch > 1))
		stretch = 1;
	if (stretch > STRETCH_MAX)
		stretch = STRETCH_MAX;
	even = (even > least ? even : least) * stretch;
	ns = (uint64_t)(even * (0.5 + rng_unit(&p->rng)));
	if (ns < (uint64_t)(least * stretch))
		ns = (uint64_t)(least * stretch);
	again_ns = t->last_ns +
	    (uint64_t)((double)pace->burst / pace->target_rate * 1e9);
	if (t->last_ns != 0 && again_ns > now_ns + ns)
		ns = again_ns - now_ns;
	return ns < PAUSE_MIN_NS ? PAUSE_MIN_NS : ns;
}

static void
mesh_probe_beat_arm(struct mesh_probe *p)
{
	struct timeval tv;

	if (p->count == 0)
		return;
	tv = clk_timeval(mesh_probe_pause_ns(p));
	event_add(p->beat, &tv);
}

/* The last of a burst, so that none waits behind it for the wire. */
static int
mesh_probe_is_large(const struct mesh_probe *p, const struct mesh_target *t,
    unsigned i)
{
	unsigned burst = p->pace.burst;

	return t->large_bytes > 0 &&
	    (burst > 1 ? i + 1 == burst : t->bursts % 4 == 0);
}

static void
mesh_probe_beat_cb(evutil_socket_t fd, short what, void *arg)
{
	struct mesh_probe *p = arg;
	uint32_t index = (uint32_t)p->order[p->next];
	struct mesh_target *t = &p->targets[index];
	uint8_t raw[MESH_PACKET_BYTES];

	(void)fd;
	(void)what;
	/* A burst needs its slots: the ring is as long as a timeout at the
	 * highest rate that options allow. */
	if (p->seq - p->oldest + p->pace.burst > SLOTS)
		mesh_probe_expire(p);
	if (p->seq - p->oldest + p->pace.burst > SLOTS) {
		mesh_probe_beat_arm(p);
		return;
	}
	t->last_ns = clk_ns();
	t->bursts++;
	for (unsigned i = 0; i < p->pace.burst; i++) {
		struct mesh_packet packet = { MESH_REQUEST, p->epoch, p->seq,
			0 };
		struct slot *s = mesh_probe_slot_of(p, p->seq);
		int rc;

		mesh_packet_put(raw, &packet);
		mesh_sign(raw, t->token);
		s->sent_ns = clk_ns();
		s->is_large = mesh_probe_is_large(p, t, i);
		rc = mesh_sock_put(p->fd, &t->peer, raw,
		    s->is_large ? t->large_bytes : MESH_PACKET_BYTES);
		if (rc < 0) {
			if (s->is_large && rc == -EMSGSIZE) {
				t->large_unsent++;
				continue;
			}
			t->unsent++;
			p->tally[t->class].unsent++;
			continue;
		}
		s->seq = p->seq++;
		s->target = index;
		s->state = SLOT_SENT;
	}
	p->next = (p->next + 1) % p->count;
	mesh_probe_expiry_arm(p);
	mesh_probe_beat_arm(p);
}

struct mesh_probe *
mesh_probe_open(struct event_base *base, const struct in6_addr *addr,
    double (*pressure)(void *arg), void *arg, int *ret_errno)
{
	int fd = mesh_sock_open(addr, 0);
	struct mesh_probe *p;

	if (fd < 0) {
		*ret_errno = -fd;
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->base = base;
	p->fd = fd;
	p->pressure = pressure;
	p->arg = arg;
	p->readable = event_new(base, fd, EV_READ | EV_PERSIST,
	    mesh_probe_readable_cb, p);
	p->beat = evtimer_new(base, mesh_probe_beat_cb, p);
	p->expiry = evtimer_new(base, mesh_probe_expiry_cb, p);
	for (int c = 0; c < MESH_CLASS_MAX; c++)
		hist_clear(&p->tally[c].rtt_s);
	hist_clear(&p->waits_s);
	event_add(p->readable, NULL);
	return p;
}

void
mesh_targets_free(struct mesh_target *targets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		explicit_bzero(targets[i].token, MESH_KEY_BYTES);
		free(targets[i].node);
	}
	free(targets);
}

void
mesh_probe_close(struct mesh_probe *p)
{
	if (p == NULL)
		return;
	event_free(p->readable);
	event_free(p->beat);
	event_free(p->expiry);
	close(p->fd);
	mesh_targets_free(p->targets, p->count);
	free(p->order);
	free(p);
}

void
mesh_probe_aim(struct mesh_probe *p, struct mesh_target *targets, size_t count,
    uint64_t epoch, uint64_t seed, const struct mesh_pace *pace)
{
	mesh_targets_free(p->targets, p->count);
	free(p->order);
	p->targets = targets;
	p->count = count;
	p->order = xcalloc(count + 1, sizeof(p->order[0]));
	for (size_t i = 0; i < count; i++)
		p->order[i] = (int)i;
	rng_seed(&p->rng, seed);
	rng_shuffle(&p->rng, p->order, count);
	p->next = 0;
	p->epoch = epoch;
	p->pace = *pace;
	p->floor = p->oldest = p->seq;
	event_del(p->beat);
	event_del(p->expiry);
	mesh_probe_beat_arm(p);
}

size_t
mesh_probe_targets(const struct mesh_probe *p, const struct mesh_target **ret)
{
	*ret = p->targets;
	return p->count;
}

void
mesh_probe_take(struct mesh_probe *p, enum mesh_class class,
    struct mesh_tally *ret)
{
	mesh_probe_expire(p);
	/* Any missing answer may be one that our own kernel dropped. Then no
	 * loss is certain, and all are counted as unknown. */
	if (p->drops != p->drops_told) {
		p->drops_told = p->drops;
		for (int c = 0; c < MESH_CLASS_MAX; c++) {
			p->tally[c].unknown += p->tally[c].lost;
			p->tally[c].lost = 0;
		}
		for (size_t i = 0; i < p->count; i++) {
			p->targets[i].unknown += p->targets[i].lost;
			p->targets[i].lost = 0;
			p->targets[i].large_lost = 0;
		}
	}
	*ret = p->tally[class];
	memset(&p->tally[class], 0, sizeof(p->tally[class]));
	hist_clear(&p->tally[class].rtt_s);
}

void
mesh_probe_take_waits(struct mesh_probe *p, struct hist *ret_s)
{
	*ret_s = p->waits_s;
	hist_clear(&p->waits_s);
}

double
mesh_target_median_s(const struct mesh_target *t)
{
	double x[MESH_SAMPLES];
	size_t n = t->answered < MESH_SAMPLES ? t->answered : MESH_SAMPLES;

	for (size_t i = 0; i < n; i++)
		x[i] = (double)t->rtt_s[i];
	return n == 0 ? NAN : robust_median(x, n);
}
