//===- DescriptorSignature.h - Interface of a compiled model ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries, tensors and dims that the descriptor lists. The compiler reads them from the module after the phase
// `dialect`, while the arguments and results of entries are still tensors.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_DESCRIPTORSIGNATURE_H
#define ATTUNE_COMPILER_OBJECT_DESCRIPTORSIGNATURE_H

#include "attune/abi.h"
#include "compiler/Object/GenerationAttr.h"
#include "dialect/Xfmr/IR/CacheLayout.h"

#include <string>
#include <vector>

namespace attune {

/// A symbolic dimension of an entry; see attune_dim_desc.
struct DimSignature {
  std::string name;
  /// The largest value; 0 if the dim has no limit.
  int64_t max = 0;
  attune_dim_origin origin = ATTUNE_DIM_INPUTS;
};

/// An input or output of an entry; see attune_tensor_desc.
struct TensorSignature {
  std::string name;
  attune_dtype dtype = ATTUNE_F32;
  /// The sizes, as in attune_tensor_desc: -1 - i stands for the dim with index i in EntrySignature::dims.
  std::vector<int64_t> shape;
  attune_fill fill = ATTUNE_FILL_REQUIRED;
  bool group = false;
  int64_t maxValue = 0;
};

/// A cache: memory of a session with one record for each token, such as the token's keys in all heads of one layer; see
/// attune_cache_desc.
struct CacheSignature {
  std::string name;
  attune_cache_kind kind = ATTUNE_CACHE_KEYS;
  attune_dtype dtype = ATTUNE_F32;
  /// True if the tokens belong to encoder sources, false if they belong to sequences.
  bool ofSources = false;
  /// The number of heads, and the number of components of a token in one head; both 1 for masks.
  int64_t heads = 1, size = 1;

  /// Returns the elements that a token takes in one head: components and, for I8, the bytes of a scale.
  int64_t tokenElements() const { return size + (dtype == ATTUNE_I8 ? mlir::xfmr::kCacheScaleBytes : 0); }
  /// Returns the bytes that a token takes in all heads.
  int64_t tokenBytes() const { return heads * tokenElements() * (dtype == ATTUNE_F32 ? 4 : dtype == ATTUNE_I8 ? 1 : 2); }

  bool operator==(const CacheSignature &other) const {
    return name == other.name && kind == other.kind && dtype == other.dtype && ofSources == other.ofSources && heads == other.heads &&
           size == other.size;
  }
};

/// An entry of the model; see attune_entry_desc.
struct EntrySignature {
  std::string name;
  attune_cache_use cacheUse = ATTUNE_CACHE_UNUSED;
  std::vector<DimSignature> dims;
  std::vector<TensorSignature> inputs, outputs;
  /// The bytes of workspace of a call, as a C expression of `workers` and the results of createParameters; empty until
  /// readFormulae sets it.
  std::string workspaceFormula;
};

/// A kernel: the name of its function, the backend that generates its code, a description in one line, and, if the
/// backend is not the requested one, the reason (else "").
struct KernelSignature {
  std::string name, backend, op, note;
};

/// The interface of a compiled model, as the descriptor lists it.
struct ModelSignature {
  std::string family, architecture;
  std::optional<GenerationSettings> generation;
  std::vector<EntrySignature> entries;
  /// The caches, in the order of their memory.
  std::vector<CacheSignature> caches;
  std::vector<KernelSignature> kernels;
  /// The names of the classes of the output `logits`.
  std::vector<std::string> labels;
  /// The number of processes that run the model together.
  int64_t ranks = 1;
};

/// Reads the entries, the caches and `xfmr.model` from |module|; kernels and workspace formulas stay empty. Fails if
/// there is no entry, or if an attribute is missing or wrong, since the module may come from a file. An error in an
/// entry names the entry and the argument, result or tensor.
Result<ModelSignature> readModelSignature(mlir::ModuleOp module);
/// Returns the caches of all entries of |module|, each once: caches of sequences, then caches of sources. Fails if two
/// entries have caches of the same name with different signatures; the error names one of these entries and the cache.
Result<std::vector<CacheSignature>> readCaches(mlir::ModuleOp module);
/// Adds the kernels of |module| to |signature|; kernels that name no backend get |defaultBackend|. Kernels exist from
/// the phase `kernels` on.
void readKernels(mlir::ModuleOp module, ModelSignature &signature, llvm::StringRef defaultBackend);
/// Sets the workspace formulas of the entries in |signature| to those that `attune-plan-memory` has recorded in
/// |module|.
void readFormulae(mlir::ModuleOp module, ModelSignature &signature);

/// Returns the names of the parameters of a C function for the dims of |entry|. They are distinct, and none of them is
/// `workers`.
std::vector<std::string> createParameters(const EntrySignature &entry);
/// Formats the shape of |tensor|: "[batch, length, 48]".
std::string formatShape(const EntrySignature &entry, const TensorSignature &tensor);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_DESCRIPTORSIGNATURE_H
