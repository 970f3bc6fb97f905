/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers.c - clients that never finish a handshake. Half of them send the
 * first bytes of a TLS record, the others a complete first message, for which
 * the collector computes its part of the handshake. With sources all send the
 * latter, give up after GIVE_UP_S, and begin again at that time, also if the
 * collector has ended them earlier.
 */
#include <event2/bufferevent.h>
#include <openssl/bio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "tests/bench/fleet/fleet.h"

#define AGAIN_MS    50
#define GIVE_UP_S   4
#define FIRST_BYTES 3

struct stranger {
	struct fleet *f;
	struct bufferevent *bev;
	struct event *again;
	uint64_t began_ns;
	int number;
};

static int wanted, sources;

static void
first_message(SSL_CTX *ctx, char **ret, long *ret_bytes)
{
	SSL *ssl = SSL_new(ctx);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	char *text;

	SSL_set_bio(ssl, in, out); /* handed over */
	SSL_set_connect_state(ssl);
	SSL_do_handshake(ssl);
	*ret_bytes = BIO_get_mem_data(out, &text);
	*ret = xcalloc(1, (size_t)*ret_bytes);
	memcpy(*ret, text, (size_t)*ret_bytes);
	SSL_free(ssl);
}

static void
event_cb(struct bufferevent *bev, short what, void *arg)
{
	struct timeval tv = { 0, AGAIN_MS * 1000 };
	struct stranger *s = arg;
	uint64_t next_ns = s->began_ns + GIVE_UP_S * CLK_NS_PER_S;

	if (what == BEV_EVENT_CONNECTED)
		return;
	bufferevent_free(bev);
	s->bev = NULL;
	if (sources > 0)
		tv = clk_timeval(next_ns > clk_ns() ? next_ns - clk_ns() : 0);
	event_add(s->again, &tv);
}

/* Return a socket with the address of this source, which no agent has, or -1. A
 * reset at its end frees the port at once. */
static int
source_socket(int number)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	struct linger reset = { .l_onoff = 1 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	from.sin_addr.s_addr = htonl(
	    0x7f020000u + (unsigned)(number / 250 * 256 + number % 250 + 1));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	if (fd >= 0 && bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void
again_cb(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval give_up = { .tv_sec = GIVE_UP_S };
	static char *hello;
	static long hello_bytes;
	struct stranger *s = arg;
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(s->f->ports[0]),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	(void)fd;
	(void)what;
	if (s->number >= wanted)
		return;
	s->began_ns = clk_ns();
	if (hello == NULL)
		first_message(s->f->ctx, &hello, &hello_bytes);
	s->bev = bufferevent_socket_new(s->f->base,
	    sources > 0 ? source_socket(s->number % sources) : -1,
	    BEV_OPT_CLOSE_ON_FREE);
	if (sources > 0)
		bufferevent_set_timeouts(s->bev, &give_up, NULL);
	bufferevent_setcb(s->bev, NULL, NULL, event_cb, s);
	bufferevent_enable(s->bev, EV_READ | EV_WRITE);
	bufferevent_write(s->bev, hello,
	    sources > 0 || s->number % 2 == 0 ? (size_t)hello_bytes
					      : FIRST_BYTES);
	if (bufferevent_socket_connect(s->bev, (struct sockaddr *)&to,
		sizeof(to)) < 0)
		event_cb(s->bev, BEV_EVENT_ERROR, s);
}

void
fleet_sources(int count)
{
	sources = count;
}

void
fleet_strangers(struct fleet *f, int count)
{
	wanted = count;
	for (int i = 0; i < count; i++) {
		struct stranger *s = xcalloc(1, sizeof(*s));

		s->f = f;
		s->number = i;
		s->again = evtimer_new(f->base, again_cb, s);
		event_active(s->again, EV_TIMEOUT, 0);
	}
}
