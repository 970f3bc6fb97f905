#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# spoilt.sh - every lint can fail. In a small clean tree every lint must pass.
# Then each line below spoils the tree in one way, and the lint must fail with
# the text that the line expects.
#
# Not covered: whether the rules make sense.
set -u
lint=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
tables=${COALMINE_BUILD:-$lint/../../build/dev}/etc/coalmine-tables
failed=0

fresh() {
	rm -rf "$tree"
	mkdir -p "$tree"/{common,schema,daemon,probes/plan,etc,tests/unit,systemd}
	cp "$lint/../../.clang-format" "$tree"
	cp -r "$lint"/../../etc/{coalmine.conf.5,make-page,grafana} "$tree/etc"
	mkdir "$tree/lab"
	cp "$lint/../../lab/make-matrix" "$tree/lab"
	mkdir -p "$tree"/{ctl/accept,probes/topology,daemon/{diagnosis,run},docs,debian,packaging}
	for d in common daemon probes/plan; do
		echo "# $d" >"$tree/$d/README.md"
	done
	for f in probes/coalmine-probe-options.5 probes/coalmine-scan.1 docs/coalmine.7 \
	    probes/topology/coalmine-machine.5 ctl/accept/coalmine-promise.5 \
	    daemon/diagnosis/coalmine-verdict.7 schema/coalmine-{output,wire}.7; do
		cp "$lint/../../$f" "$tree/$f"
	done
	# coalmine-verdict(7) has a table of the bench's results.
	mkdir "$tree/tests/bench"
	cp "$lint/../bench/RESULTS.md" "$tree/tests/bench"
	cp "$lint"/../../systemd/* "$tree/systemd"
	(cd "$lint/../.." && cp --parents CMakeLists.txt daemon/CMakeLists.txt \
	    probes/CMakeLists.txt probes/device/gpu/CMakeLists.txt "$tree")
	cp "$lint/../../debian/changelog" "$tree/debian"
	cp -r "$lint"/../../packaging/{coalmine.spec,spack} "$tree/packaging"
	printf '%s\n' '/* SPDX-License-Identifier: Apache-2.0 */' \
	    '#include <stddef.h>' '' 'size_t one(void);' >"$tree/common/one.h"
	printf '%s\n' '/* SPDX-License-Identifier: Apache-2.0 */' '/*' \
	    ' * one.c - which number it is.' ' */' \
	    '#include "common/one.h"' '' 'size_t' 'one(void)' '{' \
	    '	return 1;' '}' | tee "$tree/common/one.c" |
	    sed 's/one\.c/d.c/' >"$tree/daemon/d.c"
}

# objects: of the .c of the tree, as a build has them; for calls.sh.
objects() {
	local file folder
	for file in $(find * -name '*.c'); do
		folder=objects/$(dirname "$file")/CMakeFiles/x.dir
		mkdir -p "$folder"
		cc -I. -c "$file" -o "$folder/$(basename "$file").o"
	done
}

run() {
	"$lint/$1.sh" "$tree" "$tables" 2>&1
}

# spoil LINT EXPECTED COMMAND: in the tree.
spoil() {
	local out rc
	fresh
	(cd "$tree" && eval "$3")
	out=$(run "$1")
	rc=$?
	[ $rc = 77 ] && return # its tool is missing: its own test says so
	if [ $rc != 1 ] || ! grep -qF -- "$2" <<<"$out"; then
		echo "$1 (status $rc) does not see: $3"
		echo "  wanted: $2"
		echo "  said: $out"
		failed=1
	fi
}

# body LINES: a function of this many lines.
body() {
	printf 'void\nlong_one(void)\n{\n'
	for ((i = 3; i < $1; i++)); do
		printf '\t;\n'
	done
	printf '}\n'
}

fresh
(cd "$tree" && objects)
for l in constants includes calls headers format functions paths texts man made units versions words; do
	out=$(run $l)
	rc=$?
	[ $rc = 0 ] || [ $rc = 77 ] && continue
	echo "$l fails in a clean tree: $out"
	failed=1
done

spoil constants 'daemon/diagnosis/d.c:5: no reason for LEAST' \
    'printf "/* a word */\nint a;\n\n#define SOME 1 /* few */\n#define LEAST 0.5\n" >daemon/diagnosis/d.c'
spoil includes 'common/one.c:12: must not include daemon/store/store.h' \
    'echo "#include \"daemon/store/store.h\"" >>common/one.c'
spoil includes 'must not include probes/plan.h' \
    'echo "#include \"probes/plan.h\"" >>daemon/d.c'
