/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl.h - what every verb gets and gives, and what verbs share.
 *
 * A verb is a row; the rows feed the parser, the help, the completion and the
 * manual page. A verb's function returns an exit code (names.h) and has said
 * on stderr why, where it is not EXIT_CODE_OK.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"
#include "common/str.h"
#include "schema/names.h"

/* ---- options: all of all verbs, as rows ---- */

enum opt {
	/* of every verb */
	OPT_URL,
	OPT_CA,
	OPT_CERT,
	OPT_KEY,
	OPT_CLUSTER,
	OPT_HELP,
	OPT_DUMP,
	OPT_COMPLETE,
	/* of those that name it */
	OPT_JSON,
	OPT_CSV,
	OPT_TABLE,
	OPT_ASCII,
	OPT_ALL,
	OPT_ANY,
	OPT_AT,
	OPT_BYTES,
	OPT_BY,
	OPT_CAMPAIGN,
	OPT_DAYS,
	OPT_ENROLLED,
	OPT_EVERY,
	OPT_FAIL_ON,
	OPT_FILE,
	OPT_FOLD,
	OPT_FOLLOW,
	OPT_FOR,
	OPT_FORMAT,
	OPT_FROM,
	OPT_GBPS,
	OPT_HOURS,
	OPT_HTML,
	OPT_IDENTIFIABLE,
	OPT_KIND,
	OPT_LIMIT,
	OPT_LOCAL,
	OPT_MACHINE,
	OPT_MARGIN,
	OPT_NODE,
	OPT_NODES,
	OPT_OP,
	OPT_OUT,
	OPT_OVERRIDE,
	OPT_PLAN,
	OPT_RAILS,
	OPT_RANKS_PER_NODE,
	OPT_RAW,
	OPT_REKEY,
	OPT_ROLE,
	OPT_SAN,
	OPT_SINCE,
	OPT_SKIP,
	OPT_SOFTWARE,
	OPT_SORT,
	OPT_STATE,
	OPT_USES,
	OPT_WAIT,
	OPT_WHERE,
	OPT_WITHIN,
	OPT_MAX
};

struct opt_row {
	const char *name;
	char letter;     /* 0: none */
	const char *arg; /* NULL: a switch */
	int global;      /* 1: every verb takes it; 2: so, and not for people */
	const char *text;
	const char *words;   /* the only values, "a|b|c"; NULL: any */
	int64_t least, most; /* of a number; most 0: it is none */
};
extern const struct opt_row opts_rows[OPT_MAX];

struct opts {
	struct opt_values {
		char **values; /* in the order given; NULL for a switch */
		size_t count;
	} of[OPT_MAX];
};

/* Splits argv into options and the rest, which is moved behind: *ret_first is
 * its index. -EINVAL and why for an option that is none, and for a value that
 * is none of its words or numbers. */
int opts_parse(struct opts *o, int argc, char **argv, int *ret_first,
    struct err *err);
void opts_clear(struct opts *o);
/* The option of "--name" or "-n"; OPT_MAX: none. */
enum opt opts_find(const char *word);
int opts_given(const struct opts *o, enum opt id);
/* The last value given, or NULL. */
const char *opts_value(const struct opts *o, enum opt id);
/* The same of one that is a number, or otherwise. */
int64_t opts_number(const struct opts *o, enum opt id, int64_t otherwise);
/* 1 when list, names with blanks between, holds the option's name. */
int opts_listed(const char *list, enum opt id);

/* ---- verbs ---- */

struct ctl {
	struct opts opts;
	char **args; /* without noun and verb; ends with NULL */
	int args_count;
	struct client *client; /* opened by ctl_client */
};

struct verb {
	const char *noun;
	const char *verb; /* NULL: the noun stands alone */
	const char *args; /* for people: "RUN", "[NODES]" */
	int args_min, args_max;
	const char *options;   /* names of its options, blanks between */
	const char *completes; /* its arguments: nodes, campaigns, runs, file or
				  "" */
	const char *text;      /* one sentence */
	const char *more;      /* further sentences for the manual, or NULL */
	int (*run)(struct ctl *c);
};

/* Ends with a row without noun. */
extern const struct verb verbs_advice[], verbs_baseline[], verbs_campaign[],
    verbs_cluster[], verbs_compare[], verbs_db[], verbs_check[],
    verbs_coverage[], verbs_diags[], verbs_events[], verbs_expect[],
    verbs_import[], verbs_init[], verbs_job[], verbs_matrix[], verbs_node[],
    verbs_pki[], verbs_preflight[], verbs_report[], verbs_run[],
    verbs_schedule[], verbs_stop[], verbs_top[], verbs_topology[],
    verbs_tuning[], verbs_verdict[], verbs_version[];
extern const struct verb *const verbs_all[]; /* ends with NULL */

