# A bare Debian 12, as debootstrap makes it: for tests/fresh_machine.sh and tests/container.sh, which define `skip`.
# Environment: ATTEST_FRESH_CACHE  the folder that keeps it (default: attest/ in $XDG_CACHE_HOME or ~/.cache)
# shellcheck shell=bash
release=bookworm
cache=${ATTEST_FRESH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/attest}
bare=$cache/debian-$release-$(dpkg --print-architecture).tar

child=

# apart COMMAND...: all that it mounts and all that it leaves running ends with it, or with this script.
apart() {
  unshare --mount --mount-proc --pid --fork --kill-child=KILL --propagation private "$@" &
  child=$!
  local status=0
  wait "$child" || status=$?
  child=
  return $status
}

# end_child: what runs apart ends, and a script that leaves is not interrupted.
end_child() {
  trap '' INT TERM HUP
  [ -z "$child" ] || { kill -KILL "$child" && wait "$child"; } 2>/dev/null || true
}

# delete FOLDER: nothing is deleted through a mount: there is none outside of `apart`.
delete() {
  if grep -qF " $1/" /proc/self/mountinfo; then
    echo "something is mounted below $1: nothing there is deleted"
  else
    rm -rf --one-file-system "$1"
  fi
}
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The first mirror of Debian that this machine's apt knows.
mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    grep -v '^ *#' | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1 || true
}

# make_bare FOLDER: a minimal Debian with git, which is fetched once, as the file $bare. FOLDER is for what it needs
# meanwhile.
make_bare() {
  [ ! -f "$bare" ] || return 0
  local scratch=$1 from
  from=$(mirror)
  mkdir -p "$cache"
  apart debootstrap --variant=minbase --include=git,ca-certificates "$release" "$scratch/bare" \
    "${from:-http://deb.debian.org/debian}" >"$scratch/log" 2>&1 ||
    { tail -n 20 "$scratch/log"; skip "debootstrap cannot fetch Debian"; }
  rm -f "$scratch"/bare/var/cache/apt/archives/*.deb
  tar --create --one-file-system --numeric-owner --directory "$scratch/bare" --file "$bare.$$" .
  mv "$bare.$$" "$bare"
  rm -rf --one-file-system "$scratch/bare"
}

# share_apt SYSTEM: apt of the system fetches as apt of this machine does: from its mirrors if this is the same Debian,
# through its proxies.
share_apt() {
  local system=$1 proxy
  local of=$system/etc/apt
  cp /etc/resolv.conf /etc/hosts "$system/etc/"
  apt-config dump | grep -E '^Acquire::(https?|Check-|Retries|Force)' >"$of/apt.conf.d/50machine" || true
  for proxy in http https; do
    local named=${proxy}_proxy
    [ -z "${!named-}" ] || echo "Acquire::$proxy::Proxy \"${!named}\";" >>"$of/apt.conf.d/50machine"
  done
  grep -qx "VERSION_CODENAME=$release" /etc/os-release || return 0
  local named
  for named in sources.list sources.list.d keyrings trusted.gpg.d; do
    [ ! -e "/etc/apt/$named" ] || { rm -rf "${of:?}/$named"; cp -r "/etc/apt/$named" "$of/"; }
  done
}
