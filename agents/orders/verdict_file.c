/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_file.c - the file is replaced as a whole, so that a reader never sees
 * half of it.
 */
#include "agents/orders/verdict_file.h"

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
#include "schema/names_verdict.h"

#define FRESH_MAX_MS 86400000

/* Readable by all users: health checks run as many. */
static int
verdict_file_write(const char *path, const char *text)
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
verdict_file_put(struct agent *ag, const json_t *msg)
{
	static int failed; /* the same failure is logged once */
	const char *verdict = json_string_value(
	    json_object_get(msg, "verdict"));
	json_int_t fresh_ms = json_integer_value(
	    json_object_get(msg, "fresh_ms"));
	char path[AGENT_PATH_MAX], *text;
	json_t *o;
	int rc;

	if (STR_FIND(names_verdicts, verdict) < 0 || fresh_ms < 1 ||
	    fresh_ms > FRESH_MAX_MS ||
	    str_format(path, sizeof(path), "%s/verdict",
		conf_string(ag->conf, "agent", "run_dir")) < 0)
		return -EPROTO;
	o = json_pack("{s:s, s:s, s:O, s:I, s:I}", "node", ag->name, "verdict",
	    verdict, "text", json_object_get(msg, "text"), "at_unix_ns",
	    (json_int_t)clk_unix_ns(), "fresh_ms", fresh_ms);
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	rc = verdict_file_write(path, text);
	free(text);
	if (rc < 0 && rc != failed)
		log_warnx("%s: %s", path, strerror(-rc));
	failed = rc;
	return 0;
}
