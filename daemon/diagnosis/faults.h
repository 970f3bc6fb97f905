/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - the table of all kinds of faults, one line each, in the order in
 * which they get rounds, records and ticks. A stored case is of the first kind
 * that has its word and its series.
 */
#ifndef DAEMON_DIAGNOSIS_FAULTS_H
#define DAEMON_DIAGNOSIS_FAULTS_H

#include "daemon/diagnosis/fault.h"

/* clang-format off */
#define FAULTS(KIND)       \
	KIND(fleet)        \
	KIND(paths)        \
	KIND(drift)        \
	KIND(outlier)      \
	KIND(intermittent) \
	KIND(loss)         \
	KIND(spine)        \
	KIND(prediction)   \
	KIND(stuck)        \
	KIND(link_errors)  \
	KIND(port)         \
	KIND(module)       \
	KIND(mtu)          \
	KIND(dead)
/* clang-format on */

#define FAULTS_DECLARE(name) extern const struct fault_kind fault_##name;
FAULTS(FAULTS_DECLARE)

/* All rows of the table, ended by NULL. */
extern const struct fault_kind *const faults[];

#endif
