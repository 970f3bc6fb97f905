/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/print.h"

/* severity is one of these; anything else counts as a warning. */
static int
severity_code(const json_t *item)
{
	static const struct {
		const char *name;
		int code;
	} codes[] = { { "info", EXIT_CODE_OK }, { "ok", EXIT_CODE_OK },
		{ "warn", EXIT_CODE_WARN }, { "bad", EXIT_CODE_BAD },
		{ "error", EXIT_CODE_BAD } };
	const char *name = print_member(item, "severity", "warn");

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (strcmp(codes[i].name, name) == 0)
			return codes[i].code;
	return EXIT_CODE_WARN;
}

static int
diags(struct ctl *c)
{
	json_t *list, *item;
	size_t i;
	int worst = EXIT_CODE_OK, rc = ctl_get(c, "diags", NULL, &list);

	if (rc != 0)
		return rc;
	json_array_foreach (list, i, item)
		if (severity_code(item) > worst)
			worst = severity_code(item);
	if (opts_given(&c->opts, OPT_JSON)) {
		print_json(list);
	} else {
		json_array_foreach (list, i, item) {
			printf("%s: %s\n",
			    print_member(item, "severity", "warn"),
			    print_member(item, "text", ""));
			if (print_member(item, "remedy", NULL) != NULL)
				printf("    %s\n",
				    print_member(item, "remedy", ""));
		}
		if (json_array_size(list) == 0)
			puts("ok: nothing is wrong");
	}
	json_decref(list);
	return worst;
}

const struct verb verbs_diags[] = {
	{ "diags", NULL, "", 0, 0, "json", "",
	    "Say what is wrong with the collector and its agents, and what to "
	    "do.",
	    "The exit code is that of the worst: 0, 1 for a warning, 2.",
	    diags },
	{ 0 },
};
