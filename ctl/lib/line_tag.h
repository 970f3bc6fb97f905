/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_tag.h - remove what launchers, batch systems and log readers put before
 * each line of a program's output.
 */
#ifndef CTL_LIB_LINE_TAG_H
#define CTL_LIB_LINE_TAG_H

#include <stddef.h>

#define LINE_TAG_BYTES 128

/* Remove the tags, colours and the carriage return from a line. Tags are those
 * of mpirun --tag-output and --timestamp-output, mpiexec -l, srun -l, kubectl
 * logs --prefix and --timestamps, and container logs. Return the rest, which is
 * inside line. ret_tag gets the tags without times: lines of the same source
 * have the same tag. */
char *line_tag_cut(char *line, char ret_tag[LINE_TAG_BYTES]);

#endif