/* The client of the collector that --url or the environment name, or, with
 * --cluster, of the active one that it tells; ctl_client_any: without. */
struct client *ctl_client(struct ctl *c);
struct client *ctl_client_any(struct ctl *c);
/* A program of ours: "bin/NAME" below the folder that coalctl's own is in, or
 * NAME, to be looked for in PATH; the caller frees. */
char *ctl_beside(const char *below);
/* Say on stderr what went wrong; EXIT_CODE_UNKNOWN. */
int ctl_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* To a file, which changes at once or not at all, or where path is NULL or "-"
 * to the standard output. 0 or an exit code. */
int ctl_write(const char *path, const char *text);
/* --state, whose words a verb's own table of rows has: 0, or an exit code
 * after a line that tells them. NULL is any. */
#define CTL_STATE_CHECK(word, rows)                                            \
	ctl_state_check(word, rows, ARRAY_LEN(rows), sizeof((rows)[0]))
int ctl_state_check(const char *word, const void *rows, size_t count,
    size_t row_bytes);
/* The parameter from_unix_ns of --since, written into ret; *ret_from is NULL
 * where since is. 0, or an exit code. */
int ctl_since(const char *since, char ret[32], const char **ret_from);
/* The client's last error, as the server wrote it; EXIT_CODE_UNKNOWN. */
int ctl_fail_client(struct ctl *c);
/* GET part, in which arg stands for "*": 0, or EXIT_CODE_UNKNOWN and it was
 * said. */
int ctl_get(struct ctl *c, const char *part, const char *arg, json_t **ret);
/* The same of part with parameters: name and value of each, and NULL. One
 * whose value is NULL is left out. */
int ctl_list(struct ctl *c, json_t **ret, const char *part, ...)
    __attribute__((sentinel));
/* arrange.c: what --where leaves of a list, in the order of --sort; 0, or
 * EXIT_CODE_UNKNOWN and it was said, and the list is gone. What is no array
 * stays. ctl_get and ctl_list do it. */
int ctl_arrange(struct ctl *c, json_t *list);
/* Whether --where and --sort can mean anything, before anybody is asked for a
 * list: 0, or EXIT_CODE_UNKNOWN and it was said. */
int ctl_arrange_check(const struct ctl *c);
/* POST to part, likewise; body may be NULL. */
int ctl_post(struct ctl *c, const char *part, const char *arg,
    const json_t *body, json_t **ret);
/* A token that lets nodes enrol, for these names (NULL: any) and --for, and so
 * many of them (0: as many as there are names, or one): {token}. */
int ctl_token(struct ctl *c, const char *names, int64_t uses, json_t **ret);

/* ---- help.c: what the tables of verbs and options say ---- */

/* Names of all nouns, or of one noun's verbs, with blanks; caller frees. */
char *help_names(const char *noun);
/* All verbs, or those of one noun with their options. */
void help_print(const char *noun, FILE *to);
/* what: "verbs" or "options", lists in mdoc. */
int help_dump(const char *what);
/* What the last of words, which is "" between two words, can become: lines of a
 * word, a tab and its meaning; or ":file". Silent when there is no answer. */
int help_complete(struct ctl *c, char *const *words);

/* ---- client.c: requests to the collector's API, one at a time, blocking ----
 *
 * Every call gives 0, or -errno and a sentence in client_why: -ENOENT what
 * the server does not know, -EHOSTUNREACH a server that could not be reached,
 * -EREMOTEIO any other refusal, -EPROTO an answer that makes no sense.
 */

#define CLIENT_URL "unix:/run/coalmine/coalmined.sock"

struct client_options {
	const char *url; /* unix:PATH, http://... or https://... */
	const char *ca;  /* files in PEM; NULL: none */
	const char *cert;
	const char *key;
};

struct client;

/* NULL and a sentence in why when url has none of the three forms. */
struct client *client_new(const struct client_options *o, struct err *err);
void client_free(struct client *c); /* NULL is allowed */

/* A path under /api/v1 grows in a strbuf: parts and parameters are escaped;
 * a NULL value adds nothing. */
void client_part(struct strbuf *path, const char *part);
void client_param(struct strbuf *path, const char *name, const char *value);

/* The caller decrefs *ret. */
int client_get(struct client *c, const char *path, json_t **ret);
/* body may be NULL. */
int client_post(struct client *c, const char *path, const json_t *body,
    json_t **ret);
/* Requests that follow take no longer, nor until later than that, of clk_ns().
 */
void client_limit(struct client *c, uint64_t limit_ns, uint64_t until_ns);
const char *client_why(const struct client *c);
const char *client_url(const struct client *c);

/* ---- runs.c: which run is meant, how it ends, and waiting for that ---- */

