/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standby.c - the lease is measured by this machine's clock, since the
 * server's may jump. A collector whose lease has expired is cut off from the
 * database before another one may become active.
 */
#include "daemon/standby.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "daemon/store/store.h"

static void
standby_leader_cb(int status, json_t *result, void *arg)
{
	struct standby *s = arg;
	const char *mark = member_text(result, "mark");

	s->asked = 0;
	s->is_expired = 0;
	if (status == 0) {
		store_set_leader(s->store, member_text(result, "who"));
		s->is_free = mark[0] == '\0';
		if (strcmp(mark, s->mark) != 0)
			s->mark_ns = clk_ns();
		else
			s->is_expired = clk_ns() - s->mark_ns >
			    member_unsigned(result, "lease_ns");
		snprintf(s->mark, sizeof(s->mark), "%s", mark);
	}
	json_decref(result);
}

int
standby_look(struct standby *s, struct store *store)
{
	json_t *args;

	if (s->asked)
		return s->is_free;
	args = json_object();
	if (s->is_expired) {
		log_info("the lease of collector %s has expired; ending its "
			 "database session to take over",
		    store_leader(store));
		json_object_set_new(args, "depose", json_string(s->mark));
	}
	s->store = store;
	s->asked = 1;
	store_ask(store, STORE_LEADER, args, standby_leader_cb, s);
	json_decref(args);
	return s->is_free;
}
