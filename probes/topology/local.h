/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.h - the local machine, from sysfs alone: GPUs, NICs, their distances,
 * and the NIC that a GPU should use.
 *
 * Everything is read below a root, "" for the machine's own, so that a tree of
 * files is a machine for tests. Values that the kernel does not provide are -1,
 * 0 or "".
 */
#ifndef PROBES_TOPOLOGY_LOCAL_H
#define PROBES_TOPOLOGY_LOCAL_H

#define LOCAL_MAX        64 /* GPUs, and NICs */
#define LOCAL_NAME_BYTES 64
#define LOCAL_PATH_BYTES 256

struct local_place {
	char pci[16]; /* "0000:1a:00.0"; "" if it is not on PCI */
	/* From the host bridge down: "pci0000:00/0000:00:01.0/0000:01:00.0" */
	char path[LOCAL_PATH_BYTES];
	int numa;                /* -1: not known */
	double link_bytes_per_s; /* of its slot, each way, 0: not known */
};

struct local_gpu {
	struct local_place at;
	const char *vendor;          /* of names_gpus */
	char name[LOCAL_NAME_BYTES]; /* if its driver reports it */
	int kfd; /* as AMD's driver numbers its GPUs, -1: it does not */
	int nic; /* index in local.nics to send by; -1: none */
};

struct local_nic {
	struct local_place at;
	char name[LOCAL_NAME_BYTES]; /* "mlx5_0" */
	char kind[8];                /* "ib", "cxi", "net" */
	double bytes_per_s;          /* 0: down, or not known */
};

struct local {
	int numa_nodes;
	struct local_gpu gpus[LOCAL_MAX]; /* by PCI address */
	int gpus_count;
	struct local_nic nics[LOCAL_MAX]; /* by kind and name */
	int nics_count;
};

/* How far two devices are, nearest first. */
enum local_near {
	LOCAL_SAME,        /* one device */
	LOCAL_SWITCH,      /* one PCI switch */
	LOCAL_SWITCHES,    /* several, none of them the host's bridge */
	LOCAL_HOST_BRIDGE, /* one host bridge */
	LOCAL_NUMA,        /* one NUMA node */
	LOCAL_SYSTEM,      /* across sockets, or not known */
	LOCAL_NEAR_MAX
};
extern const char *const local_nears[LOCAL_NEAR_MAX];

/* Never fails: what cannot be read is not there. */
void local_read(const char *root, struct local *ret);
enum local_near local_near(const struct local_place *a,
    const struct local_place *b);

#endif
