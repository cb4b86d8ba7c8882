//===- ModuleMutator.cpp - Random changes of IR ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A change of a single type is hardly ever valid. So types change in two ways: a size or an element type everywhere at
// once, a size also in constants and attributes that equal it; or the type of one operand or result, with an
// unrealized_conversion_cast between the old type and the new one, so that only the operation itself has to accept the
// new type.
//===----------------------------------------------------------------------===//
#include "test/Fuzz/ModuleMutator.h"

#include "compiler/Reduce/ModuleEdits.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;

ModuleMutator::ModuleMutator(ModuleOp module, Decisions &decisions) : module(module), decisions(decisions) {
  llvm::MapVector<StringRef, std::vector<Operation *>> byName;
  module->walk([&](Operation *op) {
    ops.push_back(op);
    byName[op->getName().getStringRef()].push_back(op);
    if (auto function = dyn_cast<func::FuncOp>(op))
      functions.push_back(function);
  });
  for (auto &[name, named] : byName)
    opsByName.push_back(std::move(named));
}

//===----------------------------------------------------------------------===//
// Places and values
//===----------------------------------------------------------------------===//

Operation *ModuleMutator::pickOp() { return decisions.once(3) ? decisions.of(ops) : decisions.of(decisions.of(opsByName)); }

func::FuncOp ModuleMutator::pickFunction() { return functions.empty() ? func::FuncOp() : decisions.of(functions); }

Attribute ModuleMutator::pickAttribute() {
  ArrayRef<NamedAttribute> attributes = pickOp()->getAttrs();
  return attributes.empty() ? Attribute() : decisions.of(attributes).getValue();
}

Value ModuleMutator::pickValue(Operation *op, Type type, Value except) {
  std::vector<Value> values;
  for (Operation *at = op; at && !isa<ModuleOp>(at); at = at->getParentOp()) {
    Block *block = at->getBlock();
    if (!block)
      break;
    llvm::append_range(values, block->getArguments());
    for (Operation &before : llvm::make_range(block->begin(), Block::iterator(at)))
      llvm::append_range(values, before.getResults());
    if (at->getParentOp() && at->getParentOp()->hasTrait<OpTrait::IsIsolatedFromAbove>())
      break;
  }
  llvm::erase_if(values, [&](Value value) { return value.getType() != type || value == except; });
  return values.empty() ? Value() : decisions.of(values);
}

Value ModuleMutator::makeValue(Operation *op, Type type) {
  OpBuilder builder(op);
  // Integers are 0, not poison, because upstream's folds of slices read a poison offset as an integer.
  if (type.isIntOrIndex())
    return arith::ConstantOp::create(builder, op->getLoc(), builder.getZeroAttr(type));
  return ub::PoisonOp::create(builder, op->getLoc(), type, ub::PoisonAttr::get(op->getContext()));
}

//===----------------------------------------------------------------------===//
// Other values of a kind
//===----------------------------------------------------------------------===//

int64_t ModuleMutator::pickSize(int64_t size) {
  int64_t sizes[] = {
      0, 1, ShapedType::kDynamic, 2, 3, 16, 17, size / 2, size * 2, size + 1, size - 1, 4096, int64_t(1) << 33, int64_t(1) << 62};
  int64_t picked = sizes[decisions.pick(std::size(sizes))];
  // Negative results (0 - 1, a product that overflows, half of a dynamic size) become 1.
  return ShapedType::isDynamic(picked) ? picked : picked < 0 ? 1 : picked;
}

int64_t ModuleMutator::pickNumber(int64_t number) {
  int64_t numbers[] = {0,
                       1,
                       -1,
                       2,
                       number / 2,
                       number * 2,
                       number + 1,
                       number - 1,
                       number * -1,
                       16,
                       4096,
                       int64_t(1) << 31,
                       std::numeric_limits<int64_t>::max(),
                       std::numeric_limits<int64_t>::min()};
  return numbers[decisions.pick(std::size(numbers))];
}

