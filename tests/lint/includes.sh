#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# includes.sh [TREE] - a folder is a boundary: every include is checked against
# the table below. Columns: files (the first row that matches counts), folders
# of this tree that they may include in addition to their own, libraries that
# they may include. Folders are named from the program on: in daemon/run,
# "store" is daemon/store. Every program may include common and schema, and
# every program but the engine pki. A header that is in no list and not of a
# known library counts as the C library's.
. "$(dirname "$0")/lib.sh"

table='
common/conf\.c        -                                 ini
common/member\.h      -                                 jansson
common/text\.h        -                                 jansson
common/               -                                 -
schema/               -                                 jansson
pki/                  -                                 openssl

daemon/store/store_(sqlite|file) .                      sqlite3,jansson
daemon/store/store_postgresql .                         libpq,jansson
daemon/store/store_record .                             jansson,zlib,zstd
daemon/store/store_sql\.c .                             jansson,zstd
daemon/store/         .                                 jansson,event2
daemon/cluster/       store                             jansson,event2
daemon/slurm/         process                           jansson,event2
daemon/process/       -                                 event2
daemon/jobs/ledger/(ledger|pool) -                      -
daemon/jobs/ledger/   cluster,evidence,store            jansson
daemon/jobs/          cluster,evidence,jobs/ledger,process,slurm,store jansson,event2,openssl
daemon/run/           cluster,slurm,store               jansson,event2
daemon/schedule/      run,store                         jansson
daemon/diagnosis/stats/ -                               -
daemon/evidence/      cluster                           jansson
daemon/diagnosis/     diagnosis/stats,cluster,evidence,store jansson
daemon/mesh/          cluster,run,store                 jansson,event2,openssl
daemon/react/         cluster,process,slurm,store       jansson,event2
daemon/objective/objective\.c -                            -
daemon/objective/     -                                 jansson
daemon/series/        store                             jansson
daemon/agents/        -                                 event2,openssl,jansson
daemon/events/sink_webhook -                             curl,jansson
daemon/events/sink_nats -                                nats
daemon/events/sink_kafka -                               librdkafka
daemon/events/        store                             jansson,zlib
daemon/api/           .,agents,cluster,diagnosis,events,jobs,mesh,objective,run,schedule,store   jansson,event2
daemon/diags/         .,agents,api,cluster,events,jobs,mesh,objective,run,schedule,store   jansson
# Interfaces to clients include the api and only their own sources of data:
# /metrics the rows of series and the health of the store; the API answers of
# the store, the metrics page, roles of certificates (agents/tls.h) and the
# embedded page (embed.h).
daemon/export/        api,events,objective,series,store        jansson,zlib
daemon/http/http_conn agents                            event2,openssl,jansson,zlib
daemon/http/http_jobs .,api,export,jobs,jobs/ledger,store           event2,openssl,jansson,zlib
daemon/http/          .,api,diags,export,store          event2,openssl,jansson,zlib
daemon/               any                               event2,openssl,jansson,zlib

agents/process/       -                                 event2,jansson
agents/launch/        process                           event2,jansson
agents/sensor/        launch,process                    event2,jansson,vendor
agents/mesh/          sensor                            event2,openssl,jansson
agents/spool/         -                                 jansson
agents/tls/           -                                 openssl,jansson
agents/session/       tls                               event2,openssl,jansson
agents/wireup/        process                           event2,jansson
agents/run/           .,launch,process,sensor,wireup    event2,jansson
agents/orders/        .,launch,mesh,run,sensor,session,spool,wireup event2,jansson
agents/               any                               event2,jansson

probes/plan/pack\.c   -                                 zlib
probes/plan/          -                                 jansson
probes/topology/      -                                 jansson
probes/multipath/     device,pattern,plan,sampling      jansson
probes/predict/       pattern,plan,topology             jansson
probes/pattern/       plan                              jansson
probes/catalog/       pattern,collective,multipath,neighbor,plan jansson
probes/neighbor/      pattern,plan                      jansson
probes/collective/    multipath,pattern,plan,predict,topology jansson
probes/tune/          collective,predict,topology       jansson
probes/device/gpu/    device,plan                       mpi,jansson,vendor
probes/device/        plan                              mpi,jansson,vendor
probes/transport/xccl device,plan                       mpi,jansson,vendor
probes/transport/     device,plan                       mpi,jansson
probes/sampling/      job                               jansson
probes/job/           plan,transport                    mpi,jansson
probes/execute/       device,job,plan,sampling,transport mpi,jansson
probes/congestion/    job,plan,sampling,transport       mpi,jansson
probes/scan/scan_judge\.c -                                 -
probes/scan/          congestion,job,sampling           mpi,jansson
probes/measure/       any                               mpi,jansson
probes/verbs/         any                               mpi,jansson
probes/               verbs                             mpi,jansson

