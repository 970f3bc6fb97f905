/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.c - a packet is valid if writing its parsed contents gives the same
 * bytes: unknown kinds and reserved bytes that are not zero are rejected.
 */
#include "schema/mesh.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

static const uint8_t magic[4] = { 'C', 'M', 'm', '1' };

const char *const mesh_classes[MESH_CLASS_MAX] = { "leaf", "spine" };

int
mesh_class_find(const char *name)
{
	for (int i = 0; i < MESH_CLASS_MAX; i++)
		if (strcmp(mesh_classes[i], name) == 0)
			return i;
	return -ENOENT;
}

static void
mesh_put64(uint8_t *at, uint64_t x)
{
	for (int i = 7; i >= 0; i--, x >>= 8)
		at[i] = (uint8_t)x;
}

static uint64_t
mesh_get64(const uint8_t *at)
{
	uint64_t x = 0;

	for (int i = 0; i < 8; i++)
		x = x << 8 | at[i];
	return x;
}

void
mesh_packet_put(uint8_t raw[MESH_PACKET_BYTES], const struct mesh_packet *p)
{
	memset(raw, 0, MESH_PACKET_BYTES);
	memcpy(raw, magic, sizeof(magic));
	raw[4] = (uint8_t)p->kind;
	mesh_put64(raw + 8, p->epoch);
	mesh_put64(raw + 16, p->seq);
	mesh_put64(raw + 24, p->turn_ns);
}

int
mesh_packet_get(const uint8_t raw[MESH_PACKET_BYTES], struct mesh_packet *ret)
{
	struct mesh_packet p = { (enum mesh_kind)raw[4], mesh_get64(raw + 8),
		mesh_get64(raw + 16), mesh_get64(raw + 24) };
	uint8_t again[MESH_PACKET_BYTES];

	if (p.kind != MESH_REQUEST && p.kind != MESH_ANSWER)
		return -EPROTO;
	mesh_packet_put(again, &p);
	if (memcmp(raw, again, MESH_MAC_AT) != 0)
		return -EPROTO;
	*ret = p;
	return 0;
}

void
mesh_token_input(const struct in6_addr *asker, uint8_t ret[MESH_TOKEN_INPUT])
{
	static const char label[] = "coalmine mesh 1";

	memcpy(ret, label, sizeof(label));
	memcpy(ret + sizeof(label), asker, 16);
}

int
mesh_addr_parse(const char *text, struct in6_addr *ret)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct in6_addr addr;

	if (inet_pton(AF_INET6, text, &addr) == 1) {
		*ret = addr;
		return 0;
	}
	memcpy(&addr, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, text, (uint8_t *)&addr + 12) != 1)
		return -EINVAL;
	*ret = addr;
	return 0;
}

int
mesh_net_parse(const char *text, struct mesh_net *ret)
{
	const char *slash = strchr(text, '/');
	int v4 = strchr(text, ':') == NULL;
	char addr[INET6_ADDRSTRLEN];
	int64_t bits;

	if (slash == NULL || (size_t)(slash - text) >= sizeof(addr) ||
	    str_to_int(slash + 1, 1, v4 ? 32 : 128, &bits) < 0)
		return -EINVAL;
	memcpy(addr, text, (size_t)(slash - text));
	addr[slash - text] = '\0';
	ret->bits = (unsigned)bits + (v4 ? 96 : 0);
	return mesh_addr_parse(addr, &ret->addr);
}

void
mesh_net_format(const struct mesh_net *net, char *ret, size_t cap_bytes)
{
	struct in6_addr addr = net->addr;
	char text[INET6_ADDRSTRLEN];
	int v4 = IN6_IS_ADDR_V4MAPPED(&addr);

	for (unsigned i = 0; i < 16; i++)
		if (net->bits < 8 * (i + 1))
			addr.s6_addr[i] &= (uint8_t)(0xff00u >>
			    (net->bits > 8 * i ? net->bits - 8 * i : 0));
	inet_ntop(v4 ? AF_INET : AF_INET6,
	    v4 ? &addr.s6_addr[12] : (void *)&addr, text, sizeof(text));
	snprintf(ret, cap_bytes, "%s/%u", text, net->bits - (v4 ? 96 : 0));
}

int
mesh_net_has(const struct mesh_net *net, const struct in6_addr *addr)
{
	for (unsigned i = 0; i < net->bits; i++)
		if ((addr->s6_addr[i / 8] ^ net->addr.s6_addr[i / 8]) &
		    (0x80 >> i % 8))
			return 0;
	return 1;
}

void
mesh_hex_put(const uint8_t key[MESH_KEY_BYTES], char ret[MESH_HEX_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < MESH_KEY_BYTES; i++) {
		ret[2 * i] = digits[key[i] >> 4];
		ret[2 * i + 1] = digits[key[i] & 15];
	}
	ret[2 * MESH_KEY_BYTES] = '\0';
}

int
mesh_hex_get(const char *hex, uint8_t ret[MESH_KEY_BYTES])
{
	return strlen(hex) == 2 * MESH_KEY_BYTES
	    ? str_unhex(hex, 2 * MESH_KEY_BYTES, (char *)ret)
	    : -EINVAL;
}
