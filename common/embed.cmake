# SPDX-License-Identifier: Apache-2.0
# Turn files into one C source of byte arrays.
#   cmake -DOUT=x.c -DTABLE=name -DTYPE=text|gzip "-DFILES=a;b"
#         -P embed.cmake
# The table's rows are { name, bytes, size } of struct embed, ended by a NULL
# name; text is NUL-ended and not counted.
set(arrays "")
set(rows "")
set(n 0)
foreach(f ${FILES})
	get_filename_component(name ${f} NAME)
	set(from ${f})
	if(TYPE STREQUAL "gzip")
		set(from ${OUT}.${n}.gz)
		execute_process(COMMAND gzip -9nc ${f} OUTPUT_FILE ${from}
			COMMAND_ERROR_IS_FATAL ANY)
	endif()
	file(READ ${from} hex HEX)
	string(LENGTH "${hex}" size)
	math(EXPR size "${size} / 2")
	string(REGEX REPLACE "(................................)" "\\1\n" hex
		"${hex}")
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
	string(APPEND arrays
		"static const unsigned char file_${n}[] = {\n${hex}0\n};\n")
	string(APPEND rows "\t{ \"${name}\", file_${n}, ${size} },\n")
	math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "/* made by common/embed.cmake */\n"
	"#include \"common/embed.h\"\n\n${arrays}\n"
	"extern const struct embed ${TABLE}[];\n"
	"const struct embed ${TABLE}[] = {\n${rows}\t{ 0, 0, 0 },\n};\n")
