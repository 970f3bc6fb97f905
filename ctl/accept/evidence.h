/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - the parts of a cluster, the paths that are measured, and what
 * the records of runs say about them. Pure: no collector, no clock.
 */
#ifndef CTL_ACCEPT_EVIDENCE_H
#define CTL_ACCEPT_EVIDENCE_H

#include <jansson.h>

#include "common/conf.h"
#include "common/hostlist.h"
#include "ctl/accept/accept_judge.h"

enum evidence_class {
	EVIDENCE_NODES,  /* pairs of neighbours */
	EVIDENCE_LEAVES, /* pairs of leaves, all their nodes at once */
	EVIDENCE_MEMORY,
	EVIDENCE_CLASS_MAX
};
extern const char *const evidence_classes[EVIDENCE_CLASS_MAX];

struct evidence_span {
	size_t first, count;
};

struct evidence {
	struct hostlist nodes;  /* in the order of ranks */
	struct hostlist leaves; /* in the order of their first nodes */
	size_t *leaf_of;        /* by node */
	struct accept_path *paths;
	struct accept_part *parts;
	struct evidence_span paths_of[EVIDENCE_CLASS_MAX];
	struct evidence_span parts_of[EVIDENCE_CLASS_MAX];
	size_t path_count, part_count;
	double efficiency; /* of evidence_judge; NAN: not measured */
	struct accept_options options;
	const char *leaves_why; /* why leaves cannot be measured, or NULL */
};

/* nodes: [{node leaf}] of the nodes that are measured. */
struct evidence *evidence_new(const struct conf *promise, const json_t *nodes);
void evidence_free(struct evidence *e); /* NULL is allowed */
/* Return the next run, which the caller decrefs: {class round shift nodes each
 * sizes}; NULL: nothing is left. runs: those that were made, of which e has the
 * records and was judged; rounds: of each class before it is judged. */
json_t *evidence_next(const struct evidence *e, const struct conf *promise,
    const json_t *runs, size_t rounds);
/* Return the most and the fewest runs that evidence_next gives. */
size_t evidence_runs(const struct evidence *e, size_t rounds,
    size_t *ret_fewest);
/* The nodes of leaves whose links hold their promise, the same number of each
 * leaf, so that ranks in blocks are leaves. ret_each: that number; 0: not
 * possible. The caller frees the hostlist. */
char *evidence_leaf_nodes(const struct evidence *e, size_t *ret_each);
/* Bytes of each message of a run of pairs: small and large. */
void evidence_sizes(const struct conf *promise, uint64_t ret[2]);
/* Add the records of a run: {class sizes each} with nodes of each leaf. Return
 * the number of paths that it measured. */
size_t evidence_add(struct evidence *e, const struct conf *promise,
    const json_t *run, const json_t *records);
/* Judge everything that was added. Call it once. */
void evidence_judge(struct evidence *e);
/* The names of the part, such as a node's; the ends of a path. */
const char *evidence_part_name(const struct evidence *e, size_t part);

#endif
