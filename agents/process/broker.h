/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker.h - the requests of the network process to the broker.
 *
 * With agent.user the agent consists of two processes. The network process has
 * no privileges and reads the data of the collector and of ranks. The broker,
 * its child, is root. It starts the keepers of children, and removes what they
 * leave. It reads nothing but requests: one packet each, a struct and the words
 * of a command, with descriptors that it passes on unread. An invalid request
 * ends the broker, and the network process ends with it.
 */
#ifndef AGENTS_PROCESS_BROKER_H
#define AGENTS_PROCESS_BROKER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agents/process/child.h"
#include "common/err.h"
#include "schema/record.h"

/* Bytes of one packet. The kernel's default for the send buffer of a socket
 * permits it. */
#define BROKER_PACKET_MAX (192 * 1024)
/* Largest number of children at once, and of words of a command. */
#define BROKER_CHILDREN_MAX 4096
#define BROKER_WORDS_MAX    8192

enum broker_kind {
	BROKER_START, /* start a child of a run; no reply */
	BROKER_IDLE,  /* start idle.command; no reply */
	BROKER_CLEAN, /* end what a lost keeper left of a child */
	BROKER_EMPTY, /* empty the folder tmp of a run */
	BROKER_SHM,   /* remove shared memory that killed ranks have left */
	BROKER_KINDS
};

struct broker_request {
	uint32_t kind;
	uint32_t words_bytes; /* size of the words that follow: program, CPUs,
				 arguments */
	int32_t child;        /* number of a child in its run; -1: none */
	uint64_t deadline_ms; /* deadline of the child, for BROKER_START */
	char run[RECORD_RUN_MAX + 1]; /* id of the run; the rest is zeros */
};

/* The actions of the broker; arg is the argument of broker_serve. */
struct broker_ops {
	/* Start a keeper; spec has path, argv, cpus, deadline_ms, run and id,
	 * and for idle.command nothing. Return its pid, or -errno. */
	int (*start)(const struct child_spec *spec, const int fds[CHILD_FDS],
	    void *arg);
	void (*clean)(const char *run, int64_t child, void *arg);
	void (*empty)(const char *run, void *arg);
	void (*shm)(void *arg);
};

/* Start the broker as a child of this process, which then is the network
 * process. Return the socket for requests and the broker's pid, or -errno. It
 * does not return in the broker, which ends with the network process. */
int broker_fork(const struct broker_ops *ops, void *arg, pid_t *ret_pid);
/* Serve requests until the end of file. Return 0, or -EPROTO with err after an
 * invalid one. */
int broker_serve(int fd, const struct broker_ops *ops, void *arg,
    struct err *err);

/* Requests of the network process. A request ends this process if the broker
 * has ended. */
/* Start a child: return 0; -E2BIG if its arguments are too long. Failures of
 * the broker arrive on the control socket. fds stay the caller's. */
int broker_start(const struct child_spec *spec, const int fds[CHILD_FDS]);
/* Ask for BROKER_CLEAN or a later kind and wait for its end. */
void broker_ask(int fd, enum broker_kind kind, const char *run, int64_t child);

#endif