Type ModuleMutator::pickElementType(Type type) {
  Builder builder(type.getContext());
  Type types[] = {builder.getF32Type(), builder.getBF16Type(), builder.getF16Type(), builder.getF64Type(), builder.getI8Type(),
                  builder.getI16Type(), builder.getI32Type(),  builder.getI64Type(), builder.getI1Type(),  builder.getIndexType()};
  return types[decisions.pick(std::size(types))];
}

Type ModuleMutator::changeType(Type type) {
  auto ignored = [&] { return emitError(UnknownLoc::get(type.getContext())); };
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return type.isIntOrIndexOrFloat() ? pickElementType(type) : type;
  if (!shaped.hasRank())
    return type;
  SmallVector<int64_t> shape(shaped.getShape());
  Type element = shaped.getElementType();
  size_t kind = decisions.pick(6);
  if (kind == 0)
    element = pickElementType(element);
  else if (kind == 1 && !shape.empty())
    shape.erase(shape.begin() + decisions.pick(shape.size()));
  else if (kind == 2)
    shape.insert(shape.begin() + decisions.pick(shape.size() + 1), decisions.once(2) ? 1 : ShapedType::kDynamic);
  else if (!shape.empty())
    for (int64_t &size = decisions.of(shape); kind > 2; kind = 0)
      size = pickSize(size);
  Type changed =
      llvm::TypeSwitch<Type, Type>(type)
          .Case([&](RankedTensorType tensor) { return RankedTensorType::getChecked(ignored, shape, element, tensor.getEncoding()); })
          .Case([&](VectorType vector) -> Type {
            // Upstream's lowering to LLVM ends the process for vectors of 2^32 elements.
            if (llvm::any_of(shape, [](int64_t size) { return ShapedType::isDynamic(size) || size > 4096; }) || vector.isScalable())
              return {};
            return VectorType::getChecked(ignored, shape, element);
          })
          .Case([&](MemRefType memref) -> Type {
            MemRefLayoutAttrInterface layout = memref.getLayout();
            if (decisions.once(4) && !shape.empty()) {
              SmallVector<int64_t> strides(shape.size(), 1);
              for (int64_t &stride : strides)
                stride = decisions.once(2) ? ShapedType::kDynamic : int64_t(decisions.pick(64));
              layout = StridedLayoutAttr::get(type.getContext(), decisions.once(2) ? 0 : ShapedType::kDynamic, strides);
            } else if (shape.size() != size_t(memref.getRank())) {
              layout = {};
            }
            return MemRefType::getChecked(ignored, shape, element, layout, memref.getMemorySpace());
          })
          .Default([](Type) { return Type(); });
  return changed ? changed : type;
}