spoil includes 'must not include sqlite3.h (sqlite3)' \
    'echo "#include <sqlite3.h>" >>daemon/d.c'
spoil includes 'must not include mpi.h (mpi)' \
    'echo "  #  include <mpi.h>" >>probes/plan/p.c'
spoil includes 'must not include cuda_runtime.h (vendor)' \
    'echo "#include <cuda_runtime.h>" >>daemon/d.c'
spoil includes 'must not include event2/event.h' \
    'echo "#include <event2/event.h>" >>common/one.h'
spoil includes 'not written from the root' \
    'echo "#include \"one.h\"" >>common/one.c'
spoil includes 'not written from the root' \
    'echo "#include \"../daemon/d.h\"" >>common/one.c'
spoil includes 'daemon/run/r.c:1: must not include daemon/api/api.h' \
    'echo "#include \"daemon/api/api.h\"" >daemon/run/r.c'
spoil includes 'without a row' 'mkdir new; cp common/one.c new'
spoil includes 'common: no README.md' 'rm common/README.md'
spoil includes 'common/README.md:1: may include daemon/run' \
    'echo "May include: \`daemon/run\`." >>common/README.md'
spoil includes 'a vendor library is named' \
    'echo "const char *x = \"libcuda.so.1\";" >>daemon/d.c'
spoil calls 'common/one.c:1: must not call far of daemon/run/r.c' \
    'echo "int far(void); int f(void) { return far(); }" >>common/one.c
    echo "int far(void) { return 1; }" >daemon/run/r.c
    objects'
spoil calls 'daemon/d.c:1: in a circle of calls: daemon/d.c daemon/e.c' \
    'echo "int e(void); int d(void) { return e(); }" >>daemon/d.c
    echo "int d(void); int e(void) { return d(); }" >daemon/e.c
    objects'
spoil calls 'daemon/run:1: in a circle of calls: daemon/run daemon/store' \
    'mkdir daemon/store
    echo "int s(void); int r(void) { return s(); }" >daemon/run/r.c
    echo "int u(void); int s(void) { return u(); }" \
	>daemon/store/s.c
    echo "int u(void) { return 1; }" >daemon/run/u.c
    objects'
spoil calls 'calls.sh:1: no longer occurs, remove it:' \
    'echo "daemon/d.c daemon/run" >exceptions
    echo "int s(void); int d(void) { return s(); }" >>daemon/d.c
    mkdir daemon/store; echo "int s(void) { return 1; }" >daemon/store/s.c
    objects'
spoil cppcheck 'common/one.c:16: ' \
    'printf "int\nbad(void)\n{\n\tint a[2] = { 0 };\n\treturn a[2];\n}\n" >>common/one.c'
spoil headers 'size_t' 'sed -i /stddef/d common/one.h'
spoil headers 'redefinition' 'echo "struct s { int x; };" >>common/one.h'
spoil format 'daemon/d.c:' 'sed -i "s/\treturn/return/" daemon/d.c'
spoil functions 'long_one has 101 lines' 'body 101 >common/long.c'
spoil functions '1201 lines in one file' \
    'yes "" | head -n 1201 >common/long.c'
spoil functions 'static bare lacks the prefix one_' \
    'printf "static int\nbare(void)\n{\n\treturn 1;\n}\n" >>common/one.c'
spoil texts 'daemon/d.c: json_pack of "text" as why' \
    'printf "x = json_pack(\"{s:I, s:s}\",\n  \"id\", f(a, b), \"text\", why);\n" >>daemon/d.c'
spoil texts 'daemon/d.c: json_pack of "name" as err.text' \
    'echo "x = json_pack(\"{s:s}\", \"name\", err.text);" >>daemon/d.c'
spoil texts 'daemon/d.c: json_string of err->text' \
    'echo "x = json_string(err->text);" >>daemon/d.c'
spoil words 'daemon/d.c:13: "nobody": write no client' \
    'printf "/* nobody */\nx = \"nobody leads\";\n" >>daemon/d.c'
spoil words 'daemon/d.c:12: "allowed is": write expected' \
    'echo "x = \"f:1: allowed is 1\";" >>daemon/d.c'
spoil words 'docs/coalmine.7:' 'echo "so long as it is told" >>docs/coalmine.7'
spoil words 'agents/main.c does not have "nobody"' \
    'mkdir agents; cp common/one.c agents/main.c'
