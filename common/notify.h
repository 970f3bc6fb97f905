/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - report the state of this process to a service manager, as
 * sd_notify(3) does.
 *
 * Without NOTIFY_SOCKET in the environment every call does nothing. notify_init
 * removes the variables, so that child processes do not report for this
 * process.
 */
#ifndef COMMON_NOTIFY_H
#define COMMON_NOTIFY_H

#include <stdint.h>

/* Read the environment and clear the variables. Call it once, before threads
 * and child processes are started. */
void notify_init(void);
void notify_ready(void);
void notify_reloading(void); /* call notify_ready afterwards */
void notify_stopping(void);
void notify_watchdog(void);
/* Set the status line of "systemctl status" (printf format). */
void notify_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Return the interval at which to call notify_watchdog: half of the manager's
 * timeout; 0 if the watchdog is off. */
uint64_t notify_watchdog_every_ns(void);

#endif
