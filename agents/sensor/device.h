/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the ports of this node's network devices in sysfs. One table
 * serves for traffic, counters and errors.
 */
#ifndef AGENTS_SENSOR_DEVICE_H
#define AGENTS_SENSOR_DEVICE_H

#include <jansson.h>
#include <stdint.h>

#define DEVICE_NAME_BYTES 64
#define DEVICE_PATH_BYTES 600

/* Classes of devices in the order of device_walk; if there is a limit, network
 * interfaces are cut off first. */
enum device_class { DEVICE_RDMA, DEVICE_CXI, DEVICE_NET, DEVICE_CLASS_MAX };

/* A port. */
struct device {
	enum device_class class;
	char name[DEVICE_NAME_BYTES];  /* eth0, mlx5_0, cxi0 */
	char label[DEVICE_NAME_BYTES]; /* port: eth0, mlx5_0/1, cxi0 */
	char port[16]; /* number of the port of an RDMA device, "1"; else "" */
	int is_first;  /* 1: the first port of its device */
	int is_hardware;              /* 1: a hardware device */
	char dir[DEVICE_PATH_BYTES];  /* folder of the port in sysfs */
	char slot[DEVICE_PATH_BYTES]; /* folder of its PCI device in sysfs */
};

typedef void device_cb(const struct device *d, void *arg);

/* Call each for every port in the tree below root ("" for this machine), in
 * order of class and name. Devices may come and go. */
void device_walk(const char *root, device_cb *each, void *arg);
/* Add the counters of a port by their names in sysfs, and rx_bytes and tx_bytes
 * independent of the device's names. */
void device_counters(const struct device *d, json_t *counters);
/* Get bytes received and sent since boot. Return 0, or -ENOENT if the device
 * has no such counters. */
int device_bytes(const struct device *d, int64_t *ret_rx, int64_t *ret_tx);
/* Return bits per second; 0: unknown. */
double device_rate_bps(const struct device *d);

#endif
