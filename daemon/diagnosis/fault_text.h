/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_text.h - write the texts of verdicts: functions that all kinds of
 * faults share.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_TEXT_H
#define DAEMON_DIAGNOSIS_FAULT_TEXT_H

#define VERDICT_TEXT_MAX 480 /* bytes; a longer text is cut */

/* Append to a text of VERDICT_TEXT_MAX bytes. */
void fault_text_add(char *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Write "28 %" slower, or "9.8 times". */
#define FAULT_TEXT_SLOWER 24
void fault_text_slower(double effect, int is_rate, char ret[FAULT_TEXT_SLOWER]);

#endif
