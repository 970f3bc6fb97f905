/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.c - an order of the collector is checked as a whole before anything of
 * it is followed; sockets are reopened only where address or port changed.
 */
#include "agents/mesh/mesh.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/mesh/mesh_echo.h"
#include "agents/mesh/mesh_probe.h"
#include "agents/sensor/host.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/member.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "schema/record.h"

/* Limits of an order, whatever the collector sends. */
#define RATE_MIN    0.001
#define RATE_MAX    2000.0
#define SPAN_MAX_MS 3600000
/* How often the host's pressure is read: it is an average over 10 s. */
#define PRESSURE_NS (5 * CLK_NS_PER_S)

struct mesh {
	struct event_base *base;
	int cores;
	mesh_send_cb *send;
	void *arg;
	struct mesh_echo *echo; /* NULL: no order yet, or no port */
	struct mesh_probe *probe;
	struct in6_addr addr; /* of both */
	uint16_t port;
	uint64_t epoch;    /* 0: none yet */
	uint64_t begun_ns; /* when it began here */
	double stretch, stretch_most;
	uint64_t pressure_ns;  /* when stretch was found */
	struct mesh_net *nets; /* allowed targets of echoes; none: all */
	size_t net_count;
};

/* An order as read; targets are handed over. */
struct order {
	uint64_t epoch, seed;
	struct in6_addr addr;
	uint16_t port;
	uint8_t key[MESH_KEY_BYTES];
	struct mesh_pace pace;
	struct mesh_target *targets;
	size_t count;
};

struct mesh *
mesh_new(struct event_base *base, const struct conf *c, int cores,
    mesh_send_cb *send, void *arg)
{
	struct mesh *m = xcalloc(1, sizeof(*m));
	size_t count = 0;
	char **list = str_list_parse(conf_string(c, "mesh", "net"), &count);

	m->nets = xcalloc(count + 1, sizeof(*m->nets));
	for (size_t i = 0; i < count; i++)
		if (mesh_net_parse(list[i], &m->nets[m->net_count]) == 0)
			m->net_count++;
	str_list_free(list);
	m->base = base;
	m->cores = cores;
	m->send = send;
	m->arg = arg;
	m->stretch = 1;
	return m;
}

static void
mesh_close_all(struct mesh *m)
{
	mesh_echo_close(m->echo);
	mesh_probe_close(m->probe);
	m->echo = NULL;
	m->probe = NULL;
	m->epoch = 0;
}

void
mesh_free(struct mesh *m)
{
	if (m == NULL)
		return;
	mesh_close_all(m);
	free(m->nets);
	free(m);
}

static double
mesh_pressure(void *arg)
{
	struct mesh *m = arg;
	uint64_t now_ns = clk_ns();
	double load = -1;

	if (m->pressure_ns != 0 && now_ns - m->pressure_ns < PRESSURE_NS)
		return m->stretch;
	m->pressure_ns = now_ns;
	if (getloadavg(&load, 1) == 1)
		load /= m->cores;
	m->stretch = psi_stretch("", load);
	if (m->stretch > m->stretch_most)
		m->stretch_most = m->stretch;
	return m->stretch;
}

static int64_t
mesh_int_in(const json_t *msg, const char *name, int64_t lo, int64_t hi)
{
	int64_t v = member_int(msg, name);

	return v < lo || v > hi ? -1 : v;
}

static int
mesh_targets_read(const json_t *array, struct order *o)
{
	size_t i, count = json_array_size(array);
	json_t *row;

	if (count > MESH_TARGETS_MAX)
		return -EPROTO;
	o->targets = xcalloc(count + 1, sizeof(o->targets[0]));
	json_array_foreach (array, i, row) {
		struct mesh_target *t = &o->targets[i];
		int64_t port = mesh_int_in(row, "port", 1, 65535);
		int64_t large = json_object_get(row, "bytes") == NULL
		    ? 0
		    : mesh_int_in(row, "bytes", MESH_LARGE_MIN, MESH_LARGE_MAX);
		int class = mesh_class_find(member_text(row, "class"));

		if (port < 0 || large < 0 || class < 0 ||
		    hostlist_name_check(member_text(row, "node")) < 0 ||
		    mesh_addr_parse(member_text(row, "addr"), &t->peer.addr) <
			0 ||
		    mesh_hex_get(member_text(row, "token"), t->token) < 0) {
			mesh_targets_free(o->targets, o->count);
			return -EPROTO;
		}
		t->peer.port = (uint16_t)port;
		t->large_bytes = (uint32_t)large;
		t->class = (enum mesh_class) class;
		t->node = xstrdup(member_text(row, "node"));
		o->count++;
	}
	return 0;
}

