/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents.c - simulated agents: their messages, answers and reconnects, with the
 * limits and the backoff of agents/session. Each has a separate address,
 * 127.x.y.z; 32 agents form a leaf. Nodes of a cluster answer independently of
 * others, so here the events of connected agents precede new connections.
 */
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/frame.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/scores.h"
#include "schema/packed.h"
#include "schema/wire.h"
#include "tests/bench/fleet/fleet.h"

/* Of agents/session/session.c. */
#define OPEN_LIMIT_NS  (8 * CLK_NS_PER_S)
#define TURN_LIMIT_NS  (70 * CLK_NS_PER_S)
#define TURN_OTHERS_NS (30 * CLK_NS_PER_S)
#define SOON_FOR_NS    (60 * CLK_NS_PER_S)
#define SOON_BASE_MS   500
#define SOON_CAP_MS    4000
#define LATE_BASE_MS   1000
#define LATE_CAP_MS    120000
#define RETRY_MIN_MS   50

#define LEAF_NODES    32
#define BATCH_BYTES   (64 * 1024)
#define QUEUE_BYTES   (256 * 1024)
#define FENCE_MIN     256 /* least size with data; most bytes before the data */
#define HEARTBEAT_MAX 96  /* a body that may be one */
#define KILLED_STATUS 143
#define MODEX_BYTES   200 /* of a rank of Open MPI with UCX */

enum state { STATE_WAITING, STATE_OPENING, STATE_GREETING, STATE_UP };

struct fleet_agent {
	struct fleet *f;
	struct bufferevent *bev;
	struct event *timer; /* by state: retry, limit, heartbeat */
	X509 *cert;
	enum state state;
	unsigned tries;
	size_t port_at, round; /* as collector_at of a session */
	int number;
	uint64_t down_ns, heard_ns, beat_ns, heartbeat_ns, silence_ns;
	char run[64];
	json_t *nodes; /* of the run whose head it is */
	char *tail;    /* of each of its records */
	uint64_t seq, acked, left;
	int64_t rank, size;
	int has_ranks;       /* that run here */
	int peers;           /* whose addresses it waits for */
	struct strbuf whole; /* parts of a fence; of the first agent only */
};

static struct rng rng;
static struct fleet_names *all_names;
static size_t up_count;

size_t
fleet_up(const struct fleet *f)
{
	(void)f;
	return up_count;
}

static void
timer_set(struct fleet_agent *a, uint64_t span_ns)
{
	struct timeval tv = { (time_t)(span_ns / CLK_NS_PER_S),
		(suseconds_t)(span_ns % CLK_NS_PER_S / CLK_NS_PER_US) };

	event_add(a->timer, &tv);
}

static uint64_t
retry_ns(const struct fleet_agent *a)
{
	int soon = clk_ns() - a->down_ns < SOON_FOR_NS;
	uint64_t top = (uint64_t)(soon ? SOON_BASE_MS : LATE_BASE_MS)
	    << (a->tries < 16 ? a->tries : 16);
	uint64_t cap = soon ? SOON_CAP_MS : LATE_CAP_MS, ms;

	ms = rng_below(&rng, (top < cap ? top : cap) + 1);
	return (ms < RETRY_MIN_MS ? RETRY_MIN_MS : ms) * CLK_NS_PER_MS;
}

static void
say(struct fleet_agent *a, enum wire_type type, json_t *msg)
{
	char *frame;
	long len = wire_build(type, msg, &frame);

	if (len < 0)
		fatalx("%s cannot be built", wire_messages[type].name);
	bufferevent_write(a->bev, frame, (size_t)len);
	free(frame);
}

static void
down(struct fleet_agent *a)
{
	int was_up = a->state == STATE_UP;

	if (was_up) {
		up_count--;
		a->f->closed++;
		a->down_ns = clk_ns();
	} else {
		a->port_at = (a->port_at + 1) % a->f->port_count;
	}
	bufferevent_free(a->bev);
	a->bev = NULL;
	a->state = STATE_WAITING;
	event_del(a->timer);
	event_priority_set(a->timer, FLEET_LATER);
	if (!was_up && ++a->round < a->f->port_count) {
		timer_set(a, 0);
		return;
	}
	a->round = 0;
	timer_set(a, retry_ns(a));
	a->tries++;
}

