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
cp -r "$source/packages" "$source/examples" "$world/a checkout/"
ln -s "$world/a checkout/attest" "$world/attest"
for tool in awk cat dirname env flock grep ls mkdir readlink sed sh tail tr; do
  ln -s "$(command -v $tool)" "$world/bin/$tool"
done

# program NAME <script: puts a script into the PATH; what it does shows in $did.
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
has_done() { grep -qe "$1" "$did" || fail "$2: expected /$1/ in: $(cat "$did")"; }
has_not_done() { ! grep -qe "$1" "$did" || fail "$2: did not expect /$1/ in: $(cat "$did")"; }

# --- what must hold ---------------------------------------------------------------------------------------------------

fresh_machine
expect 0 "a clean machine" setup build
says 'installing with apt: cmake .*libboost1.81-dev' "a clean machine"
has_done 'install --yes --no-remove cmake .*libdlpack-dev$' "a clean machine"
has_not_done 'update\|catch2\|clang' "a clean machine"

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
program apt-get <<END
case "\$*" in *--simulate*) printf '%s\n' 'Remv libboost-dev [1]' 'Remv libboost1.74-dev [1]'; exit ;; esac
echo "apt-get \$*" >>"$did"
END
expect 2 "another Boost is in the way" setup build
says 'have to remove: libboost-dev libboost1.74-dev' "another Boost is in the way"
says 'CMAKE_PREFIX_PATH' "another Boost is in the way"
has_not_done . "another Boost is in the way"

fresh_machine
Boost_ROOT=/opt/boost
export Boost_ROOT
expect 0 "a Boost of one's own" setup build
has_not_done libboost "a Boost of one's own"
unset Boost_ROOT

fresh_machine
program apt-get <<END
case "\$*" in *--simulate*) grep -q update "$did" || { echo 'E: Unable to locate package cmake'; exit 100; }; exit ;; esac
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
[ "$(cat "$world/out")" = pytorch ] || fail "the list of examples: $(cat "$world/out")"
expect 2 "an unknown example" examples jax
says 'there is no example jax. There are: pytorch' "an unknown example"
has_not_done . "an unknown example"

[ "$failures" = 0 ] && echo "set-up: every machine was handled as promised"
exit "$((failures > 0))"
