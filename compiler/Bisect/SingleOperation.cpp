//===- SingleOperation.cpp - A module of one operation --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/SingleOperation.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>
#include <iterator>
#include <map>
#include <set>

using namespace mlir;
using namespace attune;

/// Returns true if inputs and outputs of an entry may have |type|: a tensor of f32 or i64 with at least one dimension.
static bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0 && (tensor.getElementType().isF32() || tensor.getElementType().isInteger(64));
}

/// Returns the elements of |buffer|, f32 or i64, as a tensor called |name|.
static OwnedTensor copyTensor(const PlainBuffer &buffer, const std::string &name) {
  bool isFloat = buffer.kind == ElementKind::F32;
  OwnedTensor tensor{{name, isFloat ? DType::F32 : DType::I64, {buffer.sizes.begin(), buffer.sizes.end()}}, {}};
  for (int64_t i = 0, end = buffer.elements(); i < end; ++i) {
    uint8_t bytes[8];
    float real = isFloat ? buffer.get<float>(buffer.indicesOf(i)) : 0;
    int64_t number = isFloat ? 0 : buffer.get<int64_t>(buffer.indicesOf(i));
    isFloat ? std::memcpy(bytes, &real, sizeof(real)) : std::memcpy(bytes, &number, sizeof(number));
    tensor.data.insert(tensor.data.end(), bytes, bytes + (isFloat ? sizeof(real) : sizeof(number)));
  }
  return tensor;
}

namespace {
/// Makes the module of one operation.
class Isolation {
public:
  explicit Isolation(const OpCall &call) : call(call), op(*call.op), builder(op.getContext()) {}

  /// Returns nullopt if the operation has regions or no results, if an operand or a result is not of a type that an
  /// entry can have as input or output, or if the module does not verify.
  std::optional<SingleOperation> run();

private:
  /// Adds an input, a constant or a weight for |operand| to the entry. Returns false if |operand| can be none of these.
  bool addOperand(OpOperand &operand);
  /// Clones the weight reference or weight expression that computes |value| into the entry, with the operands of the
  /// expression. If |value| is an argument of a function, clones the operand of the first call of this function.
  /// Returns null if |value| is computed otherwise.
  Value addWeight(Value value);
  /// Returns the dims of |type| as text, such as "[d0, 8]". A dynamic dimension gets a name; dynamic dimensions of
  /// equal size in |sizes| share a name.
  std::string nameDims(ShapedType type, ArrayRef<int64_t> sizes);
  /// Adds an input for each dynamic dimension that only results have, since the sizes of outputs follow from those of
  /// inputs. Adds one input if the entry would have none. The operation does not read these inputs.
  void addSizes();
  /// Adds an input called |name| of |type| to the entry, whose dimensions have |sizes| in the recorded call. Returns
  /// null if an entry cannot have such an input.
  BlockArgument addInput(StringRef name, RankedTensorType type, ArrayRef<int64_t> sizes);

  const OpCall &call;
  Operation &op;
  OpBuilder builder;
  func::FuncOp entry;
  IRMapping mapping;
  PlainInputs inputs;
  std::vector<int64_t> sizesOfDims;
  /// The sizes of the dynamic dimensions of inputs.
  std::set<int64_t> dimsOfInputs;
};
} // namespace

std::string Isolation::nameDims(ShapedType type, ArrayRef<int64_t> sizes) {
  std::string text;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    text += text.empty() ? "" : ", ";
    if (!type.isDynamicDim(unsigned(dim))) {
      text += std::to_string(size);
      continue;
    }
    auto found = std::find(sizesOfDims.begin(), sizesOfDims.end(), size);
    text += "d" + std::to_string(found - sizesOfDims.begin());
    if (found == sizesOfDims.end())
      sizesOfDims.push_back(size);
  }
  return "[" + text + "]";
}

Value Isolation::addWeight(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto uses = function ? SymbolTable::getSymbolUses(function, function->getParentOfType<ModuleOp>()) : std::nullopt;
    for (SymbolTable::SymbolUse use : uses ? *uses : SymbolTable::UseRange({}))
      if (auto caller = dyn_cast<func::CallOp>(use.getUser()))
        return addWeight(caller.getOperand(argument.getArgNumber()));
    return {};
  }
  Operation *defining = value.getDefiningOp();
  if (!isa<xfmr::WeightRefOp>(defining) && !xfmr::isWeightExpression(defining))
    return {};
  for (Value operand : defining->getOperands()) {
    Value inner = addWeight(operand);
    if (!inner)
      return {};
    mapping.map(operand, inner);
  }
  builder.clone(*defining, mapping);
  return mapping.lookup(value);
}

bool Isolation::addOperand(OpOperand &operand) {
  Value value = operand.get();
  if (mapping.contains(value))
    return true;
  if (xfmr::isWeight(value)) {
    Value weight = addWeight(value);
    if (weight)
      mapping.map(value, weight);
    return bool(weight);
  }
  unsigned number = operand.getOperandNumber();
  if (value.getType().isIndex()) {
    mapping.map(value, arith::ConstantIndexOp::create(builder, op.getLoc(), call.numbers[number]));
    return true;
  }
  if (!isPlainTensor(value.getType()))
    return false;
  const PlainBuffer &buffer = call.operands[number];
  std::string name = "in" + std::to_string(number);
  BlockArgument input = addInput(name, cast<RankedTensorType>(value.getType()), buffer.sizes);
  if (!input)
    return false;
  mapping.map(value, input);
  inputs.tensors.push_back(copyTensor(buffer, name));
  return true;
}

