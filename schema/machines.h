/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machines.h - the keys of machine files (etc/machines/NAME.conf), as rows of
 * options. A machine file describes the links and transports of a machine, from
 * which the predictor computes how long a plan takes. coalmine-machine(5)
 * explains each key.
 */
#ifndef SCHEMA_MACHINES_H
#define SCHEMA_MACHINES_H

#include "common/conf.h"

/* Names of the sections that describe links between the parts of a node. Each
 * has the keys rate, back, latency and pairs. */
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
/* The names of these sections, by enum machines_kind. */
extern const char *const machines_kinds[MACHINES_KIND_MAX];

/* Names of the sections that describe transports. */
enum machines_via {
	MACHINES_MPI,
	MACHINES_RMA,
	MACHINES_IPC,
	MACHINES_XCCL,
	MACHINES_VIA_MAX
};
/* The names of these sections, by enum machines_via. */
extern const char *const machines_vias[MACHINES_VIA_MAX];

/* The rows of all keys of a machine file. The last row has a NULL key. */
extern const struct conf_row options_machine[];

#endif
