//===- OperationCalls.cpp - Calls of GPU operations -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operation is identified by its name: the name of the intrinsic, or the text of inline PTX. This file makes a
// function, called a shim, for each operation and signature. A shim passes its arguments and results to and from
// `attune_emulate` as words of 64 bits. All operations but the reads of special registers are handled alike here. The
// emulator (test/FakeCuda) implements the operations.
//===----------------------------------------------------------------------===//

#include "test/Emulator/OperationCalls.h"
#include "test/Emulator/EmulatedImage.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IRBuilder.h"

#include <map>
#include <tuple>

using namespace attune;

/// Returns the name of the operation that |call| calls, or "" if the callee is not an operation.
static std::string operationName(const llvm::CallInst &call) {
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand()))
    return assembly->getAsmString().str();
  const llvm::Function *callee = call.getCalledFunction();
  return callee && callee->getName().starts_with("llvm.nvvm.") ? callee->getName().str() : "";
}

/// Returns the offset in bytes in emulated::Registers of the special register that the intrinsic |name| reads, or
/// nullopt if |name| does not read a register of that structure.
static std::optional<unsigned> registerOffset(llvm::StringRef name) {
  using emulated::Registers;
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return std::nullopt;
  for (auto [prefix, offset] : {std::pair("tid.", offsetof(Registers, tid)), std::pair("ntid.", offsetof(Registers, ntid)),
                                std::pair("ctaid.", offsetof(Registers, ctaid)), std::pair("nctaid.", offsetof(Registers, nctaid))})
    if (name.size() == llvm::StringRef(prefix).size() + 1 && name.starts_with(prefix) && name.back() >= 'x' && name.back() <= 'z')
      return static_cast<unsigned>(offset) + 4 * (name.back() - 'x');
  if (name == "laneid")
    return offsetof(Registers, laneid);
  if (name == "warpid")
    return offsetof(Registers, warpid);
  return std::nullopt;
}

