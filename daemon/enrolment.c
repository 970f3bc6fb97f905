/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enrolment.c - requests for certificates: each is signed on arrival, and
 * answered once the issued certificate is on disk.
 */
#include "daemon/enrolment.h"

#include <errno.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/agents/enroll.h"
#include "daemon/agents/enroll_munge.h"
#include "daemon/agents/session.h"
#include "daemon/agents/log_limit.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"

#define RENEW_EVERY_NS (CLK_NS_PER_S / 2)
/* Limit for all peers without certificate together, to protect the event log.
 */
#define REFUSED_PER_HOUR 100

struct enrolment {
	struct enrolment_options o;
	struct log_limit refused; /* as events */
	unsigned refused_count;   /* in the hour from refused_ns */
	uint64_t refused_ns;
	struct enroll_munge *munge; /* NULL: munge is not accepted */
};

/* A certificate that waits for the disk. */
struct signing {
	struct enrolment *e;
	struct node *renews; /* NULL: a new node */
	uint64_t serial;     /* of the session, or number of the request */
	char *node, *addr, *pem;
	char *munge; /* the collector's credential for it, or NULL */
};

/* Failed enrolments are logged at a limited rate. */
static void
enrolment_stranger_refused(struct enrolment *e, const char *node,
    const char *addr, const char *why)
{
	uint64_t hidden;
	struct err text;

	if (!log_limit_tell(&e->refused, addr, why, clk_ns(), &hidden))
		return;
	if (e->refused_count == 0 ||
	    clk_ns() - e->refused_ns >= 3600 * CLK_NS_PER_S) {
		e->refused_count = 0;
		e->refused_ns = clk_ns();
	}
	if (e->refused_count >= REFUSED_PER_HOUR)
		return;
	err_say(&text, "enrolment from %.60s as %.64s refused: %s", addr, node,
	    why);
	if (++e->refused_count == REFUSED_PER_HOUR)
		err_say(&text,
		    "%d enrolments refused within an hour: further refusals in "
		    "this hour are not logged as events",
		    REFUSED_PER_HOUR);
	if (e->o.store != NULL)
		store_put_event(e->o.store, "alarm", "enroll", text.text);
}

static void
enrolment_not_renewed(struct enrolment *e, struct node *n, const char *addr,
    const char *why)
{
	struct err text;

	err_say(&text, "certificate not renewed: %s", why);
	sessions_complain(e->o.sessions, addr, n->name, text.text);
	(void)roster_event(e->o.store, n, "alarm", text.text);
	(void)session_send(n->session, WIRE_CERTIFICATE,
	    json_pack("{s:o}", "text", text_json(why)));
}

static void
enrolment_signed_cb(int status, void *arg)
{
	struct signing *g = arg;
	struct enrolment *e = g->e;
	struct node *n = g->renews, *known = roster_find(e->o.roster, g->node);
	json_t *answer = NULL;
	char text[200];

	if (status == 0) {
		answer = json_pack("{s:s, s:s*}", "cert", g->pem, "munge",
		    g->munge);
		/* Refusals are logged elsewhere, at a limited rate. */
		snprintf(text, sizeof(text),
		    "certificate %s, requested from %.60s",
		    n != NULL              ? "renewed"
			: g->munge != NULL ? "issued for a munge credential"
					   : "issued for a token",
		    g->addr);
		log_info("node %s: %s", g->node, text);
		if (known != NULL)
			(void)roster_event(e->o.store, known, "agent", text);
		else if (e->o.store != NULL)
			store_put_event(e->o.store, "agent", g->node, text);
	}
	if (status == -ECANCELED)
		; /* a signal came first */
	else if (n == NULL) {
		if (answer == NULL)
			enrolment_stranger_refused(e, g->node, g->addr,
			    strerror(-status));
		sessions_answer(e->o.sessions, g->serial, json_incref(answer),
		    strerror(-status));
	} else if (n->session != NULL && n->serial == g->serial) {
		if (answer == NULL)
			enrolment_not_renewed(e, n, g->addr, strerror(-status));
		else
			(void)session_send(n->session, WIRE_CERTIFICATE,
			    json_incref(answer));
	}
	json_decref(answer);
	free(g->node);
	free(g->addr);
	free(g->pem);
	free(g->munge);
	free(g);
}

