#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# versions.sh [TREE] - packages have the version of CMakeLists.txt. Spack's recipe
# names options that CMake has, and the libraries that it requires, not older
# ones. The recipe is run here with fake directives of Spack, not with Spack.
. "$(dirname "$0")/lib.sh"
bad=0
version=$(sed -n 's/^project(coalmine VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)

# says FILE LINE TEXT: text is that version, or one of its packages'.
says() {
	case $3 in
	"$version" | "$version"[+~-]*) return ;;
	esac
	echo "$1:$2: version $3, and $version in CMakeLists.txt"
	bad=1
}

says debian/changelog 1 "$(sed -n '1s/.*(\([^)]*\)).*/\1/p' debian/changelog)"
says packaging/coalmine.spec "$(grep -n '^Version:' packaging/coalmine.spec |
    cut -d : -f 1)" "$(sed -n 's/^Version: //p' packaging/coalmine.spec)"
# Spack's is Python as well.
recipe=packaging/spack/packages/coalmine/package.py
says $recipe "$(grep -n '^    version(' $recipe | cut -d : -f 1)" \
    "$(sed -n 's/^    version("\(.*\)")/\1/p' $recipe)"
python3 - $recipe <<'END' || bad=1
import glob
import re
import sys
import types

recipe = sys.argv[1]
cmake = "\n".join(open(f).read() for f in ["CMakeLists.txt"] + glob.glob(
    "[a-z]*/**/CMakeLists.txt", recursive=True) if not f.startswith("build/"))
# Modules of pkg-config, and what Spack calls their packages.
PACKAGES = {"jansson": "jansson", "inih": "libinih", "zlib": "zlib-api",
            "libevent": "libevent", "libevent_openssl": "libevent",
            "sqlite3": "sqlite", "openssl": "openssl", "libzstd": "zstd",
            "libcurl": "curl", "yaml-0.1": "libyaml", "rdkafka": "librdkafka",
            "libpq": "postgresql"}
OTHERS = {"cmake", "ninja", "pkgconfig", "python", "mpi", "mimalloc"}
bad, needs, variants, used, options = [], {}, {"build_type"}, [], []


def here():
    return sys._getframe(2).f_lineno


def depends_on(spec, type=None, when=None):
    name, _, floor = re.match(r"([\w-]+)(@([\d.]+):)?", spec).groups()
    needs[name] = here(), floor
    if when:
        used.append((here(), when.lstrip("+~")))


class CMakePackage:
    def define(self, option, value):
        options.append((here(), option))

    def define_from_variant(self, option, variant):
        options.append((here(), option))
        used.append((here(), variant))


class Spec(str):
    mpicc = "mpicc"

    def __getitem__(self, name):
        if name not in needs:
            bad.append((here(), f"spec[{name!r}] is not a dependency"))
        return self

    def __contains__(self, one):
        used.append((here(), one.lstrip("+~")))
        return True


stand_in = types.ModuleType("spack.package")
for name in ("license", "version", "generator"):
    setattr(stand_in, name, lambda *a, **k: None)
stand_in.variant = lambda name, **k: variants.add(name)
stand_in.depends_on, stand_in.CMakePackage = depends_on, CMakePackage
sys.modules.update({"spack": types.ModuleType("spack"),
                    "spack.package": stand_in})
names = {}
exec(compile(open(recipe).read(), recipe, "exec"), names)
package = names["Coalmine"]()
package.spec = Spec()
package.cmake_args()

known = set(re.findall(r"\b(?:option|set|find_library)\((\w+)", cmake)) | {
    "COALMINE_" + n.upper() for n in re.findall(
        r"coalmine_plugin\((?:\w+-)*(\w+) ", cmake)}
bad += [(at, f"CMake has no option {o}") for at, o in options
        if o not in known]
bad += [(at, f"no variant {v}") for at, v in used if v not in variants]
bad += [(at, f"nothing here needs {n}") for n, (at, _) in needs.items()
        if n not in OTHERS and n not in PACKAGES.values()]
floors = [("cmake", re.search(r"cmake_minimum_required\(VERSION ([\d.]+)",
                              cmake)[1])]
for line in re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET"
                       r"([^)]*)\)", cmake):
    floors += [(PACKAGES.get(m, m), v) for m, v in re.findall(
        r"([\w.-]+?)(?:>=([\d.]+))?(?:\s|$)", line) if m != "cmocka"]
for name, floor in floors:
    at, has = needs.get(name, (1, ""))
    if has == "" or floor and has != floor:
        bad.append((at, f"CMake wants {name} {floor}".rstrip()))
for at, text in bad:
    print(f"{recipe}:{at}: {text}")
sys.exit(bad != [])
END
exit $bad