spoil paths 'common/one.c:1: no SPDX line' 'sed -i 1d common/one.c'
spoil paths 'common/one.c:2: no head "one.c - purpose"' \
    'sed -i 2,4d common/one.c'
spoil paths 'daemon/d.c:2: no head' 'cp common/one.c daemon/d.c'
spoil paths 'etc/new:1: no SPDX line' 'echo "#!/bin/sh" >etc/new'
spoil paths 'common/one.c:12' 'echo "/* see /w""ork/x */" >>common/one.c'
spoil paths 'common/one.c:12' 'echo "/* T""ODO */" >>common/one.c'
spoil paths 'etc/x.sh:2' \
    'printf "# SPDX-License-Identifier: Apache-2.0\necho \n" >etc/x.sh'
spoil paths 'README.md:1: names common/two*.c, which is not there' \
    'printf "See \`common/one.c\` and \`common/two*.c\`.\n" >README.md'
spoil man 'etc/bad.5' 'printf ".Dd x\n.Sh\n" >etc/bad.5'
spoil man "can't break line" \
    'printf "%120s\n" x | tr " " x >>schema/coalmine-output.7'
spoil man 'etc/coalmine.conf.5: text about' \
    'sed -i "/table coalmined/d" etc/coalmine.conf.5'
spoil man 'etc/coalmine.conf.5: no text about section budget' \
    'sed -i "/about budget/d" etc/coalmine.conf.5'
spoil man 'says nothing of cause peer-lost' \
    'sed -i "/table cause/d" schema/coalmine-output.7'
spoil man 'says nothing of message' 'rm schema/coalmine-wire.7'
spoil man 'docs/coalmine.7: has no entry for schema/coalmine-output.7' \
    'sed -i "s/^.It Xr coalmine-output 7/.It Xr coalmine-outputs 7/" docs/coalmine.7'
spoil man 'docs/coalmine.7: has no entry for etc/coalmine.conf.5' \
    'sed -i "s/^.Nd .*/.Nd another description/" etc/coalmine.conf.5'
spoil man 'docs/coalmine.7: names test none of tests/x.py' \
    'echo ".Pq Pa tests/x.py : Li none ;" >>docs/coalmine.7'
spoil man 'docs/coalmine-security.7:2: a claim without a test' \
    'printf ".Bl -bullet\n.It\nx.\n.El\n" >docs/coalmine-security.7'
spoil made 'man/man5/coalmine.conf.5:1: differs' \
    'sed -i "s/^.Sh COLLECTOR/.Sh COLLECTORS/" etc/coalmine.conf.5'
spoil made 'grafana/coalmine-overview.json:1: differs' \
    'sed -i "s/QUARTER = 24/QUARTER = 23/" etc/grafana/make.py'
spoil made 'matrices/ccc.mtx:1: differs' \
    'sed -i "s/% 7/% 6/" lab/make-matrix'
spoil man 'no table "kolours"' \
    'echo ".\\\" table kolours" >>etc/coalmine.conf.5'
spoil units "Unknown key 'Kolour'" \
    'echo Kolour=blue >>systemd/coalmined.service'
spoil units 'exposure level for coalmine-agent.service' \
    'sed -i /^Protect/d systemd/coalmine-agent.service'
spoil versions 'debian/changelog:1: version 0.0.9' \
    'sed -i "1s/(.*)/(0.0.9)/" debian/changelog'
spoil versions 'package.py:16: version 0.0.9' \
    'sed -i "s/version(.[0-9.]*/version(\"0.0.9/" packaging/spack/packages/coalmine/package.py'
recipe=packaging/spack/packages/coalmine/package.py
spoil versions 'CMake has no option COALMINE_TASTE' \
    "sed -i s/COALMINE_TESTS/COALMINE_TASTE/ $recipe"
spoil versions 'no variant kafak' "sed -i 's/,.\"kafka\")/, \"kafak\")/' $recipe"
spoil versions 'CMake wants sqlite 3.26' "sed -i s/sqlite@3.26/sqlite@3.2/ $recipe"
spoil versions 'CMake wants libyaml' "sed -i /libyaml/d $recipe"
spoil versions 'nothing here needs rust' \
    "sed -i 's/depends_on(\"curl\")/&; depends_on(\"rust\")/' $recipe"
spoil versions 'SyntaxError' 'echo "def" >>packaging/spack/packages/coalmine/package.py'
spoil versions 'packaging/coalmine.spec:7: version 0.0.9' \
    'sed -i "s/^Version: .*/Version: 0.0.9/" packaging/coalmine.spec'
exit $failed
