/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.c - set up a collector: missing files are created, values that this
 * machine provides are not requested, and nothing existing is changed, so that
 * the verb can be repeated until all is done.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/err.h"
#include "common/file.h"
#include "common/program.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/authority.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/pki.h"
#include "ctl/verbs/verbs.h"
#include "schema/options.h"
#include "pki/pki.h"
#include "schema/names_verdict.h"

#define FOLDER    "/etc/coalmine"
#define CONF      "coalmined.conf"
#define UNITS     "/etc/systemd/system"
#define CONF_MAX  (1024 * 1024)
#define START_S   20 /* until a collector that was started answers */
#define NAMES_MAX 64
/* Nodes that a token for any name enrols by default: a token that leaks must
 * not fill the collector's list of certificates. */
#define USES          1000
#define SLURM_LIMIT_S "10" /* for its answer */
#define CA_DAYS       3650
#define CERT_DAYS     825

struct site {
	struct ctl *ctl;
	char *dir, *pki, *conf_path;
	struct conf *conf;
	char *names[NAMES_MAX]; /* of this machine, the best first */
	size_t name_count;
	int changed;
};

static char *
init_below(const char *dir, const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static int
init_is_file(const char *dir, const char *name)
{
	char *path = init_below(dir, name);
	int is = access(path, F_OK) == 0;

	free(path);
	return is;
}

/* Return the folder of coalmined.conf: where the units look, or, if it is not
 * there, that of this program's installation, PREFIX/etc/coalmine. The caller
 * frees. */
static char *
init_folder(void)
{
	char *beside = init_is_file(FOLDER, CONF) ? NULL
						  : ctl_beside("etc/coalmine");

	if (beside != NULL && init_is_file(beside, CONF))
		return beside;
	free(beside);
	return xstrdup(FOLDER);
}

/* ---- what this machine is called ---- */

static void
init_name_add(struct site *s, const char *name)
{
	for (size_t i = 0; i < s->name_count; i++)
		if (strcmp(s->names[i], name) == 0)
			return;
	if (s->name_count < NAMES_MAX)
		s->names[s->name_count++] = xstrdup(name);
}

/* Return 1 if others can reach the address; Debian's installer puts the host's
 * own name into 127.0.0.0/8. */
static int
init_is_reachable(const struct sockaddr *sa)
{
	const struct in6_addr *six =
	    &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	uint32_t four;

	if (sa->sa_family == AF_INET6)
		return !IN6_IS_ADDR_LOOPBACK(six) &&
		    !IN6_IS_ADDR_LINKLOCAL(six);
	if (sa->sa_family != AF_INET)
		return 0;
	four = ntohl(
	    ((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr);
	return four >> 24 != 127 && four >> 16 != 0xa9fe;
}

/* Collect names: those that the user gave, then the host's own if it resolves
 * to this host from elsewhere, then addresses, then names that may not resolve.
 * Agents get the first, and the certificate has all of them. */
static void
init_names_find(struct site *s)
{
	const struct opt_values *given = &s->ctl->opts.of[OPT_SAN];
	struct addrinfo hints = { .ai_flags = AI_CANONNAME,
		.ai_socktype = SOCK_STREAM },
			*list = NULL;
	char host[HOST_NAME_MAX + 1] = "", text[INET6_ADDRSTRLEN];
	const char *full = host;
	struct ifaddrs *all = NULL;

	for (size_t i = 0; i < given->count; i++)
		init_name_add(s, given->values[i]);
	gethostname(host, sizeof(host) - 1);
	if (getaddrinfo(host, NULL, &hints, &list) == 0 &&
	    list->ai_canonname != NULL)
		full = list->ai_canonname;
	for (const struct addrinfo *a = list; a != NULL; a = a->ai_next)
		if (init_is_reachable(a->ai_addr))
			init_name_add(s, full);
	if (getifaddrs(&all) < 0)
		all = NULL;
	for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next)
		if (a->ifa_addr != NULL && (a->ifa_flags & IFF_UP) != 0 &&
		    init_is_reachable(a->ifa_addr) &&
		    getnameinfo(a->ifa_addr,
			a->ifa_addr->sa_family == AF_INET6
			    ? sizeof(struct sockaddr_in6)
			    : sizeof(struct sockaddr_in),
			text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0)
			init_name_add(s, text);
	init_name_add(s, full);
	init_name_add(s, host);
	if (all != NULL)
		freeifaddrs(all);
	if (list != NULL)
		freeaddrinfo(list);
}

/* ---- certificates ---- */

/* An existing certificate of the collector must have the names that the user
 * gave: agents reject it for another one. */
static int
init_has_names(const struct site *s)
{
	const struct opt_values *given = &s->ctl->opts.of[OPT_SAN];
	struct err err;

	for (size_t i = 0; i < given->count; i++) {
		int rc = authority_has_name(s->pki, "collector",
		    given->values[i], &err);

		if (rc < 0)
			return ctl_fail("%s", err.text);
		if (rc == 0)
			return ctl_fail("--san %s: the existing certificate "
					"%s/collector.pem does not have this "
					"name; delete collector.pem and "
					"collector.key there, and repeat the "
					"command, to issue a new one",
			    given->values[i], s->pki);
	}
	return EXIT_CODE_OK;
}

static int
init_make_certificates(struct site *s)
{
	struct pki_order o = { .name = "collector",
		.role = ROLE_COLLECTOR,
		.sans = s->names,
		.san_count = s->name_count,
		.life_s = CERT_DAYS * PKI_DAY_S };
	struct err err;

	if (!init_is_file(s->pki, "ca.pem")) {
		if (authority_init(s->pki, "Coalmine authority", CA_DAYS,
			&err) < 0)
			return ctl_fail("%s", err.text);
		printf("made    %s/ca.pem, ca.key: the site's authority; keep "
		       "a copy of ca.key where no service runs\n",
		    s->pki);
		s->changed = 1;
	}
	if (!init_is_file(s->pki, "collector.pem")) {
		if (authority_issue(s->pki, &o, &err) < 0)
			return ctl_fail("%s", err.text);
		printf("made    %s/collector.pem, collector.key: for", s->pki);
		for (size_t i = 0; i < s->name_count; i++)
			printf("%s %s", i == 0 ? "" : ",", s->names[i]);
		printf("\n");
		s->changed = 1;
	} else if (init_has_names(s) != EXIT_CODE_OK) {
		return EXIT_CODE_UNKNOWN;
	}
	if (!init_is_file(s->pki, "enroll.pem")) {
		if (authority_enroller(s->pki, CA_DAYS, &err) < 0)
			return ctl_fail("%s", err.text);
		printf("made    %s/enroll.pem, enroll.key: the authority that "
		       "enrols nodes\n",
		    s->pki);
		s->changed = 1;
	}
	return EXIT_CODE_OK;
}

/* ---- configuration ---- */

/* text with a line "key = value" in its section: in the place of the comment
 * that shows the default, else below the section's head, else at the end. */
static char *
init_text_with(const char *text, const char *section, const char *key,
    const char *value)
{
	char *head = xasprintf("[%s]", section);
	size_t head_bytes = strlen(head), key_bytes = strlen(key);
	const char *below_head = NULL, *instead = NULL;
	struct strbuf out = { 0 };
	int inside = 0;

	for (const char *line = text; *line != '\0';) {
		const char *next = line + strcspn(line, "\n");
		const char *word = line + strspn(line, "# \t");

		next += *next == '\n';
		if (*line == '[')
			inside = strncmp(line, head, head_bytes) == 0;
		if (inside && *line == '[' && below_head == NULL)
			below_head = next;
		if (inside && instead == NULL && *line == '#' &&
		    strncmp(word, key, key_bytes) == 0 &&
		    word[key_bytes + strspn(word + key_bytes, " ")] == '=')
			instead = line;
		line = next;
	}
	if (instead == NULL)
		instead = below_head;
	if (instead == NULL)
		instead = text + strlen(text);
	strbuf_add(&out, text, (size_t)(instead - text));
	if (below_head == NULL)
		strbuf_addf(&out, "%s%s\n",
		    instead == text || instead[-1] == '\n' ? "" : "\n", head);
	strbuf_addf(&out, "%s = %s\n", key, value);
	if (instead != below_head && *instead == '#') {
		instead += strcspn(instead, "\n");
		instead += *instead == '\n';
	}
	strbuf_addf(&out, "%s", instead);
	free(head);
	return out.text;
}

/* Run a program and return its exit code, or -1 if it cannot run. Its output
 * goes to the standard error; quiet: it is dropped. */
static int
init_run(const char *const argv[], int quiet)
{
	int status = 0, rc;
	pid_t pid;

	fflush(stdout);
	rc = program_start((char *const *)(uintptr_t)argv, environ,
	    quiet ? -1 : STDERR_FILENO, quiet ? -1 : STDERR_FILENO, &pid);
	if (rc < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return program_exit(status);
}

/* Slurm answers on this machine: exclusive runs then wait for nodes that it
 * calls idle. */
static int
init_has_slurm(const struct site *s)
{
	char *sinfo = init_below(conf_string(s->conf, "slurm", "dir"), "sinfo");
	const char *argv[] = { "timeout", SLURM_LIMIT_S, sinfo, "-h", "-o",
		"%n", NULL };
	int has = access(sinfo, X_OK) == 0 && init_run(argv, 1) == 0;

	free(sinfo);
	return has;
}

/* The default of collector.listen is IPv4's. */
static int
init_has_no_ipv4(const struct site *s)
{
	struct in_addr four;

	for (size_t i = 0; i < s->name_count; i++)
		if (inet_pton(AF_INET, s->names[i], &four) == 1)
			return 0;
	return 1;
}

/* The default is FOLDER's. */
static int
init_has_campaigns(const struct site *s)
{
	return init_is_file(s->dir, "campaigns");
}

/* Write missing options; existing values stay. Values that the parser would
 * reject are not written. */
static int
init_configure(struct site *s)
{
	static const struct {
		const char *section, *key;
		const char *file; /* below dir; else value, if needed */
		const char *value;
		int (*needed)(const struct site *s);
	} rows[] = { { "enroll", "ca", "pki/enroll.pem", NULL, NULL },
		{ "enroll", "key", "pki/enroll.key", NULL, NULL },
		{ "tls", "ca", "pki/ca.pem", NULL, NULL },
		{ "tls", "cert", "pki/collector.pem", NULL, NULL },
		{ "tls", "key", "pki/collector.key", NULL, NULL },
		{ "tls", "crl", "pki/crl.pem", NULL, NULL },
		{ "collector", "campaign_dir", "campaigns", NULL,
		    init_has_campaigns },
		{ "collector", "listen", NULL, "[::]:17700", init_has_no_ipv4 },
		{ "slurm", "idle", NULL, "yes", init_has_slurm } };
	struct conf *after = NULL;
	struct err err;
	char *text;
	size_t bytes;
	int rc = file_read(s->conf_path, CONF_MAX, &text, &bytes, &err);
	int count = 0;

	if (rc < 0)
		return ctl_fail("%s", err.text);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *section = rows[i].section, *key = rows[i].key;
		char *value, *more;

		if (conf_given(s->conf, section, key) ||
		    (rows[i].needed != NULL && !rows[i].needed(s)))
			continue;
		value = rows[i].file != NULL ? init_below(s->dir, rows[i].file)
					     : xstrdup(rows[i].value);
		if (strcmp(conf_string(s->conf, section, key), value) != 0) {
			more = init_text_with(text, section, key, value);
			free(text);
			text = more;
			count++;
			printf("set     %s.%s = %s\n", section, key, value);
		}
		free(value);
	}
	if (count > 0) {
		rc = conf_parse(options_daemon, s->conf_path, text, &after,
		    &err);
		if (rc == 0)
			rc = file_replace(s->conf_path, 0644, text, &err);
		if (rc == 0)
			printf("        in %s\n", s->conf_path);
		s->changed = 1;
	}
	conf_free(after);
	free(text);
	return rc < 0 ? ctl_fail("%s", err.text) : EXIT_CODE_OK;
}

/* The unit's user may not read the key: systemd hands it over. */
static int
init_make_drop_in(struct site *s)
{
	static const char dir[] = UNITS "/coalmined.service.d";
	static const char path[] = UNITS "/coalmined.service.d/enroll.conf";
	struct err err;
	char *text;
	int rc = 0;

	if (access(path, F_OK) == 0)
		return EXIT_CODE_OK;
	text = xasprintf("[Service]\nLoadCredential=enroll.key:%s/enroll.key\n",
	    s->pki);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		rc = err_set(&err, -errno, "%s: %s", dir, strerror(errno));
	else
		rc = file_new(path, 0644, text, &err);
	free(text);
	if (rc < 0)
		return ctl_fail("%s", err.text);
	printf("made    %s\n", path);
	s->changed = 1;
	return EXIT_CODE_OK;
}

/* ---- start ---- */

static int
init_systemctl(const char *word, const char *unit)
{
	const char *argv[] = { "systemctl", "--quiet", word, unit, NULL };

	return init_run(argv, 0) == 0
	    ? EXIT_CODE_OK
	    : ctl_fail("systemctl %s failed; see journalctl -u coalmined",
		  word);
}

static int
init_answers(struct site *s)
{
	json_t *version = NULL;
	int rc = client_get(ctl_client(s->ctl), "/version", &version);

	json_decref(version);
	return rc == 0;
}

/* With systemd: enable the service and restart it with the changes. */
static int
init_start(struct site *s)
{
	int rc;

	if (!s->changed && init_answers(s))
		return EXIT_CODE_OK;
	rc = init_systemctl("daemon-reload", NULL);
	if (rc == EXIT_CODE_OK)
		rc = init_systemctl("enable", "coalmined.service");
	if (rc == EXIT_CODE_OK)
		rc = init_systemctl("restart", "coalmined.service");
	for (int i = 0; rc == EXIT_CODE_OK && i < START_S * 10; i++) {
		if (init_answers(s)) {
			printf("started coalmined.service\n");
			return EXIT_CODE_OK;
		}
		usleep(100000);
	}
	return rc != EXIT_CODE_OK ? rc : ctl_fail_client(s->ctl);
}

/* ---- the line for nodes ---- */

/* Print the commands that store the token and start the agent on a node: as a
 * service, or, if the configuration is in another folder than the units
 * expect, with all files in that folder. */
static void
init_print_commands(const struct site *s, const char *token,
    const char *address)
{
	char *agent = ctl_beside("sbin/coalmine-agent");
	char *real = realpath(agent, NULL);
	char *program = str_shell(real != NULL ? real : agent);
	char *dir = str_shell(s->dir), *pki = str_shell(s->pki);

	if (strcmp(s->dir, FOLDER) == 0)
		printf("(umask 077; echo %s >" FOLDER "/pki/enroll); sed -i "
		       "'s/^#*collector = .*/collector = %s/' " FOLDER
		       "/coalmine-agent.conf; systemctl enable "
		       "coalmine-agent; systemctl restart coalmine-agent\n",
		    token, address);
	else
		printf("(umask 077; mkdir -p %s; echo %s >%s/enroll); %s "
		       "--config %s/coalmine-agent.conf -o agent.collector=%s "
		       "-o agent.enroll=%s/enroll -o tls.ca=%s/ca.pem "
		       "-o tls.cert=%s/agent.pem -o tls.key=%s/agent.key\n",
		    pki, token, pki, program, dir, address, pki, pki, pki, pki);
	free(dir);
	free(pki);
	free(program);
	free(real);
	free(agent);
}

static int
init_print_line(struct site *s)
{
	const char *listen = conf_string(s->conf, "collector", "listen");
	const char *nodes = opts_value(&s->ctl->opts, OPT_NODE);
	const char *name = s->names[0];
	int64_t uses = opts_number(&s->ctl->opts, OPT_USES,
	    nodes == NULL ? USES : 0);
	int is_v6 = strchr(name, ':') != NULL, rc;
	char every[60], *address;
	json_t *answer;

	rc = pki_token_order(s->ctl, nodes, uses, &answer);
	if (rc != EXIT_CODE_OK)
		return rc;
	snprintf(every, sizeof(every), "every node, up to %lld,",
	    (long long)uses);
	printf("\nOn %s where coalmine-agent is installed, as root, within "
	       "%s:\n\n",
	    nodes == NULL ? every : nodes,
	    opts_given(&s->ctl->opts, OPT_FOR)
		? opts_value(&s->ctl->opts, OPT_FOR)
		: "1h");
	address = xasprintf("%s%s%s%s", is_v6 ? "[" : "", name,
	    is_v6 ? "]" : "", strrchr(listen, ':'));
	init_print_commands(s, print_member(answer, "token", "?"), address);
	free(address);
	printf("\nThen: coalctl node list; coalctl diags\n");
	json_decref(answer);
	return EXIT_CODE_OK;
}

static int
init(struct ctl *c)
{
	char *named = c->args_count > 0 ? xstrdup(c->args[0]) : init_folder();
	struct site s = { .ctl = c, .dir = realpath(named, NULL) };
	int why = errno;
	int is_unit = s.dir != NULL && strcmp(s.dir, FOLDER) == 0 &&
	    access("/run/systemd/system", F_OK) == 0;
	struct err err;
	int rc = EXIT_CODE_OK;

	if (s.dir == NULL)
		rc = ctl_fail("%s: %s", named, strerror(why));
	free(named);
	if (rc != EXIT_CODE_OK) {
		free(s.dir);
		return rc;
	}
	s.pki = init_below(s.dir, "pki");
	s.conf_path = init_below(s.dir, CONF);
	if (conf_load(options_daemon, s.conf_path, &s.conf, &err) < 0)
		rc = ctl_fail("%s%s", err.text,
		    init_is_file(s.dir, CONF)
			? ""
			: "; give the folder of an installed configuration, "
			  "for example " FOLDER);
	if (rc == EXIT_CODE_OK) {
		init_names_find(&s);
		rc = init_make_certificates(&s);
	}
	if (rc == EXIT_CODE_OK)
		rc = init_configure(&s);
	if (rc == EXIT_CODE_OK && is_unit)
		rc = init_make_drop_in(&s);
	if (rc == EXIT_CODE_OK && is_unit)
		rc = init_start(&s);
	if (rc == EXIT_CODE_OK && !s.changed && !init_answers(&s)) {
		ctl_fail_client(c);
		rc = EXIT_CODE_WARN;
	}
	if (rc == EXIT_CODE_OK && !is_unit && s.changed) {
		char *conf = str_shell(s.conf_path);

		printf("\nStart coalmined --config %s, or restart it, then run "
		       "this command again: it prints the command for nodes.\n",
		    conf);
		free(conf);
	} else if (rc == EXIT_CODE_OK) {
		rc = init_print_line(&s);
	}
	for (size_t i = 0; i < s.name_count; i++)
		free(s.names[i]);
	conf_free(s.conf);
	free(s.dir);
	free(s.pki);
	free(s.conf_path);
	return rc;
}

const struct verb verbs_init[] = {
	{ "init", NULL, "[DIR]", 0, 1, "node uses for san", "file",
	    "Set up a collector on this machine and print the command "
	    "that enrols nodes.",
	    "The verb creates the site's authority, certificates and "
	    "configuration, and starts the collector. DIR is the directory of "
	    "coalmined.conf; by default it is /etc/coalmine, or "
	    "PREFIX/etc/coalmine if coalctl is installed in PREFIX/bin and "
	    "/etc/coalmine/coalmined.conf is missing. Existing files are not "
	    "changed, so the verb can be repeated. Nodes connect to the first "
	    "--san; without it to the host name, if that resolves to this "
	    "host, otherwise to its first address. If the host has no IPv4 "
	    "address, collector.listen is set to [::]:17700. If sinfo works, "
	    "slurm.idle is set to yes. The token is valid for any node unless "
	    "--node lists the nodes. The token enrols each listed node once; "
	    "without --node it enrols up to 1000 nodes. --uses changes this "
	    "number. Under systemd the collector is enabled and started if DIR "
	    "is /etc/coalmine. With another DIR the printed command expects "
	    "the same directory on the nodes.",
	    init },
	{ 0 },
};
