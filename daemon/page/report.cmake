# SPDX-License-Identifier: Apache-2.0
# Make the template of coalctl's HTML report: style sheet and modules of the
# page in one file.
#   cmake -DOUT=x.html -DVERSION=1 -DHTML=report.html -DCSS=page.css
#         "-DJS=a.js;b.js" -P report.cmake
# A module stands behind those that it imports. Their import lines are dropped,
# so names at the top level of all modules together are unique; a browser
# rejects the script where two are equal. @DATA@ remains.
cmake_policy(VERSION 3.22)
set(js "")
foreach(f ${JS})
	file(READ ${f} text)
	string(REGEX REPLACE "\nimport {[^}]*} from[ \n\t]*\"[^\"]*\";" "" text
		"${text}")
	string(REGEX REPLACE "\nexport " "\n" text "${text}")
	string(APPEND js "${text}\n")
endforeach()
file(READ ${CSS} css)
file(READ ${HTML} html)
string(REPLACE "@CSS@" "${css}" html "${html}")
string(REPLACE "@VERSION@" "${VERSION}" html "${html}")
string(REPLACE "@JS@" "${js}" html "${html}")
file(WRITE ${OUT} "${html}")
