# Shared by the scripts: where the repository is, headings, and installing what is missing.
# Sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export RUSTUP_TOOLCHAIN="${RUSTUP_TOOLCHAIN:-$(scripts/toolchain)}"
[ -n "$RUSTUP_TOOLCHAIN" ] || unset RUSTUP_TOOLCHAIN

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi

say() { printf '%s%s%s\n' "$bold" "$*" "$plain"; }
note() { printf '%s%s%s\n' "$dim" "$*" "$plain"; }
stop() { printf '%s\n' "$*" >&2; exit 1; }

# Where cargo builds to: the reader's own CARGO_TARGET_DIR or configuration counts, too.
target_dir() {
    cargo metadata --format-version 1 --no-deps --offline 2>/dev/null |
        sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p'
}

# The licences that a module must carry, into its folder: ours, and those of the crates that it is linked with.
licences_of() {
    cp LICENSE-APACHE LICENSE-MIT "$1"
    scripts/licences --of "$1" >"$1/THIRD-PARTY-LICENCES"
}

# Debian packages, installed when we may (root, as in a container) and named when we may not.
need_package() {
    local command=$1 package=$2 what=$3
    command -v "$command" >/dev/null && return
    install_packages "$command" "$package" "$what"
}

# Modules of Debian's own Python, which the laboratory runs its programs by:
# `need_modules "MODULE, MODULE" PACKAGES WHAT`.
need_modules() {
    local modules=$1 package=$2 what=$3
    /usr/bin/python3 -c "import $modules" 2>/dev/null && return
    install_packages "Python's $modules" "$package" "$what"
}

install_packages() {
    local command=$1 package=$2 what=$3
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "Installing $package ($what)"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $package >/dev/null && return
    fi
    stop "$command is missing ($what). Install it, e.g. 'sudo apt-get install $package', and run this again."
}

# What Debian calls GHC and the libraries of the laboratory's programs in Haskell.
haskell_packages="ghc libghc-acid-state-dev libghc-ixset-dev libghc-hdbc-sqlite3-dev libghc-hdbc-postgresql-dev \
    libghc-postgresql-simple-dev"

# The servers of pages in Haskell, and the package cgi.
haskell_pages="libghc-warp-dev libghc-snap-server-dev libghc-happstack-server-dev libghc-blaze-html-dev \
    libghc-yesod-core-dev libghc-cgi-dev"

need_rust() {
    command -v cargo >/dev/null || stop "cargo is missing. Install Rust (https://rustup.rs), and run this again."
    need_package cc build-essential "the C compiler that links Rust programs and builds SQLite"
}

# clippy or rustfmt, from rustup where it is not installed.
need_component() {
    local component=$1 command=$2
    cargo "$command" --version >/dev/null 2>&1 && return
    say "Installing $component"
    command -v rustup >/dev/null && rustup component add "$component" && return
    stop "$component is missing. Install it ('rustup component add $component'), and run this again."
}
