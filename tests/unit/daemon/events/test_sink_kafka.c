/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink of Kafka at the library's own mock brokers, on loopback: messages
 * that they reject for a while or never receive are sent again, and are in the
 * topic in their order, a node's events in one partition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "daemon/events/sink_kafka.c"

#include <librdkafka/rdkafka_mock.h>

#define PRODUCE 0 /* the number of that request in Kafka's protocol */
#define BROKERS 3

static struct {
	rd_kafka_t *holder;
	rd_kafka_mock_cluster_t *cluster;
	char properties[64];
	atomic_int stopping;
	void *sink;
} fix;

static int
set_up(void **state)
{
	struct sink_options o = { .topic = "coalmine",
		.ca = "",
		.cert = "",
		.key = "",
		.credentials = "",
		.properties = fix.properties,
		.stopping = &fix.stopping };
	struct err err = { 0 };
	FILE *fp;

	(void)state;
	fix.holder = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL,
	    0);
	assert_non_null(fix.holder);
	fix.cluster = rd_kafka_mock_cluster_new(fix.holder, BROKERS);
	rd_kafka_mock_topic_create(fix.cluster, "coalmine", 4, BROKERS);
	snprintf(fix.properties, sizeof(fix.properties), "%s",
	    "/tmp/cm-kafka-XXXXXX");
	fp = fdopen(mkstemp(fix.properties), "w");
	fputs("# short, for the test\n\nmessage.timeout.ms=3000\n", fp);
	fclose(fp);
	o.to = rd_kafka_mock_cluster_bootstraps(fix.cluster);
	if (sink_kafka_begin(&o, &fix.sink, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	sink_kafka_close(fix.sink);
	rd_kafka_mock_cluster_destroy(fix.cluster);
	rd_kafka_destroy(fix.holder);
	unlink(fix.properties);
	atomic_store(&fix.stopping, 0);
	return 0;
}

/* Event i is of node i % 5. */
static int
send_one(int i, struct err *err)
{
	char id[20], subject[20], text[40];
	struct sink_event e = { .id = id,
		.kind = "verdict",
		.subject = subject,
		.text = text };
	size_t taken = 0;
	int rc;

	snprintf(id, sizeof(id), "%d", i);
	snprintf(subject, sizeof(subject), "node%d", i % 5);
	e.text_bytes = (size_t)snprintf(text, sizeof(text), "{\"id\":\"%d\"}",
	    i);
	rc = sink_kafka_send(fix.sink, &e, 1, &taken, err);
	assert_int_equal(taken, rc == 0);
	return rc;
}

/* Retry until it is accepted, like the sink's thread. A restarted broker may
 * report an unknown topic for some time. */
static void
deliver(int i)
{
	struct err err = { 0 };
	int rc = -EIO;

	for (int tries = 0; rc == -EIO && tries < 300; tries++) {
		rc = send_one(i, &err);
		usleep(rc == 0 ? 0 : 200000);
	}
	if (rc < 0)
		fail_msg("%s", err.text);
}

/* Reads count events; at least once, each node's in order, in one partition. */
static void
expect_all(int count)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_topic_partition_list_t *all;
	int last[5] = { -1, -1, -1, -1, -1 }, part[5], seen = 0;
	rd_kafka_t *reader;

	rd_kafka_conf_set(conf, "bootstrap.servers",
	    rd_kafka_mock_cluster_bootstraps(fix.cluster), NULL, 0);
	rd_kafka_conf_set(conf, "group.id", "test", NULL, 0);
	reader = rd_kafka_new(RD_KAFKA_CONSUMER, conf, NULL, 0);
	assert_non_null(reader);
	all = rd_kafka_topic_partition_list_new(4);
	for (int i = 0; i < 4; i++)
		rd_kafka_topic_partition_list_add(all, "coalmine", i)->offset =
		    RD_KAFKA_OFFSET_BEGINNING;
	assert_int_equal(rd_kafka_assign(reader, all), 0);
	for (int tries = 0; seen < count && tries < 600; tries++) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, 100);
		int id, node;

		if (m == NULL)
			continue;
		if (m->err == 0) {
			assert_int_equal(sscanf(m->payload, "{\"id\":\"%d\"}",
					     &id),
			    1);
			node = id % 5;
			assert_int_equal(m->key_len, strlen("node0"));
			assert_int_equal(((const char *)m->key)[4], '0' + node);
			assert_true(
			    last[node] < 0 || part[node] == m->partition);
			part[node] = m->partition;
			if (id > last[node]) {
				assert_int_equal(id,
				    last[node] < 0 ? node : last[node] + 5);
				last[node] = id;
				seen++;
			}
		}
		rd_kafka_message_destroy(m);
	}
	assert_int_equal(seen, count);
	rd_kafka_topic_partition_list_destroy(all);
	rd_kafka_consumer_close(reader);
	rd_kafka_destroy(reader);
}

