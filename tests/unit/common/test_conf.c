/* SPDX-License-Identifier: Apache-2.0 */
/* Every type and every error, and that rendered configurations read back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/conf_print.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "common/err.h"

#include <math.h>
#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

static const struct conf_row rows[] = {
	{ "one", "text", CONF_STRING, 0, 8, NULL, "", "", "A text." },
	{ "one", "name", CONF_STRING, 1, 8, NULL, NULL, "", "A name." },
	{ "one", "on", CONF_BOOL, 0, 0, NULL, "no", "", "A switch." },
	{ "one", "count", CONF_INT, 1, 100, NULL, "5", "nodes", "A count." },
	{ "two", "share", CONF_REAL, 0.01, 1, NULL, "20%", "1", "A share." },
	{ "two", "size", CONF_BYTES, 1, 1048576, NULL, "4K", "bytes",
	    "A size." },
	{ "two", "span", CONF_SPAN, 0.1, 3600, NULL, "10s", "s", "A span." },
	{ "two", "mode", CONF_CHOICE, 0, 0, "red|green", "green", "",
	    "A choice." },
	{ "two", "modes", CONF_CHOICES, 0, 0, "red|green|blue", "blue,red", "",
	    "Choices." },
	{ "two", "nodes", CONF_HOSTLIST, 0, 0, NULL, "n[1-3]", "",
	    "Hosts. .It starts nothing." },
	{ "two", "listen", CONF_ADDRESS, 0, 0, NULL, "", "", "A door." },
	{ "two", "peer", CONF_ADDRESS, 2, 0, NULL, "host:17700", "",
	    "A peer." },
	{ "two", "hooks", CONF_URLS, 0, 0, NULL, "", "", "Sinks." },
	{ "two", "nets", CONF_NETS, 0, 0, NULL, "", "", "Where." },
	{ "one.old", NULL, 0, 0, 0, NULL, NULL, NULL, "use one.count" },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

static struct conf *
parse_ok(const char *text)
{
	struct conf *c = NULL;
	struct err err = { 0 };
	int rc = conf_parse(rows, "f.conf", text, &c, &err);

	if (rc != 0)
		print_error("%s\n", err.text);
	assert_int_equal(rc, 0);
	return c;
}

static void
test_values(void **state)
{
	static const char *const modes[] = { "blue", "green", "red" };
	struct conf *c = parse_ok("# note\n[one]\nname = ab=c ; note\n"
				  "on: yes\n\n[two]\nspan=250ms\n"
				  "share = 5%\nsize = 1M\nmode = red\n"
				  "listen = :80\npeer = [::1]:17700\n"
				  "hooks = http://a/, https://b:1/x\n"
				  "nets = 10.1.0.0/16, fd00::/8\n");

	(void)state;
	assert_string_equal(conf_string(c, "one", "name"), "ab=c");
	assert_int_equal(conf_bool(c, "one", "on"), 1);
	assert_int_equal(conf_int(c, "one", "count"), 5);
	assert_true(fabs(conf_real(c, "two", "share") - 0.05) < 1e-12);
	assert_int_equal(conf_bytes(c, "two", "size"), 1048576);
	assert_int_equal(conf_span_ns(c, "two", "span"), 250000000);
	assert_int_equal(CONF_CHOICE_OF(c, "two", "mode", modes), 2);
	assert_int_equal(conf_is(c, "two", "mode", "red"), 1);
	assert_int_equal(conf_is(c, "two", "mode", "green"), 0);
	assert_string_equal(conf_string(c, "two", "modes"), "blue,red");
	assert_int_equal(conf_given(c, "two", "size"), 1);
	assert_int_equal(conf_given(c, "two", "nodes"), 0);
	assert_string_equal(conf_where(c, "two", "span"), "f.conf:7");
	assert_string_equal(conf_where(c, "two", "nodes"), "default");
	conf_free(c);
}

static void
test_sections(void **state)
{
	struct conf *c = parse_ok("[one]\nname = x\n[two]\n"), *again;
	struct err err;

	(void)state;
	assert_int_equal(conf_has_section(c, "two"), 1); /* though empty */
	again = conf_dup(c);
	conf_free(c);
	assert_string_equal(conf_section_where(again, "two"), "f.conf:3");
	assert_null(conf_section_where(again, "none"));
	assert_string_equal(conf_path(again), "f.conf");
	conf_free(again);
	c = parse_ok("\xef\xbb\xbf[two]\n[one]\nname = x\n"); /* an editor's */
	assert_int_equal(conf_has_section(c, "two"), 1);
	conf_free(c);
	c = parse_ok("[one]\nname = x");
	assert_int_equal(conf_has_section(c, "two"), 0);
	assert_int_equal(conf_set(c, "two", "mode", "red", "-o", &err), 0);
	assert_int_equal(conf_has_section(c, "two"), 1);
	assert_string_equal(conf_where(c, "two", "mode"), "-o");
	conf_free(c);
}

