# complete.sh SCRIPT TOOL: what the completion in SCRIPT proposes for some beginnings of a command line, split as bash splits it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
compopt() { :; }
source "$1"
ask() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  "_$1"
  echo "[$*]: ${COMPREPLY[*]}"
}
ask "$2" c
ask "$2" compile --em
ask "$2" compile --emit = s
ask "$2" compile --padding =
ask "$2" compile --target c
ask "$2" diff --at
ask "$2" nonsense --a
