#!/usr/bin/env bash
# `make demo`: a real model, a text detector, is looked at, checked, run on real
# pictures, and written back.
set -euo pipefail
cd "$(dirname "$0")/.."

baryon=build/baryon
zoo=${ZOO:-build/zoo}
out=build/demo
model=$zoo/models/ppocrv4_det.onnx
side=640

step() {
  printf '\n%s\n\n' "$1"
  shift
  echo "  \$ baryon $*" | fold -s -w 96 | sed '2,$s/^/      /; s/ $/ \\/'
  echo
  "$baryon" "$@" | sed 's/^/  /'
}

tests/zoo/fetch.sh rapidocr-onnxruntime scikit-image
rm -rf "$out"
mkdir -p "$out/pictures"
cp "$zoo"/texts/page.png "$zoo"/pictures/{astronaut.png,motorcycle.png,rocket.jpg} "$out/pictures"

step "1. What is in the model?" inspect "$model"
step "2. Does it keep all rules of the format?" check "$model"
step "3. Run it on pictures, prepared as for its training, letterboxed to $side x $side." \
  run "$model" --data "$out/pictures" --out "$out/masks" \
  --prep imagenet --resize letterbox --size "${side}x$side"
printf '\n4. What came out of it?\n\n'
python3 scripts/show_text.py "$out/pictures" "$out/masks" "$side" "$out/text.html"
step "5. Write it back: an untouched model keeps every byte." copy "$model" "$out/copy.onnx"
cmp "$model" "$out/copy.onnx"
printf '  the copy is the same, byte for byte\n'
printf '\nThe pictures with the text marked: %s\n' "$out/text.html"
