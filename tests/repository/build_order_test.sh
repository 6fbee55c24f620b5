#!/bin/sh
# Two ./attest in one checkout: which targets each word builds, and who waits for whom. cmake, ctest, flock and sleep
# are small scripts that write down what happens, so that the order of events is asserted and no time is measured.
set -eu
source=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")")
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
checkout=$world/checkout tree=$world/checkout/build/release
mkdir -p "$checkout" "$world/bin"
cp "$source/attest" "$checkout/"
cp -r "$source/packages" "$checkout/"
for tool in awk cat cut dirname env grep mkdir readlink rm sed sh sort tail touch tr; do
  ln -s "$(command -v $tool)" "$world/bin/$tool"
done
failures=0
did=$world/did            # what happened, a line each
built=$world/built        # a file for each target that is up to date
busy=$world/busy          # there as long as another ./attest holds the lock

# program NAME <script: puts a script into the PATH.
program() {
  { echo '#!/bin/sh'; cat; } >"$world/bin/$1"
  chmod +x "$world/bin/$1"
}
# shellcheck disable=SC2016
echo 'shift 3; for package; do echo installed $package; done' | program dpkg-query
echo 'echo 2' | program getconf

# `cmake --build TREE --target T... [-- -n]`, and configuring. Building `all` needs the lock, and so does everything
# else.
program cmake <<END
if [ "\$1" != --build ]; then
  echo configure >>"$did"
  mkdir -p "$tree/bin"
  touch "$tree/build.ninja"
  exit
fi
shift 3
targets= missing= dry=
for word; do
  case \$word in --) ;; -n) dry=1 ;; *) targets="\$targets \$word"; [ -f "$built/\$word" ] || missing=1 ;; esac
done
if [ "\$dry" ]; then
  [ "\$missing" ] || echo "ninja: no work to do."
  exit
fi
echo "build\$targets" >>"$did"
for target in \$targets; do touch "$built/\$target"; done
END
# Of four tests `-R one` chooses the first, and no argument the first three.
program ctest <<END
[ ! -e /proc/\$\$/fd/9 ] || echo "holds the lock" >>"$did"
case " \$* " in
  *" -N -R one "*) echo "  Test #1: one" ;;
  *" -N "*) printf '%s\n' "  Test #1: one" "  Test  #22: two" "  Test #3: three" ;;
  *) echo ctest >>"$did" ;;
esac
END

# -n: whether the lock is free; without: waits until it is.
program flock <<END
case \$1 in
  -n) [ ! -e "$busy" ] || exit 1 ;;
  *) echo "waits for the other to end" >>"$did"; rm "$busy" ;;
esac
echo locks >>"$did"
END

# The other ./attest works while this one sleeps: \$world/other/1, 2, ... are what it does then.
program sleep <<END
read -r turn <"$world/turn"
turn=\$((turn + 1))
echo \$turn >"$world/turn"
echo sleeps >>"$did"
[ \$turn -lt 10 ] || { echo "sleeps without end" >>"$did"; rm "$busy"; }
[ ! -f "$world/other/\$turn" ] || . "$world/other/\$turn"
END

# A checkout whose build has the targets.
checkout_with() {
  rm -rf "$checkout/build" "$built" "$busy" "$did" "$world/other"
  mkdir -p "$tree/bin" "$tree/tests" "$built" "$world/other"
  printf '%s\t%s\t%s\n' one "one_test shared" "" two "shared two_test" "" three "" "no three: ./attest setup three" \
    four four_test "" >"$tree/tests/registered.txt"
  echo 0 >"$world/turn"
  : >"$did"
  cat >"$tree/bin/attest" <<END
#!/bin/sh
[ ! -e /proc/\$\$/fd/9 ] || echo "holds the lock" >>"$did"
echo "run \$*" >>"$did"
END
  chmod +x "$tree/bin/attest"
  touch "$tree/build.ninja"
  for target; do touch "$built/$target"; done
}

