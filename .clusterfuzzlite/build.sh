#!/usr/bin/env bash
# Builds a libFuzzer program for each reader of Tests/Fuzz, and puts it into the folder $OUT with the reader's samples
# and dictionary. Call it in the root of the package. ClusterFuzzLite calls it in the image of the Dockerfile.
set -euo pipefail
# The flags of the image are for its own clang. Swift's clang compiles the C targets and links.
unset CC CXX CFLAGS CXXFLAGS

# The image that runs the programs has neither Swift nor libcurl, so the one is linked statically, the other copied.
# SwiftPM passes each sanitizer to the compiler in its own argument, of which only the last counts, so a third one names
# both.
build=(
    --product fuzz --scratch-path .build/libfuzzer --disable-default-traits --static-swift-stdlib
    --sanitize=fuzzer --sanitize=address -Xswiftc -sanitize=fuzzer,address -Xswiftc -DLIBFUZZER -Xswiftc -use-ld=lld
    -Xlinker --disable-new-dtags -Xlinker '-rpath=$ORIGIN/lib'
)
swift build "${build[@]}"
program=$(swift build "${build[@]}" --show-bin-path)/fuzz

mkdir -p "$OUT/lib"
ldd "$program" |
    awk '$3 ~ /^\// && $1 !~ /^lib(c|m|dl|rt|pthread|resolv)[.]so/ { print $3 }' |
    xargs cp -L --remove-destination -t "$OUT/lib"
if [ -x /usr/local/bin/llvm-symbolizer-swift ]; then cp /usr/local/bin/llvm-symbolizer-swift "$OUT/llvm-symbolizer"; fi

seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
"$program" --seeds "$seeds"
cp "$seeds"/*.dict "$OUT"
for samples in "$seeds"/*/; do
    name=$(basename "$samples")
    ln -f "$program" "$OUT/$name" 2>/dev/null || cp "$program" "$OUT/$name"
    python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "$samples"*
done
