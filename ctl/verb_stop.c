/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl.h"
#include "ctl/print.h"

static int
stop(struct ctl *c)
{
	json_t *answer;
	double count;

	if (!opts_given(&c->opts, OPT_ALL))
		return ctl_fail("stop needs --all, since it ends every run; "
				"one run is ended by coalctl run cancel RUN");
	if (client_post(ctl_client(c), "/stop", NULL, &answer) < 0)
		return ctl_fail_client(c);
	count = print_number(answer, "ended");
	json_decref(answer);
	printf("%.0f run%s ended\n", count, count == 1 ? "" : "s");
	return EXIT_CODE_OK;
}

const struct verb verbs_stop[] = {
	{ "stop", NULL, "", 0, 0, "all", "",
	    "End every run, everywhere, now. Schedules go on; see schedule "
	    "disable.",
	    NULL, stop },
	{ 0 },
};
