//===- EntryAttrs.cpp - Verifiers of the attributes of models and entries -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::xfmr;

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

ArrayAttr mlir::xfmr::getArgumentDims(FunctionOpInterface function, unsigned index) {
  if (InputAttr input = getInput(function, index))
    return input.getDims();
  if (OutputAttr output = getOutput(function, index))
    return output.getDims();
  CacheAttr cache = getCache(function, index);
  return cache ? cache.getDims() : ArrayAttr();
}

void mlir::xfmr::removeEntry(FunctionOpInterface function) {
  for (StringRef text : {InputAttr::name, OutputAttr::name, CacheAttr::name, SessionDimAttr::name}) {
    auto name = StringAttr::get(function.getContext(), text);
    for (unsigned i = 0; i != function.getNumArguments(); ++i)
      function.removeArgAttr(i, name);
    for (unsigned i = 0; i != function.getNumResults(); ++i)
      function.removeResultAttr(i, name);
  }
  function->removeAttr(EntryAttr::name);
  for (StringRef formula : {kFlopsAttr, kGathersAttr, kGatherBytesAttr})
    function->removeAttr(formula);
}

std::optional<int64_t> mlir::xfmr::getWeightsBytes(Operation *module) {
  auto bytes = module->getAttrOfType<IntegerAttr>(XfmrDialect::WeightsBytesAttrHelper::getNameStr());
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

void mlir::xfmr::setWeightsBytes(ModuleOp module, int64_t bytes) {
  module->setAttr(XfmrDialect::WeightsBytesAttrHelper::getNameStr(), Builder(module).getI64IntegerAttr(bytes));
}

int64_t mlir::xfmr::getRanks(Operation *module) {
  auto ranks = module->getAttrOfType<IntegerAttr>(XfmrDialect::RanksAttrHelper::getNameStr());
  return ranks ? ranks.getInt() : 1;
}

void mlir::xfmr::setRanks(ModuleOp module, int64_t ranks) {
  module->setAttr(XfmrDialect::RanksAttrHelper::getNameStr(), Builder(module).getI64IntegerAttr(ranks));
}

//===----------------------------------------------------------------------===//
// Verification of attributes without their context
//===----------------------------------------------------------------------===//

static bool isI64(Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(64);
}

/// Succeeds if |name| and |dims| may be those of an input, an output or a cache: the name is not empty, and each dim is
/// a name other than "workers" or a size that is not negative. Else emits an error and fails.
static LogicalResult verifyTensor(EmitError emitError, StringAttr name, ArrayAttr dims) {
  if (name.empty())
    return emitError() << "expects a name, but got \"\"";
  for (Attribute dim : dims) {
    auto symbol = dyn_cast<StringAttr>(dim);
    if (symbol ? symbol.empty() : !isI64(dim) || cast<IntegerAttr>(dim).getInt() < 0)
      return emitError() << "expects dims that are names or sizes, but got " << dim;
    // In formulas, such as that of the workspace size, this name stands for the number of threads.
    if (symbol && symbol == "workers")
      return emitError() << "expects dims of other names than \"workers\", the number of threads, but got " << dims;
  }
  return success();
}

LogicalResult EntryAttr::verify(EmitError emitError, StringAttr name, CacheUse) {
  if (name.empty() || !llvm::all_of(name.getValue(), [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return emitError() << "expects a name of letters, digits and underscores, but got " << name;
  return success();
}

LogicalResult InputAttr::verify(EmitError emitError, StringAttr name, ArrayAttr dims, InputDefault, int64_t maxValue) {
  if (maxValue < 0)
    return emitError() << "expects 'max_value' not to be negative, but got " << maxValue;
  return verifyTensor(emitError, name, dims);
}

LogicalResult OutputAttr::verify(EmitError emitError, StringAttr name, ArrayAttr dims, bool) { return verifyTensor(emitError, name, dims); }

LogicalResult CacheAttr::verify(EmitError emitError, StringAttr name, ArrayAttr dims) {
  auto first = dims.empty() ? StringAttr() : dyn_cast<StringAttr>(dims[0]);
  if (!first || (first != "slots" && first != "sources"))
    return emitError() << "expects dims that begin with 'slots' or 'sources', but got " << dims;
  return verifyTensor(emitError, name, dims);
}

/// Returns true if |value| may be a generation setting: a bool, an i64, an f64, a string or a list of these.
static bool isSetting(Attribute value) {
  if (auto list = dyn_cast<ArrayAttr>(value))
    return llvm::all_of(list, isSetting);
  auto number = dyn_cast<FloatAttr>(value);
  return isa<BoolAttr, StringAttr>(value) || isI64(value) || (number && number.getType().isF64());
}

LogicalResult ModelAttr::verify(EmitError emitError, StringAttr, StringAttr, DictionaryAttr limits, ArrayAttr labels,
                                DictionaryAttr generation) {
  for (NamedAttribute limit : limits ? limits.getValue() : ArrayRef<NamedAttribute>())
    if (!isI64(limit.getValue()) || cast<IntegerAttr>(limit.getValue()).getInt() < 1)
      return emitError() << "expects limit " << limit.getName() << " to be a positive i64, but got " << limit.getValue();
  if (labels && labels.empty())
    return emitError() << "expects at least one label";
  for (auto [index, label] : llvm::enumerate(labels ? labels.getValue() : ArrayRef<Attribute>()))
    if (auto text = dyn_cast<StringAttr>(label); !text || text.getValue().contains('\0'))
      return emitError() << "expects label " << index << " to be a string without NUL, but got " << label;
  for (NamedAttribute setting : generation ? generation.getValue() : ArrayRef<NamedAttribute>())
    if (!isSetting(setting.getValue()))
      return emitError() << "expects setting " << setting.getName() << " to be a bool, i64, f64 or string, or a list of them, but got "
                         << setting.getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// Verification of attributes on operations
//===----------------------------------------------------------------------===//

/// Returns the name of |attribute| in quotes, for messages.
static std::string quoted(NamedAttribute attribute) { return "'" + attribute.getName().str() + "'"; }

/// Returns the value of |attribute| as an AttrT. If it has another class, fails with an error of |op| that calls the
/// expected class |what|, such as "an #xfmr.entry".
template <typename AttrT>
static FailureOr<AttrT> getAs(Operation *op, NamedAttribute attribute, const char *what) {
  if (auto attr = dyn_cast<AttrT>(attribute.getValue()))
    return attr;
  return op->emitError("expects ") << quoted(attribute) << " to be " << what << ", but got " << attribute.getValue();
}

static LogicalResult verifyEntryName(Operation *op, NamedAttribute attribute) {
  if (failed(getAs<EntryAttr>(op, attribute, "an #xfmr.entry")))
    return failure();
  auto visibility = op->getAttrOfType<StringAttr>(SymbolTable::getVisibilityAttrName());
  if (!isa<FunctionOpInterface>(op) || (visibility && visibility != "public"))
    return op->emitError("expects ") << quoted(attribute) << " on a public function";
  return success();
}

static LogicalResult verifyModel(Operation *op, NamedAttribute attribute) {
  if (failed(getAs<ModelAttr>(op, attribute, "a #xfmr.model")))
    return failure();
  if (!isa<ModuleOp>(op))
    return op->emitError("expects ") << quoted(attribute) << " on a module";
  // Names are compared here, not when an entry is verified: a function may be verified while a pass changes another
  // function in parallel, so its verifier must not read the attributes of other functions.
  llvm::StringSet<> names;
  for (Region &region : op->getRegions())
    for (Operation &function : region.getOps())
      if (EntryAttr entry = getEntry(&function); entry && !names.insert(entry.getName().getValue()).second)
        return function.emitError("expects entries of different names, but got ") << entry.getName() << " again";
  return success();
}

static LogicalResult verifyWeightsBytes(Operation *op, NamedAttribute attribute) {
  if (!isI64(attribute.getValue()) || cast<IntegerAttr>(attribute.getValue()).getInt() < 0)
    return op->emitError("expects ") << quoted(attribute) << " to be an i64 that is not negative, but got " << attribute.getValue();
  return isa<ModuleOp>(op) ? success() : op->emitError("expects ") << quoted(attribute) << " on a module";
}

static LogicalResult verifyRanks(Operation *op, NamedAttribute attribute) {
  if (!isI64(attribute.getValue()) || cast<IntegerAttr>(attribute.getValue()).getInt() < 1)
    return op->emitError("expects ") << quoted(attribute) << " to be a positive i64, but got " << attribute.getValue();
  return isa<ModuleOp>(op) ? success() : op->emitError("expects ") << quoted(attribute) << " on a module";
}

LogicalResult mlir::xfmr::verifyEntryFormula(Operation *op, NamedAttribute attribute) {
  if (!isa<FunctionOpInterface>(op) || !getEntry(op))
    return op->emitError("expects ") << quoted(attribute) << " on an entry";
  FailureOr<FormulaAttr> formula = getAs<FormulaAttr>(op, attribute, "a #xfmr.formula");
  if (failed(formula))
    return failure();
  if (!llvm::all_of(formula->getSymbols(), llvm::IsaPred<StringAttr>))
    return op->emitError("expects ") << quoted(attribute) << " to be in terms of dims, but got " << *formula;
  return success();
}

/// Emits an error of |op|: |attribute| is not allowed on |what|, such as "argument 0". Returns failure.
static LogicalResult refuse(Operation *op, const Twine &what, NamedAttribute attribute) {
  return op->emitError("expects no attribute ") << quoted(attribute) << " on " << what;
}

LogicalResult XfmrDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == EntryAttr::name)
    return verifyEntryName(op, attribute);
  if (name == ModelAttr::name)
    return verifyModel(op, attribute);
  if (name == XfmrDialect::WeightsBytesAttrHelper::getNameStr())
    return verifyWeightsBytes(op, attribute);
  if (name == XfmrDialect::RanksAttrHelper::getNameStr())
    return verifyRanks(op, attribute);
  if (name == kFlopsAttr || name == kGathersAttr || name == kGatherBytesAttr)
    return verifyEntryFormula(op, attribute);
  return refuse(op, "an operation", attribute);
}

/// Succeeds if |type| is shaped and |dims| fit it: a name for each dynamic dimension, the size for each static one.
/// Else emits an error of |op| that calls the value of this type |what|, such as "argument 0", and fails.
static LogicalResult verifyDims(Operation *op, const Twine &what, Type type, ArrayAttr dims) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || shaped.getRank() != int64_t(dims.size()))
    return op->emitError("expects ") << what << " to be a tensor or buffer of rank " << dims.size() << " as its dims " << dims
                                     << ", but got " << type;
  for (auto [index, size] : llvm::enumerate(shaped.getShape())) {
    auto wanted = dyn_cast<IntegerAttr>(dims[index]);
    if (ShapedType::isDynamic(size) == bool(wanted) || (wanted && wanted.getInt() != size))
      return op->emitError("expects dim ") << index << " of " << what << " to be " << (ShapedType::isDynamic(size) ? "a name" : "the size")
                                           << " as in its type " << type << ", but got " << dims[index];
  }
  return success();
}

/// Succeeds if |type| may be the type of a cache with the dims of |cache|, and |op|, an entry, uses caches. Else emits
/// an error of |op| that calls the cache |what|, such as "argument 0", and fails.
static LogicalResult verifyCache(Operation *op, const Twine &what, Type type, CacheAttr cache) {
  if (failed(verifyDims(op, what, type, cache.getDims())))
    return failure();
  if (getEntry(op).getCaches() == CacheUse::Unused)
    return op->emitError("expects an entry with 'caches', since ") << what << " is a cache";
  auto shaped = cast<ShapedType>(type);
  int64_t rank = shaped.getRank();
  bool hasSizes = rank == 2 || ((rank == 4 || rank == 5) && shaped.getDimSize(1) > 0 && getHeadSize(shaped, 3) > 0 &&
                                (rank == 4 || shaped.getDimSize(4) == kCachePanelWidth));
  Type element = shaped.getElementType();
  bool isElement = element.isF32() || (rank > 2 && (element.isBF16() || element.isF16() || element.isInteger(8)));
  if (!hasSizes || !isElement)
    return op->emitError("expects ") << what << " to be a cache of keys in panels of " << kCachePanelWidth
                                     << " or of values, of f32, bf16, f16 or i8, or a cache of a mask, of f32, but got " << type;
  return success();
}

static LogicalResult verifyWeightArgument(Operation *op, const Twine &what, Type type, NamedAttribute attribute) {
  if (failed(getAs<UnitAttr>(op, attribute, "a unit attribute")))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !function.isPrivate())
    return op->emitError("expects ") << quoted(attribute) << " on arguments of a private function";
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return op->emitError("expects ") << what << " to be a tensor or buffer of static shape, since it is a weight, but got " << type;
  return success();
}

