/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki.c - one word on each name of a hostlist; the list of certificates
 * decides the exit code by the first to expire.
 */
#include "ctl/verbs/pki.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/lib/authority.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "pki/pki.h"
#include "schema/names_verdict.h"
#include "schema/options.h"

#define CA_DAYS   3650
#define CERT_DAYS 825
#define SOON_DAYS 30 /* an expiry that list warns of */
#define ENROLLED  "/var/lib/coalmine/enrolled"

static int
pki_days_of(const struct ctl *c, int otherwise)
{
	return (int)opts_number(&c->opts, OPT_DAYS, otherwise);
}

static int
pki_verb_init(struct ctl *c)
{
	struct err err;

	if (authority_init(c->args[0], "Coalmine authority",
		pki_days_of(c, CA_DAYS), &err) < 0)
		return ctl_fail("%s", err.text);
	printf("created the authority in %s: copy ca.pem to every host, "
	       "and ca.key to none\n",
	    c->args[0]);
	return EXIT_CODE_OK;
}

static int
pki_verb_enroller(struct ctl *c)
{
	struct err err;

	if (authority_enroller(c->args[0], pki_days_of(c, CA_DAYS), &err) < 0)
		return ctl_fail("%s", err.text);
	printf("set enroll.ca and enroll.key of the collector to "
	       "%s/enroll.pem and enroll.key\n",
	    c->args[0]);
	return EXIT_CODE_OK;
}

/* One word on each name of the hostlist in the second argument. */
static int
pki_each_name(struct ctl *c,
    int (*one)(struct ctl *c, const char *name, struct err *err),
    const char *done)
{
	struct hostlist hl;
	struct err err;
	int rc = EXIT_CODE_OK;

	if (hostlist_parse(c->args[1], &hl, &err) < 0)
		return ctl_fail("%s: %s", c->args[1], err.text);
	for (size_t i = 0; i < hl.count && rc == EXIT_CODE_OK; i++) {
		if (one(c, hl.names[i], &err) < 0)
			rc = ctl_fail("%s", err.text);
		else
			printf("%s %s/%s.pem\n", done, c->args[0], hl.names[i]);
	}
	hostlist_clear(&hl);
	return rc;
}

static int
pki_issue_one(struct ctl *c, const char *name, struct err *err)
{
	const char *role = opts_value(&c->opts, OPT_ROLE);

	return authority_issue(c->args[0],
	    &(struct pki_order){ .name = name,
		.role = (enum role)STR_FIND(names_roles, role),
		.sans = c->opts.of[OPT_SAN].values,
		.san_count = c->opts.of[OPT_SAN].count,
		.life_s = pki_days_of(c, CERT_DAYS) * PKI_DAY_S },
	    err);
}

static int
pki_verb_issue(struct ctl *c)
{
	if (!opts_given(&c->opts, OPT_ROLE))
		return ctl_fail("pki issue needs --role: expected %s",
		    opts_rows[OPT_ROLE].words);
	return pki_each_name(c, pki_issue_one, "issued");
}

static int
pki_renew_one(struct ctl *c, const char *name, struct err *err)
{
	return authority_renew(c->args[0], name, pki_days_of(c, CERT_DAYS),
	    opts_given(&c->opts, OPT_REKEY), err);
}

static int
pki_verb_renew(struct ctl *c)
{
	return pki_each_name(c, pki_renew_one, "renewed");
}

/* Return the file of the certificates that the collector has issued, or
 * NULL. */
static const char *
pki_enrolled(const struct ctl *c, int mode)
{
	const char *file = opts_value(&c->opts, OPT_ENROLLED);

	return file == NULL && access(ENROLLED, mode) == 0 ? ENROLLED : file;
}

static int
pki_revoke_one(struct ctl *c, const char *name, struct err *err)
{
	return authority_revoke(c->args[0], name, pki_enrolled(c, F_OK), err);
}

/* Return 1 if the collector of this machine reads DIR/crl.pem, as after
 * init. */
static int
pki_is_collectors(const char *dir)
{
	char *path = xasprintf("%s/../coalmined.conf", dir);
	char *crl = xasprintf("%s/crl.pem", dir), *real = realpath(crl, NULL);
	struct conf *conf = NULL;
	struct err err;
	int is = real != NULL &&
	    conf_load(options_daemon, path, &conf, &err) == 0 &&
	    strcmp(conf_string(conf, "tls", "crl"), real) == 0;

	conf_free(conf);
	free(real);
	free(crl);
	free(path);
	return is;
}

static int
pki_verb_revoke(struct ctl *c)
{
	int rc = pki_each_name(c, pki_revoke_one, "revoked");

	if (rc == EXIT_CODE_OK && pki_is_collectors(c->args[0]))
		puts(
		    "to apply this: systemctl reload coalmined, or send SIGHUP "
		    "to the collector");
	else if (rc == EXIT_CODE_OK)
		printf("copy %s/crl.pem to the file of the collector's "
		       "tls.crl, "
		       "then send SIGHUP to the collector\n",
		    c->args[0]);
	return rc;
}

int
pki_token_order(struct ctl *c, const char *names, int64_t uses, json_t **ret)
{
	const char *span = opts_value(&c->opts, OPT_FOR);
	json_t *order = json_pack("{s:o, s:o}", "names",
	    text_json(names != NULL ? names : "*"), "for",
	    text_json(span != NULL ? span : "1h"));
	int rc;

	if (uses > 0)
		json_object_set_new(order, "uses", json_integer(uses));
	rc = ctl_post(c, "tokens", NULL, order, ret);
	json_decref(order);
	return rc;
}