namespace {

/// The implementation of rewriteOperations: replaces calls of operations and makes the table of operations.
class OperationRewriter {
public:
  OperationRewriter(llvm::Module &module, llvm::GlobalVariable *registers)
      : module(module), registers(registers), builder(module.getContext()) {
    word = builder.getInt64Ty();
    emulate = module.getOrInsertFunction("attune_emulate", builder.getVoidTy(), builder.getPtrTy(), builder.getPtrTy(), builder.getPtrTy());
    llvm::cast<llvm::Function>(emulate.getCallee())->addFnAttr(llvm::Attribute::Convergent);
    llvm::cast<llvm::Function>(emulate.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
    record =
        llvm::StructType::get(module.getContext(), {builder.getPtrTy(), builder.getPtrTy(), builder.getInt32Ty(), builder.getInt32Ty()});
  }

  Status rewrite(llvm::CallInst &call, const std::string &name);
  OperationTable finish();

private:
  /// Returns the types of the values that |type| consists of: the elements of a structure, nothing for void, else
  /// |type| itself.
  static llvm::SmallVector<llvm::Type *> elements(llvm::Type *type) {
    if (type->isVoidTy())
      return {};
    if (auto *structure = llvm::dyn_cast<llvm::StructType>(type))
      return llvm::to_vector(structure->elements());
    return {type};
  }
  bool fits(llvm::Type *type) const {
    return type->isPointerTy() ||
           (type->getPrimitiveSizeInBits().getFixedValue() >= 1 && type->getPrimitiveSizeInBits().getFixedValue() <= 64);
  }
  llvm::Value *toWord(llvm::Value *value);
  llvm::Value *fromWord(llvm::Value *value, llvm::Type *type);
  llvm::Function *makeShim(const std::string &name, llvm::FunctionType *type);
  /// Returns the index in the table of the operation |name| with |inputs| inputs and |outputs| outputs. Appends the
  /// operation to the table if it is not there.
  uint32_t number(const std::string &name, uint32_t inputs, uint32_t outputs);

  llvm::Module &module;
  llvm::GlobalVariable *registers;
  llvm::IRBuilder<> builder;
  llvm::Type *word;
  llvm::FunctionCallee emulate;
  llvm::StructType *record;
  std::map<std::pair<std::string, llvm::FunctionType *>, llvm::Function *> shims;
  /// The index in the table of each operation, by its name and its numbers of inputs and outputs. The same text of
  /// inline PTX can occur with different numbers of inputs and outputs.
  std::map<std::tuple<std::string, uint32_t, uint32_t>, uint32_t> numbers;
  llvm::SmallVector<llvm::Constant *> records;
  /// A placeholder for the table, whose size is unknown until all calls are rewritten. Shims refer to elements of it,
  /// and finish() replaces it by the table.
  llvm::GlobalVariable *table = nullptr;
};

} // namespace

llvm::Value *OperationRewriter::toWord(llvm::Value *value) {
  llvm::Type *type = value->getType();
  if (type->isPointerTy())
    return builder.CreatePtrToInt(value, word);
  llvm::Value *bits = builder.CreateBitCast(value, builder.getIntNTy(type->getPrimitiveSizeInBits().getFixedValue()));
  return builder.CreateZExt(bits, word);
}

llvm::Value *OperationRewriter::fromWord(llvm::Value *value, llvm::Type *type) {
  if (type->isPointerTy())
    return builder.CreateIntToPtr(value, type);
  return builder.CreateBitCast(builder.CreateTrunc(value, builder.getIntNTy(type->getPrimitiveSizeInBits().getFixedValue())), type);
}

uint32_t OperationRewriter::number(const std::string &name, uint32_t inputs, uint32_t outputs) {
  auto [place, isNew] = numbers.try_emplace({name, inputs, outputs}, numbers.size());
  if (isNew) {
    llvm::Constant *text = builder.CreateGlobalString(name, "emulated.name", 0, &module);
    records.push_back(llvm::ConstantStruct::get(
        record, {text, llvm::ConstantPointerNull::get(builder.getPtrTy()), builder.getInt32(inputs), builder.getInt32(outputs)}));
  }
  return place->second;
}

llvm::Function *OperationRewriter::makeShim(const std::string &name, llvm::FunctionType *type) {
  llvm::Function *&shim = shims[{name, type}];
  if (shim)
    return shim;
  shim = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "emulated.operation", module);
  for (llvm::Attribute::AttrKind kind : {llvm::Attribute::Convergent, llvm::Attribute::NoInline, llvm::Attribute::NoUnwind})
    shim->addFnAttr(kind);
  llvm::IRBuilder<>::InsertPointGuard guard(builder);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", shim));
  llvm::SmallVector<llvm::Type *> results = elements(type->getReturnType());
  auto words = [&](size_t count) { return builder.CreateAlloca(word, builder.getInt32(std::max<size_t>(count, 1))); };
  llvm::Value *inputs = words(type->getNumParams()), *outputs = words(results.size());
  for (llvm::Argument &argument : shim->args())
    builder.CreateStore(toWord(&argument), builder.CreateConstGEP1_32(word, inputs, argument.getArgNo()));
  llvm::Value *operation = builder.CreateConstGEP1_32(record, table, number(name, type->getNumParams(), results.size()));
  builder.CreateCall(emulate, {operation, inputs, outputs});
  llvm::Value *result = results.empty() ? nullptr : llvm::PoisonValue::get(type->getReturnType());
  for (auto [index, element] : llvm::enumerate(results)) {
    llvm::Value *value = fromWord(builder.CreateLoad(word, builder.CreateConstGEP1_32(word, outputs, index)), element);
    result = type->getReturnType()->isStructTy() ? builder.CreateInsertValue(result, value, index) : value;
  }
  if (result)
    builder.CreateRet(result);
  else
    builder.CreateRetVoid();
  return shim;
}

