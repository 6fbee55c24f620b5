#!/bin/sh
# ./attest on machines that do not exist: apt-get, dpkg-query, id and sudo are small scripts in a PATH that has nothing
# else but the tools every Debian has. The checkout lies under a name with spaces and is run through a symlink.
set -eu
source=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")")
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
failures=0

# --- the machine ------------------------------------------------------------------------------------------------------

mkdir -p "$world/a checkout" "$world/bin"
cp "$source/attest" "$world/a checkout/"
cp -r "$source/packages" "$source/examples" "$source/fuzz" "$world/a checkout/"
ln -s "$world/a checkout/attest" "$world/attest"
for tool in awk cat cut dirname env flock grep ls mkdir readlink sed sh tail touch tr; do
  ln -s "$(command -v $tool)" "$world/bin/$tool"
done

# program NAME <script: puts a script into the PATH; its actions are listed in $did.
program() {
  { echo '#!/bin/sh'; cat; } >"$world/bin/$1"
  chmod +x "$world/bin/$1"
}
did=$world/did

# A Debian with nothing installed, as root, whose apt-get installs whatever it is asked for.
fresh_machine() {
  rm -rf "$did" "$world/a checkout/build" "$world/bin/sudo"
  : >"$did"
  echo 'echo 0' | program id
  echo 'exit 1' | program dpkg-query
  program apt-get <<END
case "\$*" in *--simulate*) echo "Inst g++"; exit ;; esac
echo "apt-get \$*" >>"$did"
END
}

attest() { PATH=$world/bin "$world/attest" "$@" >"$world/out" 2>"$world/err" </dev/null; }

# removes PACKAGE OTHERS: to install PACKAGE, apt-get has to remove OTHERS.
removes() {
  program apt-get <<END
case "\$*" in
  *--simulate*) case " \$* " in *" $1 "*) for each in $2; do echo "Remv \$each [1]"; done ;; esac; exit ;;
esac
echo "apt-get \$*" >>"$did"
END
}

# expect STATUS WHAT COMMAND...: runs ./attest COMMAND, which must end with STATUS and print nothing on stdout.
expect() {
  wanted=$1 what=$2
  shift 2
  got=0
  attest "$@" || got=$?
  [ "$got" = "$wanted" ] && [ ! -s "$world/out" ] && return
  fail "$what: exit status $got, expected $wanted; it said: $(cat "$world/out" "$world/err")"
}
fail() { echo "FAILED  $*"; failures=$((failures + 1)); }
says() { grep -qe "$1" "$world/err" || fail "$2: expected /$1/ in: $(cat "$world/err")"; }
says_not() { ! grep -qe "$1" "$world/err" || fail "$2: did not expect /$1/ in: $(cat "$world/err")"; }
has_done() { grep -qe "$1" "$did" || fail "$2: expected /$1/ in: $(cat "$did")"; }
has_not_done() { ! grep -qe "$1" "$did" || fail "$2: did not expect /$1/ in: $(cat "$did")"; }

# --- what must hold ---------------------------------------------------------------------------------------------------

fresh_machine
expect 0 "a clean machine" setup build
says 'installing with apt: cmake .*libboost1.81-dev' "a clean machine"
has_done 'install --yes --no-remove cmake .*libdlpack-dev$' "a clean machine"
has_not_done 'update\|catch2\|clang' "a clean machine"

fresh_machine
expect 2 "a section that does not exist" setup build nosuch
says "no section 'nosuch'; it has build test ci " "a section that does not exist"
has_not_done . "a section that does not exist"

fresh_machine
mkdir -p "$world/a checkout/build/release" "$world/a checkout/build/fuzz"
for preset in release fuzz; do touch -d 2001-01-01 "$world/a checkout/build/$preset/CMakeCache.txt"; done
touch -d 2002-01-01 "$world/before"
expect 0 "builds that found less" setup ci
for preset in release fuzz; do
  [ "$world/a checkout/build/$preset/CMakeCache.txt" -nt "$world/before" ] ||
    fail "the $preset build does not look again for what was installed"
done

fresh_machine
echo "shift 3; for package; do echo installed \$package; done" | program dpkg-query
expect 0 "everything is installed" setup build test ci
has_not_done . "everything is installed"

