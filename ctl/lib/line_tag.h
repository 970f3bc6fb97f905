/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_tag.h - what launchers, batch systems and log readers put before each
 * line of a program's output.
 */
#ifndef CTL_LIB_LINE_TAG_H
#define CTL_LIB_LINE_TAG_H

#include <stddef.h>

#define LINE_TAG_BYTES 128

/* Cut the tags off a line, and its colours and carriage return out of it:
 * mpirun --tag-output and --timestamp-output, mpiexec -l, srun -l, kubectl logs
 * --prefix and --timestamps, container logs. Return the rest, inside the line;
 * ret_tag gets the tags without times: lines of one source have the same. */
char *line_tag_cut(char *line, char ret_tag[LINE_TAG_BYTES]);

#endif