/* A text and exactly its error. */
static const struct {
	const char *text, *want;
} complaints[] = {
	{ "[one]\nname = x\nnmae = y\n",
	    "f:3: unknown key nmae in [one]: expected text name "
	    "on count" },
	{ "[one]\nname = x\nold = y\n",
	    "f:3: one.old was removed: use one.count" },
	{ "[three]\n", "f:1: unknown section [three]: expected one two" },
	{ "a = 1\n", "f:1: key a before any section: expected one two" },
	{ "[one]\nname = x\n\nname = y\n",
	    "f:4: one.name is given twice, first at f:2" },
	{ "[one]\nname\n",
	    "f:2: expected [section], key = value or a comment" },
	{ "[one\nname = x\n",
	    "f:1: expected [section], key = value or a comment" },
	{ "[one]\ntext = 1\n", "f: one.name is missing: A name." },
	{ "[one]\nname =\n",
	    "f:2: one.name = (empty): expected 1 to 8 characters" },
	{ "[one]\nname = 123456789\n",
	    "f:2: one.name = 123456789: expected 1 to 8 "
	    "characters" },
	{ "[one]\non = maybe\n", "f:2: one.on = maybe: expected yes or no" },
	{ "[one]\ncount = 101\n",
	    "f:2: one.count = 101: expected a whole number, 1 to "
	    "100" },
	{ "[one]\ncount = 1x\n",
	    "f:2: one.count = 1x: expected a whole number, 1 to "
	    "100" },
	{ "[two]\nshare = 101%\n",
	    "f:2: two.share = 101%: expected a number, 0.01 to 1" },
	{ "[two]\nmode = blue\n",
	    "f:2: two.mode = blue: expected one of red|green" },
	{ "[two]\nmodes = red,pink\n",
	    "f:2: two.modes = red,pink: expected a comma-"
	    "separated list of red|green|blue" },
	{ "[two]\nmodes =\n",
	    "f:2: two.modes = (empty): expected a comma-"
	    "separated list of red|green|blue" },
	{ "[two]\nnodes = n[1-\n",
	    "f:2: two.nodes = n[1-: expected a hostlist such "
	    "as n[001-016,020],login1 ([ without ] at character 2)" },
	{ "[two]\nlisten = 127.0.0.1\n",
	    "f:2: two.listen = 127.0.0.1: expected host:port or "
	    "nothing" },
	{ "[two]\nlisten = ::1:80\n",
	    "f:2: two.listen = ::1:80: expected host:port or "
	    "nothing" },
	{ "[two]\npeer = :17700\n",
	    "f:2: two.peer = :17700: expected host:port" },
	{ "[two]\npeer = host:65536\n",
	    "f:2: two.peer = host:65536: expected host:port" },
	{ "[two]\nhooks = http://a/,ftp://b\n",
	    "f:2: two.hooks = http://a/,ftp://b: expected http://HOST or "
	    "https://HOST, separated by commas" },
	{ "[two]\nnets = 10.0.0.0/8,eth0\n",
	    "f:2: two.nets = 10.0.0.0/8,eth0: expected networks such as "
	    "10.1.0.0/16, separated by commas" },
	{ "[two]\nnets = 10.0.0.0/33\n",
	    "f:2: two.nets = 10.0.0.0/33: expected networks such as "
	    "10.1.0.0/16, separated by commas" },
	{ "[two]\nnets = fd00::\n",
	    "f:2: two.nets = fd00::: expected networks such as 10.1.0.0/16, "
	    "separated by commas" },
	{ "[two]\nhooks = http://a/,,\n",
	    "f:2: two.hooks = http://a/,,: expected http://HOST or "
	    "https://HOST, separated by commas" },
};

