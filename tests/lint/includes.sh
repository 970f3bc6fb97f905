#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# includes.sh [TREE] - a folder is a boundary: every include is checked against
# the table below. Columns: file (the first row that matches counts), our
# folders it may include, libraries it may include. What is in neither list
# and not a known library is taken for the C library's.
. "$(dirname "$0")/lib.sh"

table='
common/conf\.c              common                  ini
common/                     common                  -
schema/                     schema,common           jansson
daemon/store                daemon,schema,common    sqlite3,jansson,event2,zlib
daemon/webhook              daemon,schema,common    curl,jansson
daemon/                     daemon,schema,common    event2,openssl,jansson,zlib
agents/sensor_              agents,schema,common    event2,jansson,vendor
agents/                     agents,schema,common    event2,openssl,jansson
probes/plan/pack\.c         probes,schema,common    zlib
probes/(plan|pattern|topo)/ probes,schema,common    jansson
probes/device/              probes,schema,common    mpi,jansson,vendor
probes/transport/xccl       probes,schema,common    mpi,jansson,vendor
probes/                     probes,schema,common    mpi,jansson
ctl/                        ctl,schema,common       curl,openssl,jansson
lab/                        lab,common              -
tests/                      any                     any
'

files '*.[ch]' | xargs grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null |
awk -v table="$table" '
function library(header)
{
	if (header ~ /^(cuda|cuda_runtime|hip|nccl|rccl|nvml|rocm_smi|amd_smi|infiniband|rdma)([.\/_]|$)/)
		return "vendor"
	if (header ~ /^(event2|openssl|curl|hwloc|systemd)\//)
		return substr(header, 1, index(header, "/") - 1)
	if (header ~ /^(jansson|sqlite3|ini|zlib|mpi|cmocka|event|evhttp|hwloc)\.h$/)
		return substr(header, 1, length(header) - 2)
	return ""
}
function allowed(list, item)
{
	return list == "any" || index("," list ",", "," item ",") > 0
}
function complain(text)
{
	print file ":" line ": " text
	bad = 1
}
BEGIN {
	rows = split(table, row, "\n")
	for (i = 1; i <= rows; i++)
		if (split(row[i], cell, " ") == 3) {
			pattern[++n] = "^" cell[1]
			folders[n] = cell[2]
			libraries[n] = cell[3]
		}
}
{
	split($0, part, ":")
	file = part[1]
	line = part[2]
	for (r = 1; r <= n && file !~ pattern[r]; r++)
		continue
	if (r > n) {
		complain("in a folder without a row in includes.sh")
		next
	}
	if (match($0, /"[^"]*"/)) {
		header = substr($0, RSTART + 1, RLENGTH - 2)
		folder = substr(header, 1, index(header, "/") - 1)
		if (folder == "" || folder ~ /^\./)
			complain("\"" header "\" is not written from the root")
		else if (!allowed(folders[r], folder))
			complain("must not include " header)
	} else if (match($0, /<[^>]*>/)) {
		header = substr($0, RSTART + 1, RLENGTH - 2)
		name = library(header)
		if (name != "" && !allowed(libraries[r], name))
			complain("must not include " header " (" name ")")
	} else {
		complain("an include by macro hides what it includes")
	}
}
END { exit bad }' || exit 1

# A vendor's library is opened by name at run time: the name counts as well.
files '*.[ch]' | grep -Ev '^(agents/sensor_|probes/(device/|transport/xccl)|tests/)' |
    xargs grep -nE '"lib(cuda|nvidia|nccl|amdhip|rccl|rocm|hsa)[^"]*\.so' \
    /dev/null | sed 's/$/ : a vendor library is named here/' | grep . && exit 1
exit 0
