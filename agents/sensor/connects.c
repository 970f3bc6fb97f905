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

struct connects_list {
	json_t *rows;
	uint32_t uid;
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

/* "3: LOCAL:PORT PEER:PORT STATE TX:RX TIMER:WHEN RETRIES UID ...", all but the
 * first number and UID in base 16. */
static int
connects_line_cb(char *line, int ended, void *arg)
{
	struct connects_list *list = arg;
	char hex[33], addr[INET6_ADDRSTRLEN];
	unsigned port, state;
	uint32_t uid;

	(void)ended;
	if (sscanf(line,
		" %*u: %*[0-9A-Fa-f]:%*x %32[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x "
		"%*x %" SCNu32,
		hex, &port, &state, &uid) != 4 ||
	    state != STATE_SYN_SENT || uid != list->uid || port > 65535 ||
	    connects_address(hex, addr) < 0 ||
	    connects_has(list->rows, addr, port))
		return 0;
	json_array_append_new(list->rows,
	    json_pack("{s:s, s:i}", "addr", addr, "port", (int)port));
	return json_array_size(list->rows) < CONNECTS_MAX ? 0 : -1;
}

json_t *
connects_unanswered(const char *root, uint32_t uid)
{
	static const char *const files[] = { "tcp", "tcp6" };
	struct connects_list list = { json_array(), uid };
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
