/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - orders on stdin, one a line, each answered by a line of JSON with
 * all counts: stat, reset, wire N, no-wire, records N, finish, strangers N,
 * sources N.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "tests/bench/fleet/fleet.h"

#define DESCRIPTORS_REST 512 /* besides those of agents */

static struct evbuffer *input;

static double
number_of(double value)
{
	return isnan(value) ? 0 : value;
}

static void
reply(struct fleet *f)
{
	json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			      "s:I, s:I, s:I, s:I, "
			      "s:I, s:f, s:f}",
	    "up", (json_int_t)fleet_up(f), "connects", (json_int_t)f->connects,
	    "handshakes", (json_int_t)f->handshakes, "welcomes",
	    (json_int_t)f->welcomes, "refused", (json_int_t)f->refused,
	    "closed", (json_int_t)f->closed, "prepared",
	    (json_int_t)f->prepared, "launched", (json_int_t)f->launched,
	    "fenced_bytes", (json_int_t)f->fenced_bytes, "running",
	    (json_int_t)f->running, "sampled", (json_int_t)f->sampled, "ended",
	    (json_int_t)f->ended, "acked", (json_int_t)f->acked, "beats",
	    (json_int_t)f->late.count, "late_p99_s",
	    number_of(hist_quantile(&f->late, 0.99)), "late_max_s",
	    f->late.count == 0 ? 0 : f->late.max);

	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(o);
}

static void
reset(struct fleet *f)
{
	f->connects = f->handshakes = f->welcomes = f->refused = f->closed = 0;
	f->prepared = f->launched = f->running = f->fenced_bytes = 0;
	f->sampled = f->ended = f->acked = 0;
	hist_clear(&f->late);
}

static void
obey(struct fleet *f, const char *line)
{
	int64_t number = 0;
	const char *space = strchr(line, ' ');

	if (space != NULL && str_to_int(space + 1, 0, 1000000000, &number) < 0)
		fatalx("%s: not a number", line);
	if (strcmp(line, "reset") == 0)
		reset(f);
	else if (strncmp(line, "wire", 4) == 0)
		f->wire_bytes = (int)number;
	else if (strcmp(line, "no-wire") == 0)
		f->wire_bytes = -1;
	else if (strncmp(line, "records", 7) == 0)
		fleet_send_records(f, (uint64_t)number);
	else if (strcmp(line, "finish") == 0)
		fleet_finish(f);
	else if (strncmp(line, "strangers", 9) == 0)
		fleet_strangers(f, (int)number);
	else if (strncmp(line, "sources", 7) == 0)
		fleet_sources((int)number);
	else if (strcmp(line, "stat") != 0)
		fatalx("%s: no such order", line);
	reply(f);
}

static void
input_cb(evutil_socket_t fd, short what, void *arg)
{
	struct fleet *f = arg;
	char *line;

	(void)what;
	if (evbuffer_read(input, fd, -1) <= 0) {
		event_base_loopbreak(f->base);
		return;
	}
	while ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF)) != NULL) {
		obey(f, line);
		free(line);
	}
}

static json_t *
json_of(const char *path)
{
	json_error_t error;
	json_t *o = json_load_file(path, 0, &error);

	if (o == NULL)
		fatalx("%s: %s", path, error.text);
	return o;
}

static int
number_in(const char *text)
{
	int64_t number;

	if (str_to_int(text, 1, 65535, &number) < 0)
		fatalx("%s: 1 to 65535 is wanted", text);
	return (int)number;
}

int
main(int argc, char **argv)
{
	struct event_config *config = event_config_new();
	struct rlimit rl = { 0 };
	struct fleet f = { .wire_bytes = -1 };
	struct event *orders;
	struct fleet_names *names;
	char **ports;

	if (argc != 7)
		fatalx("usage: %s PKI PORT[,PORT] FIRST COUNT INVENTORY RECORD",
		    argv[0]);
	ports = str_list_parse(argv[2], &f.port_count);
	if (f.port_count < 1 || f.port_count > FLEET_PORTS)
		fatalx("%s: one port is wanted, or two", argv[2]);
	for (size_t i = 0; i < f.port_count; i++)
		f.ports[i] = (uint16_t)number_in(ports[i]);
	str_list_free(ports);
	f.first = number_in(argv[3]);
	f.count = number_in(argv[4]);
	getrlimit(RLIMIT_NOFILE, &rl);
	rl.rlim_cur = rl.rlim_max;
	setrlimit(RLIMIT_NOFILE, &rl);
	if (rl.rlim_cur < (rlim_t)f.count + DESCRIPTORS_REST)
		fatalx("%d agents need more than %llu descriptors", f.count,
		    (unsigned long long)rl.rlim_cur);
	signal(SIGPIPE, SIG_IGN);
	event_config_set_max_dispatch_interval(config, NULL, FLEET_AT_ONCE,
	    FLEET_LATER);
	f.base = event_base_new_with_config(config);
	event_config_free(config);
	event_base_priority_init(f.base, FLEET_PRIORITIES);
	f.inventory = json_of(argv[5]);
	f.record = json_of(argv[6]);
	names = fleet_names_new(argv[1], &f.ctx);
	input = evbuffer_new();
	orders = event_new(f.base, STDIN_FILENO, EV_READ | EV_PERSIST, input_cb,
	    &f);
	event_priority_set(orders, FLEET_NOW);
	event_add(orders, NULL);
	fleet_start(&f, names);
	event_base_dispatch(f.base);
	return 0;
}
