/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl.h"
#include "ctl/print.h"

static int
version(struct ctl *c)
{
	json_t *answer = NULL, *both;
	int rc = client_get(ctl_client(c), "/version", &answer);

	if (opts_given(&c->opts, OPT_JSON)) {
		both = json_pack("{s:s, s:o}", "coalctl", COALMINE_VERSION,
		    "collector", rc == 0 ? answer : json_null());
		print_json(both);
		json_decref(both);
	} else {
		printf("coalctl   %s\n", COALMINE_VERSION);
		if (rc == 0)
			printf("collector %s\n",
			    print_member(answer, "version", "?"));
		json_decref(answer);
	}
	if (rc == 0)
		return EXIT_CODE_OK;
	ctl_fail_client(c);
	return EXIT_CODE_WARN;
}

const struct verb verbs_version[] = {
	{ "version", NULL, "", 0, 0, "json", "",
	    "Print the versions of coalctl and of the collector.",
	    "Exit code 1 when the collector does not answer.", version },
	{ 0 },
};