# happens WHAT EVENTS COMMAND...: ./attest COMMAND succeeds, and this happens, in this order: EVENTS, one a line.
happens() {
  what=$1 expected=$2
  shift 2
  PATH=$world/bin "$checkout/attest" "$@" >"$world/out" 2>"$world/err" </dev/null ||
    fail "$what: it said $(cat "$world/err")"
  [ "$(cat "$did")" = "$expected" ] || fail "$what: expected
$expected
but there was
$(cat "$did")"
}
fail() { echo "FAILED  $*"; failures=$((failures + 1)); }

program="attest attest_runner attest_serve attest_kernel"

# shellcheck disable=SC2086
checkout_with $program
touch "$busy"
happens "what is built runs beside a build" "run audit --quick" audit --quick

checkout_with
touch "$busy"
echo "touch '$built/attest' '$built/attest_runner'" >"$world/other/1"
echo "touch '$built/attest_serve' '$built/attest_kernel'" >"$world/other/2"
happens "another builds everything: its end is not waited for" "sleeps
sleeps
run verify x" verify x

checkout_with attest attest_kernel
touch "$busy"
echo "rm '$busy'" >"$world/other/2"
happens "another builds something else: then it is our turn" "sleeps
sleeps
locks
build $program
run audit" audit

checkout_with
happens "an audit builds no proof, no zoo, no vectors and no answers" "locks
build $program
run audit" audit

checkout_with
happens "help for a command of the program is the program's" "locks
build $program
run help audit" help audit

checkout_with
happens "the selftest loads the zoo" "locks
build $program attest_zoo
run selftest --jobs 1" selftest --jobs 1

for word in solve reference explain; do
  checkout_with
  happens "$word is a library of its own" "locks
build $program attest_answers
run $word x" $word x
done

checkout_with
happens "a kernel of the zoo is built" "locks
build $program attest_zoo
run audit --kernel ./libattest_zoo.so:x" audit --kernel ./libattest_zoo.so:x

checkout_with
rm "$tree/build.ninja"
happens "tests: the program, what the tests run, and then without the lock" "locks
configure
build $program
locks
build one_test shared two_test
ctest" test
grep -qx 'attest: skipped, no three: ./attest setup three: three' "$world/err" ||
  fail "a skipped test: it said $(cat "$world/err")"

# shellcheck disable=SC2086
checkout_with $program
happens "chosen tests: what they run, and nothing else" "locks
build one_test shared
ctest" test -R one
! grep -q skipped "$world/err" || fail "a test that was not chosen is not skipped: it said $(cat "$world/err")"

# shellcheck disable=SC2086
checkout_with $program one_test shared two_test
touch "$busy"
happens "tests that are built run beside a build" "ctest" test

# What up_to_date relies on: ninja -n asks for what another ninja is in the middle of making from a newer input.
half_made=$world/half_made
mkdir "$half_made"
mkfifo "$half_made/began" "$half_made/go_on"
cat >"$half_made/build.ninja" <<'END'
rule make
  command = echo half >$out; [ ! -f slowly ] || { echo >began; read -r line <go_on; }; cat $in >$out
build made: make input
END
echo 1 >"$half_made/input"
ninja -C "$half_made" >/dev/null
ninja -C "$half_made" -n | grep -q 'no work to do' || fail "ninja makes again what is made"
touch "$half_made/slowly"
echo 2 >"$half_made/input"
ninja -C "$half_made" >/dev/null &
read -r line <"$half_made/began"
[ "$(cat "$half_made/made")" = half ] || fail "the file is not half made"
! ninja -C "$half_made" -n | grep -q 'no work to do' || fail "what is half made counts as made$line"
echo >"$half_made/go_on"
wait $!
ninja -C "$half_made" -n | grep -q 'no work to do' || fail "what was made slowly is not made"

# With globs that are checked in each build there is always work to do, says ninja -n.
for file in "$source/CMakeLists.txt" "$source"/*/CMakeLists.txt "$source"/tests/*/CMakeLists.txt \
  "$source"/cmake/*.cmake; do
  ! grep -q 'GLOB.* CONFIGURE_DEPENDS' "$file" || fail "$file has a glob with CONFIGURE_DEPENDS"
done

[ "$failures" = 0 ] && echo "two ./attest in one checkout: each built what it needed and waited for nothing else"
exit "$((failures > 0))"
