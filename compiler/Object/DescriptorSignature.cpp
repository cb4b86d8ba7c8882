//===- DescriptorSignature.cpp - The interface of a compiled model --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/DescriptorSignature.h"
#include "compiler/Object/CIdentifiers.h"
#include "compiler/Transforms/DimBounds.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;

/// Returns the attune_dtype of the element type |type|; an error if there is none.
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

/// Returns the dims of |function|, an entry. |limits| has the largest values of dims by their names; null means no
/// limits. The origin of each dim but `total_length` is the inputs; readEntry corrects that of session dims.
static std::vector<DimSignature> readDims(func::FuncOp function, DictionaryAttr limits) {
  std::vector<DimSignature> dims;
  for (StringRef name : getEntryDims(function)) {
    auto limit = limits ? limits.getAs<IntegerAttr>(name) : IntegerAttr();
    dims.push_back({name.str(), limit ? limit.getInt() : 0, name == "total_length" ? ATTUNE_DIM_TOTAL_LENGTH : ATTUNE_DIM_INPUTS});
  }
  return dims;
}

/// Returns the position of the dim |name| of |entry|; the number of dims if there is none of this name.
static int64_t findDim(const EntrySignature &entry, StringRef name) {
  return llvm::find_if(entry.dims, [&](const DimSignature &dim) { return dim.name == name; }) - entry.dims.begin();
}

/// Returns the signature of the tensor |name| of |entry|. |dims| has a size or the name of a dim for each dimension of
/// |type|. Fails if the descriptor does not have the element type.
static Result<TensorSignature> readTensor(const EntrySignature &entry, Type type, StringAttr name, ArrayAttr dims) {
  Result<attune_dtype> dtype = getDType(cast<ShapedType>(type).getElementType());
  if (!dtype)
    return Status::error("entry '" + entry.name + "': '" + name.str() + "': " + dtype.message());
  TensorSignature result;
  result.name = name.str();
  result.dtype = *dtype;
  for (Attribute dim : dims) {
    auto size = dyn_cast<IntegerAttr>(dim);
    result.shape.push_back(size ? size.getInt() : -1 - findDim(entry, cast<StringAttr>(dim)));
  }
  return result;
}

// readEntry casts xfmr::InputDefault to attune_fill and xfmr::CacheUse to attune_cache_use, which have the same
// numbers.
static_assert(xfmr::getMaxEnumValForInputDefault() == ATTUNE_FILL_SOURCE_LENGTHS);
static_assert(xfmr::getMaxEnumValForCacheUse() == ATTUNE_CACHE_CONTINUE);

static Result<EntrySignature> readEntry(func::FuncOp function, DictionaryAttr limits) {
  xfmr::EntryAttr attr = xfmr::getEntry(function);
  EntrySignature entry;
  entry.name = attr.getName().str();
  entry.dims = readDims(function, limits);
  entry.cacheUse = static_cast<attune_cache_use>(attr.getCaches());
  auto missing = [&](const char *kind, unsigned index, StringRef name) {
    return Status::error("entry '" + entry.name + "': " + kind + " #" + std::to_string(index) + ": expected '" + name.str() + "'");
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (xfmr::getCache(function, index))
      continue;
    if (xfmr::SessionDimAttr dim = xfmr::getSessionDim(function, index)) {
      bool isPast = dim.getValue() == xfmr::SessionDim::Past;
      entry.dims[findDim(entry, xfmr::stringifySessionDim(dim.getValue()))].origin =
          isPast ? ATTUNE_DIM_PAST : ATTUNE_DIM_SOURCE_LENGTH;
      continue;
    }
    xfmr::InputAttr input = xfmr::getInput(function, index);
    if (!input)
      return missing("argument", index, xfmr::InputAttr::name);
    Result<TensorSignature> tensor = readTensor(entry, type, input.getName(), input.getDims());
    if (!tensor)
      return tensor.status();
    tensor->fill = static_cast<attune_fill>(input.getDefaultValue());
    tensor->maxValue = input.getMaxValue();
    entry.inputs.push_back(std::move(*tensor));
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    if (xfmr::getResultCache(function, index))
      continue;
    xfmr::OutputAttr output = xfmr::getResultOutput(function, index);
    if (!output)
      return missing("result", index, xfmr::OutputAttr::name);
    Result<TensorSignature> tensor = readTensor(entry, type, output.getName(), output.getDims());
    if (!tensor)
      return tensor.status();
    tensor->group = output.getIsGroup();
    entry.outputs.push_back(std::move(*tensor));
  }
  return entry;
}

