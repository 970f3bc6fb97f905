# SPDX-License-Identifier: Apache-2.0
"""For Spack, from a tree that is there: packaging/README.md says how."""
from spack.package import *


class Coalmine(CMakePackage):
    """Canaries in the network of an HPC or AI cluster: it names the node,
    leaf switch or link that is slow."""

    # It has no public address yet; "spack dev-build" needs none.
    has_code = True
    manual_download = True

    license("Apache-2.0")

    version("0.1.0")

    variant("kafka", default=False, description="Events to Kafka")
    variant("postgresql", default=False, description="A store in PostgreSQL")
    variant("mimalloc", default=False, description="The collector's allocator")

    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("mpi")
    depends_on("libevent@2.1.8:+openssl")
    depends_on("openssl@1.1.1:")
    depends_on("sqlite@3.26:")
    depends_on("jansson@2.10:")
    depends_on("libinih")
    depends_on("libyaml")
    depends_on("curl")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("librdkafka", when="+kafka")
    depends_on("mimalloc", when="+mimalloc")
    depends_on("postgresql", when="+postgresql")

    generator("ninja")

    def cmake_args(self):
        # The MPI of the spec and no other of the PATH, and nothing else that
        # the machine happens to have. Spack has no client of NATS; GPU plugins
        # are built by hand: COALMINE_CUDA, COALMINE_HIP.
        args = [
            self.define("COALMINE_TESTS", False),
            self.define("COALMINE_MPICC", self.spec["mpi"].mpicc),
            self.define("COALMINE_CUDA", "OFF"),
            self.define("COALMINE_HIP", "OFF"),
            self.define("COALMINE_NATS", "OFF"),
            self.define_from_variant("COALMINE_KAFKA", "kafka"),
            self.define_from_variant("COALMINE_POSTGRESQL", "postgresql"),
        ]
        if "~mimalloc" in self.spec:
            args.append(self.define("MIMALLOC", ""))
        return args
