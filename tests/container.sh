#!/usr/bin/env bash
# The image of Containerfile is built by buildah, and audits the built-in kernel. Its bases, debian:12 and
# debian:12-slim, are here a bare Debian that debootstrap makes: no registry of images is asked.
#
# Usage: tests/container.sh
# Environment: as tests/bare_debian.sh says; TMPDIR  where images are kept (default: /var/tmp); they take some gigabytes
# Exit status: 0 if the image certifies the kernel, 77 if no image can be built here.
set -euo pipefail
here=$(dirname "$(dirname "$(readlink -f "$0")")")

skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can make another system"
for tool in buildah debootstrap; do
  command -v $tool >/dev/null || skip "there is no $tool (./attest setup nightly)"
done
unshare --mount --pid --fork true 2>/dev/null || skip "this machine forbids mounts"

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/attest-container.XXXXXX")
. "$here/tests/bare_debian.sh"
export BUILDAH_ISOLATION=chroot
images() { buildah --root "$scratch/images" --runroot "$scratch/run" --storage-driver vfs "$@"; }
# shellcheck disable=SC2317  # the trap calls it
leave() {
  end_child
  images rm --all >/dev/null 2>&1 || true
  delete "$scratch"
}
trap leave EXIT

make_bare "$scratch"
mkdir "$scratch/system"
tar --extract --numeric-owner --directory "$scratch/system" --file "$bare"
share_apt "$scratch/system"
base=$(images from scratch)
images copy --quiet "$base" "$scratch/system" / >/dev/null
for name in debian:12 debian:12-slim; do
  images commit --quiet "$base" "docker.io/library/$name" >/dev/null
done
images rm "$base" >/dev/null
rm -rf --one-file-system "$scratch/system"

git clone --quiet "$here" "$scratch/attest"
begin=$SECONDS
images bud --pull-never --layers=false --tag attest "$scratch/attest" >"$scratch/log" 2>&1 ||
  { tail -n 40 "$scratch/log"; exit 1; }
echo "built after $((SECONDS - begin)) s: $(images images --format '{{.Size}}' localhost/attest)"
container=$(images from --pull-never localhost/attest)
images run "$container" -- attest audit --quick --draws 0 --seed 1 --findings ''
