/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - tell a service manager how we are, as sd_notify(3) does.
 *
 * Without NOTIFY_SOCKET in the environment every call does nothing. The
 * variables are removed by notify_init, so that children do not speak for us.
 */
#ifndef COMMON_NOTIFY_H
#define COMMON_NOTIFY_H

#include <stdint.h>

/* Once, before threads and children: reads and clears the environment. */
void notify_init(void);
void notify_ready(void);
void notify_reloading(void); /* followed by notify_ready when done */
void notify_stopping(void);
void notify_watchdog(void);
/* One line for "systemctl status". */
void notify_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Return the interval at which to call notify_watchdog: half of the manager's
 * timeout; 0 if the watchdog is off. */
uint64_t notify_watchdog_every_ns(void);

#endif
