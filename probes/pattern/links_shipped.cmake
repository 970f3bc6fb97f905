# SPDX-License-Identifier: Apache-2.0
# Turn link matrices into one C source of texts.
#   cmake -DOUT=x.c -DFILES=a.links;b.links -P links_shipped.cmake
set(rows "")
foreach(f ${FILES})
	get_filename_component(name ${f} NAME_WE)
	file(READ ${f} text)
	string(REPLACE "\n" "\\n\"\n\t    \"" text "${text}")
	string(APPEND rows "\t{ \"${name}\",\n\t    \"${text}\" },\n")
endforeach()
file(WRITE ${OUT} "/* made by probes/pattern/links_shipped.cmake */\n"
	"#include \"probes/pattern/links_shipped.h\"\n\n"
	"#include <stddef.h>\n\n"
	"const struct links_file links_files[] = {\n${rows}\t{ NULL, NULL },\n"
	"};\n")
