/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connects.c - read the kernel's lists of TCP sockets.
 */
#include "agents/sensor/connects.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"

/* Of lists of a machine with several 100,000 sockets the rest is skipped. */
#define LIST_BYTES_MAX (64 << 20)
#define STATE_SYN_SENT 2
#define STATE_LISTEN   10

struct connects_list {
	json_t *rows;
	uint32_t uid;
	unsigned state; /* STATE_LISTEN: local addresses, else those of peers */
};

size_t
connects_words(const char *hex, uint32_t ret[4])
{
	size_t digits = strcspn(hex, ":"), words = digits / 8;

	if (digits % 8 != 0 || (words != 1 && words != 4))
		return 0;
	for (size_t i = 0; i < words; i++)
		if (sscanf(hex + 8 * i, "%8" SCNx32, &ret[i]) != 1)
			return 0;
	return words;
}

static int
connects_address(const char *hex, char ret[INET6_ADDRSTRLEN])
{
	struct in6_addr six;
	uint32_t word[4];
	size_t words = connects_words(hex, word);

	if (words == 0)
		return -1;
	memcpy(&six, word, words * 4);
	if (words == 4 && IN6_IS_ADDR_V4MAPPED(&six)) {
		memcpy(&six, &word[3], 4);
		words = 1;
	}
	return inet_ntop(words == 1 ? AF_INET : AF_INET6, &six, ret,
		   INET6_ADDRSTRLEN) == NULL
	    ? -1
	    : 0;
}

static int
connects_has(const json_t *rows, const char *addr, unsigned port)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (strcmp(json_string_value(json_object_get(row, "addr")),
			addr) == 0 &&
		    json_integer_value(json_object_get(row, "port")) == port)
			return 1;
	return 0;
}

/* Return 1 for a port that may be of a rank, and open to other nodes. Services
 * of the same user often listen on ports below 1024, ranks never do. */
static int
connects_is_open(const char *addr, unsigned port)
{
	return port >= 1024 && strncmp(addr, "127.", 4) != 0 &&
	    strcmp(addr, "::1") != 0;
}

/* "3: LOCAL:PORT PEER:PORT STATE TX:RX TIMER:WHEN RETRIES UID ...", all but the
 * first number and UID in base 16. */
static int
connects_line_cb(char *line, int ended, void *arg)
{
	struct connects_list *list = arg;
	char local[33], peer[33], addr[INET6_ADDRSTRLEN];
	unsigned local_port, port, state;
	int is_listen = list->state == STATE_LISTEN;
	uint32_t uid;

	(void)ended;
	if (sscanf(line,
		" %*u: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x "
		"%*x %" SCNu32,
		local, &local_port, peer, &port, &state, &uid) != 6)
		return 0;
	port = is_listen ? local_port : port;
	if (state != list->state || uid != list->uid || port > 65535 ||
	    connects_address(is_listen ? local : peer, addr) < 0 ||
	    (is_listen && !connects_is_open(addr, port)) ||
	    connects_has(list->rows, addr, port))
		return 0;
	json_array_append_new(list->rows,
	    json_pack("{s:s, s:i}", "addr", addr, "port", (int)port));
	return json_array_size(list->rows) < CONNECTS_MAX ? 0 : -1;
}

static json_t *
connects_read(const char *root, uint32_t uid, unsigned state)
{
	static const char *const files[] = { "tcp", "tcp6" };
	struct connects_list list = { json_array(), uid, state };
	char path[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		FILE *from;

		snprintf(path, sizeof(path), "%s/proc/net/%s", root, files[i]);
		from = fopen(path, "re");
		if (from == NULL)
			continue; /* a kernel without IPv6 */
		file_lines(from, LIST_BYTES_MAX, connects_line_cb, &list);
		fclose(from);
	}
	return list.rows;
}

json_t *
connects_unanswered(const char *root, uint32_t uid)
{
	return connects_read(root, uid, STATE_SYN_SENT);
}

json_t *
connects_listening(const char *root, uint32_t uid)
{
	return connects_read(root, uid, STATE_LISTEN);
}
