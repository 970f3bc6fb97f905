/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.h - the local machine, from sysfs alone: GPUs, NICs, the distances
 * between them, and the NIC that each GPU should use.
 *
 * Everything is read below a root, which is "" for this machine, so that a tree
 * of files can stand for a machine in tests. Values that the kernel does not
 * provide are -1, 0 or "".
 */
#ifndef PROBES_TOPOLOGY_LOCAL_H
#define PROBES_TOPOLOGY_LOCAL_H

#define LOCAL_MAX        64 /* largest number of GPUs, and of NICs */
#define LOCAL_NAME_BYTES 64
#define LOCAL_PATH_BYTES 256

/* The place of a device in the machine. */
struct local_place {
	char pci[16]; /* "0000:1a:00.0"; "" if it is not on PCI */
	/* Path from the host bridge: "pci0000:00/0000:00:01.0/0000:01:00.0". */
	char path[LOCAL_PATH_BYTES];
	int numa; /* NUMA node; -1: unknown */
	/* Rate of its slot in each direction; 0: unknown. */
	double link_bytes_per_s;
};

/* A GPU. */
struct local_gpu {
	struct local_place at;
	const char *vendor;          /* one of names_gpus */
	char name[LOCAL_NAME_BYTES]; /* if its driver reports it */
	int kfd; /* number that AMD's driver (KFD) gives it; -1: none */
	int nic; /* index in local.nics of the NIC to send by; -1: none */
};

/* A NIC. */
struct local_nic {
	struct local_place at;
	char name[LOCAL_NAME_BYTES]; /* "mlx5_0" */
	char kind[8];                /* "ib", "cxi", "net" */
	double bytes_per_s;          /* 0: down, or unknown */
};

/* The machine. */
struct local {
	int numa_nodes;
	struct local_gpu gpus[LOCAL_MAX]; /* sorted by PCI address */
	int gpus_count;
	struct local_nic nics[LOCAL_MAX]; /* sorted by kind and name */
	int nics_count;
};

/* The distance of two devices, nearest first. */
enum local_near {
	LOCAL_SAME,   /* the same device */
	LOCAL_SWITCH, /* below one PCI switch */
	/* Below several PCI switches, without a host bridge between. */
	LOCAL_SWITCHES,
	LOCAL_HOST_BRIDGE, /* below one host bridge */
	LOCAL_NUMA,        /* on one NUMA node */
	LOCAL_SYSTEM,      /* on several NUMA nodes, or unknown */
	LOCAL_NEAR_MAX
};
extern const char *const local_nears[LOCAL_NEAR_MAX];

/* Read the machine. This never fails: unreadable parts are missing in the
 * result. */
void local_read(const char *root, struct local *ret);
/* Return the distance of two devices. */
enum local_near local_near(const struct local_place *a,
    const struct local_place *b);

#endif