static void
say_hello(struct fleet_agent *a)
{
	char name[FLEET_NAME_MAX];

	fleet_name_text(a->number, name);
	say(a, WIRE_HELLO,
	    json_pack("{s:i, s:s, s:s, s:s, s:O, s:o, s:o}", "version",
		WIRE_VERSION, "node", name, "boot", "fleet", "software",
		COALMINE_VERSION, "inventory", a->f->inventory, "runs",
		a->run[0] == '\0' ? json_array() : json_pack("[s]", a->run),
		"spool",
		a->nodes == NULL ? json_array()
				 : json_pack("[{s:s, s:I}]", "run", a->run,
				       "seq", (json_int_t)a->seq)));
	a->state = STATE_GREETING;
}

/* All heartbeats of a second share one frame, so that building it costs
 * nothing. */
static void
say_heartbeat(struct fleet_agent *a)
{
	static uint64_t built_ns;
	static char *frame;
	static long len;

	if (frame == NULL || clk_ns() - built_ns > CLK_NS_PER_S) {
		free(frame);
		len = wire_build(WIRE_HEARTBEAT,
		    json_pack("{s:I, s:f, s:i, s:{s:f, s:f, s:f, s:f}}",
			"at_unix_ns", (json_int_t)clk_unix_ns(), "load", 0.25,
			"spool_bytes", 0, "host", "cpu", 0.02, "steal", 0.0,
			"wait_s", 0.0001, "net_bps", 125000.0),
		    &frame);
		built_ns = clk_ns();
	}
	bufferevent_write(a->bev, frame, (size_t)len);
	timer_set(a, a->heartbeat_ns);
}

/* Send batches until the output buffer is full. */
static void
send_batches(struct fleet_agent *a)
{
	struct evbuffer *out = bufferevent_get_output(a->bev);
	size_t tail_bytes = a->tail == NULL ? 0 : strlen(a->tail);

	/* In a new session the welcome has the number to continue at. */
	while (a->state == STATE_UP && a->left > 0 &&
	    evbuffer_get_length(out) < QUEUE_BYTES) {
		struct strbuf lines = { 0 };
		char *frame;
		long len;

		while (a->left > 0 && lines.len_bytes < BATCH_BYTES) {
			strbuf_addf(&lines, "%s{\"run\":\"%s\",\"seq\":%llu,",
			    lines.len_bytes == 0 ? "" : ",", a->run,
			    (unsigned long long)++a->seq);
			strbuf_add(&lines, a->tail, tail_bytes);
			a->left--;
		}
		len = wire_build_lines(WIRE_RECORDS, a->run, &lines, &frame);
		bufferevent_write(a->bev, frame, (size_t)len);
		free(frame);
		strbuf_clear(&lines);
	}
}

static void
acknowledged(struct fleet_agent *a, uint64_t seq)
{
	if (seq < a->acked || seq > a->seq)
		fatalx("node%d: %llu is acknowledged after %llu, of %llu",
		    a->number, (unsigned long long)seq,
		    (unsigned long long)a->acked, (unsigned long long)a->seq);
	a->f->acked += seq - a->acked;
	a->acked = seq;
}

/* Send records again that were not acknowledged before the session ended. */
static void
welcomed(struct fleet_agent *a, const json_t *msg)
{
	json_t *row;
	size_t i;

	a->heartbeat_ns = member_unsigned(msg, "heartbeat_ms") * CLK_NS_PER_MS;
	a->silence_ns = member_unsigned(msg, "silence_ms") * CLK_NS_PER_MS;
	a->state = STATE_UP;
	a->tries = 0;
	a->round = 0;
	a->beat_ns = 0;
	a->f->welcomes++;
	up_count++;
	say_heartbeat(a);
	member_foreach (msg, "acks", i, row)
		if (strcmp(a->run, member_text(row, "run")) == 0)
			acknowledged(a, member_unsigned(row, "seq"));
	if (a->tail != NULL) {
		a->left += a->seq - a->acked;
		a->seq = a->acked;
		send_batches(a);
	}
}

static void
heard_heartbeat(struct fleet_agent *a)
{
	if (a->beat_ns != 0 && a->heard_ns - a->beat_ns > a->heartbeat_ns)
		hist_add(&a->f->late,
		    (double)(a->heard_ns - a->beat_ns - a->heartbeat_ns) / 1e9);
	a->beat_ns = a->heard_ns;
}

