/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "probes/device/gpu/gpu.h"

void
gpu_name(int index, const char *pci, char *ret, size_t cap_bytes)
{
	(void)pci;
	ret[0] = '\0';
	if (hipDeviceGetName(ret, (int)cap_bytes, index) != hipSuccess) {
		(void)hipGetLastError();
		ret[0] = '\0';
	}
}
