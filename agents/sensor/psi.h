/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psi.h - how hard pressed this host is for processor time.
 */
#ifndef AGENTS_SENSOR_PSI_H
#define AGENTS_SENSOR_PSI_H

/* How much slower background work should go: 1 not at all, 2, 4, 8. From the
 * kernel's pressure stall information below root ("" for the machine's own)
 * where there is any, else from load (below 0: unknown) per core. */
double psi_stretch(const char *root, double load_per_core);
/* Share of time in which some task waited for a processor, over 10 s; NAN
 * where the kernel does not say. */
double psi_cpu_some(const char *root);

#endif
