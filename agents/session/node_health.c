/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/session/node_health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"
#include "schema/names.h"

#define FRESH_MAX_MS 86400000

static int
is_verdict(const char *name)
{
	for (int i = 0; i < VERDICT_MAX; i++)
		if (strcmp(names_verdicts[i], name) == 0)
			return 1;
	return 0;
}

/* Everybody may read it: health checks run as many users. */
static int
file_put(const char *path, const char *text)
{
	char temp[AGENT_PATH_MAX + 16];
	size_t len = strlen(text);
	int fd, rc = 0;

	snprintf(temp, sizeof(temp), "%s.new", path);
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
	    0644);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len || fchmod(fd, 0644) < 0)
		rc = errno != 0 ? -errno : -EIO;
	close(fd);
	if (rc == 0 && rename(temp, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(temp);
	return rc;
}

int
node_health_keep(struct agent *ag, const json_t *msg)
{
	static int failed; /* the same failure is not told each minute */
	const char *verdict = json_string_value(
	    json_object_get(msg, "verdict"));
	json_int_t fresh_ms = json_integer_value(
	    json_object_get(msg, "fresh_ms"));
	char path[AGENT_PATH_MAX], *text;
	json_t *o;
	int rc;

	if (!is_verdict(verdict) || fresh_ms < 1 || fresh_ms > FRESH_MAX_MS ||
	    str_format(path, sizeof(path), "%s/verdict",
		conf_string(ag->conf, "agent", "run_dir")) < 0)
		return -EPROTO;
	o = json_pack("{s:s, s:s, s:O, s:I, s:I}", "node", ag->name, "verdict",
	    verdict, "text", json_object_get(msg, "text"), "at_unix_ns",
	    (json_int_t)clk_unix_ns(), "fresh_ms", fresh_ms);
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	rc = file_put(path, text);
	free(text);
	if (rc < 0 && rc != failed)
		log_warnx("%s: %s", path, strerror(-rc));
	failed = rc;
	return 0;
}
