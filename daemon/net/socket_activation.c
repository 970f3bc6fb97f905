/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/net/socket_activation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"

#define FIRST_FD 3
#define FDS_MAX  64

/* Index of name in "a:b:c", or -ENOENT. */
static int
name_find(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; names != NULL; i++) {
		if (strncmp(names, name, len) == 0 &&
		    (names[len] == ':' || names[len] == '\0'))
			return i;
		names = strchr(names, ':');
		if (names != NULL)
			names++;
	}
	return -ENOENT;
}

static int
choose(const char *name, int count)
{
	int i = name_find(getenv("LISTEN_FDNAMES"), name);

	if (i < 0 && count == 1)
		i = 0;
	return i >= count ? -ENOENT : i;
}

int
socket_activation_socket(const char *name)
{
	const char *pid_text = getenv("LISTEN_PID");
	const char *count_text = getenv("LISTEN_FDS");
	int64_t pid = 0, count = 0;
	int chosen = -ENOENT;

	if (pid_text != NULL && count_text != NULL &&
	    str_to_int(pid_text, 1, INT32_MAX, &pid) == 0 &&
	    str_to_int(count_text, 1, FDS_MAX, &count) == 0 && pid == getpid())
		chosen = choose(name, (int)count);
	else
		count = 0;
	for (int i = 0; i < (int)count; i++) {
		if (i == chosen)
			(void)fcntl(FIRST_FD + i, F_SETFD, FD_CLOEXEC);
		else
			close(FIRST_FD + i);
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return chosen < 0 ? chosen : FIRST_FD + chosen;
}