/* renews and serial as in struct signing. */
static int
enrolment_sign(struct enrolment *e, struct node *renews, uint64_t serial,
    const struct enroll_ask *ask, struct err *err)
{
	struct signing *g;
	char *pem;
	int rc = enroll_sign(e->o.enroll, ask, time(NULL), &pem, err);

	if (rc < 0)
		return rc;
	g = xcalloc(1, sizeof(*g));
	*g = (struct signing){ e, renews, serial, xstrdup(ask->node),
		xstrdup(ask->addr), pem,
		ask->munge != NULL ? xstrdup(ask->munge) : NULL };
	enroll_when_synced(e->o.enroll, enrolment_signed_cb, g);
	return 0;
}

static int
enrolment_is_connected(const struct enrolment *e, const char *node)
{
	const struct node *n = roster_find(e->o.roster, node);

	return n != NULL && n->session != NULL;
}

/* The credential of a new node is valid, or not. */
static void
enrolment_munge_read(struct enroll_ask *ask, uint64_t question, struct err *why,
    void *arg)
{
	struct enrolment *e = arg;

	ask->connected = enrolment_is_connected(e, ask->node);
	if (ask->munge != NULL &&
	    enrolment_sign(e, NULL, question, ask, why) == 0)
		return;
	enrolment_stranger_refused(e, ask->node, ask->addr, why->text);
	sessions_answer(e->o.sessions, question, NULL, why->text);
}

int
enrolment_ask(struct enrolment *e, uint64_t question, const char *addr,
    const json_t *msg, struct err *err)
{
	const char *node = member_text(msg, "node");
	struct enroll_ask ask = { .node = node,
		.request = member_text(msg, "request"),
		.munge = member_text_or(msg, "munge", NULL),
		.addr = addr,
		.connected = enrolment_is_connected(e, node) };
	char authority[PKI_DIGEST_TEXT];
	int rc;

	if (ask.munge == NULL) {
		ask.token = member_text(msg, "token");
		rc = enrolment_sign(e, NULL, question, &ask, err);
	} else if (e->munge == NULL) {
		rc = err_set(err, -EACCES,
		    "this collector does not accept munge credentials: "
		    "enroll.munge_users is empty");
	} else {
		rc = enroll_authority(e->o.enroll, authority, err);
		if (rc == 0)
			rc = enroll_munge_ask(e->munge, &ask, authority,
			    question, err);
	}
	if (rc < 0)
		enrolment_stranger_refused(e, node, addr, err->text);
	return rc;
}

/* The session continues whatever the answer is. But each request costs four
 * signatures, so their rate is limited. */
int
enrolment_renew(struct enrolment *e, struct node *n, struct session *s,
    const json_t *msg, struct err *err)
{
	struct enroll_ask ask = { .node = n->name,
		.request = member_text(msg, "request"),
		.addr = session_addr(s) };
	X509 *old = NULL;
	struct err text;
	int rc;

	if (n->renewed_ns != 0 && clk_ns() - n->renewed_ns < RENEW_EVERY_NS)
		return err_set(err, -EPROTO,
		    "the agent requests certificates too often, without a "
		    "pause");
	n->renewed_ns = clk_ns();
	rc = session_cert(s, &old, &text);
	ask.old = old;
	if (rc == 0)
		rc = enrolment_sign(e, n, n->serial, &ask, &text);
	if (rc < 0)
		enrolment_not_renewed(e, n, ask.addr, text.text);
	X509_free(old);
	return 0;
}

struct enrolment *
enrolment_new(struct event_base *base, const struct enrolment_options *o)
{
	struct enrolment *e = xcalloc(1, sizeof(*e));

	e->o = *o;
	if (o->munge_users != NULL && o->munge_users[0] != '\0')
		e->munge = enroll_munge_open(base, o->munge_users,
		    o->munge_socket, enrolment_munge_read, e);
	return e;
}

void
enrolment_free(struct enrolment *e)
{
	if (e == NULL)
		return;
	enroll_munge_close(e->munge);
	free(e);
}
