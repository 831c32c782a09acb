#!/bin/sh
# Writes kept/TARGET.hex: of the inputs in corpus/TARGET of at most 200 bytes, up to 400 of all lengths.
set -eu
cd "$(dirname "$0")"
from=${2:-corpus/$1}
find "$from" -type f -size -201c -size +0c -exec sh -c 'for file; do xxd -p -c 0 "$file"; done' _ {} + |
    awk '{ print length, $0 }' | sort -k1,1n -k2 | cut -d" " -f2 |
    awk '{ line[NR] = $0 } END { step = NR > 400 ? NR / 400 : 1
        for (at = 1; at <= NR; at += step) print line[int(at)] }' >"kept/$1.hex"
