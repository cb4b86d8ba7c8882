//===- DescriptorSignature.cpp - What a compiled model shows of itself -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/DescriptorSignature.h"
#include "compiler/Transforms/DimBounds.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;

/// The element type in the descriptor, or an error.
static Result<attune_dtype> getDType(Type type) {
  if (type.isF32())
    return ATTUNE_F32;
  if (type.isInteger(64))
    return ATTUNE_I64;
  if (type.isBF16())
    return ATTUNE_BF16;
  if (type.isF16())
    return ATTUNE_F16;
  if (type.isInteger(8))
    return ATTUNE_I8;
  return Status::error("expected elements of type f32, i64, bf16, f16 or i8");
}

/// The dims of |function|, an entry, with their |limits|.
static std::vector<DimSignature> readDims(func::FuncOp function, DictionaryAttr limits) {
  std::vector<DimSignature> dims;
  for (StringRef name : getEntryDims(function)) {
    auto limit = limits ? limits.getAs<IntegerAttr>(name) : IntegerAttr();
    dims.push_back({name.str(), limit ? limit.getInt() : 0, name == "total_length" ? ATTUNE_DIM_TOTAL_LENGTH : ATTUNE_DIM_INPUTS});
  }
  return dims;
}

/// Position of the dim |name| of |entry|.
static int64_t findDim(const EntrySignature &entry, StringRef name) {
  return llvm::find_if(entry.dims, [&](const DimSignature &dim) { return dim.name == name; }) - entry.dims.begin();
}

/// Reads the contract attributes of one argument or result.
static Result<TensorSignature> readTensor(const EntrySignature &entry, Type type, DictionaryAttr attrs) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto name = attrs ? attrs.getAs<StringAttr>(xfmr::kNameAttr) : StringAttr();
  if (!tensor || !name)
    return Status::error("expected a tensor with '" + xfmr::kNameAttr.str() + "' and '" + xfmr::kDimsAttr.str() + "'");
  Result<attune_dtype> dtype = getDType(tensor.getElementType());
  if (!dtype)
    return Status::error("'" + name.str() + "': " + dtype.message());
  TensorSignature result;
  result.name = name.str();
  result.dtype = *dtype;
  auto dims = attrs.getAs<ArrayAttr>(xfmr::kDimsAttr);
  if (static_cast<int64_t>(dims ? dims.size() : 0) != tensor.getRank())
    return Status::error("'" + result.name + "': expected '" + xfmr::kDimsAttr.str() + "' with " + std::to_string(tensor.getRank()) +
                         " sizes");
  for (int64_t dim = 0; dim < tensor.getRank(); ++dim) {
    if (auto symbol = dyn_cast<StringAttr>(dims[dim]); symbol && tensor.isDynamicDim(dim))
      result.shape.push_back(-1 - findDim(entry, symbol));
    else if (auto size = dyn_cast<IntegerAttr>(dims[dim]); size && size.getInt() == tensor.getDimSize(dim))
      result.shape.push_back(size.getInt());
    else
      return Status::error("'" + result.name + "': size " + std::to_string(dim) + " of '" + xfmr::kDimsAttr.str() +
                           "' does not fit the type");
  }
  if (auto fill = attrs.getAs<StringAttr>(xfmr::kFillAttr))
    result.fill = llvm::StringSwitch<attune_fill>(fill)
                      .Case("zeros", ATTUNE_FILL_ZEROS)
                      .Case("ones", ATTUNE_FILL_ONES)
                      .Case("arange", ATTUNE_FILL_ARANGE)
                      .Case("tokens", ATTUNE_FILL_TOKENS)
                      .Case("slots", ATTUNE_FILL_SLOTS)
                      .Case("sources", ATTUNE_FILL_SOURCES)
                      .Case("past_lengths", ATTUNE_FILL_PAST_LENGTHS)
                      .Case("source_lengths", ATTUNE_FILL_SOURCE_LENGTHS)
                      .Default(ATTUNE_FILL_REQUIRED);
  if (auto max = attrs.getAs<IntegerAttr>(xfmr::kMaxValueAttr))
    result.maxValue = max.getInt();
  result.group = attrs.contains(xfmr::kGroupAttr);
  return result;
}

