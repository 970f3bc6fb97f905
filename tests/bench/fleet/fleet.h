/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - many agents in one process, for measurements of the collector.
 */
#ifndef TESTS_BENCH_FLEET_FLEET_H
#define TESTS_BENCH_FLEET_FLEET_H

#include <event2/event.h>
#include <jansson.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdint.h>

#include "common/hist.h"

#define FLEET_NAME_MAX 32
#define FLEET_PORTS    2 /* of collectors, in the order of preference */

/* Number of later events processed at a time. */
enum { FLEET_NOW, FLEET_LATER, FLEET_PRIORITIES };
#define FLEET_AT_ONCE 16

struct fleet_agent;

struct fleet {
	struct event_base *base;
	SSL_CTX *ctx;
	struct fleet_agent *agents;
	int first, count; /* names are node1, node2, ...: first is 1 and up */
	uint16_t ports[FLEET_PORTS];
	size_t port_count;
	/* Bytes of a node in the first fence. 0: none, it fetches the data of
	 * peers. Below 0: no fence, records follow immediately. */
	int wire_bytes;
	const struct fleet_agent *first_with_ranks; /* or NULL */
	json_t *inventory;
	json_t *record; /* what heads send, with the nodes of their run */
	/* since the start, or the last reset */
	uint64_t connects, handshakes, welcomes, refused, closed;
	uint64_t prepared, launched, running, sampled, ended;
	uint64_t fenced_bytes; /* that fences and peers have brought */
	uint64_t acked;        /* records */
	struct hist late; /* s by which a heartbeat came later than agreed */
};

/* ---- names.c: certificates ---- */

/* Load the authority in dir, which signs all certificates. */
struct fleet_names *fleet_names_new(const char *dir, SSL_CTX **ret_ctx);
/* Sign an agent's certificate; all agents share one key. */
X509 *fleet_name_sign(struct fleet_names *names, int number);
/* Use this certificate and the shared key for a connection. */
void fleet_name_agent(struct fleet_names *names, X509 *cert, SSL *ssl);
void fleet_name_text(int number, char ret[FLEET_NAME_MAX]);

/* ---- agents.c ---- */

void fleet_start(struct fleet *f, struct fleet_names *names);
size_t fleet_up(const struct fleet *f);
/* Each head of a run sends this many records, as fast as they are accepted. */
void fleet_send_records(struct fleet *f, uint64_t each);
/* Each head ends its run successfully. */
void fleet_finish(struct fleet *f);

/* ---- strangers.c ---- */

/* Start connections that never finish their handshake and reconnect at once.
 * 0: end them. */
void fleet_strangers(struct fleet *f, int count);
/* The number of addresses of strangers that start later; 0: one, and they wait
 * until the collector ends them. */
void fleet_sources(int count);

#endif
