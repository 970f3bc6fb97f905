/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_kafka.c - Kafka. An event is acknowledged by all replicas in sync before
 * the next one is produced: the topic has the order of the store. Its key is
 * the event's subject, so that all events of a node are in one partition; a
 * repeated event has the same id in its text. A plugin.
 */
#include "daemon/events/sink.h"

#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"

#define POLL_MS              100
#define PROPERTIES_BYTES_MAX 65536

struct sink {
	rd_kafka_t *producer;
	const char *topic;
	const atomic_int *stopping;
};

/* The result of the current event. */
struct delivery {
	int over;
	rd_kafka_resp_err_t status;
};

static void
sink_kafka_delivered_cb(rd_kafka_t *rk, const rd_kafka_message_t *msg,
    void *opaque)
{
	struct delivery *d = msg->_private;

	(void)rk;
	(void)opaque;
	d->status = msg->err;
	d->over = 1;
}

/* The thread logs a failure once; the library would log every attempt. */
static void
sink_kafka_log_cb(const rd_kafka_t *rk, int level, const char *fac,
    const char *buf)
{
	(void)rk;
	(void)level;
	(void)fac;
	(void)buf;
}

static int
sink_kafka_set(rd_kafka_conf_t *conf, const char *key, const char *value,
    const char *option, struct err *err)
{
	char why[300];

	if (rd_kafka_conf_set(conf, key, value, why, sizeof(why)) ==
	    RD_KAFKA_CONF_OK)
		return 0;
	return err_set(err, -EINVAL, "%s: %s", option, why);
}

/* Lines key=value; empty lines and comments (#) are skipped. */
static int
sink_kafka_properties_read(rd_kafka_conf_t *conf, const char *path,
    struct err *err)
{
	char *text, *rest, *line, where[400];
	size_t len;
	int rc = file_read(path, PROPERTIES_BYTES_MAX, &text, &len, err);

	if (rc < 0) {
		err_say(err, "events.kafka_properties: %s", err->text);
		return rc;
	}
	rest = text;
	for (int n = 1; rc == 0 && (line = str_line(&rest)) != NULL; n++) {
		char *value = strchr(line, '=');

		line[strcspn(line, "\r")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		str_format(where, sizeof(where), "%.300s:%d", path, n);
		if (value == NULL)
			rc = err_set(err, -EINVAL, "%s: expected key=value",
			    where);
		else {
			*value = '\0';
			rc = sink_kafka_set(conf, line, value + 1, where, err);
		}
	}
	free(text);
	return rc;
}

static int
sink_kafka_begin(const struct sink_options *o, void **ret, struct err *err)
{
	const struct {
		const char *key, *value, *option;
	} rows[] = {
		{ "bootstrap.servers", o->to, "events.kafka" },
		{ "client.id", "coalmined", "events.kafka" },
		{ "acks", "all", "events.kafka" },
		{ "linger.ms", "0", "events.kafka" },
		{ "message.timeout.ms", "10000", "events.kafka" },
		{ "security.protocol", o->ca[0] != '\0' ? "ssl" : "", "" },
		{ "ssl.ca.location", o->ca, "events.ca" },
		{ "ssl.certificate.location", o->cert, "events.cert" },
		{ "ssl.key.location", o->key, "events.key" },
	};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	struct sink *k = xcalloc(1, sizeof(*k));
	char why[300];
	int rc = 0;

	*k = (struct sink){ .topic = o->topic, .stopping = o->stopping };
	rd_kafka_conf_set_dr_msg_cb(conf, sink_kafka_delivered_cb);
	rd_kafka_conf_set_log_cb(conf, sink_kafka_log_cb);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(rows); i++)
		if (rows[i].value[0] != '\0')
			rc = sink_kafka_set(conf, rows[i].key, rows[i].value,
			    rows[i].option, err);
	if (rc == 0 && o->properties[0] != '\0')
		rc = sink_kafka_properties_read(conf, o->properties, err);
	if (rc == 0) {
		k->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why,
		    sizeof(why));
		if (k->producer == NULL)
			rc = err_set(err, -EINVAL, "%s", why);
	}
	if (rc < 0) {
		rd_kafka_conf_destroy(conf);
		free(k);
		return rc;
	}
	*ret = k;
	return 0;
}

/* No event is pending after this call, so that the order is kept. */
static int
sink_kafka_produce(struct sink *k, const struct sink_event *e, struct err *err)
{
	struct delivery d = { 0, RD_KAFKA_RESP_ERR_NO_ERROR };
	rd_kafka_resp_err_t status;

	status = rd_kafka_producev(k->producer, RD_KAFKA_V_TOPIC(k->topic),
	    RD_KAFKA_V_KEY(e->subject, strlen(e->subject)),
	    RD_KAFKA_V_VALUE((void *)(uintptr_t)e->text, e->text_bytes),
	    RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
	    RD_KAFKA_V_HEADER("content-type", SINK_CONTENT_TYPE, -1),
	    RD_KAFKA_V_OPAQUE(&d), RD_KAFKA_V_END);
	if (status == RD_KAFKA_RESP_ERR_NO_ERROR) {
		while (!d.over) {
			if (atomic_load(k->stopping))
				rd_kafka_purge(k->producer,
				    RD_KAFKA_PURGE_F_QUEUE |
					RD_KAFKA_PURGE_F_INFLIGHT);
			rd_kafka_poll(k->producer, POLL_MS);
		}
		status = d.status;
	}
	if (status == RD_KAFKA_RESP_ERR_NO_ERROR)
		return 0;
	if (status == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
		return err_set(err, -EPROTO,
		    "message exceeds the topic's size limit");
	return err_set(err, -EIO, "%s: %s", k->topic, rd_kafka_err2str(status));
}

static int
sink_kafka_send(void *sink, const struct sink_event *events, size_t count,
    size_t *ret_taken, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = sink_kafka_produce(sink, &events[i], err);
		*ret_taken += rc == 0;
	}
	return rc;
}

static void
sink_kafka_close(void *sink)
{
	struct sink *k = sink;

	rd_kafka_destroy(k->producer);
	free(k);
}

static const struct sink_ops ops = { SINK_ABI, sizeof(ops), "kafka",
	sink_kafka_begin, sink_kafka_send, sink_kafka_close };

const struct sink_ops *coalmine_sink(int abi);

const struct sink_ops *
coalmine_sink(int abi)
{
	return abi == SINK_ABI ? &ops : NULL;
}