BlockArgument Isolation::addInput(StringRef name, RankedTensorType type, ArrayRef<int64_t> sizes) {
  Attribute input = parseAttribute(("#xfmr.input<\"" + name + "\", " + nameDims(type, sizes) + ">").str(), builder.getContext());
  if (!input)
    return {};
  auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(xfmr::InputAttr::name, input));
  (void)entry.insertArgument(entry.getNumArguments(), type, attributes, op.getLoc());
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (type.isDynamicDim(unsigned(dim)))
      dimsOfInputs.insert(sizes[dim]);
  return entry.getArguments().back();
}

void Isolation::addSizes() {
  std::vector<int64_t> missing;
  for (int64_t size : sizesOfDims)
    if (!dimsOfInputs.count(size))
      missing.push_back(size);
  if (missing.empty() && inputs.tensors.empty())
    missing.push_back(1);
  for (int64_t size : missing) {
    std::string name = "size" + std::to_string(size);
    if (!addInput(name, RankedTensorType::get({ShapedType::kDynamic}, builder.getF32Type()), size))
      return;
    std::vector<uint8_t> zeros(size_t(size) * sizeof(float));
    inputs.tensors.push_back({{name, DType::F32, {size}}, std::move(zeros)});
  }
}

std::optional<SingleOperation> Isolation::run() {
  if (op.getNumResults() == 0 || op.getNumRegions() != 0 || !llvm::all_of(op.getResultTypes(), isPlainTensor))
    return std::nullopt;
  auto whole = op.getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(op.getLoc());
  (*module)->setAttrs(whole->getAttrDictionary());
  builder.setInsertionPointToEnd(module->getBody());
  for (auto weight : whole.getOps<xfmr::WeightOp>())
    builder.clone(*weight);
  entry = func::FuncOp::create(builder, op.getLoc(), "forward", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(entry.addEntryBlock());
  for (OpOperand &operand : op.getOpOperands())
    if (!addOperand(operand))
      return std::nullopt;
  Operation *copy = builder.clone(op, mapping);
  func::ReturnOp::create(builder, op.getLoc(), copy->getResults());
  entry.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), copy->getResultTypes()));
  xfmr::setEntry(entry, xfmr::EntryAttr::get(builder.getContext(), builder.getStringAttr("forward"), xfmr::CacheUse::Unused));
  for (auto [index, result] : llvm::enumerate(call.results)) {
    std::string dims = nameDims(cast<ShapedType>(op.getResult(unsigned(index)).getType()), result.buffer.sizes);
    Attribute output = parseAttribute("#xfmr.output<\"out" + std::to_string(index) + "\", " + dims + ">", builder.getContext());
    if (!output)
      return std::nullopt;
    entry.setResultAttr(unsigned(index), xfmr::OutputAttr::name, output);
  }
  addSizes();
  for (auto weight : llvm::make_early_inc_range((*module).getOps<xfmr::WeightOp>()))
    if (SymbolTable::symbolKnownUseEmpty(weight, *module))
      weight.erase();
  if (failed(verify(*module)))
    return std::nullopt;
  return SingleOperation{std::move(module), std::move(inputs), op.getName().getStringRef().str(), op.getLoc()};
}

/// Returns a text that is equal for operations with the same name, attributes and types of operands.
static std::string describeKind(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  llvm::raw_string_ostream stream(text);
  op->getAttrDictionary().print(stream);
  for (Type type : op->getOperandTypes())
    type.print(stream << ' ');
  return text;
}

/// Returns a text that is equal for calls whose operands have the same sizes and the same integers; of tensors with
/// more than kMostIntegers integers, only the sizes count. Calls that differ in these are tried separately, since an
/// error may show only for tails of loops or for some positions.
static std::string describeShape(const OpCall &call) {
  constexpr int64_t kMostIntegers = 64;
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto [operand, number] : llvm::zip_equal(call.operands, call.numbers)) {
    if (!operand.data) {
      stream << number << ' ';
      continue;
    }
    for (int64_t size : operand.sizes)
      stream << size << 'x';
    if (operand.kind == ElementKind::I64 && operand.elements() <= kMostIntegers)
      for (int64_t i = 0, end = operand.elements(); i < end; ++i)
        stream << operand.get<int64_t>(operand.indicesOf(i)) << ',';
    stream << ' ';
  }
  return text;
}

Result<std::vector<SingleOperation>> attune::isolateOperations(ModuleOp module, StringRef function, const PlainWeights &weights,
                                                               const PlainInputs &inputs, size_t mostCalls) {
  // Element i has the modules of the i-th calls of all kinds of operations.
  std::vector<std::vector<SingleOperation>> made(mostCalls);
  std::map<std::string, llvm::StringSet<>> kinds;
  ScopedDiagnosticHandler silent(module.getContext(), [](Diagnostic &) { return success(); });
  PlainOptions options;
  options.observer = [&](const OpCall &call) {
    auto parent = call.op->getParentOfType<func::FuncOp>();
    if (!parent || parent.getSymName() != function || xfmr::isWeightExpression(call.op) || isa<xfmr::WeightRefOp>(call.op))
      return;
    llvm::StringSet<> &shapes = kinds[describeKind(call.op)];
    size_t number = shapes.size();
    if (number == mostCalls || !shapes.insert(describeShape(call)).second)
      return;
    if (std::optional<SingleOperation> one = Isolation(call).run())
      made[number].push_back(std::move(*one));
  };
  Result<std::unique_ptr<PlainModel>> model = PlainModel::create(module, weights, options);
  if (!model)
    return model.status();
  Result<std::vector<OwnedTensor>> outputs = runPlainly(**model, inputs);
  if (!outputs)
    return outputs.status();
  std::vector<SingleOperation> ordered;
  for (std::vector<SingleOperation> &round : made)
    std::move(round.begin(), round.end(), std::back_inserter(ordered));
  return ordered;
}
