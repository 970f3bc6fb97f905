/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher_command.c - the run through a line of the site: PBS, Flux, LSF.
 *
 * The line is the administrator's; no shell reads it. {script} is a script for
 * the head alone, which starts the MPI's launcher and through it the ranks, the
 * other nodes' by their agents. {command} are the words that every rank is, for
 * a batch system that starts ranks by itself.
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

#define COMMAND_WORD "{command}"

/* A word that sh takes as it is. */
static void
quoted_add(struct strbuf *sb, const char *word)
{
	strbuf_add(sb, "'", 1);
	for (; *word != '\0'; word++)
		if (*word == '\'')
			strbuf_addf(sb, "'\\''");
		else
			strbuf_add(sb, word, 1);
	strbuf_add(sb, "'", 1);
}

/* The environment of the ranks' launcher, and the launcher. It is called by
 * its name: with a path it would not ask our agents for its daemons. */
static int
script_write(const struct mpi_impl_job *job, const struct strvec *base,
    const char *path)
{
	const char *name = strrchr(job->launcher, '/');
	struct strvec argv = { 0 }, env = { 0 };
	struct strbuf sb = { 0 };
	int fd, rc = 0;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < base->count; i++)
		strvec_add(&env, "%s", base->list[i]);
	job->mpi->build(job, &argv, &env);
	strbuf_addf(&sb, "#!/bin/sh\n");
	for (size_t i = 0; i < env.count; i++) {
		size_t len = strcspn(env.list[i], "=");

		strbuf_addf(&sb, "export %.*s=", (int)len, env.list[i]);
		quoted_add(&sb, env.list[i] + len + 1);
		strbuf_add(&sb, "\n", 1);
	}
	strbuf_addf(&sb, "exec %s", name == NULL ? job->launcher : name + 1);
	for (size_t i = 0; i < argv.count; i++) {
		strbuf_add(&sb, " ", 1);
		quoted_add(&sb, argv.list[i]);
	}
	strbuf_add(&sb, "\n", 1);
	strvec_clear(&argv);
	strvec_clear(&env);
	if (write(fd, sb.text, sb.len_bytes) != (ssize_t)sb.len_bytes ||
	    fchmod(fd, 0755) < 0)
		rc = -EIO;
	close(fd);
	strbuf_clear(&sb);
	return rc;
}

static void
add_hosts(const struct mpi_impl_job *job, struct strbuf *sb)
{
	for (size_t i = 0; i < job->node_count; i++)
		strbuf_addf(sb, "%s%s", i > 0 ? "," : "", job->nodes[i].node);
}

static void
add_hostlist(const struct mpi_impl_job *job, struct strbuf *sb)
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
add_nodes(const struct mpi_impl_job *job, struct strbuf *sb)
{
	strbuf_addf(sb, "%zu", job->node_count);
}

static void
add_ranks(const struct mpi_impl_job *job, struct strbuf *sb)
{
	strbuf_addf(sb, "%zu", job->node_count * (size_t)job->ranks_per_node);
}

static void
add_run(const struct mpi_impl_job *job, struct strbuf *sb)
{
	strbuf_addf(sb, "%s", job->run);
}

static void
add_script(const struct mpi_impl_job *job, struct strbuf *sb)
{
	strbuf_addf(sb, "%s/script", job->dir);
}

static void
add_seconds(const struct mpi_impl_job *job, struct strbuf *sb)
{
	uint64_t ns = conf_span_ns(job->campaign, "campaign", "deadline");

	strbuf_addf(sb, "%llu", (unsigned long long)(ns / CLK_NS_PER_S));
}

/* What may stand in braces within a word. */
static const struct place {
	const char *name;
	void (*add)(const struct mpi_impl_job *job, struct strbuf *sb);
} places[] = {
	{ "{hosts}", add_hosts },
	{ "{hostlist}", add_hostlist },
	{ "{nodes}", add_nodes },
	{ "{ranks}", add_ranks },
	{ "{run}", add_run },
	{ "{script}", add_script },
	{ "{seconds}", add_seconds },
};

static const struct place *
place_at(const char *text)
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
		    "its program needs a path that begins with /");
	while ((brace = strchr(brace, '{')) != NULL) {
		len = strlen(COMMAND_WORD);
		if (place_at(brace) == NULL &&
		    (strncmp(brace, COMMAND_WORD, len) != 0 ||
			brace[-1] != ' ' || strchr(" ", brace[len]) == NULL)) {
			return err_set(err, -EINVAL,
			    "%.40s: allowed are {hosts}, {hostlist}, {nodes}, "
			    "{ranks}, {run}, {script}, {seconds}, and "
			    "{command} as a word of its own",
			    brace);
		}
		brace++;
	}
	return 0;
}

static int
command_build(const struct mpi_impl_job *job, char *ret_path, size_t cap_bytes,
    struct strvec *argv, struct strvec *env, struct err *err)
{
	const char *text = conf_string(job->conf, "children", "command");
	char script[4300], *line, *save;
	int rc;

	if (text[0] == '\0')
		return err_set(err, -ENOENT, "children.command is not set");
	snprintf(script, sizeof(script), "%s/script", job->dir);
	rc = script_write(job, env, script);
	if (rc < 0) {
		err_say(err, "%.200s: %s", script, strerror(-rc));
		return rc;
	}
	/* The words of the line, with what stands in braces filled in. */
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
			const struct place *place = place_at(word);

			if (place == NULL) {
				strbuf_add(&sb, word++, 1);
				continue;
			}
			place->add(job, &sb);
			word += strlen(place->name);
		}
		strvec_add(argv, "%s", sb.text);
		strbuf_clear(&sb);
	}
	free(line);
	rc = str_format(ret_path, cap_bytes, "%s", argv->list[0]);
	if (rc >= 0 && access(ret_path, X_OK) == 0)
		return 0;
	return err_set(err, -ENOENT, "%.200s is missing", argv->list[0]);
}

const struct launcher launcher_command = { "command", command_build };