static void
test_complaints(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(complaints); i++) {
		struct conf *c = (void *)rows;
		struct err err = { 0 };

		assert_int_equal(conf_parse(rows, "f", complaints[i].text, &c,
				     &err),
		    -EINVAL);
		assert_string_equal(err.text, complaints[i].want);
		assert_ptr_equal(c, rows); /* untouched */
	}
}

static void
test_spans_and_sizes_are_bounded(void **state)
{
	struct conf *c = parse_ok("[one]\nname = x\n");
	struct err err;

	(void)state;
	assert_int_equal(conf_set(c, "two", "span", "2h", "-o", &err), -EINVAL);
	assert_non_null(
	    strstr(err.text, "a duration such as 250ms, 10s or 5m"));
	assert_int_equal(conf_set(c, "two", "size", "2M", "-o", &err), -EINVAL);
	assert_non_null(strstr(err.text, "1.0 MiB"));
	assert_int_equal(conf_bytes(c, "two", "size"), 4096); /* as it was */
	assert_int_equal(conf_set(c, "one", "text", "a\nb", "-o", &err),
	    -EINVAL);
	assert_int_equal(conf_set(c, "one", "text", "a ;b", "-o", &err),
	    -EINVAL);
	assert_int_equal(conf_set(c, "one", "text", ";b", "-o", &err), -EINVAL);
	assert_int_equal(conf_set(c, "one", "nope", "1", "-o", &err), -EINVAL);
	conf_free(c);
}

static void
test_override(void **state)
{
	static const char *const bad[] = { "", "two", "two.size", "two=1.2",
		".size=1", "two.=1" };
	struct conf *c = parse_ok("[one]\nname = x\n"), *copy;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(conf_override(c, bad[i], "-o", &err), -EINVAL);
		assert_non_null(
		    strstr(err.text, ": expected section.key=value"));
	}
	assert_int_equal(conf_override(c, "two.size=8K", "-o", &err), 0);
	assert_int_equal(conf_override(c, "one.text=a=b.c", "-o", &err), 0);
	assert_string_equal(conf_string(c, "one", "text"), "a=b.c");
	assert_int_equal(conf_override(c, "two.size=2M", "-o", &err), -EINVAL);

	copy = conf_dup(c);
	assert_int_equal(conf_override(c, "two.size=4K", "-o", &err), 0);
	conf_free(c);
	assert_int_equal(conf_bytes(copy, "two", "size"), 8192);
	assert_int_equal(conf_given(copy, "two", "size"), 1);
	assert_int_equal(conf_given(copy, "two", "mode"), 0);
	assert_string_equal(conf_where(copy, "two", "size"), "-o");
	conf_free(copy);
}

static void
test_render_reads_back(void **state)
{
	struct conf *c = parse_ok("[one]\nname = ab\n[two]\nshare = 5%\n");
	char *text = conf_render(c);
	struct conf *again = parse_ok(text);
	char *twice = conf_render(again);

	(void)state;
	assert_string_equal(text, twice);
	assert_non_null(strstr(text, "[two]\nshare = 5%\nsize = 4K\n"));
	free(text);
	free(twice);
	conf_free(c);
	conf_free(again);
}

static void
test_render_given(void **state)
{
	struct conf *c = parse_ok("[one]\nname = ab\n");
	char *text = conf_render_given(c), *twice;
	struct conf *again = parse_ok(text);

	(void)state;
	assert_null(strstr(text, "[two]"));
	assert_int_equal(conf_has_section(again, "two"), 0);
	free(text);
	conf_free(c);
	conf_free(again);
	c = parse_ok("[one]\nname = ab\n[two]\nshare = 5%\n");
	text = conf_render_given(c);
	again = parse_ok(text);
	assert_non_null(strstr(text, "\nshare = 5%\n# size = 4K\n"));
	assert_int_equal(conf_given(again, "two", "share"), 1);
	assert_int_equal(conf_given(again, "two", "size"), 0);
	twice = conf_render_given(again);
	assert_string_equal(text, twice);
	free(text);
	free(twice);
	conf_free(c);
	conf_free(again);
}