fresh_machine
echo "echo installed cmake; echo config-files g++; echo installed libfmt-dev-other" | program dpkg-query
expect 0 "some are installed" setup build
has_done '--no-remove ninja-build g++ .*libfmt-dev' "some are installed"
has_not_done 'cmake' "some are installed"

fresh_machine
removes libboost1.81-dev "libboost-dev libboost1.74-dev"
expect 2 "another Boost is in the way" setup build
says '^  libboost1.81-dev conflicts with libboost-dev libboost1.74-dev$' "another Boost is in the way"
says 'CMAKE_PREFIX_PATH' "another Boost is in the way"
says_not 'cmake\|libfmt-dev' "another Boost is in the way"
has_not_done . "another Boost is in the way"

fresh_machine
removes libc++-19-dev "libc++1-14 libunwind-14"
expect 2 "another libc++ is in the way" setup build oss-fuzz
says '^  libc++-19-dev conflicts with libc++1-14 libunwind-14$' "another libc++ is in the way"
says_not 'Boost\|libc++abi\|g++' "another libc++ is in the way"
has_not_done . "another libc++ is in the way"
expect 0 "nothing but OSS-Fuzz's C++ library conflicts" setup build test ci
has_done '--no-remove cmake .* clang-19' "nothing but OSS-Fuzz's C++ library conflicts"
has_not_done 'libc++' "nothing but OSS-Fuzz's C++ library conflicts"

fresh_machine
program apt-get <<'END'
case "$*" in *--simulate*" cmake "*) echo 'Remv make [1]' ;; esac
END
expect 2 "packages that conflict only together" setup build
says 'all of them together conflict with make$' "packages that conflict only together"
says_not 'Boost' "packages that conflict only together"

fresh_machine
Boost_ROOT=/opt/boost
export Boost_ROOT
expect 0 "a Boost of one's own" setup build
has_not_done libboost "a Boost of one's own"
unset Boost_ROOT

fresh_machine
program apt-get <<END
case "\$*" in *--simulate*) grep -q update "$did" ||
  { echo 'E: Unable to locate package cmake'; exit 100; }; exit ;; esac
echo "apt-get \$*" >>"$did"
END
expect 0 "apt has no lists yet" setup build
has_done 'update$' "apt has no lists yet"
has_done 'install' "apt has no lists yet"

fresh_machine
program apt-get <<END
case "\$*" in *--simulate*) echo 'E: Unable to locate package cmake'; exit 100 ;; esac
echo "apt-get \$*" >>"$did"
END
expect 2 "apt does not know a package" setup build
says 'Unable to locate package cmake' "apt does not know a package"
has_not_done install "apt does not know a package"

fresh_machine
program apt-get <<END
case "\$*" in *--simulate*) exit ;; *--download-only*) grep -q update "$did" || exit 100 ;; esac
echo "apt-get \$*" >>"$did"
END
expect 0 "apt has old lists" setup build
has_done 'update$' "apt has old lists"
has_done '--no-remove cmake' "apt has old lists"

fresh_machine
program apt-get <<END
case "\$*" in *--simulate*) exit ;; esac
echo "no space left"
exit 100
END
expect 2 "the installation fails" setup build
says 'no space left' "the installation fails"
says 'setup.log' "the installation fails"

fresh_machine
rm "$world/bin/apt-get"
expect 2 "no apt" setup build test
says 'missing.*cmake .*librapidcheck-dev' "no apt"

fresh_machine
rm "$world/bin/apt-get" "$world/bin/dpkg-query"
expect 2 "not a Debian" setup build
says 'no cmake here.*' "not a Debian"
says 'libboost1.81-dev' "not a Debian"

fresh_machine
echo 'echo 1000' | program id
expect 2 "not root, no sudo" audit --json -
says 'As root: apt-get install .*cmake' "not root, no sudo"
has_not_done . "not root, no sudo"

fresh_machine
echo 'echo 1000' | program id
program sudo <<END
echo "sudo \$*" >>"$did"
exec "\$@"
END
expect 0 "not root, with sudo" setup build
has_done 'sudo env DEBIAN_FRONTEND=noninteractive apt-get .*install' "not root, with sudo"

