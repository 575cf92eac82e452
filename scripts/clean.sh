#!/bin/sh
# Remove generated files: pictures, pages and the caches of tools; with `all` the results too.
# Written in plain sh, because the environment is removed as well.
set -eu
cd "$(dirname "$0")/.."

# Runs in cache/<member>/<key>/<first>-<last>.npz; a run that is in two blocks counts once.
runs() {
  find cache/ -name '*-*.npz' 2> /dev/null |
    sed -n 's|^\(.*\)/\([0-9][0-9]*\)-\([0-9][0-9]*\)\.npz$|\1 \2 \3|p' | sort -k 1,1 -k 2,2n |
    awk '$1 != cell { cell = $1; next_run = 0 }
      { first = $2 > next_run ? $2 : next_run }
      $3 >= first { total += $3 - first + 1; next_run = $3 + 1 }
      END { printf "%.0f\n", total }'
}

# Remove the files and folders that exist, and note them.
remove() {
  for path in "$@"; do
    if [ -e "$path" ] || [ -L "$path" ]; then
      rm -rf "$path"
      removed="$removed, $path"
    fi
  done
}

# Entries of out/ that figures and pages made: all but the measurements of `make slow`,
# `make reliability` and `make bench`, which take hours.
drawn() {
  find out/ -mindepth 1 -maxdepth 1 ! -name bench ! -name leaks ! -name reliability "$@" 2> /dev/null
}

byte_code() {
  find . \( -path ./.venv -o -path ./.git \) -prune -o -name __pycache__ -prune "$@"
}

removed= kept=
if [ "${1-}" = all ]; then
  echo "make distclean: deletes $(runs) runs in cache/"
  remove cache out .venv
else
  pictures=$(drawn -print | wc -l)
  [ "$pictures" -eq 0 ] || removed=", out/ (entries: $((pictures)))"
  drawn -exec rm -rf {} + || true
  kept="kept: $(runs) runs in cache/, .venv/"
  rmdir out 2> /dev/null || [ ! -e out ] || kept="$kept, the measurements in out/"
fi
remove .hypothesis .mypy_cache .pytest_cache .ruff_cache
compiled=$(byte_code -print | wc -l)
[ "$compiled" -eq 0 ] || removed="$removed, __pycache__ (folders: $((compiled)))"
byte_code -exec rm -rf {} +
removed=${removed#, }
echo "removed: ${removed:-nothing, there was nothing to remove}"
[ -z "$kept" ] || echo "$kept; make distclean removes these too"
