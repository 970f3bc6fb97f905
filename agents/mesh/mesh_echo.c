/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_echo.c - whether a request is answered is decided from the packet and
 * the sender's address alone: the token is computed again, so no peer costs
 * memory.
 */
#include "agents/mesh/mesh_echo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/mesh/mesh_sock.h"
#include "common/clk.h"
#include "common/xalloc.h"

/* A node is the target of a few others only, so a higher rate is not from a
 * mesh. */
#define ANSWERS_PER_S 2000

struct mesh_echo {
	struct event *readable;
	int fd;
	uint8_t keys[2][MESH_KEY_BYTES]; /* the newest first */
	int key_count;
	uint64_t epoch;
	uint64_t second_ns; /* when this second of the limit began */
	unsigned second_count;
	uint32_t drops, drops_told; /* of the kernel, since open */
	struct mesh_echo_counts counts;
	struct hist turn_s;
};

static void
mesh_echo_answer(struct mesh_echo *e, const struct mesh_got *got,
    uint64_t read_ns)
{
	uint8_t token[MESH_KEY_BYTES], raw[MESH_PACKET_BYTES];
	uint8_t input[MESH_TOKEN_INPUT];
	struct mesh_packet p;
	uint64_t now_ns;
	int is_good = 0, rc;

	/* The token that should have signed it is computed from the sender's
	 * address. */
	mesh_token_input(&got->from.addr, input);
	if (mesh_packet_get(got->raw, &p) < 0 || p.kind != MESH_REQUEST ||
	    p.epoch + 1 < e->epoch || p.epoch > e->epoch + 1) {
		e->counts.refused++;
		return;
	}
	for (int i = 0; !is_good && i < e->key_count; i++) {
		mesh_mac(e->keys[i], input, sizeof(input), token,
		    sizeof(token));
		is_good = mesh_signed(got->raw, token);
	}
	if (!is_good) {
		e->counts.refused++;
		return;
	}
	now_ns = clk_ns();
	if (now_ns - e->second_ns >= CLK_NS_PER_S) {
		e->second_ns = now_ns;
		e->second_count = 0;
	}
	if (++e->second_count > ANSWERS_PER_S) {
		e->counts.limited++;
		return;
	}
	p.kind = MESH_ANSWER;
	/* without the time for signing, which is a microsecond */
	p.turn_ns = got->waited_ns + (clk_ns() - read_ns);
	mesh_packet_put(raw, &p);
	mesh_sign(raw, token);
	rc = mesh_sock_put(e->fd, &got->from, raw, got->len_bytes);
	if (rc == -EMSGSIZE) /* says that the way back carries less */
		rc = mesh_sock_put(e->fd, &got->from, raw, MESH_PACKET_BYTES);
	if (rc < 0) {
		e->counts.unsent++;
		return;
	}
	e->counts.answered++;
	hist_add(&e->turn_s, (double)p.turn_ns / 1e9);
}

static void
mesh_echo_readable_cb(evutil_socket_t fd, short what, void *arg)
{
	struct mesh_echo *e = arg;
	struct mesh_got got;

	(void)fd;
	(void)what;
	/* a flood does not keep the loop from its other work */
	for (int i = 0; i < 256; i++) {
		if (!mesh_sock_get(e->fd, &got, &e->drops))
			return;
		mesh_echo_answer(e, &got, clk_ns());
	}
}

struct mesh_echo *
mesh_echo_open(struct event_base *base, const struct in6_addr *addr,
    uint16_t port, int *ret_errno)
{
	int fd = mesh_sock_open(addr, port);
	struct mesh_echo *e;

	if (fd < 0) {
		*ret_errno = -fd;
		return NULL;
	}
	e = xcalloc(1, sizeof(*e));
	e->fd = fd;
	hist_clear(&e->turn_s);
	e->readable = event_new(base, fd, EV_READ | EV_PERSIST,
	    mesh_echo_readable_cb, e);
	event_add(e->readable, NULL);
	return e;
}

void
mesh_echo_close(struct mesh_echo *e)
{
	if (e == NULL)
		return;
	event_free(e->readable);
	close(e->fd);
	explicit_bzero(e->keys, sizeof(e->keys));
	free(e);
}

uint16_t
mesh_echo_port(const struct mesh_echo *e)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (getsockname(e->fd, (struct sockaddr *)&sa, &len) < 0)
		return 0;
	return ntohs(sa.ss_family == AF_INET
		? ((struct sockaddr_in *)&sa)->sin_port
		: ((struct sockaddr_in6 *)&sa)->sin6_port);
}

void
mesh_echo_key(struct mesh_echo *e, const uint8_t key[MESH_KEY_BYTES])
{
	if (e->key_count > 0 && memcmp(e->keys[0], key, MESH_KEY_BYTES) == 0)
		return;
	memcpy(e->keys[1], e->keys[0], MESH_KEY_BYTES);
	memcpy(e->keys[0], key, MESH_KEY_BYTES);
	if (e->key_count < 2)
		e->key_count++;
}

void
mesh_echo_epoch(struct mesh_echo *e, uint64_t epoch)
{
	e->epoch = epoch;
}

void
mesh_echo_take(struct mesh_echo *e, struct mesh_echo_counts *ret,
    struct hist *ret_turn_s)
{
	*ret = e->counts;
	ret->drops = e->drops - e->drops_told;
	e->drops_told = e->drops;
	*ret_turn_s = e->turn_s;
	memset(&e->counts, 0, sizeof(e->counts));
	hist_clear(&e->turn_s);
}
