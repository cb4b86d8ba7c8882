//===- EmulateDevice.cpp - Device code for a machine without GPU -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "test/Emulator/EmulateDevice.h"
#include "compiler/Object/Emit.h"
#include "test/Emulator/EmulatedImage.h"
#include "test/Emulator/OperationCalls.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IRBuilder.h"

using namespace attune;

/// The number of the address space of shared memory in NVPTX.
static constexpr unsigned kSharedSpace = 3;

/// Returns the number of threads of a block according to |attribute| of the kernel |function|: the product of the sizes
/// in its value, 128 for "nvvm.reqntid"="128,1,1". Returns 0 if |function| does not have the attribute.
static uint32_t blockThreads(const llvm::Function &function, llvm::StringRef attribute) {
  if (!function.hasFnAttribute(attribute))
    return 0;
  uint32_t product = 1, count;
  for (llvm::StringRef size : llvm::split(function.getFnAttribute(attribute).getValueAsString(), ','))
    if (!size.trim().getAsInteger(10, count))
      product *= count;
  return product;
}

namespace {

/// The implementation of rewriteForEmulator.
class DeviceEmulator {
public:
  DeviceEmulator(llvm::Module &module) : module(module), builder(module.getContext()) {}
  Status run(const HostMachine &target);

private:
  llvm::GlobalVariable *makeGlobal(llvm::Type *type, const char *name, uint64_t alignment) {
    auto *global =
        new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage, llvm::Constant::getNullValue(type), name);
    global->setAlignment(llvm::Align(alignment));
    return global;
  }
  void dropDeviceAttributes();
  Status placeShared();
  void addKernel(llvm::Function &kernel);
  void addImage(const OperationTable &operations);

  llvm::Module &module;
  llvm::IRBuilder<> builder;
  llvm::GlobalVariable *registers = nullptr, *shared = nullptr;
  uint32_t staticShared = 0;
  llvm::SmallVector<llvm::Constant *> kernels;
};

} // namespace

