/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_nats.c - JetStream. An event is published to TOPIC.KIND and waits for
 * the stream's acknowledgement before the next one: the stream has the order of
 * the store. The header Nats-Msg-Id is the event's id, by which the stream
 * drops duplicates. A plugin.
 */
#include "daemon/events/sink.h"

#include <errno.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"

#define ACK_MS     5000
#define CONNECT_MS 3000

struct sink {
	natsOptions *options;
	natsConnection *conn; /* NULL: not connected */
	jsCtx *js;
	const char *topic;
};

static int
sink_nats_refuse(struct err *err, const char *what, natsStatus s)
{
	const char *more = nats_GetLastError(NULL);

	return err_set(err, -EINVAL, "%s: %s%s%s", what, natsStatus_GetText(s),
	    more != NULL && more[0] != '\0' ? ": " : "",
	    more != NULL ? more : "");
}

static void
sink_nats_disconnect(struct sink *n)
{
	jsCtx_Destroy(n->js);
	natsConnection_Destroy(n->conn);
	n->js = NULL;
	n->conn = NULL;
}

static void
sink_nats_close(void *sink)
{
	struct sink *n = sink;

	sink_nats_disconnect(n);
	natsOptions_Destroy(n->options);
	free(n);
}

static int
sink_nats_begin(const struct sink_options *o, void **ret, struct err *err)
{
	struct sink *n = xcalloc(1, sizeof(*n));
	size_t count = 0;
	char **servers = str_list_parse(o->to, &count);
	const char *what = "nats";
	natsStatus s = natsOptions_Create(&n->options);

	n->topic = o->topic;
	if (count == 0) /* it would be a server on this host */
		s = NATS_INVALID_ARG;
	if (s == NATS_OK)
		s = natsOptions_SetServers(n->options, (const char **)servers,
		    (int)count);
	str_list_free(servers);
	if (s == NATS_OK)
		s = natsOptions_SetTimeout(n->options, CONNECT_MS);
	/* The sink's thread reconnects itself, since it knows which events were
	 * not accepted. */
	if (s == NATS_OK)
		s = natsOptions_SetAllowReconnect(n->options, false);
	if (s == NATS_OK)
		s = natsOptions_SetName(n->options, "coalmined");
	if (s == NATS_OK && o->ca[0] != '\0') {
		what = "events.ca";
		s = natsOptions_LoadCATrustedCertificates(n->options, o->ca);
		if (s == NATS_OK)
			s = natsOptions_SetSecure(n->options, true);
	}
	if (s == NATS_OK && o->cert[0] != '\0') {
		what = "events.cert, events.key";
		s = natsOptions_LoadCertificatesChain(n->options, o->cert,
		    o->key);
	}
	if (s == NATS_OK && o->credentials[0] != '\0') {
		what = "events.nats_credentials";
		s = natsOptions_SetUserCredentialsFromFiles(n->options,
		    o->credentials, NULL);
	}
	if (s != NATS_OK) {
		int rc = sink_nats_refuse(err, what, s);

		sink_nats_close(n);
		return rc;
	}
	*ret = n;
	return 0;
}

static int
sink_nats_connect_to(struct sink *n, struct err *err)
{
	natsStatus s = NATS_OK;

	if (n->conn != NULL &&
	    natsConnection_Status(n->conn) == NATS_CONN_STATUS_CONNECTED)
		return 0;
	sink_nats_disconnect(n);
	s = natsConnection_Connect(&n->conn, n->options);
	if (s == NATS_OK)
		s = natsConnection_JetStream(&n->js, n->conn, NULL);
	if (s == NATS_OK)
		return 0;
	(void)sink_nats_refuse(err, "no connection", s);
	sink_nats_disconnect(n);
	return -ENOTCONN;
}

static int
sink_nats_publish(struct sink *n, const struct sink_event *e, struct err *err)
{
	jsPubOptions options;
	jsPubAck *ack = NULL;
	natsMsg *msg = NULL;
	jsErrCode code = 0;
	char subject[300];
	natsStatus s;
	int rc = 0;

	str_format(subject, sizeof(subject), "%s.%s", n->topic, e->kind);
	jsPubOptions_Init(&options);
	options.MsgId = e->id;
	options.MaxWait = ACK_MS;
	s = natsMsg_Create(&msg, subject, NULL, e->text, (int)e->text_bytes);
	if (s == NATS_OK)
		s = natsMsgHeader_Set(msg, "Content-Type", SINK_CONTENT_TYPE);
	if (s == NATS_OK)
		s = js_PublishMsg(&ack, n->js, msg, &options, &code);
	if (s == NATS_NO_RESPONDERS)
		rc = err_set(err, -ENOENT,
		    "no JetStream stream accepts subject %s", subject);
	else if (s == NATS_MAX_PAYLOAD ||
	    code == JSStreamMessageExceedsMaximumErr)
		rc = err_set(err, -EPROTO,
		    "message exceeds the server's size limit");
	else if (s != NATS_OK)
		rc = err_set(err, -EIO, "%s: %s", subject,
		    nats_GetLastError(NULL));
	jsPubAck_Destroy(ack);
	natsMsg_Destroy(msg);
	return rc;
}

static int
sink_nats_send(void *sink, const struct sink_event *events, size_t count,
    size_t *ret_taken, struct err *err)
{
	struct sink *n = sink;
	int rc = sink_nats_connect_to(n, err);

	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = sink_nats_publish(n, &events[i], err);
		*ret_taken += rc == 0;
	}
	/* A server that does not answer may be gone. */
	if (rc == -EIO)
		sink_nats_disconnect(n);
	return rc;
}

static const struct sink_ops ops = { SINK_ABI, sizeof(ops), "nats",
	sink_nats_begin, sink_nats_send, sink_nats_close };

const struct sink_ops *coalmine_sink(int abi);

const struct sink_ops *
coalmine_sink(int abi)
{
	return abi == SINK_ABI ? &ops : NULL;
}
