#!/usr/bin/env bash
# Writes what is made from the rows of options and commands: manual pages, the
# reference and the completions of shells.
#
#   scripts/docs.sh PROGRAM FOLDER
set -euo pipefail

program=$1
folder=$2
mkdir -p "$folder/docs" "$folder/man" "$folder/completions"
"$program" help --format markdown >"$folder/docs/commands.md"
"$program" help --format bash >"$folder/completions/baryon.bash"
"$program" help --format zsh >"$folder/completions/_baryon"
"$program" help --format fish >"$folder/completions/baryon.fish"
"$program" help --format man >"$folder/man/baryon.1"
for file in cli/cmd_*.c; do
  command=$(basename "${file#*cmd_}" .c)
  # shellcheck disable=SC2086 # a command may have two words
  "$program" help --format man ${command//_/ } >"$folder/man/baryon-${command//_/-}.1"
done
