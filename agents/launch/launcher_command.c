/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher_command.c - start the run through a command line of the site: PBS,
 * Flux, LSF.
 *
 * The line is the administrator's; no shell interprets it. {script} is a script
 * for the head alone (gate.h): while it runs the job has its nodes, and the
 * agents start the ranks. {command} is the command of every rank, for a batch
 * system that starts the ranks itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/launch/launcher.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"

#define WORD_BYTES_MAX 131071 /* MAX_ARG_STRLEN, without the NUL */
#define COMMAND_WORD   "{command}"

static void
launcher_command_add_hosts(const struct mpi_impl_job *job, struct strbuf *sb)
{
	for (size_t i = 0; i < job->node_count; i++)
		strbuf_addf(sb, "%s%s", i > 0 ? "," : "", job->nodes[i].node);
}

static void
launcher_command_add_hostlist(const struct mpi_impl_job *job, struct strbuf *sb)
{
	const char **names = xcalloc(job->node_count, sizeof(names[0]));
	char *text;

	for (size_t i = 0; i < job->node_count; i++)
		names[i] = job->nodes[i].node;
	text = hostlist_format(names, job->node_count);
	strbuf_addf(sb, "%s", text);
	free(text);
	free(names);
}

static void
launcher_command_add_nodes(const struct mpi_impl_job *job, struct strbuf *sb)
{
	strbuf_addf(sb, "%zu", job->node_count);
}

static void
launcher_command_add_ranks(const struct mpi_impl_job *job, struct strbuf *sb)
{
	strbuf_addf(sb, "%zu", job->node_count * (size_t)job->ranks_per_node);
}

static void
launcher_command_add_run(const struct mpi_impl_job *job, struct strbuf *sb)
{
	strbuf_addf(sb, "%s", job->run);
}

static void
launcher_command_add_script(const struct mpi_impl_job *job, struct strbuf *sb)
{
	strbuf_addf(sb, "%s/script", job->dir);
}

static void
launcher_command_add_seconds(const struct mpi_impl_job *job, struct strbuf *sb)
{
	uint64_t ns = conf_span_ns(job->campaign, "campaign", "deadline");

	strbuf_addf(sb, "%llu", (unsigned long long)(ns / CLK_NS_PER_S));
}

/* What may stand in braces within a word. */
static const struct place {
	const char *name;
	void (*add)(const struct mpi_impl_job *job, struct strbuf *sb);
} places[] = {
	{ "{hosts}", launcher_command_add_hosts },
	{ "{hostlist}", launcher_command_add_hostlist },
	{ "{nodes}", launcher_command_add_nodes },
	{ "{ranks}", launcher_command_add_ranks },
	{ "{run}", launcher_command_add_run },
	{ "{script}", launcher_command_add_script },
	{ "{seconds}", launcher_command_add_seconds },
};

static const struct place *
launcher_command_place_at(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (strncmp(text, places[i].name, strlen(places[i].name)) == 0)
			return &places[i];
	return NULL;
}

int
launcher_line_check(const char *line, struct err *err)
{
	const char *brace = line;
	size_t len;

	if (line[0] == '\0')
		return 0;
	if (line[0] != '/')
		return err_set(err, -EINVAL,
		    "expected an absolute path of a program");
	while ((brace = strchr(brace, '{')) != NULL) {
		len = strlen(COMMAND_WORD);
		if (launcher_command_place_at(brace) == NULL &&
		    (strncmp(brace, COMMAND_WORD, len) != 0 ||
			brace[-1] != ' ' || strchr(" ", brace[len]) == NULL)) {
			return err_set(err, -EINVAL,
			    "%.40s: expected {hosts}, {hostlist}, {nodes}, "
			    "{ranks}, {run}, {script}, {seconds}, or {command} "
			    "as a separate word",
			    brace);
		}
		brace++;
	}
	return 0;
}

static int
launcher_command_build(const struct mpi_impl_job *job, char *ret_path,
    size_t cap_bytes, struct strvec *argv, struct strvec *env, struct err *err)
{
	const char *text = conf_string(job->conf, "children", "command");
	char *line, *save;
	int rc = 0;

	if (text[0] == '\0')
		return err_set(err, -ENOENT,
		    "children.command is empty: in coalmine-agent.conf, set "
		    "it to the command that starts the ranks of a run");
	mpi_impl_rank_env(job, env);
	/* Split the line into words and replace the placeholders in braces. */
	line = xstrdup(text);
	for (char *word = strtok_r(line, " \t", &save); word != NULL;
	     word = strtok_r(NULL, " \t", &save)) {
		struct strbuf sb = { 0 };

		for (size_t i = 0;
		     strcmp(word, COMMAND_WORD) == 0 && job->command[i] != NULL;
		     i++)
			strvec_add(argv, "%s", job->command[i]);
		if (strcmp(word, COMMAND_WORD) == 0)
			continue;
		while (*word != '\0') {
			const struct place *place = launcher_command_place_at(
			    word);

			if (place == NULL) {
				strbuf_add(&sb, word++, 1);
				continue;
			}
			place->add(job, &sb);
			word += strlen(place->name);
		}
		if (sb.len_bytes > WORD_BYTES_MAX)
			rc = err_set(err, -E2BIG,
			    "children.command: an argument with the names of "
			    "%zu nodes has %zu bytes, and Linux permits %d: "
			    "use {hostlist}, or {script} without names",
			    job->node_count, sb.len_bytes, WORD_BYTES_MAX);
		strvec_add(argv, "%s", sb.text);
		strbuf_clear(&sb);
	}
	free(line);
	if (rc < 0)
		return rc;
	rc = str_format(ret_path, cap_bytes, "%s", argv->list[0]);
	if (rc >= 0 && access(ret_path, X_OK) == 0)
		return 0;
	return err_set(err, -ENOENT, "%.200s is missing or not executable",
	    argv->list[0]);
}

int
launcher_wants_script(const struct conf *agent)
{
	return strstr(conf_string(agent, "children", "command"), "{script}") !=
	    NULL;
}

const struct launcher launcher_command = { "command", launcher_command_build };