static void
say_record(struct fleet_agent *a, json_t *record)
{
	json_object_set_new(record, "run", json_string(a->run));
	json_object_set_new(record, "seq", json_integer((json_int_t)++a->seq));
	say(a, WIRE_RECORDS,
	    json_pack("{s:s, s:[o]}", "run", a->run, "records", record));
}

/* Scores instead of rows, as the engine reports more than RECORD_ROWS_MAX
 * nodes. */
static json_t *
scores_make(const json_t *nodes)
{
	size_t count = json_array_size(nodes);
	const char **names = xcalloc(count, sizeof(*names));
	double *q = xcalloc(count, sizeof(*q));
	json_t *scores;

	for (size_t i = 0; i < count; i++) {
		names[i] = member_text(json_array_get(nodes, i), "node");
		q[i] = 9e-6 * (1 + (double)(i * 7919 % 1000) / 20000);
	}
	scores = record_scores_make(names, q, count, "q25");
	free(names);
	free(q);
	return scores;
}

/* Copy the given record, with the nodes of the run. */
static char *
tail_make(const struct fleet_agent *a)
{
	json_t *record = json_deep_copy(a->f->record), *row;
	char *text, *tail;
	size_t i;

	if (json_array_size(a->nodes) > RECORD_ROWS_MAX)
		json_object_set_new(record, "scores", scores_make(a->nodes));
	member_foreach (record, "nodes", i, row)
		json_object_set(row, "node",
		    json_object_get(json_array_get(a->nodes,
					i % json_array_size(a->nodes)),
			"node"));
	text = json_dumps(record, JSON_COMPACT);
	tail = xstrdup(text + 1);
	free(text);
	json_decref(record);
	return tail;
}

static void
run_forget(struct fleet_agent *a)
{
	a->run[0] = '\0';
	a->left = 0;
	a->has_ranks = 0;
	if (a->f->first_with_ranks == a)
		a->f->first_with_ranks = NULL;
	json_decref(a->nodes);
	a->nodes = NULL;
	free(a->tail);
	a->tail = NULL;
}

static void
do_prepare(struct fleet_agent *a, const json_t *msg)
{
	run_forget(a);
	snprintf(a->run, sizeof(a->run), "%s", member_text(msg, "run"));
	a->f->prepared++;
	say(a, WIRE_PREPARED, json_pack("{s:s, s:b}", "run", a->run, "ok", 1));
}

/* The data of a rank of MPICH: the address of a UCX worker as hex digits. An x
 * is a digit that differs between nodes. */
static const char card[] =
    "20xxxxxxxxxxxxxxxx200063xxxxxxxxxxxxxxxxF8D74F00000000004F030088"
    "xxxxxxxxxxxxxxxx21860002xxxxxxxxCF1917B751389763344BD7E037370013"
    "230082xxxx";

/* bytes: length of the data; the card is repeated to fill it. */
static void
say_fence(struct fleet_agent *a, int id, int bytes)
{
	struct strbuf sb = { 0 };
	uint64_t x = (uint64_t)a->number * 2654435761u + 1;

	strbuf_addf(&sb, "%s", "");
	if (bytes > 0)
		strbuf_addf(&sb, "-allgather-shm-1-%lld=", (long long)a->rank);
	for (int i = 0; i < bytes; i++) {
		char c = card[(size_t)i % (sizeof(card) - 1)];

		x = x * 6364136223846793005u + 1442695040888963407u;
		if (c == 'x')
			strbuf_addf(&sb, "%X", (unsigned)(x >> 60));
		else
			strbuf_add(&sb, &c, 1);
	}
	if (bytes > 0)
		strbuf_add(&sb, "\n", 1);
	say(a, WIRE_FENCE,
	    json_pack("{s:s, s:i, s:i, s:i, s:o}", "run", a->run, "id", id,
		"part", 0, "parts", 1, "data",
		packed_json(sb.text, sb.len_bytes)));
	strbuf_clear(&sb);
}

/* Open MPI's ranks put no data into fences. They fetch the data of a peer when
 * they first send to it: in a barrier, of the peers at distances 1, 2, 4. */
static void
ask_peers(struct fleet_agent *a)
{
	for (int64_t far = 1; far < a->size; far *= 2) {
		say(a, WIRE_MODEX,
		    json_pack("{s:s, s:I}", "run", a->run, "rank",
			(json_int_t)((a->rank + far) % a->size)));
		a->peers++;
	}
	a->f->running += a->peers == 0;
}

