/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_health.c - which nodes are told of their health, and when again.
 */
#include "daemon/react/react.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"

#define REFRESH_NS (60 * CLK_NS_PER_S)

struct told {
	enum exit_code code;
	uint64_t serial; /* of the session that was told; 0: nobody */
	uint64_t at_ns;
	enum exit_code reacted; /* the last of ok and bad that was passed on */
};

struct standings {
	struct roster *roster;
	struct react *react;
	const struct node_health_ops *ops;
	void *ctx;
	struct told *told; /* by node id */
	size_t cap;
};

struct standings *
standings_new(struct roster *roster, struct react *react,
    const struct node_health_ops *ops, void *ctx)
{
	struct standings *s = xcalloc(1, sizeof(*s));

	s->roster = roster;
	s->react = react;
	s->ops = ops;
	s->ctx = ctx;
	return s;
}

void
standings_free(struct standings *s)
{
	if (s == NULL)
		return;
	free(s->told);
	free(s);
}

void
standings_tick(struct standings *s)
{
	size_t count = roster_count(s->roster), cap = count + count / 2;

	if (count > s->cap) {
		s->told = xreallocarray(s->told, cap, sizeof(s->told[0]));
		for (size_t i = s->cap; i < cap; i++)
			s->told[i] = (struct told){
				.reacted = EXIT_CODE_UNKNOWN
			};
		s->cap = cap;
	}
	for (size_t id = 0; id < count; id++) {
		struct node_health st = { EXIT_CODE_UNKNOWN, "" };
		struct node *n = roster_by_id(s->roster, id);
		struct told *t = &s->told[id];

		if (!roster_is_up(n))
			continue;
		s->ops->judge(s->ctx, n, &st);
		/* Suspects and unknowns change nothing: an action waits for
		 * certainty, and so does taking it back. */
		if (st.code != t->reacted && st.code == EXIT_CODE_BAD)
			react_bad(s->react, n->name, st.text);
		if (st.code != t->reacted && st.code == EXIT_CODE_OK)
			react_well(s->react, n->name);
		if (st.code == EXIT_CODE_BAD || st.code == EXIT_CODE_OK)
			t->reacted = st.code;
		if (t->serial == n->serial && t->code == st.code &&
		    clk_ns() - t->at_ns < REFRESH_NS)
			continue;
		if (s->ops->send(s->ctx, n, WIRE_STANDING,
			json_pack("{s:s, s:o, s:I}", "verdict",
			    names_verdicts[st.code], "text", text_json(st.text),
			    "fresh_ms",
			    (json_int_t)(NODE_HEALTH_FRESH_NS /
				CLK_NS_PER_MS))) < 0)
			continue;
		t->code = st.code;
		t->serial = n->serial;
		t->at_ns = clk_ns();
	}
	react_tick(s->react, count);
}
