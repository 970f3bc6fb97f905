/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machines.h - the keys of machine files (etc/machines/NAME.conf), as rows.
 */
#ifndef SCHEMA_MACHINES_H
#define SCHEMA_MACHINES_H

#include "common/conf.h"

/* Sections of links between the parts of a node: rate back latency pairs each.
 */
enum machines_kind {
	MACHINES_NVLINK,
	MACHINES_XGMI,
	MACHINES_XELINK,
	MACHINES_MDFI,
	MACHINES_XBUS,
	MACHINES_PCIE,
	MACHINES_BUS,
	MACHINES_KIND_MAX
};
extern const char *const machines_kinds[MACHINES_KIND_MAX];

/* Sections of transports. */
enum machines_via {
	MACHINES_MPI,
	MACHINES_RMA,
	MACHINES_IPC,
	MACHINES_XCCL,
	MACHINES_VIA_MAX
};
extern const char *const machines_vias[MACHINES_VIA_MAX];

extern const struct conf_row options_machine[];

#endif