/* Return the first target outside of mesh.net, or NULL. */
static const struct mesh_target *
mesh_stranger(const struct mesh *m, const struct order *o)
{
	for (size_t i = 0; i < o->count; i++) {
		int in = m->net_count == 0;

		for (size_t k = 0; k < m->net_count && !in; k++)
			in = mesh_net_has(&m->nets[k],
			    &o->targets[i].peer.addr);
		if (!in)
			return &o->targets[i];
	}
	return NULL;
}

/* Parse an order: this node's identity in the epoch, its targets and its rate;
 * all of it is checked. */
static int
mesh_order_read(const json_t *msg, struct order *ret)
{
	int64_t epoch = mesh_int_in(msg, "epoch", 1, INT64_MAX);
	int64_t port = mesh_int_in(msg, "port", 1, 65535);
	int64_t round_ms = mesh_int_in(msg, "round_ms", 100, SPAN_MAX_MS);
	int64_t timeout_ms = mesh_int_in(msg, "timeout_ms", 10, 60000);
	int64_t burst = mesh_int_in(msg, "burst", 1, MESH_BURST_MAX);
	double rate = json_number_value(json_object_get(msg, "rate"));
	double target_rate = json_number_value(
	    json_object_get(msg, "target_rate"));

	if (epoch < 0 || port < 0 || round_ms < 0 || timeout_ms < 0 ||
	    burst < 0 || !(rate >= RATE_MIN && rate <= RATE_MAX) ||
	    !(target_rate >= RATE_MIN && target_rate <= RATE_MAX) ||
	    mesh_addr_parse(member_text(msg, "addr"), &ret->addr) < 0 ||
	    mesh_hex_get(member_text(msg, "key"), ret->key) < 0)
		return -EPROTO;
	ret->pace.round_ns = (uint64_t)round_ms * CLK_NS_PER_MS;
	ret->pace.timeout_ns = (uint64_t)timeout_ms * CLK_NS_PER_MS;
	ret->pace.burst = (unsigned)burst;
	ret->pace.rate = rate;
	ret->pace.target_rate = target_rate;
	ret->epoch = (uint64_t)epoch;
	ret->seed = (uint64_t)member_int(msg, "seed");
	ret->port = (uint16_t)port;
	return mesh_targets_read(json_object_get(msg, "targets"), ret);
}

static json_t *
mesh_quantiles_json(const struct hist *h)
{
	json_t *o = json_object();

	record_put_hist(o, h);
	json_object_del(o, "hist");
	json_object_del(o, "p90");
	json_object_del(o, "p999");
	return o;
}

/* Report the epoch that ends: echoes by class, by target, and the delays of
 * this host in reading and sending answers. */
