#!/usr/bin/env bash
# `make demo`: a real model, a text detector, is quantized on real pictures in two ways; it
# and what became of it run on pictures that calibration did not see, and are compared.
set -euo pipefail
cd "$(dirname "$0")/.."

baryon=build/baryon
zoo=${ZOO:-build/zoo}
out=build/demo
model=$zoo/models/ppocrv4_det.onnx
side=480
prep=(--prep imagenet --resize letterbox --size "${side}x$side")
begin=$(date +%s)
started=$(cat build/demo.begin 2>/dev/null || echo "$begin") # when make began
rm -f build/demo.begin

# step TITLE LINES ARGUMENT...: runs the program, shows at most so many lines
step() {
  printf '\n%s\n\n' "$1"
  local lines=$2
  shift 2
  echo "  \$ baryon $*" | fold -s -w 96 | sed '2,$s/^/      /; s/ $/ \\/'
  echo
  "$baryon" "$@" | sed -n "s/^\(.\)/  \1/; $((lines + 1))s/.*/    .../; 1,$((lines + 1))p"
}

tests/zoo/fetch.sh rapidocr-onnxruntime scikit-image
rm -rf "$out"
mkdir -p "$out"/{calibrate,unseen}
cp "$zoo"/texts/text.png "$zoo"/pictures/{coffee.png,motorcycle.png,rocket.jpg} "$out/calibrate"
cp "$zoo"/texts/page.png "$zoo"/pictures/{astronaut.png,chelsea.png} "$out/unseen"
ready=$(date +%s)

step "1. A text detector with 32-bit floats." 4 inspect "$model"
step "2. Quantize it for an NPU: int8, every scale a power of two, ranges from four pictures." 40 \
  quantize "$model" -o "$out/XINT8.onnx" --preset XINT8 --data "$out/calibrate" "${prep[@]}"
step "3. Does it keep the rules of that NPU?" 10 check "$out/XINT8.onnx" --target xint8
step "4. The same for CPUs: int8, scales of any value." 40 \
  quantize "$model" -o "$out/A8W8.onnx" --preset A8W8 --data "$out/calibrate" "${prep[@]}"

run() {
  "$baryon" run "$1" --data "$out/unseen" --out "$out/$2" "${prep[@]}" --quiet |
    sed -n "s/^  \([0-9]* samples in\)/  $(printf '%-8s' "$2") \1/p"
}
printf '\n5. Run the three on pictures that calibration did not see: baryon run MODEL --data unseen ...\n\n'
run "$model" float
run "$out/XINT8.onnx" XINT8
run "$out/A8W8.onnx" A8W8

printf '\n6. What came out of them?\n\n'
python3 scripts/show_text.py "$out/unseen" "$side" "$out/text.html" "$out"/{float,XINT8,A8W8}

done=$(date +%s)
printf '\n  %8s %s\n' "$(stat -c %s "$model")" "bytes, $model"
stat -c '  %8s bytes, %n' "$out"/{XINT8,A8W8}.onnx
printf '\n%d s from make to here, %d s of that after building and fetching.\n' \
  $((done - started)) $((done - ready))
printf 'The pictures with the text that XINT8 found: %s\n' "$out/text.html"
