/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.c - each message is one datagram, sent without blocking: a service
 * manager that does not read costs nothing.
 */
#include "common/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/str.h"

static struct sockaddr_un manager;
static socklen_t manager_bytes; /* 0: no service manager */
static uint64_t watchdog_ns;

void
notify_init(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	const char *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	int64_t n;

	manager_bytes = 0;
	watchdog_ns = 0;
	/* A path, or with '@' a name in the abstract namespace. */
	if (path != NULL && (path[0] == '/' || path[0] == '@') &&
	    strlen(path) < sizeof(manager.sun_path)) {
		manager.sun_family = AF_UNIX;
		memcpy(manager.sun_path, path, strlen(path));
		if (path[0] == '@')
			manager.sun_path[0] = '\0';
		manager_bytes = offsetof(struct sockaddr_un, sun_path) +
		    strlen(path);
	}
	if (pid != NULL &&
	    (str_to_int(pid, 1, INT32_MAX, &n) < 0 || n != getpid()))
		usec = NULL; /* meant for another process */
	if (usec != NULL &&
	    str_to_int(usec, 1, INT64_MAX / (int64_t)CLK_NS_PER_US, &n) == 0)
		watchdog_ns = (uint64_t)n * CLK_NS_PER_US;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

/* Best effort: a manager that does not read must not stop us. */
static void
notify_say(const char *text)
{
	int fd;

	if (manager_bytes == 0)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL,
	    (const struct sockaddr *)&manager, manager_bytes);
	close(fd);
}

void
notify_ready(void)
{
	notify_say("READY=1");
}

void
notify_reloading(void)
{
	char text[64];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
	    (unsigned long long)(clk_ns() / CLK_NS_PER_US));
	notify_say(text);
}

void
notify_stopping(void)
{
	notify_say("STOPPING=1");
}

void
notify_watchdog(void)
{
	notify_say("WATCHDOG=1");
}

void
notify_status(const char *fmt, ...)
{
	char text[256] = "STATUS=";
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - len, fmt, ap);
	va_end(ap);
	notify_say(text);
}

uint64_t
notify_watchdog_every_ns(void)
{
	return watchdog_ns / 2;
}
