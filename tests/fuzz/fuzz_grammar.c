/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher's words, one a line; the first line chooses the MPI. */
#include "agents/launch/argv_allowlist.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

#define WORDS_MAX (ARGV_ALLOWLIST_ARGS_MAX + 8)

static size_t
split(char *text, const char **words)
{
	size_t count = 0;

	for (char *p = text; p != NULL && count < WORDS_MAX; count++) {
		words[count] = p;
		p = strchr(p, '\n');
		if (p != NULL)
			*p++ = '\0';
	}
	return count;
}

/* No word that passes means anything to a shell, and nobody but the head is
 * obeyed. */
static void
judge(char **argv)
{
	assert(strcmp(argv[0], "orted") == 0 ||
	    strcmp(argv[0], "hydra_pmi_proxy") == 0);
	for (size_t i = 1; argv[i] != NULL; i++) {
		assert(strpbrk(argv[i], "`$&|<>'\"\\\n\r\t *?") == NULL);
		if (strcmp(argv[i - 1], "orte_hnp_uri") == 0 ||
		    strcmp(argv[i - 1], "--control-port") == 0)
			assert(strstr(argv[i], "10.0.0.1") != NULL ||
			    strstr(argv[i], "fd00::1") != NULL);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	static const char *const addrs[] = { "10.0.0.1", "fd00::1" };
	struct argv_allowlist_want want = { .addrs = addrs,
		.addr_count = 2,
		.arsh = "/usr/libexec/coalmine/coalmine-arsh" };
	char *text = fuzz_text(data, len_bytes), **argv;
	struct err err = { 0 };
	const char *words[WORDS_MAX];
	size_t count = split(text, words);

	want.mpi = text[0] == 'm' ? "mpich" : "openmpi";
	if (argv_allowlist_check(&want, words + 1, count - 1, &argv, &err) ==
	    0) {
		judge(argv);
		argv_allowlist_free(argv);
	} else {
		assert(err.text[0] != '\0');
	}
	free(text);
	return 0;
}
