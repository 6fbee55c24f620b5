#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite ask: with their $CC $CXX $CFLAGS $CXXFLAGS
# $LIB_FUZZING_ENGINE, from $SRC/attest, in $WORK, into $OUT. Programs in $OUT need the C and C++ libraries alone
# (ATTEST_SELF_CONTAINED). .ci/check_fuzz_build runs this with the variables of both sanitizers and checks what came
# out.
source=$SRC/attest
build=$WORK/attest-$SANITIZER

cmake -G Ninja -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=None -DATTEST_FUZZ=ON -DATTEST_SELF_CONTAINED=ON \
  -DATTEST_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS"
cmake --build "$build" --target fuzz_targets -- -k 0

for program in "$build"/fuzz_targets/fuzz_*; do
  target=$(basename "$program")
  target=${target#fuzz_}
  cp "$program" "$OUT/$target"
  for extra in dict options; do
    [ ! -f "$source/fuzz/targets/$target.$extra" ] || cp "$source/fuzz/targets/$target.$extra" "$OUT/"
  done
  rm -f "$OUT/${target}_seed_corpus.zip"
  (cd "$build/fuzz/corpus/$target" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" ./*)
done
