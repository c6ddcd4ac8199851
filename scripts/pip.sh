#!/usr/bin/env bash
# The pip of build/venv, quiet. Where it downloads from is as the machine's own pip
# is configured; scripts/deps.sh says when the machine's certificates are kept.
set -euo pipefail
cd "$(dirname "$0")/.."

certificates=$PWD/${DEPS:-build/deps}/certificates.crt
[[ ! -e $certificates ]] || export PIP_CERT=$certificates REQUESTS_CA_BUNDLE=$certificates
exec "${VENV:-build/venv}/bin/python" -m pip --quiet --disable-pip-version-check "$@"