/* The id of the run that text means: an id, the unique beginning of one,
 * "last" or "last:CAMPAIGN". 0 and *ret_run for the caller to free, else an
 * exit code, and it was said. */
int runs_find(struct ctl *c, const char *text, char **ret_run);
/* runs/RUN; the caller decrefs *ret. 0 or an exit code. */
int runs_get(struct ctl *c, const char *run, json_t **ret);
/* 1 when a run in this state never changes again. */
int runs_final(const json_t *run);
/* The exit code that a run's state stands for. */
int runs_exit_code(const json_t *run);
/* Wait until a run is final; progress on stderr. 0 and *ret, else an exit
 * code. */
int runs_wait(struct ctl *c, const char *run, json_t **ret);
/* The last line about a run: its state and why. */
void runs_print_end(const json_t *run, FILE *to);

/* ---- progress.c: how far a run is, on stderr: a bar that is redrawn on a
 * terminal, else one line for every change ---- */

struct progress;

struct progress *progress_new(const char *run);
/* run: as GET runs/RUN answers. */
void progress_show(struct progress *p, const json_t *run);
/* The collector does not answer; said once until it does again. */
void progress_away(struct progress *p);
/* Clears the bar; NULL is allowed. */
void progress_free(struct progress *p);

/* 1 where UTF-8 can be drawn. */
int progress_utf8(void);

/* ---- bisect.c: who of many is slow, where only groups can be measured ---- */

struct bisect_options {
	double effect_min; /* logarithm of a time over what is expected */
	size_t groups_max; /* measured at once */
};
struct bisect_group {
	const size_t *members; /* numbers below n, those to be judged first */
	size_t count;
};
/* A part that is slow although what it was split into is fine. */
struct bisect_way {
	const size_t *members;
	size_t count, left; /* between the first left ones and the others; 0:
			       between any two of them */
	int ends; /* 1 or 2: it is that end's way to others too; 3: of both; 0:
		     not known, or only between them */
	double effect;
};
enum bisect_state { BISECT_OPEN, BISECT_FINE, BISECT_SLOW };

struct bisect;

/* n >= 1; neighbours in their order are split as late as can be. */
struct bisect *bisect_new(const struct bisect_options *o, size_t n);
void bisect_free(struct bisect *b);
/* Its pairs speak against that one, once all were measured together; is_sure:
 * by more than waiting for cores explains, so that it was slow once. */
void bisect_hint(struct bisect *b, size_t member, int is_sure);
/* How many groups, that have no member in common, are to be measured now; 0:
 * all is said. *ret is good until the next call. */
size_t bisect_next(struct bisect *b, const struct bisect_group **ret);
/* What came out, its own deviation, and how much of it may have another cause
 * than members and ways: by what is slow without that much nobody is named.
 * INFINITY: it does not run at all, NAN: it could not be measured, which holds
 * where nothing is said. */
void bisect_hear(struct bisect *b, size_t group, double effect, double spread,
    double doubt);
/* Less than this is no effect. */
double bisect_least(const struct bisect_options *o, double spread);
size_t bisect_rounds(const struct bisect *b);
/* *ret_effect where it is slow. */
enum bisect_state bisect_of(const struct bisect *b, size_t member,
    double *ret_effect);
/* 0: there are not so many. */
int bisect_way(const struct bisect *b, size_t number, struct bisect_way *ret);

/* ---- pki.c: the site's own authority: one directory of PEM files ----
 *
 * ca.pem ca.key, crl.pem once one is revoked, enroll.pem enroll.key where there
 * is an authority for enrolment, and NAME.pem NAME.key for every certificate
 * (pki/pki.h). Keys are 0600. Nothing that is there is overwritten but by
 * pki_renew.
 */

struct pki_order;

/* Every call gives 0, or -errno and a sentence in why. */
int pki_init(const char *dir, const char *name, int days, struct err *err);
/* The authority below it that collectors enrol nodes with, and its list. */
int pki_enroller(const char *dir, int days, struct err *err);
int pki_issue(const char *dir, const struct pki_order *o, struct err *err);
/* A new certificate with the same name, role and further names, for the same
 * key or a new one. */
int pki_renew(const char *dir, const char *name, int days, int rekey,
    struct err *err);
/* On the list of its authority, DIR/crl.pem, which is made anew and valid as
 * long as the authority; NAME.pem and NAME.key become *.revoked, so that the
 * name can be issued again. enrolled: the file of a collector with what it
 * issued to that name, which goes too; NULL: none. */
int pki_revoke(const char *dir, const char *name, const char *enrolled,
    struct err *err);
/* [{name role serial not_before_unix_ns not_after_unix_ns sans[]}], the
 * authority first. The caller decrefs. */
int pki_list(const char *dir, json_t **ret, struct err *err);

#endif
