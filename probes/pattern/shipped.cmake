# SPDX-License-Identifier: Apache-2.0
# Turn text files into one C source.
#   cmake -DOUT=x.c -DTABLE=links_files -DFILES=a.links;b.links
#         -P shipped.cmake
set(rows "")
foreach(f ${FILES})
	get_filename_component(name ${f} NAME_WE)
	file(READ ${f} text)
	string(REPLACE "\n" "\\n\"\n\t    \"" text "${text}")
	string(APPEND rows "\t{ \"${name}\",\n\t    \"${text}\" },\n")
endforeach()
file(WRITE ${OUT} "/* made by probes/pattern/shipped.cmake */\n"
	"#include \"probes/pattern/numbers.h\"\n\n"
	"#include <stddef.h>\n\n"
	"const struct shipped ${TABLE}[] = {\n${rows}\t{ NULL, NULL },\n"
	"};\n")
