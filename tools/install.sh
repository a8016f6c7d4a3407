#!/bin/sh
# Installs the locked tools into .tools/venv of this checkout, and fetches the locked crates. A second run changes
# nothing.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

stop() {
    echo "tools: $1" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 || stop "$python was not found: install Python 3.10 or newer"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    stop "$python is too old: Python 3.10 or newer is needed"
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    stop "$python has no venv module: install it (on Debian and Ubuntu the package is python3-venv)"

mkdir -p .tools
if ! .tools/venv/bin/python -m pip --version >/dev/null 2>&1; then
    rm -rf .tools/venv
    "$python" -m venv .tools/venv || stop "cannot create .tools/venv"
fi
.tools/venv/bin/python -m pip install --disable-pip-version-check --no-input --quiet --no-deps --only-binary :all: \
    --require-hashes -r tools/requirements.lock ||
    stop "the tools of tools/requirements.lock could not be installed (this step alone needs the network)"
command -v cargo >/dev/null 2>&1 ||
    stop "cargo was not found: install Rust (Cargo.toml has the oldest version in rust-version)"
cargo fetch --locked --quiet || stop "the crates of Cargo.lock could not be fetched (this step alone needs the network)"
cp tools/requirements.lock .tools/stamp
echo "tools: in .tools/venv"