/* With the collector, the command for the node is one line. */
static int
pki_verb_token(struct ctl *c)
{
	const char *names = opts_value(&c->opts, OPT_NODE);
	json_t *answer;
	int rc;

	if ((names == NULL) != (opts_given(&c->opts, OPT_ANY) != 0))
		return ctl_fail("pki token needs --node NAMES or --any");
	rc = pki_token_order(c, names, opts_number(&c->opts, OPT_USES, 0),
	    &answer);
	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(answer);
	else
		printf("%s\non the node, as root: (umask 077; echo %s "
		       ">/etc/coalmine/pki/enroll); systemctl restart "
		       "coalmine-agent\n",
		    print_member(answer, "token", "?"),
		    print_member(answer, "token", "?"));
	json_decref(answer);
	return EXIT_CODE_OK;
}

/* Days until a certificate ends; negative once it has. */
static double
pki_days_left(const json_t *cert)
{
	return (member_number(cert, "not_after_unix_ns") -
		   (double)clk_unix_ns()) /
	    86400e9;
}

static const char *
pki_state_of(const json_t *cert, char *scratch)
{
	double days = pki_days_left(cert);

	(void)scratch;
	if (json_object_get(cert, "revoked_unix_ns") != NULL)
		return "revoked";
	return days < 0 ? "expired" : days < SOON_DAYS ? "soon" : "ok";
}

static const struct print_column columns[] = {
	{ "name", "name", "?", PRINT_TEXT, NULL },
	{ "role", "role", "?", PRINT_TEXT, NULL },
	{ "expires (UTC)", "not_after_unix_ns", NULL, PRINT_TIME, NULL },
	{ "state", NULL, NULL, PRINT_OF, pki_state_of },
	{ "serial", "serial", "?", PRINT_TEXT, NULL },
	{ "names", "sans", "-", PRINT_TEXTS, NULL },
	{ "revoked (UTC)", "revoked_unix_ns", NULL, PRINT_TIME, NULL },
	{ 0 },
};

static int
pki_verb_list(struct ctl *c)
{
	struct err err;
	json_t *list, *cert;
	size_t i;
	int rc = EXIT_CODE_OK;

	if (authority_list(c->args[0], pki_enrolled(c, R_OK), &list, &err) < 0)
		return ctl_fail("%s", err.text);
	if (ctl_arrange(c, list) != 0)
		return EXIT_CODE_UNKNOWN;
	json_array_foreach (list, i, cert) {
		double days = pki_days_left(cert);

		if (json_object_get(cert, "revoked_unix_ns") != NULL)
			continue;
		if (days < 0)
			rc = EXIT_CODE_BAD;
		else if (days < SOON_DAYS && rc == EXIT_CODE_OK)
			rc = EXIT_CODE_WARN;
	}
	print_list(c, list, columns, NULL);
	return rc;
}

const struct verb verbs_pki[] = {
	{ "pki", "init", "DIR", 1, 1, "days", "file",
	    "Create the authority of the site: DIR/ca.pem and DIR/ca.key.",
	    "The authority is valid for 3650 days unless --days is given. "
	    "Existing files are not overwritten.",
	    pki_verb_init },
	{ "pki", "enroller", "DIR", 1, 1, "days", "file",
	    "Create an intermediate authority for a collector that enrols "
	    "nodes: DIR/enroll.pem and DIR/enroll.key.",
	    "This authority can sign only certificates of agents. Set "
	    "enroll.ca and enroll.key of the collector to these files. From "
	    "then on DIR/crl.pem also contains the revocation list of this "
	    "authority.",
	    pki_verb_enroller },
	{ "pki", "token", "", 0, 0, "node any uses for json", "",
	    "Create an enrolment token and print the command for the "
	    "node.",
	    "With this token, the agent of a node without a certificate "
	    "requests one. The agent reads the token from the file of "
	    "agent.enroll. On the collector, enroll.ca must be set; the "
	    "collector stores only a hash of the token. For each node name a "
	    "token is valid for one key.",
	    pki_verb_token },
	{ "pki", "issue", "DIR NAMES", 2, 2, "role san days", "file",
	    "Issue a certificate, DIR/NAME.pem and DIR/NAME.key, for every "
	    "name of a hostlist.",
	    "The common name is NAME and the organizational unit is the role. "
	    "A collector's certificate also has the name coalmine-collector. "
	    "Certificates are valid for 825 days unless --days is given, and "
	    "never longer than the authority.",
	    pki_verb_issue },
	{ "pki", "renew", "DIR NAMES", 2, 2, "days rekey", "file",
	    "Replace certificates by new ones with the same name, role and "
	    "alternative names.",
	    "The key is kept unless --rekey is given.", pki_verb_renew },
	{ "pki", "revoke", "DIR NAMES", 2, 2, "enrolled", "file",
	    "Add certificates to the revocation list of the authority, "
	    "DIR/crl.pem.",
	    "To apply the list, send SIGHUP to the collector; copy the list to "
	    "the file of the collector's tls.crl first if that is another "
	    "file. The collector then "
	    "closes connections that use a revoked certificate, rejects new "
	    "ones and sends the list to the agents. NAME.pem and NAME.key are "
	    "renamed to *.revoked; the name can be issued again, with a new "
	    "key. Certificates of that name that the collector has issued by "
	    "enrolment are revoked too. The name enroll means the authority "
	    "for enrolment; revoking this authority revokes every certificate "
	    "that it has signed.",
	    pki_verb_revoke },
	{ "pki", "list", "DIR", 1, 1, "json where sort enrolled", "file",
	    "List the certificates of a directory and their expiry.",
	    "Revoked certificates are listed with the time of the revocation, "
	    "those of enrolled nodes, too. "
	    "The exit code is 1 if a certificate expires within 30 days, and "
	    "2 if a certificate has expired.",
	    pki_verb_list },
	{ 0 },
};
