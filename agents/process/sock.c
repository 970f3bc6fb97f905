/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/process/sock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agents/process/privileges.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"

#define BACKLOG 256 /* every rank of a node at once */

/* Out of descriptors: the pause keeps an emergency from becoming a busy
 * loop, and whoever waits has a time limit of its own. */
static void
error_cb(struct evconnlistener *l, void *arg)
{
	(void)l;
	(void)arg;
	log_warn("listener: accept");
	clk_sleep_ns(10 * CLK_NS_PER_MS);
}

struct evconnlistener *
sock_listen(struct event_base *base, const char *path, int64_t gid,
    evconnlistener_cb cb, void *arg)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct evconnlistener *l;

	if (str_format(sun.sun_path, sizeof(sun.sun_path), "%s", path) < 0) {
		log_warnx("%s: longer than a socket's name may be", path);
		return NULL;
	}
	unlink(path);
	privileges_take(-1, gid);
	l = evconnlistener_new_bind(base, cb, arg,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG,
	    (struct sockaddr *)&sun, (int)sizeof(sun));
	privileges_back();
	if (l == NULL || chmod(path, 0660) < 0) {
		log_warn("%s", path);
		if (l != NULL)
			evconnlistener_free(l);
		return NULL;
	}
	evconnlistener_set_error_cb(l, error_cb);
	return l;
}
