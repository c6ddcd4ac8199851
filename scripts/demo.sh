#!/usr/bin/env bash
# `make demo`: a search finds the cheapest quantization of a text detector that has the quality
# asked for. Then the float model and each step of the search look for lines on other pictures.
set -euo pipefail
cd "$(dirname "$0")/.."

baryon=build/baryon
zoo=${ZOO:-build/zoo}
out=build/demo
model=$zoo/models/ppocrv4_det.onnx
prep=(--prep imagenet --resize stretch --size 192x96)
begin=$(date +%s)
started=$(cat build/demo.begin 2>/dev/null || echo "$begin") # when make began
rm -f build/demo.begin

# Parts of a page, LEFT,TOP,RIGHT,BOTTOM. The search uses them in this order: it calibrates on the
# first half and chooses on a quarter, both from the upper half of the page. The last quarter, from
# the lower half, is for the report and the count of lines alone.
parts=(
  01=0,0,192,96 02=192,4,384,100 03=96,0,288,96 04=0,10,160,90 05=224,20,384,100 06=110,16,270,96
  07=0,36,128,100 08=256,36,384,100 09=128,40,256,104 10=60,4,252,100 11=40,20,200,100 12=150,24,310,104
  13=48,0,240,96 14=180,12,340,92 15=80,38,208,102 16=144,4,336,100 17=20,14,180,94 18=200,38,328,102
)
last=(19=0,95,192,191 20=192,95,384,191 21=96,95,288,191 22=0,106,160,186 23=224,98,384,178 24=48,96,240,192)

# step TITLE ARGUMENT...: runs the program and shows what it prints
step() {
  printf '\n%s\n\n' "$1"
  shift
  echo "  \$ baryon $*" | fold -s -w 96 | sed '2,$s/^/      /; s/ $/ \\/'
  echo
  "$baryon" "$@" | sed 's/^\(.\)/  \1/'
}

# The results of the model $1 for the last pictures, in the folder $2.
run() {
  "$baryon" run "$1" --data "$out/last" --out "$2" "${prep[@]}" --opt-level basic --quiet >"$out/run.txt"
}

tests/zoo/fetch.sh rapidocr-onnxruntime scikit-image
rm -rf "$out"
mkdir -p "$out"/{pictures,last,steps}
python3 scripts/cut_png.py "$zoo/texts/page.png" "$out/pictures" "${parts[@]}" "${last[@]}"
python3 scripts/cut_png.py "$zoo/texts/page.png" "$out/last" "${last[@]}"
ready=$(date +%s)

step "1. A detector of lines of text, in 32-bit floats." inspect "$model" | sed -n '1,14p'
step "2. Find the cheapest quantization that has 20 dB: first for the whole model, then by tensor." \
  auto "$model" -o "$out/small.onnx" --target vitis-ai --goal 'sqnr>=20' --data "$out/pictures" "${prep[@]}" \
  --report "$out/report.json"

printf '\n3. Look for lines on pictures that no step was chosen on, with the config of each step.\n\n'
run "$model" "$out/float"
folders=()
while read -r config; do
  "$baryon" quantize "$model" --config "$config" -o "${config%.yaml}.onnx" --no-judge --quiet
  run "${config%.yaml}.onnx" "${config%.yaml}"
  folders+=("${config%.yaml}")
done < <(python3 scripts/count_lines.py --configs "$out/report.json" "$out/steps")
"$baryon" report "$out/report.json" -o "$out/report.html" --quiet
python3 scripts/count_lines.py "$out/report.json" "$out/float" "$out/last" "${folders[@]}"

done=$(date +%s)
printf '\n%d s from make to here, %d s of that after building and fetching.\nThe model is %s, and %s has all of this with pictures: open it.\n' \
  $((done - started)) $((done - ready)) "$out/small.onnx" "$out/report.html"
