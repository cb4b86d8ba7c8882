// RUN: attune-opt %s --attune-to-dialect=cpu=x86-64-v4 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: attune-opt %s --attune-to-dialect=precision=int8 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: attune-opt %s --attune-to-dialect="precision=int8 weights-format=int4:32" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: attune-opt %s --attune-to-linalg=cpu=x86-64-v4,+avx512bf16,+avx512vnni --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DOTS
// RUN: attune-opt %s --attune-to-linalg=cpu=x86-64-v4,+avx512bf16,+amx-bf16,+amx-int8 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: attune-opt %s --attune-to-linalg=cpu=x86-64-v3,+avxvnni --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=VNNI
// RUN: attune-opt %s --attune-to-linalg=cpu=x86-64-v4 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=LINALG
// RUN: attune-opt %s --attune-to-tiled=cpu=x86-64-v4 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=TILED
// RUN: attune-opt %s --attune-to-tiled=cpu=x86-64-v3 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: attune-opt %s --attune-to-kernels=cpu=x86-64-v4 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: attune-opt %s --attune-to-bufferized=cpu=x86-64-v4 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=BUFFERIZED
// RUN: attune-opt %s --attune-to-bufferized=cpu=x86-64-v4,+avx512bf16,+amx-bf16,+amx-int8 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: attune-opt %s --attune-to-vector=cpu=x86-64-v4 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: attune-opt %s --attune-to-vector=cpu=x86-64-v4,+sse4a --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: attune-opt %s --attune-to-target=cpu=x86-64-v4 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=TARGET

// The passes of each phase, so that a reordering shows in review. Without options they depend on the module, so there is one pass.
// RUN: attune-opt %s --attune-to-tiled --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=CARRIED
// CARRIED: builtin.module(
// CARRIED-NEXT: attune-run-phase{phase=tiled}
// CARRIED-NEXT: )

// DIALECT: builtin.module(
// DIALECT-NEXT: attune-replace-target{cache-precision=f32 cpu=x86-64-v4 gpu= kernels= precision=f32 target= triple= weights-format=},
// DIALECT-NEXT: func.func(
// DIALECT-NEXT: xfmr-decompose-experts{known-counts=false},
// DIALECT-NEXT: xfmr-decompose-composites,
// DIALECT-NEXT: canonicalize
// DIALECT-NEXT: ),
// DIALECT-NEXT: xfmr-shard{ranks=0},
// DIALECT-NEXT: func.func(
// DIALECT-NEXT: xfmr-fuse-projections,
// DIALECT-NEXT: xfmr-fuse-epilogues,
// DIALECT-NEXT: canonicalize
// DIALECT-NEXT: cse
// DIALECT-NEXT: xfmr-split-deep-projections{max-features=2048}
// DIALECT-NEXT: ),
// DIALECT-NEXT: xfmr-tie-embeddings,
// DIALECT-NEXT: xfmr-hoist-weight-expressions,
// DIALECT-NEXT: duplicate-function-elimination,
// DIALECT-NEXT: symbol-dce,
// DIALECT-NEXT: attune-count-flops,
// DIALECT-NEXT: attune-count-gathers
// DIALECT-NEXT: )

// With a lower precision, two more passes run.
// LOWER: cse
// LOWER-NEXT: xfmr-lower-precision{precision=int8}
// LOWER-NEXT: xfmr-round-gathers
// LOWER-NEXT: xfmr-split-deep-projections{max-features=2048}
// LOWER-NEXT: ),
// LOWER-NEXT: xfmr-tie-embeddings,
// LOWER-NEXT: xfmr-hoist-weight-expressions,

// Formats of weights are assigned before projections are joined.
// FORMAT: xfmr-shard{ranks=0},
// FORMAT-NEXT: xfmr-assign-weight-formats{formats=int4:32 precision=int8},
// FORMAT-NEXT: func.func(
// FORMAT-NEXT: xfmr-fuse-projections,

// LINALG: builtin.module(
// LINALG-NEXT: attune-replace-target{cache-precision=f32 cpu=x86-64-v4 gpu= kernels= precision=f32 target= triple= weights-format=},
// LINALG-NEXT: func.func(
// LINALG-NEXT: convert-xfmr-to-linalg{attention-head=128 attention-precision=f32 bf16-element=f32 bf16-group=2 bf16-multiple=2 grouped-width=32 int8-element=i16 int8-multiple=2 known-counts=false panel-width=32}
// LINALG-NEXT: ),
// LINALG-NEXT: xfmr-hoist-weight-expressions,
// LINALG-NEXT: symbol-dce,
// LINALG-NEXT: func.func(
// LINALG-NEXT: canonicalize
// LINALG-NEXT: )
// LINALG-NEXT: )
// The instructions of the CPU decide the layout of low-precision operands.
// DOTS: convert-xfmr-to-linalg{attention-head=128 attention-precision=f32 bf16-element=bf16 bf16-group=2 bf16-multiple=2 grouped-width=32 int8-element=i8 int8-multiple=4 known-counts=false panel-width=32}
// TILES: convert-xfmr-to-linalg{attention-head=128 attention-precision=f32 bf16-element=bf16 bf16-group=2 bf16-multiple=32 grouped-width=32 int8-element=i8 int8-multiple=64 known-counts=false panel-width=32}
// VNNI: convert-xfmr-to-linalg{attention-head=128 attention-precision=f32 bf16-element=f32 bf16-group=2 bf16-multiple=2 grouped-width=16 int8-element=i8 int8-multiple=4 known-counts=false panel-width=16}