static void
mesh_report(struct mesh *m)
{
	json_t *classes = json_array(), *targets = json_array(), *turn, *host;
	struct mesh_tally *t = xcalloc(1, sizeof(*t)); /* 11 KiB */
	struct hist *h = xcalloc(1, sizeof(*h));
	const struct mesh_target *target;
	size_t count = mesh_probe_targets(m->probe, &target);
	struct mesh_echo_counts c;

	for (int class = 0; class < MESH_CLASS_MAX; class ++) {
		json_t *o;

		mesh_probe_take(m->probe, (enum mesh_class) class, t);
		o = json_pack("{s:s, s:I, s:I, s:I, s:I}", "class",
		    mesh_classes[class], "answered", (json_int_t)t->answered,
		    "lost", (json_int_t)t->lost, "unknown",
		    (json_int_t)t->unknown, "unsent", (json_int_t)t->unsent);
		record_put_hist(o, &t->rtt_s);
		json_array_append_new(classes, o);
	}
	for (size_t i = 0; i < count; i++, target++) {
		double p50 = mesh_target_median_s(target);
		json_t *row = json_pack("{s:s, s:s, s:I, s:I, s:I}", "node",
		    target->node, "class", mesh_classes[target->class],
		    "answered", (json_int_t)target->answered, "lost",
		    (json_int_t)target->lost, "unknown",
		    (json_int_t)target->unknown);

		if (!isnan(p50))
			json_object_set_new(row, "p50", json_real(p50));
		if (target->large_bytes > 0)
			json_object_set_new(row, "large",
			    json_pack("{s:I, s:I, s:I, s:I}", "bytes",
				(json_int_t)target->large_bytes, "answered",
				(json_int_t)target->large_answered, "lost",
				(json_int_t)target->large_lost, "unsent",
				(json_int_t)target->large_unsent));
		json_array_append_new(targets, row);
	}
	mesh_echo_take(m->echo, &c, h);
	turn = mesh_quantiles_json(h);
	mesh_probe_take_waits(m->probe, h);
	host = json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:f}", "turn",
	    turn, "wait", mesh_quantiles_json(h), "echoes",
	    (json_int_t)c.answered, "refused", (json_int_t)c.refused, "limited",
	    (json_int_t)c.limited, "unsent", (json_int_t)c.unsent, "drops",
	    (json_int_t)c.drops, "stretch", m->stretch_most);
	free(h);
	free(t);
	m->send(WIRE_MESH_REPORT,
	    json_pack("{s:I, s:I, s:o, s:o, s:o}", "epoch",
		(json_int_t)m->epoch, "span_ms",
		(json_int_t)((clk_ns() - m->begun_ns) / CLK_NS_PER_MS),
		"classes", classes, "targets", targets, "host", host),
	    m->arg);
}

static void
mesh_say_ready(struct mesh *m, const char *why)
{
	json_t *msg = json_pack("{s:b}", "ok", why == NULL);

	if (why != NULL)
		json_object_set_new(msg, "text", text_json(why));
	m->send(WIRE_MESH_READY, msg, m->arg);
}

int
mesh_order(struct mesh *m, const json_t *msg)
{
	struct order o = { .epoch = 0 };
	const struct mesh_target *far;
	char addr[INET6_ADDRSTRLEN];
	struct err err;
	int error = 0;

	if (!member_bool(msg, "on")) {
		mesh_close_all(m);
		return 0;
	}
	if (mesh_order_read(msg, &o) < 0)
		return -EPROTO;
	far = mesh_stranger(m, &o);
	if (far != NULL) {
		inet_ntop(AF_INET6, &far->peer.addr, addr, sizeof(addr));
		err_say(&err,
		    "mesh: %.60s has address %s, which is outside of this "
		    "agent's mesh.net",
		    far->node, addr);
		log_warnx("%s", err.text);
		mesh_say_ready(m, err.text);
		mesh_targets_free(o.targets, o.count);
		explicit_bzero(o.key, sizeof(o.key));
		return 0;
	}
	/* Sockets at the address and port of the order; those that are there
	 * and right stay. */
	if (m->echo == NULL || m->port != o.port ||
	    memcmp(&m->addr, &o.addr, sizeof(m->addr)) != 0) {
		mesh_close_all(m);
		m->echo = mesh_echo_open(m->base, &o.addr, o.port, &error);
		if (m->echo != NULL)
			m->probe = mesh_probe_open(m->base, &o.addr,
			    mesh_pressure, m, &error);
		m->addr = o.addr;
		m->port = o.port;
	}
	if (m->probe == NULL) {
		mesh_close_all(m);
		err_say(&err,
		    "mesh: cannot open UDP address %.60s, port %u: %s",
		    member_text(msg, "addr"), (unsigned)o.port,
		    strerror(error));
		log_warnx("%s", err.text);
		mesh_say_ready(m, err.text);
		mesh_targets_free(o.targets, o.count);
	} else {
		if (m->epoch != 0)
			mesh_report(m);
		mesh_echo_key(m->echo, o.key);
		mesh_echo_epoch(m->echo, o.epoch);
		mesh_probe_aim(m->probe, o.targets, o.count, o.epoch, o.seed,
		    &o.pace);
		m->epoch = o.epoch;
		m->begun_ns = clk_ns();
		m->stretch_most = m->stretch;
		mesh_say_ready(m, NULL);
	}
	explicit_bzero(o.key, sizeof(o.key));
	return 0;
}
