/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_value.h - is a value one that a member of a record may have?
 *
 * Each takes a value whose kind of JSON the row of its member has already
 * settled, and answers 1 or 0.
 */
#ifndef SCHEMA_RECORD_VALUE_H
#define SCHEMA_RECORD_VALUE_H

#include <jansson.h>

typedef int record_value_check(const json_t *v);

/* One of the words of schema/names.h. */
record_value_check record_is_cause, record_is_congestor, record_is_mesh_class,
    record_is_partners, record_is_phase, record_is_stop, record_is_test,
    record_is_verdict;
/* One of a few words of this member alone. */
record_value_check record_is_binding, record_is_event, record_is_of,
    record_is_part, record_is_unit, record_is_why_tuned;

record_value_check record_is_node;     /* a node's name */
record_value_check record_is_offset;   /* guards before a buffer: negative */
record_value_check record_is_positive; /* 0 and null as well */
record_value_check record_is_interval; /* null, or lo <= hi, 0 < level < 1 */

/* Lists, as record.h and coalmine-output(7) describe them. */
record_value_check record_is_grid, record_is_hist, record_is_node_list,
    record_is_pair_list, record_is_plan_nodes, record_is_rails,
    record_is_samples, record_is_tried;

#endif
