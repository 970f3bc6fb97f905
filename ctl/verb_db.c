/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "ctl/ctl.h"
#include "ctl/print.h"

static int
db_backup(struct ctl *c)
{
	char cwd[PATH_MAX] = "";
	json_t *order, *answer;
	char *path;
	int rc;

	/* The collector writes the file: its directory is another one. */
	if (c->args[0][0] != '/' && getcwd(cwd, sizeof(cwd)) == NULL)
		return ctl_fail("%s: %s", c->args[0], strerror(errno));
	path = xasprintf("%s%s%s", cwd, cwd[0] == '\0' ? "" : "/", c->args[0]);
	order = json_pack("{s:s}", "path", path);
	rc = client_post(ctl_client(c), "/db/backup", order, &answer);
	json_decref(order);
	if (rc == 0) {
		printf("%s written by the collector\n", path);
		json_decref(answer);
	} else if (rc == -EHOSTUNREACH) {
		rc = ctl_fail_client(c);
	} else {
		rc = ctl_fail("%s: %s", path, client_why(c->client));
	}
	free(path);
	return rc;
}

static int
db_check(struct ctl *c)
{
	json_t *answer;
	int rc = ctl_get(c, "db/check", NULL, &answer);
	int ok;

	if (rc != 0)
		return rc;
	ok = json_is_true(json_object_get(answer, "ok"));
	if (opts_given(&c->opts, OPT_JSON))
		print_json(answer);
	else
		printf("%s: %s\n", ok ? "ok" : "bad",
		    print_member(answer, "text", "no details"));
	json_decref(answer);
	return ok ? EXIT_CODE_OK : EXIT_CODE_BAD;
}

const struct verb verbs_db[] = {
	{ "db", "backup", "FILE", 1, 1, "", "file",
	    "Copy the store into a file while the collector runs.",
	    "The collector writes the file, on its own host and as its own "
	    "user.",
	    db_backup },
	{ "db", "check", "", 0, 0, "json", "",
	    "Check the store's integrity; exit code 2 when it is damaged.",
	    NULL, db_check },
	{ 0 },
};