Attribute ModuleMutator::changeAttribute(Attribute attribute, bool keepsForm) {
  Builder builder(attribute.getContext());
  auto changeNumbers = [&](auto numbers) {
    using Array = decltype(numbers);
    auto values = llvm::to_vector(numbers.asArrayRef());
    using Number = std::decay_t<decltype(values[0])>;
    if (!keepsForm && (values.empty() || decisions.once(4))) {
      values.push_back(1);
    } else if (!keepsForm && decisions.once(4)) {
      values.pop_back();
    } else if (!values.empty()) {
      Number &value = decisions.of(values), number = static_cast<Number>(pickNumber(value));
      // A dynamic number stays dynamic, because the operation has one operand for each of them.
      if (keepsForm && (ShapedType::isDynamic(value) || ShapedType::isDynamic(number)))
        return Attribute();
      value = number;
    }
    return Attribute(Array::get(attribute.getContext(), values));
  };
  return llvm::TypeSwitch<Attribute, Attribute>(attribute)
      .Case([&](BoolAttr flag) { return builder.getBoolAttr(!flag.getValue()); })
      .Case([&](IntegerAttr number) -> Attribute {
        unsigned width = number.getType().isIndex() ? 64 : number.getType().getIntOrFloatBitWidth();
        if (width > 64)
          return {};
        int64_t picked = pickNumber(number.getValue().getSExtValue());
        // Upstream's folds crash on constant sizes that equal the marker of dynamic ones.
        if (number.getType().isIndex() && ShapedType::isDynamic(picked))
          ++picked;
        return IntegerAttr::get(number.getType(), APInt(width, uint64_t(picked), true, true));
      })
      .Case([&](FloatAttr number) -> Attribute {
        double values[] = {0.0, -1.0, 1e300, 1e-300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
        return FloatAttr::get(number.getType(), values[decisions.pick(std::size(values))]);
      })
      .Case([&](StringAttr text) -> Attribute {
        std::string texts[] = {
            "", text.str() + "x", text.str().substr(0, text.size() / 2), "batch", "weights", "min(", "batch*length", "9999999999999999999"};
        return builder.getStringAttr(texts[decisions.pick(std::size(texts))]);
      })
      .Case([&](FlatSymbolRefAttr) -> Attribute {
        func::FuncOp function = pickFunction();
        return function ? FlatSymbolRefAttr::get(function.getSymNameAttr()) : FlatSymbolRefAttr::get(attribute.getContext(), "none");
      })
      .Case([&](ArrayAttr array) -> Attribute {
        SmallVector<Attribute> values(array.getValue());
        if (values.empty())
          return builder.getArrayAttr({builder.getI64IntegerAttr(1)});
        Attribute &value = decisions.of(values);
        size_t kind = decisions.pick(4);
        if (kind == 0)
          values.erase(&value);
        else if (kind == 1)
          values.push_back(Attribute(value));
        else if (kind == 2)
          value = builder.getI64IntegerAttr(-1);
        else if (Attribute changed = changeAttribute(value))
          value = changed;
        return builder.getArrayAttr(values);
      })
      .Case([&](DictionaryAttr dictionary) -> Attribute {
        SmallVector<NamedAttribute> values(dictionary.getValue());
        if (values.empty())
          return {};
        NamedAttribute &value = decisions.of(values);
        if (decisions.once(2))
          values.erase(&value);
        else if (Attribute changed = changeAttribute(value.getValue()))
          value.setValue(changed);
        return builder.getDictionaryAttr(values);
      })
      .Case([&](TypeAttr type) -> Attribute { return TypeAttr::get(changeType(type.getValue())); })
      .Case<DenseI64ArrayAttr, DenseI32ArrayAttr>([&](auto numbers) { return changeNumbers(numbers); })
      .Default([&](Attribute) -> Attribute {
        for (int attempt = 0; attempt < 20; ++attempt)
          if (Attribute other = pickAttribute(); other && other != attribute && other.getTypeID() == attribute.getTypeID())
            return other;
        return {};
      });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Sets the source of each weight whose type has changed to the tensor of the weight's name and new type.
static void updateWeights(ModuleOp module) {
  for (auto weight : module.getOps<xfmr::WeightOp>())
    if (auto type = dyn_cast<RankedTensorType>(weight.getType()); type && xfmr::getSourceType(weight.getSource()) != type)
      weight.setSourceAttr(xfmr::TensorSourceAttr::get(module.getContext(), weight.getSymName(), type));
}

/// Applies |replacer| to the types and attributes in all of |module|, except attributes of the dialect `xfmr`, such as
/// sources of weights, and dense elements and arrays, which have constraints of their own. Then calls updateWeights.
static void replaceEverywhere(ModuleOp module, AttrTypeReplacer &replacer) {
  replacer.addReplacement([](Attribute attribute) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (attribute.getDialect().getNamespace() == xfmr::XfmrDialect::getDialectNamespace() ||
        isa<DenseElementsAttr, DenseArrayAttr>(attribute))
      return std::pair(attribute, WalkResult::skip());
    return std::nullopt;
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  updateWeights(module);
}

bool ModuleMutator::changeSizeEverywhere() {
  Operation *op = pickOp();
  SmallVector<int64_t> sizes;
  for (Type type : llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
    if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
      llvm::append_range(sizes, shaped.getShape());
  if (sizes.empty())
    return false;
  int64_t from = decisions.of(sizes), to = pickSize(from);
  bool numbers = !decisions.once(3);
  if (from == to)
    return false;
  resizeEverywhere(module, from, to, numbers && from > 1);
  return true;
}

bool ModuleMutator::changeElementTypeEverywhere() {
  Builder builder(module.getContext());
  Type from = decisions.once(4) ? pickElementType(builder.getF32Type()) : builder.getF32Type(), to = pickElementType(from);
  if (from == to)
    return false;
  auto ignored = [&] { return emitError(UnknownLoc::get(module.getContext())); };
  bool shapedOnly = decisions.once(4);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type type) -> std::optional<Type> { return type == from && !shapedOnly ? to : type; });
  replacer.addReplacement([&](FloatAttr number) -> Attribute {
    if (number.getType() != from || shapedOnly)
      return number;
    if (auto other = dyn_cast<FloatType>(to))
      return FloatAttr::get(other, number.getValueAsDouble());
    return IntegerAttr::get(to, 1);
  });
  replacer.addReplacement([&](RankedTensorType type) -> Type { return type.getElementType() == from ? type.clone(to) : type; });
  replacer.addReplacement([&](MemRefType type) -> Type {
    if (type.getElementType() != from)
      return type;
    Type other = MemRefType::getChecked(ignored, type.getShape(), to, type.getLayout(), type.getMemorySpace());
    return other ? other : type;
  });
  replaceEverywhere(module, replacer);
  return true;
}

bool ModuleMutator::changeOperandType() {
  Operation *op = pickOp();
  if (op->getNumOperands() == 0)
    return false;
  OpOperand &operand = op->getOpOperand(decisions.pick(op->getNumOperands()));
  Type type = changeType(operand.get().getType());
  if (type == operand.get().getType())
    return false;
  OpBuilder builder(op);
  Value cast = UnrealizedConversionCastOp::create(builder, op->getLoc(), type, operand.get()).getResult(0);
  // An operation may require that operands with the same value keep the same value.
  Value old = operand.get();
  bool all = decisions.once(2);
  for (OpOperand &other : op->getOpOperands())
    if (&other == &operand || (all && other.get() == old))
      other.set(cast);
  // The result of a destination operand has the type of this operand.
  if (decisions.once(2))
    for (Value result : op->getResults())
      if (result.getType() == old.getType()) {
        result.setType(type);
        builder.setInsertionPointAfter(op);
        auto back = UnrealizedConversionCastOp::create(builder, op->getLoc(), old.getType(), result);
        result.replaceAllUsesExcept(back.getResult(0), back);
      }
  return true;
}

bool ModuleMutator::changeResultType() {
  Operation *op = pickOp();
  if (op->getNumResults() == 0)
    return false;
  Value result = op->getResult(decisions.pick(op->getNumResults()));
  Type old = result.getType(), type = changeType(old);
  if (type == old)
    return false;
  result.setType(type);
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  auto back = UnrealizedConversionCastOp::create(builder, op->getLoc(), old, result);
  result.replaceAllUsesExcept(back.getResult(0), back);
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes, operands and constants
//===----------------------------------------------------------------------===//

bool ModuleMutator::changeOneAttribute() {
  Operation *op = pickOp();
  ArrayRef<NamedAttribute> attributes = op->getAttrs();
  if (attributes.empty())
    return false;
  NamedAttribute named = decisions.of(attributes);
  bool ours = op->getName().getDialectNamespace() == xfmr::XfmrDialect::getDialectNamespace();
  bool free = ours || !op->getInherentAttr(named.getName());
  // Keeps segment sizes and reassociations, because upstream's verifiers do not check how operands are divided into
  // segments, nor whether the groups of dimensions exist. Keeps affine maps, too.
  if (named.getName() == "reassociation" || named.getName() == "operandSegmentSizes" || named.getName() == "resultSegmentSizes" ||
      isa<AffineMapAttr>(named.getValue()))
    return false;
  size_t kind = decisions.pick(4);
  if (free && kind == 0) {
    op->removeAttr(named.getName());
    op->getName().populateDefaultProperties(op->getPropertiesStorage());
    return true;
  }
  Attribute value = free && kind == 1 ? pickAttribute() : changeAttribute(named.getValue(), /*keepsForm=*/!free);
  if (!value || value == named.getValue())
    return false;
  op->setAttr(named.getName(), value);
  // Gives attributes that are absent their defaults, as a parser of the printed module does.
  op->getName().populateDefaultProperties(op->getPropertiesStorage());
  return true;
}

bool ModuleMutator::changeOperand() {
  Operation *op = pickOp();
  if (op->getNumOperands() == 0)
    return false;
  OpOperand &operand = op->getOpOperand(decisions.pick(op->getNumOperands()));
  Type type = operand.get().getType();
  Value value = decisions.once(8) ? makeValue(op, type) : pickValue(op, type, operand.get());
  if (!value)
    return false;
  operand.set(value);
  return true;
}

bool ModuleMutator::changeConstant() {
  std::vector<arith::ConstantOp> constants;
  for (Operation *op : ops)
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && constant.getType().isIntOrIndexOrFloat())
      constants.push_back(constant);
  if (constants.empty())
    return false;
  arith::ConstantOp constant = decisions.of(constants);
  if (auto value = dyn_cast_or_null<TypedAttr>(changeAttribute(constant.getValue())))
    return constant.setValueAttr(value), true;
  return false;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool ModuleMutator::eraseOp() {
  Operation *op = pickOp();
  if (isa<ModuleOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  for (Value result : op->getResults())
    if (!result.use_empty()) {
      Value other = pickValue(op, result.getType());
      result.replaceAllUsesWith(other ? other : makeValue(op, result.getType()));
    }
  op->erase();
  return true;
}

bool ModuleMutator::duplicateOp() {
  Operation *op = pickOp();
  if (isa<ModuleOp>(op) || op->hasTrait<OpTrait::IsTerminator>() || isa<SymbolOpInterface>(op))
    return false;
  OpBuilder(op).clone(*op);
  return true;
}

bool ModuleMutator::moveOp() {
  Operation *op = pickOp();
  if (isa<ModuleOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  auto &list = op->getBlock()->getOperations();
  Operation *before = &*std::next(list.begin(), decisions.pick(list.size()));
  if (before == op)
    return false;
  op->moveBefore(before);
  return true;
}

bool ModuleMutator::emptyRegion() {
  Operation *op = pickOp();
  if (op->getNumRegions() == 0 || isa<ModuleOp>(op))
    return false;
  Region &region = op->getRegion(decisions.pick(op->getNumRegions()));
  if (region.empty())
    return false;
  if (auto function = dyn_cast<func::FuncOp>(op); function && decisions.once(2)) {
    region.dropAllReferences();
    region.getBlocks().clear();
    function.setPrivate();
    return true;
  }
  Block &block = region.front();
  if (!region.hasOneBlock() || block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>())
    return false;
  Operation *terminator = &block.back();
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(makeValue(terminator, operand.get().getType()));
  for (Operation &dead : llvm::make_early_inc_range(llvm::reverse(block)))
    if (&dead != terminator && !llvm::is_contained(dead.getUsers(), terminator)) {
      dead.dropAllUses();
      dead.erase();
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Returns the calls of |function|.
static std::vector<func::CallOp> findCalls(ModuleOp module, func::FuncOp function) {
  std::vector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (call.getCallee() == function.getSymName())
      calls.push_back(call);
  });
  return calls;
}

bool ModuleMutator::addArgument() {
  func::FuncOp function = pickFunction();
  if (!function)
    return false;
  Type type;
  Operation *op = pickOp();
  if (op->getNumResults() && !decisions.once(4))
    type = op->getResult(0).getType();
  else
    type = IndexType::get(module.getContext());
  unsigned index = decisions.pick(function.getNumArguments() + 1);
  DictionaryAttr attributes;
  if (function.getNumArguments() && decisions.once(2))
    attributes = function.getArgAttrDict(decisions.pick(function.getNumArguments()));
  if (failed(function.insertArgument(index, type, attributes, function.getLoc())))
    return false;
  for (func::CallOp call : findCalls(module, function)) {
    Value value = pickValue(call, type);
    call->insertOperands(index, value ? value : makeValue(call, type));
  }
  return true;
}

bool ModuleMutator::eraseArgument() {
  func::FuncOp function = pickFunction();
  if (!function || function.getNumArguments() == 0)
    return false;
  unsigned index = decisions.pick(function.getNumArguments());
  if (!function.isExternal()) {
    Value argument = function.getArgument(index);
    if (!argument.use_empty()) {
      Operation *first = &function.getBody().front().front();
      Value other = pickValue(first, argument.getType(), argument);
      argument.replaceAllUsesWith(other ? other : makeValue(first, argument.getType()));
    }
  }
  if (failed(function.eraseArgument(index)))
    return false;
  for (func::CallOp call : findCalls(module, function))
    call->eraseOperand(index);
  return true;
}

/// Returns the `func.return` at the end of the only block of |function|. Returns null if |function| is null, has no
/// body or several blocks, or if its block ends otherwise.
static func::ReturnOp findReturn(func::FuncOp function) {
  if (!function || !llvm::hasSingleElement(function.getBody()))
    return {};
  return dyn_cast<func::ReturnOp>(function.getBody().front().back());
}

bool ModuleMutator::addResult() {
  func::FuncOp function = pickFunction();
  func::ReturnOp end = findReturn(function);
  if (!end)
    return false;
  std::vector<Value> values(function.getArguments().begin(), function.getArguments().end());
  for (Operation &op : function.getBody().front())
    llvm::append_range(values, op.getResults());
  if (values.empty())
    return false;
  Value value = decisions.of(values);
  if (failed(function.insertResult(function.getNumResults(), value.getType(), nullptr)))
    return false;
  end->insertOperands(end->getNumOperands(), value);
  for (func::CallOp call : findCalls(module, function)) {
    OpBuilder builder(call);
    auto other = func::CallOp::create(builder, call.getLoc(), function, call.getOperands());
    call->replaceAllUsesWith(other->getResults().drop_back());
    call.erase();
  }
  return true;
}

bool ModuleMutator::eraseResult() {
  func::FuncOp function = pickFunction();
  func::ReturnOp end = findReturn(function);
  if (!end || end->getNumOperands() == 0)
    return false;
  unsigned index = decisions.pick(end->getNumOperands());
  if (failed(function.eraseResult(index)))
    return false;
  end->eraseOperand(index);
  for (func::CallOp call : findCalls(module, function)) {
    OpBuilder builder(call);
    auto other = func::CallOp::create(builder, call.getLoc(), function, call.getOperands());
    SmallVector<Value> results(other->getResults());
    results.insert(results.begin() + index,
                   call->getResult(index).use_empty() ? Value() : makeValue(call, call->getResult(index).getType()));
    for (auto [old, result] : llvm::zip_equal(call->getResults(), results))
      if (result)
        old.replaceAllUsesWith(result);
    call.erase();
  }
  return true;
}

bool ModuleMutator::mutate() {
  using Change = bool (ModuleMutator::*)();
  // Changes that are valid most often and find most errors occur several times in the list.
  static constexpr Change changes[] = {&ModuleMutator::changeSizeEverywhere,
                                       &ModuleMutator::changeSizeEverywhere,
                                       &ModuleMutator::changeElementTypeEverywhere,
                                       &ModuleMutator::changeOperandType,
                                       &ModuleMutator::changeOperandType,
                                       &ModuleMutator::changeOperandType,
                                       &ModuleMutator::changeResultType,
                                       &ModuleMutator::changeOneAttribute,
                                       &ModuleMutator::changeOneAttribute,
                                       &ModuleMutator::changeOneAttribute,
                                       &ModuleMutator::changeOperand,
                                       &ModuleMutator::changeOperand,
                                       &ModuleMutator::changeConstant,
                                       &ModuleMutator::eraseOp,
                                       &ModuleMutator::duplicateOp,
                                       &ModuleMutator::moveOp,
                                       &ModuleMutator::emptyRegion,
                                       &ModuleMutator::addArgument,
                                       &ModuleMutator::eraseArgument,
                                       &ModuleMutator::addResult,
                                       &ModuleMutator::eraseResult};
  return (this->*changes[decisions.pick(std::size(changes))])();
}
