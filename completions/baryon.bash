# Written by `make docs` from the option rows: do not edit.
_baryon()
{
    local word=${COMP_WORDS[COMP_CWORD]} words=
    local previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words='inspect check copy run calibrate stats merge presets list doctor version help'
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]}:$previous in
    help:help) words='inspect check copy run calibrate stats merge presets list doctor version help' ;;
    inspect:--between) return ;;
    check:--target) return ;;
    copy:--external-min) return ;;
    copy:--shape) return ;;
    copy:--rename) return ;;
    run:--random) return ;;
    run:--seed) return ;;
    run:--int-range) return ;;
    run:--shape) return ;;
    run:--limit) return ;;
    run:--skip-bad) return ;;
    run:--prep) words='plain imagenet yolo caffe signed' ;;
    run:--resize) words='stretch short-side letterbox fit none' ;;
    run:--filter) words='pil-bilinear pil-nearest pil-bicubic pil-box pil-lanczos cv-nearest cv-linear cv-cubic cv-area' ;;
    run:--size) return ;;
    run:--short-side) return ;;
    run:--stride) return ;;
    run:--pad) return ;;
    run:--pixels) words='rgb bgr gray' ;;
    run:--scale) return ;;
    run:--mean) return ;;
    run:--std) return ;;
    run:--layout) words='auto nchw nhwc' ;;
    run:--output) return ;;
    run:--threads) return ;;
    run:--provider) return ;;
    run:--opt-level) words='none basic extended all' ;;
    calibrate:--random) return ;;
    calibrate:--seed) return ;;
    calibrate:--int-range) return ;;
    calibrate:--shape) return ;;
    calibrate:--limit) return ;;
    calibrate:--skip-bad) return ;;
    calibrate:--prep) words='plain imagenet yolo caffe signed' ;;
    calibrate:--resize) words='stretch short-side letterbox fit none' ;;
    calibrate:--filter) words='pil-bilinear pil-nearest pil-bicubic pil-box pil-lanczos cv-nearest cv-linear cv-cubic cv-area' ;;
    calibrate:--size) return ;;
    calibrate:--short-side) return ;;
    calibrate:--stride) return ;;
    calibrate:--pad) return ;;
    calibrate:--pixels) words='rgb bgr gray' ;;
    calibrate:--scale) return ;;
    calibrate:--mean) return ;;
    calibrate:--std) return ;;
    calibrate:--layout) words='auto nchw nhwc' ;;
    calibrate:--tensors) words='seen all' ;;
    calibrate:--max-memory) return ;;
    calibrate:--shard) return ;;
    calibrate:--checkpoint-seconds) return ;;
    calibrate:--threads) return ;;
    calibrate:--provider) return ;;
    calibrate:--opt-level) words='none basic extended all' ;;
    stats:--tensor) return ;;
    stats:--type) words='int4 uint4 int8 uint8 int16 uint16 float8e4m3fn float8e5m2' ;;
    stats:--sort) words='model name range rms zeros nonfinite memory' ;;
    stats:--top) return ;;
    stats:--model) return ;;
    help:--format) words='text man markdown bash zsh fish' ;;
    esac
    if [[ -z $words && $word == -* ]]; then
        case ${COMP_WORDS[1]} in
        inspect) words=' --nodes --between --allow-links --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        check) words=' --custom-ops --rules --target --allow-links --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        copy) words=' --external --external-min --inline --shape --rename --sort --custom-ops -f --force --allow-links --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        run) words=' -d --data --random --seed --int-range --shape --limit --skip-bad --allow-nonfinite --prep --resize --filter --size --short-side --stride --pad --no-upscale --pixels --scale --mean --std --layout -o --out --output -f --force -j --threads --provider --opt-level --ops-library --deterministic --allow-links --onnxruntime --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        calibrate) words=' -d --data --random --seed --int-range --shape --limit --skip-bad --allow-nonfinite --prep --resize --filter --size --short-side --stride --pad --no-upscale --pixels --scale --mean --std --layout -o --out --tensors --per-channel --moments --max-memory --shard --checkpoint-seconds --restart -f --force -j --threads --provider --opt-level --ops-library --deterministic --allow-links --onnxruntime --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        stats) words=' --tensor --type --symmetric --asymmetric --log --sort --top --model --allow-links --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        merge) words=' -o --out -f --force --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        presets) words=' --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        list) words=' --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        doctor) words=' --onnxruntime --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        version) words=' --onnxruntime --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        help) words=' --format --config --json -q --quiet -v --verbose --no-color -h --help -V --version' ;;
        esac
    fi
    [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _baryon baryon
