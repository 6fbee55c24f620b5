#!/bin/bash -eu
# ClusterFuzzLite builds what OSS-Fuzz builds.
exec "$SRC/attest/oss-fuzz/build.sh"
