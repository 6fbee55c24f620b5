#!/usr/bin/env bash
# The README's two commands on a fresh Debian 12, as a new user gives them. There are git, a shell, and a clone of
# CHECKOUT's HEAD.
#
# Usage: tests/fresh_machine.sh [--chroot | --user] [--keep] [CHECKOUT]
#   CHECKOUT  default: this one
#   (neither) as root, in root's home, closed to other users; the system is entered by pivot_root, as containers are
#   --chroot  the same, entered by chroot: no user namespace can be made there
#   --user    as another user, with sudo
#   --keep    leave the system where it is, and say where
# Environment: COMMANDS    other commands, one a line
#              ATTEST_FRESH_CACHE  the folder that keeps the bare system (default: attest/ in $XDG_CACHE_HOME
#              or ~/.cache)
#              TMPDIR      where the system is made (default: /var/tmp); it takes some gigabytes
# Exit status: 0 if every command ends with 0, 1 if one does not, 2 bad usage, 77 if no fresh system can be made here.
set -euo pipefail
here=$(dirname "$(dirname "$(readlink -f "$0")")")

say() { printf 'fresh machine: %s\n' "$*"; }
skip() { say "skipped: $*"; exit 77; }

form=pivot_root keep=
while [ $# -gt 0 ]; do
  case $1 in
    --chroot) form=chroot ;;
    --user) form=user ;;
    --keep) keep=1 ;;
    -*) say "unknown argument $1"; exit 2 ;;
    *) break ;;
  esac
  shift
done
checkout=$(readlink -f "${1:-$here}")
mapfile -t commands <<<"${COMMANDS:-$'./attest audit\n./attest test'}"

[ "$(id -u)" = 0 ] || skip "only root can make and enter another system"
command -v debootstrap >/dev/null || skip "there is no debootstrap (./attest setup nightly)"
unshare --mount --pid --fork true 2>/dev/null || skip "this machine forbids mounts"

. "$here/tests/bare_debian.sh"

# --- the system -------------------------------------------------------------------------------------------------------

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/attest-fresh.XXXXXX")
system=$scratch/system
# shellcheck disable=SC2317  # the trap calls it
leave() {
  end_child
  if [ "$keep" ]; then say "the system is $system"; else delete "$scratch"; fi
}
trap leave EXIT

# --- commands ---------------------------------------------------------------------------------------------------------

# enter COMMAND: runs it in the system.
enter() {
  # shellcheck disable=SC2016  # the words are the inner shell's
  apart bash -euc '
    [ "$1" = chroot ] || mount --bind "$2" "$2"
    cd "$2"
    mount -t proc proc proc
    mount --rbind /sys sys
    mount --rbind /dev dev
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    [ "$1" != chroot ] || exec chroot . "${@:3}"
    mkdir -p old
    pivot_root . old
    umount -l old
    exec "${@:3}"' enter "$form" "$system" "${as_user[@]}" env -i "${variables[@]}" sh -c "$1"
}

make_bare "$scratch"
mkdir "$system"
tar --extract --numeric-owner --directory "$system" --file "$bare"
share_apt "$system"
as_user=() variables=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb)
for each in http_proxy https_proxy no_proxy; do
  [ -z "${!each-}" ] || variables+=("$each=${!each}")
done
home=/root
chmod 700 "$system/root"
if [ $form = user ]; then
  enter 'apt-get update && apt-get install --yes --no-install-recommends sudo && useradd --create-home newcomer &&
    echo "newcomer ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/newcomer' >"$scratch/log" 2>&1 ||
    { tail -n 20 "$scratch/log"; skip "sudo cannot be installed"; }
  home=/home/newcomer
  as_user=(setpriv --reuid=newcomer --regid=newcomer --init-groups)
  variables+=("HOME=$home" USER=newcomer LOGNAME=newcomer)
fi
git clone --quiet "$checkout" "$system$home/attest"
[ $form != user ] || chown -R --reference="$system$home" "$system$home/attest"

results=() failed=0
for command in "${commands[@]}"; do
  begin=$SECONDS status=0
  enter "cd && cd attest && $command" || status=$?
  took=$((SECONDS - begin))
  results+=("$(printf '%s: exit status %d after %d:%02d' "$command" "$status" $((took / 60)) $((took % 60)))")
  [ "$status" = 0 ] || failed=1
done
who="root in root's home, entered by $form"
[ $form != user ] || who="another user with sudo"
say "Debian 12, $who, $(nproc) processors"
printf '%s\n' "${results[@]}"
exit $failed
