# What `./attest` installs: the packages of debian.txt that are missing, with apt. A part of the attest script, which
# sources it and whose functions it uses.
# shellcheck shell=sh disable=SC2154  # $root and $build are that script's

# The packages in the named sections of the list.
listed() {
  awk -v sections=" $* " '/^\[/ { inside = index(sections, " " substr($1, 2, length($1) - 2) " ") }
                          /^[a-z]/ && inside { print $1 }' "$root/packages/debian.txt"
}

# Stops where one of these is no section of the list.
are_sections() {
  for section; do
    grep -qxF "[$section]" "$root/packages/debian.txt" && continue
    sections=$(sed -n 's/^\[\(.*\)\]$/ \1/p' "$root/packages/debian.txt" | tr -d '\n')
    stop "setup: packages/debian.txt has no section '$section'; it has$sections"
  done
}

# Those of them that are not installed. A Boost from elsewhere is as good as Debian's.
missing() {
  wanted=$(listed "$@")
  # shellcheck disable=SC2086  # one word a package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p')
  for package in $(echo "$wanted" | grep -vxF -e "$installed"); do
    case $package in libboost*) has_boost && continue ;; esac
    printf '%s ' "$package"
  done
}

# A build that could be configured has found one; as long as CMake is missing too, the user's word is taken.
has_boost() {
  [ ! -f "$build/release/build.ninja" ] || return 0
  command -v cmake >/dev/null || { [ "${CMAKE_PREFIX_PATH-}${Boost_ROOT-}" ]; return; }
  cmake --fresh -G Ninja -S "$root/cmake/has_boost" -B "$build/has_boost" >/dev/null 2>&1
}

# apt_get ARGUMENTS...: as root, without questions.
apt_get() {
  if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o APT::Install-Recommends=false "$@"
}

# What installing the packages would do.
plan() { apt-get -o APT::Install-Recommends=false --simulate install "$@" 2>&1; }

# removals <plan: the packages that the plan removes.
removals() { awk '$1 == "Remv" { printf "%s%s", between, $2; between = " " }'; }

# Which of the packages cannot be installed without removing which others, and what to do about it. Each is asked alone;
# the whole plan, in $removed, speaks where only several together conflict.
conflicts() {
  each=$(for package; do
    against=$(plan "$package" | removals)
    [ -z "$against" ] || echo "  $package conflicts with $against"
  done)
  echo "${each:=  no single one of the missing packages, but all of them together conflict with $removed}"
  case $each in
    *libboost*)
      echo "attest needs Boost 1.81 or newer. Either set CMAKE_PREFIX_PATH (or Boost_ROOT) to such a Boost, or"
      echo "remove what conflicts yourself, and try again."
      ;;
    *) echo "Remove what conflicts yourself, and try again." ;;
  esac
}

# Installs what is missing in the named sections. Removes nothing: where apt would have to, it says why and stops.
setup() {
  if ! command -v dpkg-query >/dev/null; then
    for tool in cmake ninja c++; do
      command -v $tool >/dev/null || stop "no $tool here, and no apt to install it. attest needs, as Debian names it:" \
        "$(listed "$@" | tr '\n' ' ')"
    done
    return  # what else is missing, CMake will say
  fi
  packages=$(missing "$@")
  [ "$packages" ] || return 0
  # shellcheck disable=SC2086
  set -- $packages
  command -v apt-get >/dev/null || stop "these packages are missing, and there is no apt-get to install them: $*"
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    stop "these packages are missing, and there is no sudo. As root: apt-get install --no-install-recommends $*"

  planned=$(plan "$@") || {
    say "apt does not know all of $*; fetching its lists anew"
    logged setup apt_get update
    planned=$(plan "$@") || stop "apt cannot install them: $(echo "$planned" | grep '^E:')"
  }
  removed=$(echo "$planned" | removals)
  [ -z "$removed" ] || stop "apt would have to remove installed packages, and attest removes none:
$(conflicts "$@")"

  say "installing with apt: $*"
  # Old lists name versions that the mirrors no longer have.
  apt_get install --yes --no-remove --download-only "$@" >/dev/null 2>&1 9>&- || logged setup apt_get update
  logged setup apt_get install --yes --no-remove "$@"
  # What a build looked for and did not find, it looks for again.
  for cache in "$build"/*/CMakeCache.txt; do [ ! -f "$cache" ] || touch "$cache"; done
}
