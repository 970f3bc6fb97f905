/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.h - the verb "topo": what this machine is, as far as kernel, drivers
 * and libraries tell it. No MPI is started.
 */
#ifndef PROBES_VERBS_TOPO_H
#define PROBES_VERBS_TOPO_H

int topo_main(int argc, char **argv); /* the program's exit status */

#endif
