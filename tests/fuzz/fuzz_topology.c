/* SPDX-License-Identifier: Apache-2.0 */
/* Files of fabrics and schedulers; the first byte chooses the format, and
 * whether ports are selected. An accepted file is written as a file that reads
 * as the same. */
#include "common/err.h"
#include "common/xalloc.h"
#include "ctl/topology/formats.h"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

static char *
again(char *text)
{
	struct topology *t = NULL;
	struct err err = { 0 };
	char *copy = xstrdup(text), *ret;

	assert(topology_read(copy, "f", &t, &err) == 0);
	ret = topology_write(t);
	topology_free(t);
	free(copy);
	return ret;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	static char *rails[] = { (char *)"mlx5_[0-3]", (char *)"eth*", NULL };
	static char *skip[] = { (char *)"s*", (char *)"*:eth0", NULL };
	struct fabric_choice choice = { NULL, NULL, 0 };
	struct topology *t = NULL;
	struct err err = { 0 };
	struct fabric *f;
	const struct import_format *format;
	size_t formats = 0;
	char *text, *one, *two;
	int rc;

	if (len_bytes == 0)
		return 0;
	text = fuzz_text(data + 1, len_bytes - 1);
	while (import_formats[formats].name != NULL)
		formats++;
	format = &import_formats[(data[0] & 0x3f) % formats];
	choice.rails = data[0] & 0x80 ? rails : NULL;
	choice.skip = data[0] & 0x40 ? skip : NULL;
	f = fabric_new(&choice);
	f->file = "n1.json";
	if (format->scan != NULL)
		format->scan(f, text);
	if (format->read == NULL) {
		rc = topology_read(text, "f", &t, &err);
	} else {
		rc = format->read(f, text, "n1.json", &err);
		if (rc == 0)
			rc = fabric_sort(f, &t, &err);
	}
	if (rc == 0) {
		one = topology_write(t);
		two = again(one);
		assert(strcmp(one, two) == 0);
		free(one);
		free(two);
	} else {
		assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
	}
	topology_free(t);
	fabric_free(f);
	free(text);
	return 0;
}