Status OperationRewriter::rewrite(llvm::CallInst &call, const std::string &name) {
  builder.SetInsertPoint(&call);
  llvm::Value *value;
  if (std::optional<unsigned> offset = registerOffset(name)) {
    value = builder.CreateLoad(builder.getInt32Ty(), builder.CreateConstGEP1_32(builder.getInt8Ty(), registers, *offset));
  } else if (name == "llvm.nvvm.read.ptx.sreg.warpsize") {
    value = builder.getInt32(32);
  } else {
    if (!table)
      table = new llvm::GlobalVariable(module, record, false, llvm::GlobalValue::ExternalLinkage, nullptr, "emulated.operations.growing");
    llvm::SmallVector<llvm::Value *> arguments(call.args());
    llvm::SmallVector<llvm::Type *> types;
    for (llvm::Value *argument : arguments)
      types.push_back(argument->getType());
    llvm::SmallVector<llvm::Type *> all = elements(call.getType());
    all.append(types);
    for (llvm::Type *type : all)
      if (!fits(type))
        return Status::error("emulator: '" + name + "' has an operand or result of more than 64 bits");
    value = builder.CreateCall(makeShim(name, llvm::FunctionType::get(call.getType(), types, false)), arguments);
  }
  value->takeName(&call);
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
  return {};
}

OperationTable OperationRewriter::finish() {
  if (!table)
    return {llvm::ConstantPointerNull::get(builder.getPtrTy()), 0};
  auto *type = llvm::ArrayType::get(record, records.size());
  auto *whole = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage, llvm::ConstantArray::get(type, records),
                                         "emulated.operations");
  table->replaceAllUsesWith(whole);
  table->eraseFromParent();
  return {whole, static_cast<uint32_t>(records.size())};
}

Result<OperationTable> attune::rewriteOperations(llvm::Module &module, llvm::GlobalVariable *registers) {
  OperationRewriter rewriter(module, registers);
  std::vector<std::pair<llvm::CallInst *, std::string>> calls;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (std::string name = operationName(*call); !name.empty())
          calls.push_back({call, name});
  for (auto &[call, name] : calls)
    if (Status status = rewriter.rewrite(*call, name); status.failed())
      return status;
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.getName().starts_with("llvm.nvvm.") && function.use_empty())
      function.eraseFromParent();
  return rewriter.finish();
}

void attune::watchAccesses(llvm::Module &module, llvm::GlobalVariable *registers) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *pointer = builder.getPtrTy();
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, builder.getInt64Ty(), builder.getInt32Ty()}, false);
  std::vector<std::tuple<llvm::Instruction *, llvm::Value *, llvm::TypeSize, uint32_t>> accesses;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto add = [&](llvm::Value *data, llvm::Type *of, uint32_t kind) {
        const llvm::Value *object = llvm::getUnderlyingObject(data);
        if (!llvm::isa<llvm::AllocaInst>(object) && object != registers)
          accesses.push_back({&instruction, data, module.getDataLayout().getTypeStoreSize(of), kind});
      };
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
        add(load->getPointerOperand(), load->getType(), 0);
      else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
        add(store->getPointerOperand(), store->getValueOperand()->getType(), 1);
      else if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
        add(atomic->getPointerOperand(), atomic->getType(), 2);
    }
  llvm::Function *watch = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "emulated.watch", module);
  watch->addFnAttr(llvm::Attribute::NoInline);
  watch->addFnAttr(llvm::Attribute::NoUnwind);
  auto *entry = llvm::BasicBlock::Create(module.getContext(), "", watch), *see = llvm::BasicBlock::Create(module.getContext(), "", watch),
       *done = llvm::BasicBlock::Create(module.getContext(), "", watch);
  builder.SetInsertPoint(entry);
  llvm::Value *flag = builder.CreateLoad(builder.getInt32Ty(),
                                         builder.CreateConstGEP1_32(builder.getInt8Ty(), registers, offsetof(emulated::Registers, watch)));
  builder.CreateCondBr(builder.CreateIsNotNull(flag), see, done);
  builder.SetInsertPoint(see);
  builder.CreateCall(module.getOrInsertFunction("attune_emulate_access", type), {watch->getArg(0), watch->getArg(1), watch->getArg(2)});
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
  for (auto &[instruction, data, bytes, kind] : accesses) {
    builder.SetInsertPoint(instruction);
    llvm::Value *generic = data->getType() == pointer ? data : builder.CreateAddrSpaceCast(data, pointer);
    builder.CreateCall(watch, {generic, builder.getInt64(bytes.getFixedValue()), builder.getInt32(kind)});
  }
}