static Result<EntrySignature> readEntry(func::FuncOp function, DictionaryAttr limits) {
  EntrySignature entry;
  entry.name = function->getAttrOfType<StringAttr>(xfmr::kEntryAttr).str();
  entry.dims = readDims(function, limits);
  if (auto use = function->getAttrOfType<StringAttr>(xfmr::kCacheUseAttr))
    entry.cacheUse = llvm::StringSwitch<attune_cache_use>(use)
                         .Case("encode", ATTUNE_CACHE_ENCODE)
                         .Case("append", ATTUNE_CACHE_APPEND)
                         .Case("continue", ATTUNE_CACHE_CONTINUE)
                         .Default(ATTUNE_CACHE_UNUSED);
  auto read = [&](const char *kind, TypeRange types, auto getAttrs, std::vector<TensorSignature> &list) -> Status {
    for (auto [index, type] : llvm::enumerate(types)) {
      DictionaryAttr attrs = getAttrs(index);
      if (attrs && attrs.contains(xfmr::kCacheAttr))
        continue;
      if (auto dim = attrs ? attrs.getAs<StringAttr>(xfmr::kDimAttr) : StringAttr(); dim && type.isIndex()) {
        attune_dim_origin origin = dim == "past" ? ATTUNE_DIM_PAST : dim == "source_length" ? ATTUNE_DIM_SOURCE_LENGTH : ATTUNE_DIM_INPUTS;
        if (origin == ATTUNE_DIM_INPUTS)
          return Status::error("entry '" + entry.name + "': expected '" + xfmr::kDimAttr.str() + "' to be past or source_length, got '" +
                               dim.str() + "'");
        entry.dims[findDim(entry, dim)].origin = origin;
        continue;
      }
      Result<TensorSignature> tensor = readTensor(entry, type, attrs);
      if (!tensor)
        return Status::error("entry '" + entry.name + "': " + kind + " #" + std::to_string(index) + ": " + tensor.message());
      list.push_back(std::move(*tensor));
    }
    return {};
  };
  Status status = read("argument", function.getArgumentTypes(), [&](unsigned i) { return function.getArgAttrDict(i); }, entry.inputs);
  if (!status.failed())
    status = read("result", function.getResultTypes(), [&](unsigned i) { return function.getResultAttrDict(i); }, entry.outputs);
  if (status.failed())
    return status;
  return entry;
}

/// The cache |name| of this type and dims.
static Result<CacheSignature> readCache(ShapedType type, ArrayAttr dims, StringRef name) {
  CacheSignature cache;
  cache.name = name.str();
  auto first = dims && dims.size() == size_t(type.getRank()) && !dims.empty() ? dyn_cast<StringAttr>(dims[0]) : StringAttr();
  cache.ofSources = first && first == "sources";
  if (!first || (first != "slots" && first != "sources") || !type.getElementType().isF32())
    return Status::error("'" + cache.name + "': expected f32 and '" + xfmr::kDimsAttr.str() + "' that begin with slots or sources");
  bool known = type.getRank() == 2;
  cache.kind = ATTUNE_CACHE_MASK;
  if (type.getRank() == 4 || type.getRank() == 5) {
    cache.kind = type.getRank() == 5 ? ATTUNE_CACHE_KEYS : ATTUNE_CACHE_VALUES;
    cache.heads = type.getDimSize(1);
    cache.size = type.getDimSize(3);
    known = cache.heads > 0 && cache.size > 0 && (type.getRank() == 4 || type.getDimSize(4) == xfmr::kCachePanelWidth);
  }
  if (!known)
    return Status::error("'" + cache.name + "': expected a cache of keys in panels of " + std::to_string(xfmr::kCachePanelWidth) +
                         ", of values or of a mask");
  return cache;
}

