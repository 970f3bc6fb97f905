/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - the table of all kinds of faults.
 */
#include "daemon/diagnosis/faults.h"

#define FAULTS_ROW(name) &fault_##name,
const struct fault_kind *const faults[] = { FAULTS(FAULTS_ROW) NULL };