static void
do_modex(struct fleet_agent *a, const json_t *msg)
{
	const char *data = member_text_or(msg, "data", NULL);
	uint8_t bytes[MODEX_BYTES];
	int64_t rank = member_int(msg, "rank");

	if (data == NULL && rank == a->rank) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)rng_below(&rng, 256);
		say(a, WIRE_MODEX,
		    json_pack("{s:s, s:I, s:o}", "run", a->run, "rank",
			(json_int_t)rank, "data",
			packed_json(bytes, sizeof(bytes))));
	} else if (data != NULL) {
		a->f->fenced_bytes += strlen(data);
		a->f->running += --a->peers == 0;
	}
}

/* Rank 0 names the nodes of its campaign, without their order. */
static json_t *
nodes_of(const char *campaign)
{
	const char *at = strstr(campaign, "\nnodes = ");
	struct hostlist hl = { 0 };
	json_t *rows = json_array();
	char *text;

	if (at == NULL)
		return rows;
	at += strlen("\nnodes = ");
	text = xasprintf("%.*s", (int)strcspn(at, "\n"), at);
	if (hostlist_parse(text, &hl, NULL) == 0)
		for (size_t i = 0; i < hl.count; i++)
			json_array_append_new(rows,
			    json_pack("{s:s}", "node", hl.names[i]));
	hostlist_clear(&hl);
	free(text);
	return rows;
}

static void
do_start(struct fleet_agent *a, const json_t *msg)
{
	json_t *names = json_array(), *row;
	size_t i;

	a->rank = member_int(msg, "rank");
	a->size = member_int(msg, "size");
	a->has_ranks = 1;
	if (a->f->first_with_ranks == NULL)
		a->f->first_with_ranks = a;
	a->peers = 0;
	a->f->launched++;
	say(a, WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:i}", "run", a->run, "ok", 1, "pid", 1));
	if (a->f->wire_bytes >= 0)
		say_fence(a, 1, a->f->wire_bytes);
	if (a->rank != 0)
		return;
	a->nodes = nodes_of(member_text(msg, "campaign"));
	a->seq = a->acked = 0;
	if (a->f->record != NULL)
		a->tail = tail_make(a);
	if (a->f->wire_bytes >= 0)
		return;
	json_array_foreach (a->nodes, i, row)
		json_array_append(names, json_object_get(row, "node"));
	say_record(a,
	    json_pack("{s:s, s:s, s:s, s:o, s:{}, s:i, s:{}}", "probe", "begin",
		"version", COALMINE_VERSION, "mpi", "openmpi", "nodes", names,
		"roles", "seed", 1, "options"));
}

static int
is_first(const struct fleet_agent *a)
{
	return a->has_ranks && a == a->f->first_with_ranks;
}

/* One agent of each process checks that a fence has the data of all ranks. */
static void
check_fence(struct fleet_agent *a, const json_t *msg)
{
	char *bytes;
	size_t len, lines = 0;

	bytes = packed_bytes(member_text(msg, "data"), FRAME_BODY_MAX, &len);
	if (bytes == NULL)
		fatalx("node%d: a fence cannot be read", a->number);
	strbuf_add(&a->whole, bytes, len);
	free(bytes);
	if (member_int(msg, "part") + 1 < member_int(msg, "parts"))
		return;
	for (size_t i = 0; i < a->whole.len_bytes; i++)
		lines += a->whole.text[i] == '\n';
	strbuf_clear(&a->whole);
	if (member_int(msg, "id") == 1 && a->f->wire_bytes > 0 &&
	    (int64_t)lines != a->size)
		fatalx("node%d: a fence has %zu of %lld ranks", a->number,
		    lines, (long long)a->size);
}

/* The second fence has no data, like the fence at the end of MPI_Init. */
static void
do_fence(struct fleet_agent *a, const json_t *msg)
{
	if (is_first(a))
		check_fence(a, msg);
	if (member_int(msg, "part") + 1 < member_int(msg, "parts"))
		return;
	say(a, WIRE_FENCE,
	    json_pack("{s:s, s:I, s:i, s:i, s:s}", "run", a->run, "id",
		member_int(msg, "id"), "part", 0, "parts", 0, "data", ""));
	if (member_int(msg, "id") == 1)
		say_fence(a, 2, 0);
	else if (a->f->wire_bytes == 0)
		ask_peers(a);
	else
		a->f->running++;
}

