#!/usr/bin/env bash
# `make demo`: a text recognizer is quantized for an NPU in two ways, on lines of a page. Then the
# float model and both int8 models read other lines of that page.
set -euo pipefail
cd "$(dirname "$0")/.."

baryon=build/baryon
zoo=${ZOO:-build/zoo}
out=build/demo
model=$zoo/models/ppocrv4_rec.onnx
prep=(--prep signed --resize stretch --size 320x48)
begin=$(date +%s)
started=$(cat build/demo.begin 2>/dev/null || echo "$begin") # when make began
rm -f build/demo.begin

# Places of words on the page, LEFT,TOP,RIGHT,BOTTOM: lines to calibrate on, other lines to read.
calibrate=(
  0a=4,8,151,36 0b=64,8,212,36
  2a=2,66,130,84 2b=86,66,217,84 2c=130,66,262,84 2d=190,66,319,84 2e=262,66,380,84
  4a=2,100,113,120 4b=29,100,157,120 4c=86,100,205,120 4d=113,100,236,120 4e=157,100,298,120
  4f=205,100,337,120 4g=236,100,380,120
  6a=14,165,117,190 6b=54,165,177,190 6c=104,165,245,190
)
unseen=(
  1a=2,48,163,68 1b=163,48,280,68 1c=280,48,380,68
  3a=2,82,130,102 3b=130,82,228,102 3c=228,82,380,102
  5a=2,117,87,137 5b=87,117,180,137
)

# step TITLE FILTER ARGUMENT...: runs the program, shows what the awk filter leaves of its output
step() {
  printf '\n%s' "${1:+$1$'\n\n'}"
  local filter=$2
  shift 2
  echo "  \$ baryon $*" | fold -s -w 96 | sed '2,$s/^/      /; s/ $/ \\/'
  echo
  "$baryon" "$@" | awk "$filter" | sed 's/^\(.\)/  \1/'
}

without_operators='/^ *operator /{skip = 1} !skip {print} /^$/ {skip = 0}'
from_layers='/^ *layer /{at = 1} at && (++row <= 5 || past) {print} at && row == 6 {print "  ..."} at && /^$/ {past = 1}'

run() {
  "$baryon" run "$1" --data "$out/unseen" --out "$out/$(basename "$1" .onnx)" "${prep[@]}" \
    --opt-level basic --quiet >"$out/run.txt"
}

tests/zoo/fetch.sh rapidocr-onnxruntime scikit-image
rm -rf "$out"
mkdir -p "$out"/{calibrate,unseen}
python3 scripts/cut_png.py "$zoo/texts/page.png" "$out/calibrate" "${calibrate[@]}"
python3 scripts/cut_png.py "$zoo/texts/page.png" "$out/unseen" "${unseen[@]}"
ready=$(date +%s)

step "1. A text recognizer in 32-bit floats." 'NR < 5' inspect "$model"
step "2. Quantize it for an NPU: int8, every scale a power of two, each weight rounded to the nearest." \
  "$without_operators" quantize "$model" -o "$out/XINT8.onnx" --preset XINT8 \
  --data "$out/calibrate" "${prep[@]}"
step "3. The same, but choose the integers so that each layer's output stays close to the float model's." \
  "$from_layers" quantize "$model" -o "$out/XINT8_ADAROUND.onnx" --preset XINT8_ADAROUND \
  --data "$out/calibrate" "${prep[@]}"
step "4. Does each model keep the rules of that NPU?" '/errors/' check "$out/XINT8.onnx" --target xint8
step "" '/errors/' check "$out/XINT8_ADAROUND.onnx" --target xint8

printf '\n5. Read lines that calibration did not see (baryon run MODEL --data unseen --opt-level basic ...).\n\n'
"$baryon" inspect "$model" --json >"$out/model.json"
run "$model"
run "$out/XINT8.onnx"
run "$out/XINT8_ADAROUND.onnx"
python3 scripts/compare_text.py "$out/model.json" "$out" "$model" "$out"/{XINT8,XINT8_ADAROUND}.onnx

done=$(date +%s)
printf '\n%d s from make to here, %d s of that after building and fetching. The models are in %s.\n' \
  $((done - started)) $((done - ready)) "$out"
