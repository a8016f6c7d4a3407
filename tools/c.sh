#!/bin/sh
# c.sh DIR: compiles each program of examples/c into DIR, and says how to run it. `make c` has built the libraries.
set -eu
out=$1
built=${CARGO_TARGET_DIR:-target}/debug
mkdir -p "$out"
machines=
for program in examples/c/*.c; do
    machine=$(sed -n 's/^#include <tsunagi_\(.*\)\.h>$/\1/p' "$program")
    binary=$out/$(basename "$program" .c)
    ${CC:-cc} -O2 -Wall "$program" -o "$binary" -I "c/$machine/include" "$built/libtsunagi_$machine.a" \
        -lstdc++ -lm -lpthread -ldl
    # A program names its arguments at the end of the comment that it begins with.
    arguments=$(sed -n 's/.*Arguments: \(.*\)\. \*\/$/\1/p' "$program")
    echo "$binary: $machine; arguments: $arguments"
    case " $machines " in *" $machine "*) ;; *) machines="$machines $machine" ;; esac
done
for machine in $machines; do
    echo "$machine: $built/libtsunagi_$machine.a, c/$machine/include/tsunagi_$machine.h"
done