static void
do_end(struct fleet_agent *a, const json_t *msg)
{
	a->f->ended++;
	if (strcmp(a->run, member_text(msg, "run")) != 0)
		return;
	if (a->has_ranks)
		say(a, WIRE_EXITED,
		    json_pack("{s:s, s:i, s:i, s:s}", "run", a->run, "id", 1,
			"status", KILLED_STATUS, "stderr", ""));
	run_forget(a);
}

/* Remove the data of a fence, which is the same for all agents, so that this
 * machine does not parse it ten thousand times. Return the new length. */
static size_t
cut_fence(struct fleet_agent *a, char *body, size_t len)
{
	static const char mark[] = "\"data\":\"",
			  end[] = "\",\"type\":\"fence\"}";
	const size_t end_len = sizeof(end) - 1;
	char *data;

	if (len < FENCE_MIN || memcmp(body + len - end_len, end, end_len) != 0)
		return len;
	a->f->fenced_bytes += len;
	data = memmem(body, FENCE_MIN, mark, sizeof(mark) - 1);
	if (data == NULL || is_first(a))
		return len;
	data += sizeof(mark) - 1;
	memcpy(data, end, end_len);
	return (size_t)(data - body) + end_len;
}

/* Return 0, or a negative value if the session has ended. */
static int
handle(struct fleet_agent *a, char *body, size_t len)
{
	struct fleet *f = a->f;
	struct err err;
	json_t *msg;
	int type;

	if (len < HEARTBEAT_MAX &&
	    memmem(body, len, "\"heartbeat\"", 11) != NULL) {
		heard_heartbeat(a);
		return 0;
	}
	len = cut_fence(a, body, len);
	type = wire_parse(body, len, WIRE_COLLECTOR, &msg, &err);
	if (type < 0)
		fatalx("the collector said: %s", err.text);
	switch (type) {
	case WIRE_WELCOME:
		welcomed(a, msg);
		break;
	case WIRE_REFUSE:
		f->refused++;
		log_debug("node%d: %s", a->number, member_text(msg, "text"));
		down(a);
		break;
	case WIRE_PREPARE:
		do_prepare(a, msg);
		break;
	case WIRE_START:
		do_start(a, msg);
		break;
	case WIRE_FENCE:
		do_fence(a, msg);
		break;
	case WIRE_MODEX:
		do_modex(a, msg);
		break;
	case WIRE_ACK:
		acknowledged(a, member_unsigned(msg, "seq"));
		break;
	case WIRE_SAMPLE:
		f->sampled++;
		say(a, WIRE_COUNTERS,
		    json_pack("{s:s, s:O, s:I, s:[]}", "run", a->run, "border",
			json_object_get(msg, "border"), "at_unix_ns",
			(json_int_t)clk_unix_ns(), "nics"));
		break;
	case WIRE_MESH:
		say(a, WIRE_MESH_READY, json_pack("{s:b}", "ok", 1));
		break;
	case WIRE_END:
		do_end(a, msg);
		break;
	default:
		break;
	}
	json_decref(msg);
	return a->bev == NULL ? -1 : 0;
}

static void
read_cb(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct fleet_agent *a = arg;
	uint8_t head[FRAME_HEAD_BYTES];
	const char *why;
	char *all;
	long body;

	a->heard_ns = clk_ns();
	while (evbuffer_copyout(in, head, sizeof(head)) == (long)sizeof(head)) {
		body = frame_head_get(head, &why);
		if (body < 0)
			fatalx("the collector sends: %s", why);
		if (evbuffer_get_length(in) < sizeof(head) + (size_t)body)
			return;
		all = (char *)evbuffer_pullup(in, (long)sizeof(head) + body);
		if (handle(a, all + sizeof(head), (size_t)body) < 0)
			return;
		evbuffer_drain(in, sizeof(head) + (size_t)body);
	}
}

static void
write_cb(struct bufferevent *bev, void *arg)
{
	(void)bev;
	send_batches(arg);
}

