# Sourced by examples/quickstart and tests/run: installs what this machine lacks, and says nothing
# when it lacks nothing. Debian 12 names; on another system it prints what is needed.
#
#     gnas_setup program|tests

# gnas_has KIND NAME: is it here? Headers are tried as files when pkg-config itself is missing.
gnas_has() {
  case $1 in
    command) command -v "$2" >/dev/null 2>&1 ;;
    library)
      if command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$2"; then return 0; fi
      test -e "/usr/include/$3"
      ;;
  esac
}

# Prints the Debian packages that are missing for "program" or "tests".
gnas_missing() {
  gnas_has command g++ || echo g++
  gnas_has command meson || echo meson
  gnas_has command ninja || echo ninja-build
  gnas_has command pkg-config || echo pkg-config
  gnas_has library zlib zlib.h || echo zlib1g-dev
  gnas_has library libzip zip.h || echo libzip-dev
  gnas_has library nlohmann_json nlohmann/json.hpp || echo nlohmann-json3-dev
  gnas_has library CLI11 CLI/CLI.hpp || echo libcli11-dev
  gnas_has library sqlite3 sqlite3.h || echo libsqlite3-dev
  gnas_has command python3 || echo python3
  if [ "$1" = tests ]; then
    gnas_has library catch2 catch2/catch.hpp || echo catch2
    gnas_has command clang-format-14 || echo clang-format-14
    gnas_has command cmake || echo cmake
  fi
}

gnas_setup() {
  gnas_wanted=$(gnas_missing "$1" | tr '\n' ' ')
  gnas_wanted=${gnas_wanted% }
  [ -n "$gnas_wanted" ] || return 0

  gnas_advice="install these packages (Debian 12 names), then run this again: $gnas_wanted"
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "set-up: apt-get is not here; $gnas_advice" >&2
    return 1
  fi
  gnas_sudo=
  if [ "$(id -u)" -ne 0 ]; then
    # Without a terminal nobody can type a password, so only a password-free sudo will do.
    if command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      gnas_sudo=sudo
    else
      echo "set-up: neither root nor sudo; $gnas_advice" >&2
      echo "set-up: as root: apt-get install $gnas_wanted" >&2
      return 1
    fi
  fi
  echo "set-up: installing $gnas_wanted"
  gnas_log=$(mktemp)
  # shellcheck disable=SC2086  # the package list is meant to split
  # One unreachable package source must not stop what the others can give: the install decides.
  if ! {
    $gnas_sudo apt-get update || echo 'apt-get update failed'
    $gnas_sudo env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends $gnas_wanted
  } >"$gnas_log" 2>&1 </dev/null; then
    tail -n 20 "$gnas_log" >&2
    rm -f "$gnas_log"
    echo "set-up: apt-get failed; $gnas_advice" >&2
    return 1
  fi
  rm -f "$gnas_log"
  gnas_wanted=$(gnas_missing "$1" | tr '\n' ' ')
  if [ -n "$gnas_wanted" ]; then
    echo "set-up: still missing after apt-get: $gnas_wanted" >&2
    return 1
  fi
}