fresh_machine
attest examples || fail "the list of examples: it said $(cat "$world/err")"
grep -q '^money_bank_grows  *"money bank grows"' "$world/out" && grep -q '^pytorch  *[A-Z]' "$world/out" ||
  fail "the list of examples: $(cat "$world/out")"
for name in $(cut -d ' ' -f 1 "$world/out"); do
  [ -f "$source/examples/$name.cpp" ] || [ -f "$source/examples/$name.py" ] ||
    [ -f "$source/examples/verify_$name.py" ] ||
    [ -f "$source/examples/$name/survey.py" ] ||
    fail "an example without a source: $name"
done
expect 2 "an unknown example" examples jax
says 'there is no example jax. There are: money_bank_grows .*pytorch' "an unknown example"
has_not_done . "an unknown example"

fresh_machine
attest fuzz || fail "the list of fuzz targets: it said $(cat "$world/err")"
grep -q '^cli  *[A-Z].*\.$' "$world/out" || fail "the list of fuzz targets: $(cat "$world/out")"
[ "$(cut -d ' ' -f 1 "$world/out" | LC_ALL=C sort)" = \
  "$(cd "$source/fuzz/targets" && ls *.cpp | sed 's/\.cpp$//' | LC_ALL=C sort)" ] ||
  fail "the list of fuzz targets: $(cat "$world/out")"
[ "$(grep -c '^[a-z_]*  *[A-Z].*\.$' "$world/out")" = "$(wc -l <"$world/out")" ] ||
  fail "a fuzz target without a sentence: $(cat "$world/out")"
has_not_done . "the list of fuzz targets"
expect 2 "an unknown fuzz target" fuzz nosuch
says 'there is no fuzz target nosuch. There are: .*loader .*cli' "an unknown fuzz target"
has_not_done . "an unknown fuzz target"
expect 2 "a fuzz target, on a machine whose apt-get installs nothing" fuzz cli
has_done 'install --yes --no-remove cmake .*clang-19 libclang-rt-19-dev lld-19 llvm-19 python3$' "a fuzz target"
has_not_done 'catch2\|rapidcheck\|mpf\|arb\|gappa\|jsonschema\|numpy' "a fuzz target"

# .ci/check_fuzz_build takes OSS-Fuzz's C++ library where the compiler has it, where apt can install it, and else
# libstdc++. Only the choice is asked: the script that would build says what it was given, and fails.
mkdir -p "$world/a checkout/.ci"
cp "$source/.ci/check_fuzz_build" "$world/a checkout/.ci/"
for tool in bash ln sort; do ln -sf "$(command -v $tool)" "$world/bin/$tool"; done
printf '%s\n' '#!/bin/sh' 'echo "build $CXXFLAGS with $LIB_FUZZING_ENGINE" >>"'"$did"'"; exit 7' \
  >"$world/a checkout/fuzz/oss-fuzz/build.sh"
chmod +x "$world/a checkout/fuzz/oss-fuzz/build.sh"
program clang++-19 <<END
case "\$*" in *-stdlib=libc++*) [ -f "$world/libcxx" ] ||
  grep -q 'install --yes --no-remove libc++-19-dev' "$did" ;; esac
END
check_fuzz_build() { PATH=$world/bin "$world/a checkout/.ci/check_fuzz_build" >\
  "$world/out" 2>"$world/err" </dev/null || true; }

fresh_machine
: >"$world/libcxx"
check_fuzz_build
has_done 'build .*-stdlib=libc++' "libc++ is there"
has_not_done apt-get "libc++ is there"
rm "$world/libcxx"

fresh_machine
check_fuzz_build
has_done 'apt-get .*libc++-19-dev libc++abi-19-dev$' "libc++ can be installed"
has_done 'build .*-stdlib=libc++' "libc++ can be installed"

fresh_machine
removes libc++-19-dev libc++1-14
check_fuzz_build
has_done 'build .*with -fsanitize=fuzzer;-static-libstdc++$' "libc++ cannot be installed"
has_not_done 'stdlib=libc++\|apt-get' "libc++ cannot be installed"
grep -q 'built with libstdc++' "$world/out" ||
  fail "libc++ cannot be installed: it said $(cat "$world/out" "$world/err")"

[ "$failures" = 0 ] && echo "set-up: every machine was handled as promised"
exit "$((failures > 0))"