/// Turns device functions into ordinary functions of the host. Removes `byval`, so that a kernel reads a structure that
/// is passed by value in the caller's memory, without a copy; kernels do not write to such structures.
void DeviceEmulator::dropDeviceAttributes() {
  for (llvm::Function &function : module) {
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Argument &argument : function.args())
      argument.removeAttr(llvm::Attribute::ByVal);
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        call->setCallingConv(llvm::CallingConv::C);
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

/// Replaces all variables in shared memory by pieces of one array, |shared|. Variables of size 0 stand for the dynamic
/// shared memory of a launch. They all begin at the offset |staticShared|, the next multiple of 1024 bytes after the
/// other variables. Fails if this offset exceeds emulated::sharedBytes.
Status DeviceEmulator::placeShared() {
  shared = new llvm::GlobalVariable(module, llvm::ArrayType::get(builder.getInt8Ty(), emulated::sharedBytes), false,
                                    llvm::GlobalValue::InternalLinkage,
                                    llvm::ConstantAggregateZero::get(llvm::ArrayType::get(builder.getInt8Ty(), emulated::sharedBytes)),
                                    "emulated.shared", nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  shared->setAlignment(llvm::Align(1024));
  llvm::SmallVector<llvm::GlobalVariable *> variables, dynamic;
  for (llvm::GlobalVariable &variable : module.globals())
    if (&variable != shared && variable.getAddressSpace() == kSharedSpace)
      (module.getDataLayout().getTypeAllocSize(variable.getValueType()).isZero() ? dynamic : variables).push_back(&variable);
  uint64_t offset = 0;
  auto place = [&](llvm::GlobalVariable &variable) {
    offset = llvm::alignTo(offset, std::max(variable.getAlign().valueOrOne(), llvm::Align(16)));
    variable.replaceAllUsesWith(llvm::ConstantExpr::getInBoundsGetElementPtr(builder.getInt8Ty(), shared, builder.getInt32(offset)));
    uint64_t bytes = module.getDataLayout().getTypeAllocSize(variable.getValueType());
    variable.eraseFromParent();
    return bytes;
  };
  for (llvm::GlobalVariable *variable : variables)
    offset += place(*variable);
  offset = llvm::alignTo(offset, 1024);
  for (llvm::GlobalVariable *variable : dynamic)
    place(*variable);
  if (offset > emulated::sharedBytes)
    return Status::error("emulator: static shared memory of " + std::to_string(offset) + " bytes, at most " +
                         std::to_string(emulated::sharedBytes) + " expected");
  staticShared = offset;
  return {};
}

/// Adds a function that loads the arguments of |kernel| through an array of pointers and calls |kernel|. Appends the
/// emulated::Kernel with this function to |kernels|.
void DeviceEmulator::addKernel(llvm::Function &kernel) {
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  llvm::Function *run = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "emulated.kernel", module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", run));
  llvm::SmallVector<llvm::Value *> arguments;
  llvm::SmallVector<uint32_t> bytes;
  for (llvm::Argument &argument : kernel.args()) {
    llvm::Value *place =
        builder.CreateLoad(builder.getPtrTy(), builder.CreateConstGEP1_32(builder.getPtrTy(), run->getArg(0), argument.getArgNo()));
    llvm::Type *structure = argument.getParamByValType();
    arguments.push_back(structure ? place : builder.CreateAlignedLoad(argument.getType(), place, llvm::Align(1)));
    bytes.push_back(module.getDataLayout().getTypeAllocSize(structure ? structure : argument.getType()));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
  llvm::Constant *sizes = llvm::ConstantDataArray::get(module.getContext(), bytes);
  auto *argBytes = new llvm::GlobalVariable(module, sizes->getType(), true, llvm::GlobalValue::InternalLinkage, sizes, "emulated.args");
  kernels.push_back(llvm::ConstantStruct::getAnon({builder.CreateGlobalString(kernel.getName(), "emulated.name", 0, &module), run, argBytes,
                                                   builder.getInt32(bytes.size()), builder.getInt32(blockThreads(kernel, "nvvm.reqntid")),
                                                   builder.getInt32(blockThreads(kernel, "nvvm.maxntid")), builder.getInt32(0)}));
}

void DeviceEmulator::addImage(const OperationTable &operations) {
  llvm::Constant *list = llvm::ConstantPointerNull::get(builder.getPtrTy());
  if (!kernels.empty()) {
    auto *type = llvm::ArrayType::get(kernels[0]->getType(), kernels.size());
    list = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::InternalLinkage, llvm::ConstantArray::get(type, kernels),
                                    "emulated.kernels");
  }
  llvm::Constant *image = llvm::ConstantStruct::getAnon(
      {builder.getInt64(emulated::magic), builder.getInt32(kernels.size()), builder.getInt32(operations.count), list, operations.operations,
       llvm::ConstantExpr::getAddrSpaceCast(shared, builder.getPtrTy()), builder.getInt32(staticShared), builder.getInt32(0), registers});
  new llvm::GlobalVariable(module, image->getType(), true, llvm::GlobalValue::ExternalLinkage, image, "attune_emulated_image");
}

Status DeviceEmulator::run(const HostMachine &target) {
  registers = makeGlobal(llvm::ArrayType::get(builder.getInt32Ty(), sizeof(emulated::Registers) / 4), "emulated.registers", 8);
  watchAccesses(module, registers);
  llvm::SmallVector<llvm::Function *> found;
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
      found.push_back(&function);
  for (llvm::Function *kernel : found)
    addKernel(*kernel);
  dropDeviceAttributes();
  if (Status status = placeShared(); status.failed())
    return status;
  Result<OperationTable> operations = rewriteOperations(module, registers);
  if (!operations)
    return operations.status();
  addImage(*operations);
  setTarget(module, target);
  return {};
}

Status attune::rewriteForEmulator(llvm::Module &module, const HostMachine &target) { return DeviceEmulator(module).run(target); }

Result<std::string> attune::emulateDevice(std::unique_ptr<llvm::Module> module, const HostMachine &target) {
  if (Status status = rewriteForEmulator(*module, target); status.failed())
    return status;
  optimizeModule(*module, target);
  Result<std::string> object = emitCode(*module, target, /*assembly=*/false);
  return object ? linkShared(*object) : object;
}