static void
test_what_is_refused_for_a_while_arrives(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++) {
		if (i % 7 == 3)
			rd_kafka_mock_push_request_errors(fix.cluster, PRODUCE,
			    2, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
			    RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
		deliver(i);
	}
	expect_all(40);
}

static void
test_brokers_that_are_away(void **state)
{
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		deliver(i);
	for (int b = 1; b <= BROKERS; b++)
		rd_kafka_mock_broker_set_down(fix.cluster, b);
	assert_int_equal(send_one(10, &err), -EIO);
	assert_non_null(strstr(err.text, "coalmine: "));
	for (int b = 1; b <= BROKERS; b++)
		rd_kafka_mock_broker_set_up(fix.cluster, b);
	for (int i = 10; i < 20; i++)
		deliver(i);
	expect_all(20);
}

static void
test_what_is_too_long_is_never_taken(void **state)
{
	static char text[2000000];
	struct sink_event e = { "1", "verdict", "node1", text, sizeof(text),
		NULL };
	struct err err;
	size_t taken = 0;

	(void)state;
	assert_int_equal(sink_kafka_send(fix.sink, &e, 1, &taken, &err),
	    -EPROTO);
	assert_int_equal(taken, 0);
}

static void
test_stopping_ends_a_wait(void **state)
{
	struct err err;

	(void)state;
	for (int b = 1; b <= BROKERS; b++)
		rd_kafka_mock_broker_set_down(fix.cluster, b);
	atomic_store(&fix.stopping, 1);
	assert_int_equal(send_one(0, &err), -EIO);
	assert_non_null(strstr(err.text, "urge")); /* not its time-out */
}

static void
test_wrong_options(void **state)
{
	char path[] = "/tmp/cm-kafka-XXXXXX";
	struct sink_options o = { "127.0.0.1:1", "t", "", "", "", "", path, "",
		&fix.stopping };
	struct err err;
	void *sink;
	FILE *fp;

	(void)state;
	fp = fdopen(mkstemp(path), "w");
	fputs("# one\nno.such.thing=1\n", fp);
	fclose(fp);
	assert_int_equal(sink_kafka_begin(&o, &sink, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":2: "));
	assert_non_null(strstr(err.text, "no.such.thing"));
	fp = fopen(path, "w");
	fputs("words\n", fp);
	fclose(fp);
	assert_int_equal(sink_kafka_begin(&o, &sink, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":1: expected key=value"));
	unlink(path);
	assert_int_equal(sink_kafka_begin(&o, &sink, &err), -ENOENT);
	o.properties = "";
	o.ca = "/no/such/ca.pem";
	assert_int_equal(sink_kafka_begin(&o, &sink, &err), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    test_what_is_refused_for_a_while_arrives, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(test_brokers_that_are_away,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    test_what_is_too_long_is_never_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stopping_ends_a_wait,
		    set_up, tear_down),
		cmocka_unit_test(test_wrong_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