/// Succeeds if |op| is an entry, since |attribute| may stand only on arguments and results of entries. Else emits an
/// error of |op| and fails.
static LogicalResult verifyOnEntry(Operation *op, NamedAttribute attribute) {
  return getEntry(op) ? success() : op->emitError("expects ") << quoted(attribute) << " on arguments and results of an entry";
}

/// Succeeds if |attribute| is an #xfmr.output whose dims fit |type| (see verifyDims). Else emits an error of |op| that
/// calls the output |what|, such as "result 0", and fails.
static LogicalResult verifyOutput(Operation *op, const Twine &what, Type type, NamedAttribute attribute) {
  FailureOr<OutputAttr> output = getAs<OutputAttr>(op, attribute, "an #xfmr.output");
  return failed(output) ? failure() : verifyDims(op, what, type, output->getDims());
}

LogicalResult XfmrDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function && index < function.getNumArguments() ? function.getArgumentTypes()[index] : Type();
  std::string what = "argument " + std::to_string(index);
  if (name == XfmrDialect::WeightAttrHelper::getNameStr())
    return verifyWeightArgument(op, what, type, attribute);
  constexpr StringRef kinds[] = {InputAttr::name, OutputAttr::name, CacheAttr::name, SessionDimAttr::name};
  if (!llvm::is_contained(kinds, name))
    return refuse(op, what, attribute);
  if (failed(verifyOnEntry(op, attribute)))
    return failure();
  if (llvm::count_if(kinds, [&](StringRef kind) { return bool(function.getArgAttr(index, kind)); }) > 1)
    return op->emitError("expects ") << what << " to be one of an input, an output, a cache and a dim";
  if (name == InputAttr::name) {
    FailureOr<InputAttr> input = getAs<InputAttr>(op, attribute, "an #xfmr.input");
    return failed(input) ? failure() : verifyDims(op, what, type, input->getDims());
  }
  if (name == OutputAttr::name)
    return verifyOutput(op, what, type, attribute);
  if (name == CacheAttr::name) {
    FailureOr<CacheAttr> cache = getAs<CacheAttr>(op, attribute, "a #xfmr.cache");
    return failed(cache) ? failure() : verifyCache(op, what, type, *cache);
  }
  if (failed(getAs<SessionDimAttr>(op, attribute, "a #xfmr.dim")))
    return failure();
  return type.isIndex() ? success() : op->emitError("expects ") << what << " to be an index, since it is a dim, but got " << type;
}

LogicalResult XfmrDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  std::string what = "result " + std::to_string(index);
  if (name != OutputAttr::name && name != CacheAttr::name)
    return refuse(op, what, attribute);
  if (failed(verifyOnEntry(op, attribute)))
    return failure();
  Type type = function.getResultTypes()[index];
  if (name == OutputAttr::name)
    return verifyOutput(op, what, type, attribute);
  FailureOr<CacheAttr> cache = getAs<CacheAttr>(op, attribute, "a #xfmr.cache");
  if (failed(cache) || failed(verifyCache(op, what, type, *cache)))
    return failure();
  for (unsigned i = 0; i != function.getNumArguments(); ++i)
    if (getCache(function, i) == *cache)
      return success();
  return op->emitError("expects an argument that is the cache of ") << what << ", " << *cache;
}