/// Returns the signature of the cache argument with |attr| and |type|.
static CacheSignature readCache(ShapedType type, xfmr::CacheAttr attr) {
  CacheSignature cache;
  cache.name = attr.getName().str();
  cache.ofSources = attr.getDims()[0] == StringAttr::get(type.getContext(), "sources");
  cache.kind = ATTUNE_CACHE_MASK;
  if (type.getRank() > 2) {
    cache.kind = type.getRank() == 5 ? ATTUNE_CACHE_KEYS : ATTUNE_CACHE_VALUES;
    cache.heads = type.getDimSize(1);
    cache.size = xfmr::getHeadSize(type, 3);
    Type element = type.getElementType();
    cache.dtype = element.isBF16() ? ATTUNE_BF16 : element.isF16() ? ATTUNE_F16 : element.isInteger(8) ? ATTUNE_I8 : ATTUNE_F32;
  }
  return cache;
}

Result<std::vector<CacheSignature>> attune::readCaches(ModuleOp module) {
  std::vector<CacheSignature> caches;
  for (auto function : module.getOps<func::FuncOp>()) {
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      xfmr::CacheAttr attr = xfmr::getCache(function, index);
      if (!attr)
        continue;
      CacheSignature cache = readCache(cast<ShapedType>(type), attr);
      auto known = llvm::find_if(caches, [&](const CacheSignature &other) { return other.name == cache.name; });
      if (known == caches.end())
        caches.push_back(std::move(cache));
      else if (!(*known == cache))
        return Status::error("entry '" + function.getName().str() + "': '" + cache.name + "' is another cache than in an entry before");
    }
  }
  std::vector<CacheSignature> ordered;
  for (bool ofSources : {false, true})
    llvm::copy_if(caches, std::back_inserter(ordered), [&](const CacheSignature &cache) { return cache.ofSources == ofSources; });
  return ordered;
}

/// Checks that the last dimension of each output `logits` is the number of labels. Accepts any size if the model has no
/// labels.
static Status checkLabels(const ModelSignature &signature) {
  for (const EntrySignature &entry : signature.entries)
    for (const TensorSignature &output : entry.outputs)
      if (!signature.labels.empty() && output.name == "logits" &&
          (output.shape.empty() || output.shape.back() != int64_t(signature.labels.size())))
        return Status::error("entry '" + entry.name + "': output 'logits' is " + formatShape(entry, output) + ", expected " +
                             std::to_string(signature.labels.size()) + " scores, as 'xfmr.model' has labels");
  return {};
}

Result<ModelSignature> attune::readModelSignature(ModuleOp module) {
  ModelSignature signature;
  xfmr::ModelAttr model = xfmr::getModel(module);
  if (model) {
    signature.family = model.getFamily().str();
    signature.architecture = model.getArchitecture().str();
  }
  Result<std::optional<GenerationSettings>> generation = readGenerationAttr(module);
  if (!generation)
    return generation.status();
  signature.generation = std::move(*generation);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!xfmr::getEntry(function))
      continue;
    Result<EntrySignature> entry = readEntry(function, model ? model.getLimits() : DictionaryAttr());
    if (!entry)
      return entry.status();
    signature.entries.push_back(std::move(*entry));
  }
  signature.ranks = xfmr::getRanks(module);
  if (signature.entries.empty())
    return Status::error("the module has no function with 'xfmr.entry'");
  Result<std::vector<CacheSignature>> caches = readCaches(module);
  if (!caches)
    return caches.status();
  signature.caches = std::move(*caches);
  if (model && model.getLabels())
    for (auto label : model.getLabels().getAsRange<StringAttr>())
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

/// Returns |formula| of |entry| as a C expression of the results of createParameters. A symbol that is no dim, such as
/// `workers`, keeps its name.
static std::string formatFormula(const EntrySignature &entry, xfmr::FormulaAttr formula) {
  std::vector<std::string> parameters = createParameters(entry);
  auto asParameter = [&](Attribute symbol) {
    auto name = cast<StringAttr>(symbol);
    size_t dim = findDim(entry, name);
    return SizeExpr::symbol(dim == parameters.size() ? name : StringAttr::get(name.getContext(), parameters[dim]));
  };
  return SizeExpr::fromFormula(formula).substitute(asParameter).str();
}

void attune::readFormulae(ModuleOp module, ModelSignature &signature) {
  for (auto function : module.getOps<func::FuncOp>())
    for (EntrySignature &entry : signature.entries)
      if (auto formula = function->getAttrOfType<xfmr::FormulaAttr>(rt::kWorkspaceAttr))
        if (xfmr::getEntry(function).getName() == entry.name)
          entry.workspaceFormula = formatFormula(entry, formula);
}

std::vector<std::string> attune::createParameters(const EntrySignature &entry) {
  return createParameterNames(llvm::map_to_vector(entry.dims, [](const DimSignature &dim) { return StringRef(dim.name); }));
}

std::string attune::formatShape(const EntrySignature &entry, const TensorSignature &tensor) {
  std::string text = "[";
  for (int64_t size : tensor.shape)
    text += (text.size() > 1 ? ", " : "") + (size < 0 ? entry.dims[-size - 1].name : std::to_string(size));
  return text + "]";
}