Result<std::vector<CacheSignature>> attune::readCaches(ModuleOp module) {
  std::vector<CacheSignature> caches;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(xfmr::kEntryAttr))
      continue;
    for (unsigned i = 0; i != function.getNumArguments(); ++i) {
      auto name = function.getArgAttrOfType<StringAttr>(i, xfmr::kCacheAttr);
      auto type = dyn_cast<ShapedType>(function.getArgumentTypes()[i]);
      if (!name || !type)
        continue;
      Result<CacheSignature> cache = readCache(type, function.getArgAttrOfType<ArrayAttr>(i, xfmr::kDimsAttr), name);
      if (!cache)
        return Status::error("entry '" + function.getName().str() + "': " + cache.message());
      auto known = llvm::find_if(caches, [&](const CacheSignature &other) { return other.name == cache->name; });
      if (known == caches.end())
        caches.push_back(std::move(*cache));
      else if (!(*known == *cache))
        return Status::error("entry '" + function.getName().str() + "': '" + cache->name + "' is another cache than in an entry before");
    }
  }
  std::vector<CacheSignature> ordered;
  for (bool ofSources : {false, true})
    llvm::copy_if(caches, std::back_inserter(ordered), [&](const CacheSignature &cache) { return cache.ofSources == ofSources; });
  return ordered;
}

/// Checks that the output `logits` of each entry has a score for each label.
static Status checkLabels(const ModelSignature &signature) {
  for (const EntrySignature &entry : signature.entries)
    for (const TensorSignature &output : entry.outputs)
      if (!signature.labels.empty() && output.name == "logits" &&
          (output.shape.empty() || output.shape.back() != int64_t(signature.labels.size())))
        return Status::error("entry '" + entry.name + "': output 'logits' is " + formatShape(entry, output) + ", expected " +
                             std::to_string(signature.labels.size()) + " scores, as '" + xfmr::kLabelsAttr.str() + "' has labels");
  return {};
}

Result<ModelSignature> attune::readModelSignature(ModuleOp module) {
  ModelSignature signature;
  auto limits = module->getAttrOfType<DictionaryAttr>(xfmr::kLimitsAttr);
  if (auto model = module->getAttrOfType<DictionaryAttr>(xfmr::kModelAttr)) {
    auto text = [&](StringRef key) { return model.getAs<StringAttr>(key) ? model.getAs<StringAttr>(key).str() : std::string(); };
    signature.family = text("family");
    signature.architecture = text("architecture");
  }
  Result<std::optional<GenerationSettings>> generation = readGenerationAttr(module);
  if (!generation)
    return generation.status();
  signature.generation = std::move(*generation);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttrOfType<StringAttr>(xfmr::kEntryAttr))
      continue;
    Result<EntrySignature> entry = readEntry(function, limits);
    if (!entry)
      return entry.status();
    signature.entries.push_back(std::move(*entry));
  }
  if (signature.entries.empty())
    return Status::error("the module has no function with '" + xfmr::kEntryAttr.str() + "'");
  Result<std::vector<CacheSignature>> caches = readCaches(module);
  if (!caches)
    return caches.status();
  signature.caches = std::move(*caches);
  if (auto labels = module->getAttrOfType<xfmr::LabelsAttr>(xfmr::kLabelsAttr))
    for (auto label : labels.getNames().getAsRange<StringAttr>())
      signature.labels.push_back(label.str());
  if (Status status = checkLabels(signature); status.failed())
    return status;
  return signature;
}

void attune::readKernels(ModuleOp module, ModelSignature &signature, StringRef defaultBackend) {
  for (auto function : module.getOps<func::FuncOp>())
    if (tiles::KernelAttr kernel = tiles::getKernel(function)) {
      StringRef backend = kernel.getBackend().empty() ? defaultBackend : kernel.getBackend();
      signature.kernels.push_back({function.getName().str(), backend.str(), kernel.getText().str(), kernel.getNote().str()});
    }
}

void attune::readFormulae(ModuleOp module, ModelSignature &signature) {
  for (auto function : module.getOps<func::FuncOp>())
    for (EntrySignature &entry : signature.entries)
      if (auto formula = function->getAttrOfType<xfmr::FormulaAttr>(rt::kWorkspaceAttr))
        if (function->getAttr(xfmr::kEntryAttr) == StringAttr::get(module.getContext(), entry.name))
          entry.workspaceFormula = SizeExpr::fromFormula(formula).str();
}

std::string attune::formatShape(const EntrySignature &entry, const TensorSignature &tensor) {
  std::string text = "[";
  for (int64_t size : tensor.shape)
    text += (text.size() > 1 ? ", " : "") + (size < 0 ? entry.dims[-size - 1].name : std::to_string(size));
  return text + "]";
}