// TILED: builtin.module(
// TILED-NEXT: attune-replace-target{cache-precision=f32 cpu=x86-64-v4 gpu= kernels= precision=f32 target= triple= weights-format=},
// TILED-NEXT: func.func(
// TILED-NEXT: attune-tile-attention{key-block=512 long-rows=64 panel-width=32 precision=f32 query-rows=8},
// TILED-NEXT: attune-tile-head-ops{row-block=8},
// TILED-NEXT: attune-tile-groups{block-bytes=1572864 even-low-precision-tiles=true few-columns=0 few-rows=0 grouped-rows=4 low-precision-rows=8 max-block-rows=128 panel-width=32 register-rows=12 row-block=8 stream-panels=4 wide-blocks=0 wide-columns=0 wide-rows=0},
// TILED-NEXT: attune-tile-quantized-rows{row-block=8},
// TILED-NEXT: canonicalize
// TILED-NEXT: resolve-ranked-shaped-type-result-dims
// TILED-NEXT: canonicalize
// TILED-NEXT: )
// TILED-NEXT: )
// NARROW: attune-tile-attention{key-block=512 long-rows=64 panel-width=16 precision=f32 query-rows=4},
// NARROW: attune-tile-groups{block-bytes=1572864 even-low-precision-tiles=true few-columns=0 few-rows=0 grouped-rows=4 low-precision-rows=4 max-block-rows=128 panel-width=16 register-rows=6 row-block=8 stream-panels=4 wide-blocks=0 wide-columns=0 wide-rows=0},

// KERNELS: builtin.module(
// KERNELS-NEXT: attune-replace-target{cache-precision=f32 cpu=x86-64-v4 gpu= kernels= precision=f32 target= triple= weights-format=},
// KERNELS-NEXT: attune-outline-kernels,
// KERNELS-NEXT: canonicalize
// KERNELS-NEXT: duplicate-function-elimination,
// KERNELS-NEXT: attune-count-kernel-work
// KERNELS-NEXT: )

// BUFFERIZED: builtin.module(
// BUFFERIZED-NEXT: attune-replace-target{cache-precision=f32 cpu=x86-64-v4 gpu= kernels= precision=f32 target= triple= weights-format=},
// BUFFERIZED-NEXT: attune-assign-weight-offsets,
// BUFFERIZED-NEXT: func.func(
// BUFFERIZED-NEXT: attune-outputs-to-arguments,
// BUFFERIZED-NEXT: attune-check-tensor-ops,
// BUFFERIZED-NEXT: attune-stacks-to-buffers
// BUFFERIZED-NEXT: ),
// BUFFERIZED-NEXT: attune-shared-reads-to-buffers,
// BUFFERIZED-NEXT: attune-bufferize,
// BUFFERIZED-NEXT: canonicalize
// BUFFERIZED-NEXT: cse,
// BUFFERIZED-NEXT: func.func(
// BUFFERIZED-NEXT: attune-drop-cache-results
// BUFFERIZED-NEXT: ),
// BUFFERIZED-NEXT: attune-pad-rows{multiple=2048 pad=64},
// BUFFERIZED-NEXT: attune-block-rows-across-kernels{multiple=12 rows=128},
// BUFFERIZED-NEXT: attune-attach-scratch{rows=8 state-rows=64},
// BUFFERIZED-NEXT: attune-plan-memory{row-group=1},
// BUFFERIZED-NEXT: canonicalize
// BUFFERIZED-NEXT: )

// Blocks of rows are whole groups of low-precision rows.
// GROUPS: attune-block-rows-across-kernels{multiple=32 rows=128}
// GROUPS: attune-plan-memory{row-group=32}

// VECTOR: builtin.module(
// VECTOR-NEXT: attune-replace-target{cache-precision=f32 cpu=x86-64-v4 gpu= kernels= precision=f32 target= triple= weights-format=},
// VECTOR-NEXT: attune-vectorize-tiles{dot-unit=avx512 grouped-rows=4 low-precision-rows=8 prefetch-ahead=16384 prefetch-streams=4 register-rows=12 vnni=false},
// VECTOR-NEXT: attune-lower-attention-tile{rows=8 score-vectors=2 softmax-rows=8 value-vectors=3},
// VECTOR-NEXT: attune-lower-quantize-rows,
// VECTOR-NEXT: attune-lower-cache-rows,
// VECTOR-NEXT: attune-expand-math{expand-bf16=true},
// VECTOR-NEXT: canonicalize
// VECTOR-NEXT: cse,
// VECTOR-NEXT: attune-lower-key-panel,
// VECTOR-NEXT: attune-lower-rotary-tile
// VECTOR-NEXT: )

// CPUs of AMD read the weights of few rows as one stream.
// STREAM: attune-vectorize-tiles{dot-unit=avx512 grouped-rows=4 low-precision-rows=8 prefetch-ahead=8192 prefetch-streams=1 register-rows=12 vnni=false},

// TARGET: builtin.module(
// TARGET-NEXT: attune-replace-target{cache-precision=f32 cpu=x86-64-v4 gpu= kernels= precision=f32 target= triple= weights-format=},
// TARGET-NEXT: attune-outline-parallel,
// TARGET-NEXT: attune-entry-wrappers{device=false},
// TARGET-NEXT: attune-prepare-for-llvm,
// TARGET-NEXT: attune-lower-parallel-calls,
// TARGET-NEXT: attune-lower-collectives,
// TARGET-NEXT: expand-strided-metadata,
// TARGET-NEXT: lower-affine,
// TARGET-NEXT: attune-lower-amx-tiles,
// TARGET-NEXT: convert-scf-to-cf
// TARGET-NEXT: convert-vector-to-llvm{{.*}} reassociate-fp-reductions=false
// TARGET-NEXT: attune-convert-rest-to-llvm,
// TARGET-NEXT: reconcile-unrealized-casts,
// TARGET-NEXT: attune-finish-functions
// TARGET-NEXT: )