static void
event_cb(struct bufferevent *bev, short what, void *arg)
{
	struct fleet_agent *a = arg;

	if ((what & BEV_EVENT_CONNECTED) == 0) {
		down(a);
	} else {
		/* libevent created its events again, with the middle
		 * priority. It processes few of these at a time. */
		bufferevent_priority_set(bev, FLEET_NOW);
		a->f->handshakes++;
		say_hello(a);
	}
}

static void
open_session(struct fleet_agent *a)
{
	uint32_t host = 127U << 24 | 1U << 16 |
	    (uint32_t)(a->number / LEAF_NODES) << 8 |
	    (uint32_t)(a->number % LEAF_NODES + 1);
	struct sockaddr_in from = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(host) };
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(a->f->ports[a->port_at]),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	SSL *ssl = SSL_new(a->f->ctx);
	int on = 1;

	if (fd < 0 || ssl == NULL)
		fatal("node%d: no connection", a->number);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0)
		fatal("node%d: bind", a->number);
	/* If it fails, now or later, the handshake fails. */
	(void)connect(fd, (struct sockaddr *)&to, sizeof(to));
	fleet_name_agent(all_names, a->cert, ssl);
	a->bev = bufferevent_openssl_socket_new(a->f->base, fd, ssl,
	    BUFFEREVENT_SSL_CONNECTING,
	    BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	bufferevent_priority_set(a->bev, FLEET_NOW);
	event_priority_set(a->timer, FLEET_NOW);
	bufferevent_openssl_set_allow_dirty_shutdown(a->bev, 1);
	bufferevent_setcb(a->bev, read_cb, write_cb, event_cb, a);
	bufferevent_setwatermark(a->bev, EV_WRITE, BATCH_BYTES, 0);
	bufferevent_enable(a->bev, EV_READ | EV_WRITE);
	a->f->connects++;
	a->state = STATE_OPENING;
	a->heard_ns = clk_ns();
	timer_set(a, OPEN_LIMIT_NS);
}

/* may_wait of agents/session. */
static int
may_wait(const struct fleet_agent *a)
{
	uint64_t limit_ns = a->f->port_count > 1 ? TURN_OTHERS_NS
						 : TURN_LIMIT_NS;
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return a->state != STATE_UP && clk_ns() - a->heard_ns < limit_ns &&
	    getsockopt(bufferevent_getfd(a->bev), IPPROTO_TCP, TCP_INFO, &info,
		&len) == 0 &&
	    info.tcpi_state == TCP_ESTABLISHED;
}

static void
timer_cb(evutil_socket_t fd, short what, void *arg)
{
	struct fleet_agent *a = arg;

	(void)fd;
	(void)what;
	if (a->state == STATE_WAITING)
		open_session(a);
	else if (may_wait(a))
		timer_set(a, OPEN_LIMIT_NS);
	else if (a->state != STATE_UP || clk_ns() - a->heard_ns > a->silence_ns)
		down(a);
	else
		say_heartbeat(a);
}

void
fleet_start(struct fleet *f, struct fleet_names *names)
{
	all_names = names;
	rng_seed(&rng, (uint64_t)f->first);
	f->agents = xcalloc((size_t)f->count, sizeof(*f->agents));
	for (int i = 0; i < f->count; i++) {
		struct fleet_agent *a = &f->agents[i];

		a->f = f;
		a->number = f->first + i;
		a->cert = fleet_name_sign(names, a->number);
		a->timer = evtimer_new(f->base, timer_cb, a);
		event_priority_set(a->timer, FLEET_LATER);
		a->down_ns = clk_ns();
		event_active(a->timer, EV_TIMEOUT, 0);
	}
}

void
fleet_send_records(struct fleet *f, uint64_t each)
{
	for (int i = 0; i < f->count; i++) {
		struct fleet_agent *a = &f->agents[i];

		if (a->tail == NULL || a->bev == NULL)
			continue;
		a->left = each;
		send_batches(a);
	}
}

void
fleet_finish(struct fleet *f)
{
	for (int i = 0; i < f->count; i++) {
		struct fleet_agent *a = &f->agents[i];

		if (a->nodes == NULL || a->bev == NULL)
			continue;
		say_record(a,
		    json_pack("{s:s, s:I, s:s}", "probe", "end", "records",
			(json_int_t)a->seq + 1, "status", "ok"));
		say(a, WIRE_EXITED,
		    json_pack("{s:s, s:i, s:i, s:s}", "run", a->run, "id", 0,
			"status", 0, "stderr", ""));
	}
}
