//===- XfmrDialect.td - The xfmr dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Transformer operations with value semantics on ranked tensors.
//
//===----------------------------------------------------------------------===//
#ifndef XFMR_DIALECT_TD
#define XFMR_DIALECT_TD

include "mlir/IR/OpBase.td"

def Xfmr_Dialect : Dialect {
  let name = "xfmr";
  let cppNamespace = "::mlir::xfmr";
  let summary = "transformer building blocks: attention, projections, norms, embeddings, weights";
  let description = [{
    An op exists here if fusion, tiling or numerics need to see it as one thing (see dialect/RATIONALE.md). Activations
    are token tensors `[tokens, hidden]`: the sequences of a batch follow each other without gaps. The `batch + 1`
    elements of `offsets` are the first token of each sequence and then the number of tokens. If the importer packs
    tokens (`xfmr.pack_tokens`), sequences have no padding; otherwise all sequences are padded to the same length
    (`xfmr.sequence_offsets`). Hidden sizes are static, token counts dynamic.

    Shape letters: T tokens, S tokens on the key side, B sequences of a batch, Q the largest number of queries of a
    sequence and K the largest number of keys, H heads, G heads of keys and values, D components of a query or key in a
    head, E components of a value in a head, N and M features. The description of an operation may redefine a letter: K
    is also the number of input features of a product, E the number of experts.

    The verifier checks the constraints of an operation (C1, C2, …) on its types and attributes. It does not see values:
    if a dynamic size, an index or an element breaks a constraint, the behavior is undefined. N1, N2, … specify the
    arithmetic: its types, its order and its rounding. Kernels of Halide (`--kernels=halide`) may add in another order,
    approximate transcendental functions in another way, and give other results for infinities and NaN.

    Attributes describe a function to the applications that call it: `xfmr.entry` on the function, `xfmr.input`,
    `xfmr.output`, `xfmr.cache` and `xfmr.dim` on its arguments and results. Such a function is an *entry*. Passes
    record the work of one call as attributes of the entry, each a `#xfmr.formula`. `xfmr.flops` counts two operations
    for each multiply-add of projections and attention. If several processes run the model, `xfmr.gathers` counts the
    executions of `xfmr.all_gather`, and `xfmr.gather_bytes` counts the bytes that a process receives from the other
    processes in these executions. A size that depends on data, such as the number of packed tokens, enters a formula
    with its upper bound.

    `xfmr.weight` marks an argument of a private function if every call passes a weight for it. A module of a model has
    the attribute `xfmr.model`. Once weights have offsets in the weights file, the module also has `xfmr.weights_bytes`,
    the size in bytes of the data section of that file. `xfmr.ranks` is the number of processes that run the model
    together, each with a part of the weights; a module without `xfmr.ranks` runs in one process.
  }];
  let discardableAttrs = (ins "::mlir::xfmr::EntryAttr":$entry, "::mlir::xfmr::InputAttr":$input, "::mlir::xfmr::OutputAttr":$output,
                              "::mlir::xfmr::CacheAttr":$cache, "::mlir::xfmr::SessionDimAttr":$dim, "::mlir::UnitAttr":$weight,
                              "::mlir::xfmr::ModelAttr":$model, "::mlir::IntegerAttr":$weights_bytes, "::mlir::IntegerAttr":$ranks);
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Xfmr_Op<string mnemonic, list<Trait> traits = []> : Op<Xfmr_Dialect, mnemonic, traits>;

#endif // XFMR_DIALECT_TD