static char *
printed(void (*print)(const struct conf_row *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	print(rows, to);
	fclose(to);
	return text;
}

static void
test_printers(void **state)
{
	char *text = printed(conf_print_defaults);

	(void)state;
	assert_non_null(strstr(text,
	    "[two]\n# A share.\n"
	    "# Values: 0.01 to 1\n#share = 20%\n"));
	assert_non_null(strstr(text, "\n# Values: 1 to 100 nodes\n"));
	assert_non_null(strstr(text, "\nname =\n")); /* has no default */
	free(text);
	text = printed(conf_print_mdoc);
	assert_non_null(strstr(text,
	    ".It Ic mode\nA choice.\n"
	    ".br\nValues: red|green.\nDefault:\n.Ql green .\n"));
	assert_non_null(strstr(text, "\nValues: 1 to 100 nodes.\n"));
	assert_non_null(strstr(text, "Required.\n"));
	free(text);
}

static void
test_long_lines(void **state)
{
	struct conf *c = NULL;
	size_t n = 200000;
	char *text = xcalloc(1, n + 64);
	struct err err;

	(void)state;
	strcpy(text, "[one]\nname = x\n[two]\nnodes = ");
	for (size_t i = strlen(text); i + 8 < n; i = strlen(text + i) + i)
		snprintf(text + i, 16, "n%06zu,", i);
	strcat(text + n - 64, "last\n[one]\n");
	assert_int_equal(conf_parse(rows, "f", text, &c, &err), 0);
	assert_non_null(strstr(conf_string(c, "two", "nodes"), ",last"));
	conf_free(c);
	free(text);
	n = 2 * 1024 * 1024;
	text = xcalloc(1, n + 1);
	memset(text, '#', n);
	assert_int_equal(conf_parse(rows, "f", text, &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "f:1: the line is longer than"));
	free(text);
}

/* Half a message would be refused, so the file is: with where it is wrong. */
static void
test_encoding(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{ "[one]\nname = x\nabout = Netz pr\xfc"
		  "fen\n",
		    "f:3:16: byte 0xfc is not UTF-8: save the file in that "
		    "encoding" },
		{ "# \xc3\xa9t\xe9\n",
		    "f:1:5: byte 0xe9 is not UTF-8: save "
		    "the file in that encoding" },
		{ "[one]\nname = cut\xc3",
		    "f:2:11: byte 0xc3 is not UTF-8: "
		    "save the file in that encoding" },
	};
	struct conf *c = parse_ok("[one]\nname = Pr\xc3\xbc"
				  "fen\n");
	struct err err;

	(void)state;
	assert_int_equal(conf_set(c, "one", "name", "\xfc", "-o", &err),
	    -EILSEQ);
	assert_string_equal(err.text, "-o: one.name is not UTF-8");
	assert_string_equal(conf_string(c, "one", "name"),
	    "Pr\xc3\xbc"
	    "fen");
	conf_free(c);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(conf_parse(rows, "f", bad[i].text, &c, &err),
		    -EILSEQ);
		assert_string_equal(err.text, bad[i].want);
	}
}

static void
test_files(void **state)
{
	char path[] = "/tmp/test_conf.XXXXXX";
	struct err err;
	int fd = mkstemp(path);
	struct conf *c = NULL;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "[one]\nname = x\n", 15), 15);
	assert_int_equal(conf_load(rows, path, &c, &err), 0);
	conf_free(c);
	assert_int_equal(write(fd, "\0", 1), 1);
	assert_int_equal(conf_load(rows, path, &c, &err), -EILSEQ);
	assert_non_null(strstr(err.text, ":3: file contains a NUL byte"));
	close(fd);
	unlink(path);
	assert_int_equal(conf_load(rows, path, &c, &err), -ENOENT);
	assert_non_null(strstr(err.text, ": No such file or directory"));
	conf_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_complaints),
		cmocka_unit_test(test_spans_and_sizes_are_bounded),
		cmocka_unit_test(test_override),
		cmocka_unit_test(test_render_reads_back),
		cmocka_unit_test(test_render_given),
		cmocka_unit_test(test_printers),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_encoding),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
