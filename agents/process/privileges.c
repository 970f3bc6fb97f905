/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.c - effective ids are switched and not real ones, so that the
 * agent can always return; if it cannot, it ends.
 */
#include "agents/process/privileges.h"

#include <unistd.h>

#include "common/log.h"

/* The group first and last: changing it takes root. */
void
privileges_take(int64_t uid, int64_t gid)
{
	if (gid >= 0 && setegid((gid_t)gid) < 0)
		fatal("cannot change to group %lld", (long long)gid);
	if (uid >= 0 && seteuid((uid_t)uid) < 0)
		fatal("cannot change to user %lld", (long long)uid);
}

void
privileges_back(void)
{
	if (geteuid() != getuid() && seteuid(getuid()) < 0)
		fatal("cannot change to user %lld", (long long)getuid());
	if (getegid() != getgid() && setegid(getgid()) < 0)
		fatal("cannot change to group %lld", (long long)getgid());
}
