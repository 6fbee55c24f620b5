# What `./attest examples` does: a part of the attest script, which sources it and whose functions it uses.
# shellcheck shell=sh disable=SC2154  # $root, $build and $python are that script's

# $python has the libraries of docs/libraries.md, in the versions that are named there.
libraries_python() {
  named=$root/examples/libraries/requirements.txt installed=$build/examples/libraries-python/requirements.txt
  environment examples/libraries-python
  cmp -s "$named" "$installed" && return
  say "installing the libraries of docs/libraries.md from PyPI in build/examples/libraries-python (gigabytes)"
  logged python "$python" -m pip install -r "$named"
  cp "$named" "$installed"
}

# Experiments are programs of examples/, in the order of the tour. Other examples are scripts that answer `attest gen`'s
# cases with another library's kernel: SCRIPT CASES OUTPUTS.
experiments() { sed -n 's/^attest_example(\([a-z_]*\).*/\1/p' "$root/examples/CMakeLists.txt"; }
# Those in Python, which need what is no part of the set-up: NAME.py LIBRARY ATTEST [--out DIR]; status 77 where that is
# missing.
trained=translate
judged() { (cd "$root/examples" && ls verify_*.py | sed 's/^verify_//; s/\.py$//'); }

examples() {
  [ $# -gt 0 ] || { list_examples; return; }
  name=$1
  shift
  if [ "$name" = all ]; then
    run_experiments "$@"
  elif experiments | grep -qxF -e "$name"; then
    prepare_experiments "example_$name" "$@"
    exec "$build/release/examples/programs/$name" "$@"
  elif [ "$name" = $trained ]; then
    prepare release "build test" attest attest_kernel
    own_python examples/python torch numpy safetensors sacrebleu matplotlib
    exec "$python" "$root/examples/$name.py" "$build/release/fast/libattest_kernel.so" "$build/release/bin/attest" "$@"
  elif [ "$name" = libraries ]; then
    program gen
    libraries_python
    exec "$python" "$root/examples/libraries/survey.py" "$build/release/bin/attest" "$build/examples/libraries" "$@"
  elif judged | grep -qxF -e "$name"; then
    judge_example "$@"
  else
    stop "there is no example $name. There are: $(echo $(experiments) $trained $(judged) libraries)"
  fi
}

# A line each: the name, and what the first line of the source says.
list_examples() {
  for name in $(experiments); do
    printf '%-18s %s\n' "$name" "$(sed -n '1s,^// ,,p' "$root/examples/$name.cpp")"
  done
  printf '%-18s %s\n' $trained "$(sed -n '1s,^# ,,p' "$root/examples/$trained.py")"
  for name in $(judged); do
    printf '%-18s %s\n' "$name" "Other people's kernel, judged on the cases of \`attest gen\`."
  done
  printf '%-18s %s\n' libraries "The kernels of docs/libraries.md, judged so; its table is written anew."
}

# prepare_experiments TARGET ARGUMENT...: the target is built, and what draws is there if something is to be drawn.
prepare_experiments() {
  target=$1
  shift
  case " $* " in
    *" --out"*) command -v gnuplot >/dev/null || { lock; setup examples; unlock; } ;;
  esac
  prepare release "build test" $target
}

# Runs every experiment, even after a failure; the status is then 1.
run_experiments() {
  prepare_experiments "attest_examples attest attest_kernel" "$@"
  python=$build/examples/python/bin/python failed=
  [ -x "$python" ] || python=python3
  for name in $(experiments); do
    printf '\n=== %s ===\n' "$name"
    "$build/release/examples/programs/$name" "$@" || failed="$failed $name"
  done
  printf '\n=== %s ===\n' $trained
  "$python" "$root/examples/$trained.py" "$build/release/fast/libattest_kernel.so" "$build/release/bin/attest" "$@" ||
    [ $? = 77 ] || failed="$failed $trained"
  [ -z "$failed" ] || { say "these examples failed:$failed"; exit 1; }
}

judge_example() {
  program gen
  made=$build/examples
  mkdir -p "$made"
  python=python3
  has torch numpy safetensors || own_python examples/python torch numpy safetensors
  attest=$build/release/bin/attest
  "$attest" gen --seed 1 --out "$made/cases.safetensors" &&
    "$python" "$root/examples/verify_$name.py" "$made/cases.safetensors" "$made/outputs.safetensors" >&2 ||
      stop "the example failed"
  exec "$attest" verify "$made/cases.safetensors" "$made/outputs.safetensors" "$@"
}
