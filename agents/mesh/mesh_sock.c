/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_sock.c - the kernel's time stamps and drop counts separate delays and
 * losses in this host from those in the network; path MTUs are probed without
 * fragments.
 */
#include "agents/mesh/mesh_sock.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/str.h"

/* A second's answers at the highest rate; the kernel may grant less. */
#define RECEIVE_BYTES (4 * 1024 * 1024)
/* A time stamp that is older than this is of a clock that was set. */
#define WAITED_MAX_NS (60 * CLK_NS_PER_S)

static const uint8_t zeros[MESH_LARGE_MAX];

/* The socket address of a peer, in the family of the socket. */
static socklen_t
mesh_sock_to_sockaddr(const struct mesh_peer *p, struct sockaddr_storage *ret)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (IN6_IS_ADDR_V4MAPPED(&p->addr)) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(p->port);
		memcpy(&v4->sin_addr, (const uint8_t *)&p->addr + 12, 4);
		return sizeof(*v4);
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(p->port);
	v6->sin6_addr = p->addr;
	return sizeof(*v6);
}

static void
mesh_sock_from_sockaddr(const struct sockaddr_storage *sa,
    struct mesh_peer *ret)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)sa;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)sa;

	memset(ret, 0, sizeof(*ret));
	if (sa->ss_family == AF_INET) {
		((uint8_t *)&ret->addr)[10] = 0xff;
		((uint8_t *)&ret->addr)[11] = 0xff;
		memcpy((uint8_t *)&ret->addr + 12, &v4->sin_addr, 4);
		ret->port = ntohs(v4->sin_port);
	} else {
		ret->addr = v6->sin6_addr;
		ret->port = ntohs(v6->sin6_port);
	}
}

int
mesh_sock_open(const struct in6_addr *addr, uint16_t port)
{
	/* All of these options may fail: without time stamps a datagram counts
	 * as not delayed, without the drop count drops look like losses, and
	 * options of the other address family fail anyway. */
	static const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_TIMESTAMPNS, 1 },
		{ SOL_SOCKET, SO_RXQ_OVFL, 1 },
		{ SOL_SOCKET, SO_RCVBUF, RECEIVE_BYTES },
		/* Once a router has reported that a datagram is too large, the
		 * kernel refuses such datagrams itself. So only those that
		 * vanish silently count as lost. */
		{ IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO },
		{ IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO },
	};
	struct mesh_peer own = { *addr, port };
	struct sockaddr_storage sa;
	socklen_t len = mesh_sock_to_sockaddr(&own, &sa);
	int fd, rc;

	fd = socket(sa.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		(void)setsockopt(fd, options[i].level, options[i].name,
		    &options[i].value, sizeof(int));
	if (bind(fd, (struct sockaddr *)&sa, len) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* Read the time in the socket's queue and the kernel's drop count. */
static void
mesh_sock_control_read(struct msghdr *mh, struct mesh_got *got,
    uint32_t *ret_drops)
{
	struct timespec stamp, now;
	struct cmsghdr *c;
	int64_t ns;

	got->waited_ns = 0;
	for (c = CMSG_FIRSTHDR(mh); c != NULL; c = CMSG_NXTHDR(mh, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SO_RXQ_OVFL)
			memcpy(ret_drops, CMSG_DATA(c), sizeof(*ret_drops));
		if (c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
		clock_gettime(CLOCK_REALTIME, &now);
		ns = (int64_t)(now.tv_sec - stamp.tv_sec) *
			(int64_t)CLK_NS_PER_S +
		    now.tv_nsec - stamp.tv_nsec;
		if (ns >= 0 && ns <= (int64_t)WAITED_MAX_NS)
			got->waited_ns = (uint64_t)ns;
	}
}

int
mesh_sock_get(int fd, struct mesh_got *ret, uint32_t *ret_drops)
{
	_Alignas(struct cmsghdr) char control[256];
	struct sockaddr_storage from;
	uint8_t rest[MESH_LARGE_MAX - MESH_PACKET_BYTES + 1];
	struct iovec iov[2] = { { ret->raw, MESH_PACKET_BYTES },
		{ rest, sizeof(rest) } };
	struct msghdr mh = { .msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = iov,
		.msg_iovlen = ARRAY_LEN(iov),
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	ssize_t n;

	do
		n = recvmsg(fd, &mh, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return 0;
	mesh_sock_control_read(&mh, ret, ret_drops);
	mesh_sock_from_sockaddr(&from, &ret->from);
	ret->len_bytes = (size_t)n;
	/* Zeros are an invalid packet: the caller counts and rejects it. */
	if (n < MESH_PACKET_BYTES || n > MESH_LARGE_MAX ||
	    memcmp(rest, zeros, (size_t)n - MESH_PACKET_BYTES) != 0)
		memset(ret->raw, 0, sizeof(ret->raw));
	return 1;
}

int
mesh_sock_put(int fd, const struct mesh_peer *to,
    const uint8_t raw[MESH_PACKET_BYTES], size_t len_bytes)
{
	struct sockaddr_storage sa;
	struct iovec iov[2] = {
		{ (void *)(uintptr_t)raw, MESH_PACKET_BYTES },
		{ (void *)(uintptr_t)zeros, len_bytes - MESH_PACKET_BYTES },
	};
	struct msghdr mh = { .msg_name = &sa,
		.msg_namelen = mesh_sock_to_sockaddr(to, &sa),
		.msg_iov = iov,
		.msg_iovlen = ARRAY_LEN(iov) };

	errno = 0;
	if (sendmsg(fd, &mh, MSG_NOSIGNAL) == (ssize_t)len_bytes)
		return 0;
	return errno != 0 ? -errno : -EIO;
}

void
mesh_mac(const uint8_t key[MESH_KEY_BYTES], const uint8_t *data,
    size_t len_bytes, uint8_t *ret, size_t ret_bytes)
{
	uint8_t full[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	HMAC(EVP_sha256(), key, MESH_KEY_BYTES, data, len_bytes, full, &len);
	memcpy(ret, full, ret_bytes < len ? ret_bytes : len);
}

void
mesh_sign(uint8_t raw[MESH_PACKET_BYTES], const uint8_t token[MESH_KEY_BYTES])
{
	mesh_mac(token, raw, MESH_MAC_AT, raw + MESH_MAC_AT, MESH_MAC_BYTES);
}

int
mesh_signed(const uint8_t raw[MESH_PACKET_BYTES],
    const uint8_t token[MESH_KEY_BYTES])
{
	uint8_t want[MESH_MAC_BYTES];

	mesh_mac(token, raw, MESH_MAC_AT, want, sizeof(want));
	return CRYPTO_memcmp(want, raw + MESH_MAC_AT, MESH_MAC_BYTES) == 0;
}
