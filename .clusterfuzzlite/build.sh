#!/bin/bash -eu
# ClusterFuzzLite builds what OSS-Fuzz builds.
exec "$SRC/attest/fuzz/oss-fuzz/build.sh"