etc/                  any                               -
ctl/topology/         -                                 jansson,yaml
ctl/accept/           -                                 openssl,jansson
ctl/lib/              -                                 curl,openssl,jansson
ctl/verbs/            accept,lib,topology               jansson
ctl/                  lib,verbs                         curl
lab/                  -                                 -
tests/                any                               any
'

files '*.[ch]' | xargs grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null |
awk -v table="$table" '
function library(header)
{
	if (header ~ /^(cuda|cuda_runtime|hip|nccl|rccl|nvml|rocm_smi|amd_smi|infiniband|rdma)([.\/_]|$)/)
		return "vendor"
	if (header ~ /^(event2|openssl|curl|hwloc|systemd|nats|librdkafka)\//)
		return substr(header, 1, index(header, "/") - 1)
	if (header == "libpq-fe.h")
		return "libpq"
	if (header ~ /^(jansson|sqlite3|ini|yaml|zlib|mpi|cmocka|event|evhttp|hwloc)\.h$/)
		return substr(header, 1, length(header) - 2)
	return ""
}
function allowed(list, item)
{
	return list == "any" || index("," list ",", "," item ",") > 0
}
function folder_of(path)
{
	sub(/\/[^\/]*$/, "", path)
	return path
}
function reaches(file, header, list,    program, from)
{
	program = substr(file, 1, index(file, "/") - 1)
	from = folder_of(header)
	if (list == "any" && program ~ /^(tests|etc)$/ || from == folder_of(file) ||
	    from == "common" || from == "schema" && program != "common" &&
	    program != "lab" || from == "pki" && program ~ /^(daemon|agents|ctl)$/)
		return 1
	if (from == program)
		return allowed(list, ".")
	if (index(from, program "/") != 1)
		return 0
	return allowed(list, substr(from, length(program) + 2))
}
function report(text)
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
		report("in a folder without a row in includes.sh")
		next
	}
	if (match($0, /"[^"]*"/)) {
		header = substr($0, RSTART + 1, RLENGTH - 2)
			if (header !~ /\// || header ~ /^\./)
			report("\"" header "\" is not written from the root")
		else if (!reaches(file, header, folders[r]))
			report("must not include " header)
	} else if (match($0, /<[^>]*>/)) {
		header = substr($0, RSTART + 1, RLENGTH - 2)
		name = library(header)
		if (name != "" && !allowed(libraries[r], name))
			report("must not include " header " (" name ")")
	} else {
		report("an include by macro hides what it includes")
	}
}
END { exit bad }' || exit 1

# The README of a folder has its purpose, and lists its includes as in the table:
# all of its rows together, with the program's name for ".".
for d in $(files '*.c' | grep -v '^tests/\|^lab/' | xargs -n 1 dirname | sort -u); do
	[ -f "$d/README.md" ] || {
		echo "$d: no README.md with its purpose"
		exit 1
	}
	says=$(sed -n 's/^May include: //p' "$d/README.md" |
	    grep -oE '`[a-z/]+`' | tr -d '`' | grep -vxE 'common|schema|pki')
	says=$(echo $says | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ')
	may=$(echo "$table" | awk -v d="$d/" '
	index($1, d) == 1 && substr($1, length(d) + 1) !~ /\// {
		n = split($2, item, ",")
		for (i = 1; i <= n; i++)
			if (item[i] == ".")
				print substr(d, 1, index(d, "/") - 1)
			else if (item[i] != "-" && item[i] != "any")
				print item[i]
	}' | LC_ALL=C sort -u | tr '\n' ' ')
	[ "${says# }" = "$may" ] || {
		echo "$d/README.md:1: may include ${says:-nothing}; includes.sh" \
		    "has: $may"
		exit 1
	}
done

# A vendor's library is opened by name at run time: the name counts as well.
files '*.[ch]' | grep -Ev '^(agents/sensor/|probes/(device/|transport/xccl)|tests/)' |
    xargs grep -nE '"lib(cuda|nvidia|nccl|amdhip|rccl|rocm|hsa)[^"]*\.so' \
    /dev/null | sed 's/$/ : a vendor library is named here/' | grep . && exit 1
exit 0
