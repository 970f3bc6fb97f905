/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a network process that an attacker controls, each after a byte
 * with the number of its descriptors. */
#include "agents/process/broker.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	static struct packet p;
	struct err err;
	size_t count = 0;

	if (len_bytes == 0 || len_bytes - 1 > sizeof(p.text))
		return 0;
	p.fd_count = data[0] % (FDS_ROOM + 1);
	memcpy(p.text, data + 1, len_bytes - 1);
	if (broker_packet_check(&p, len_bytes - 1, &err) < 0)
		return 0;
	assert(p.head.kind < BROKER_KINDS && p.fd_count <= CHILD_FDS);
	assert(memchr(p.head.run, '\0', sizeof(p.head.run)) != NULL);
	assert(strchr(p.head.run, '/') == NULL);
	for (; p.words[count] != NULL; count++)
		assert(p.words[count] + strlen(p.words[count]) <
		    p.text + len_bytes - 1);
	assert((count >= START_WORDS) == (p.head.kind == BROKER_START));
	return 0;
}
