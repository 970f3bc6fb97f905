/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/transport/ipc_board.h"

#include <stdlib.h>

int
board_is_worker(const struct transport_end *e)
{
	return (e->via == PLAN_VIA_IPC_GET) == (e->receive != 0);
}

static int
compare_slots_cb(const void *va, const void *vb)
{
	const struct board_slot *a = va, *b = vb;

	if (a->peer != b->peer)
		return a->peer < b->peer ? -1 : 1;
	if (a->receive != b->receive)
		return a->receive < b->receive ? -1 : 1;
	return (a->tag > b->tag) - (a->tag < b->tag);
}

static struct board_slot
slot_of(const struct transport_end *e)
{
	return (struct board_slot){ .peer = e->peer,
		.tag = e->tag,
		.receive = e->receive,
		.off = e->off,
		.bytes = e->bytes };
}

int
board_new(struct device *host, const struct transport_share *share,
    struct board **ret)
{
	uint64_t slots = share->ends_count + 1ULL;
	struct board *b;
	uint32_t n = 0;
	void *base;
	int rc;

	rc = device_host.alloc(host,
	    sizeof(*b) + slots * sizeof(struct board_slot), &base);
	if (rc < 0)
		return rc;
	b = base;
	for (uint32_t i = 0; i < share->ends_count; i++)
		if (!board_is_worker(&share->ends[i]))
			b->slots[n++] = slot_of(&share->ends[i]);
	b->slots_count = n;
	qsort(b->slots, n, sizeof(*b->slots), compare_slots_cb);
	*ret = b;
	return 0;
}

struct board_slot *
board_find(struct board *b, const struct transport_end *e)
{
	struct board_slot key = slot_of(e);

	return bsearch(&key, b->slots, b->slots_count, sizeof(*b->slots),
	    compare_slots_cb);
}
