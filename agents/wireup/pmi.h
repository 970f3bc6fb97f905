/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmi.h - the PMI-1 server of one node: MPICH, MVAPICH and Intel MPI.
 *
 * A rank writes lines "cmd=put kvsname=K key=A value=B" and reads one line for
 * each. What ranks put is kept until the next barrier of all ranks of the run,
 * which makes it visible to all of them. Pure: the caller moves the bytes.
 */
#ifndef AGENTS_WIREUP_PMI_H
#define AGENTS_WIREUP_PMI_H

#include <stddef.h>

#include "common/str.h"

#define PMI_LINE_MAX 4096 /* a key, a value and the words around them */
#define PMI_TEXT_MAX 256

struct pmi;

/* The node's part of a run: ranks from first on, as many on every node. */
struct pmi *pmi_new(int first, int local, int size);
void pmi_free(struct pmi *p); /* NULL is allowed */

enum pmi_event {
	PMI_REPLY, /* the reply, if any, is all */
	PMI_JOIN,  /* the rank has begun to initialise */
	PMI_FENCE, /* all local ranks wait in a barrier: see pmi_puts */
	PMI_ABORT, /* the rank ends the run; the text says why */
	PMI_BAD    /* not a line of PMI-1, or not one that is served */
};

/* One line of local rank i, without newline, which is overwritten. reply is
 * added to; text is set for PMI_ABORT and PMI_BAD. */
enum pmi_event pmi_line(struct pmi *p, int i, char *line, struct strbuf *reply,
    char text[PMI_TEXT_MAX]);
/* What the node's ranks have put since the last fence, for all nodes. */
const struct strbuf *pmi_puts(const struct pmi *p);
/* The parts of all nodes, one behind another. Each waiting rank gets reply. */
void pmi_fenced(struct pmi *p, const char *bytes, size_t len_bytes,
    struct strbuf *reply);

#endif
