//===- EmitModel.cpp - From the phase target to files ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/EmitModel.h"
#include "compiler/Target/CPU/Emit.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace attune;

Status ModelEmitter::translate(mlir::ModuleOp module) {
  // The name goes into assembly and IR; it must not depend on the machine.
  llvmModule = mlir::translateModuleToLLVMIR(module, *context, "attune");
  if (!llvmModule)
    return Status::error("translation to LLVM IR failed");
  setTarget(*llvmModule, target);
  return {};
}

/// A hash of everything that decides the bytes of the object and its weights.
static BuildId computeBuildId(const llvm::Module &module, const std::string &signature, const std::string &flags, const PackedWeights *packed) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  stream << ATTUNE_VERSION << '\n' << signature << '\n' << flags << '\n' << (packed ? llvm::StringRef(packed->manifest) : llvm::StringRef());
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  BuildId id;
  for (unsigned i = 0; i < 8; ++i) {
    id[i] = hash.high64 >> (8 * (7 - i));
    id[8 + i] = hash.low64 >> (8 * (7 - i));
  }
  return id;
}

Status ModelEmitter::describe(const ModelSignature &signature, const std::string &name, const PackedWeights *packed) {
  described.name = name;
  described.triple = target.triple();
  described.cpu = target.cpu();
  described.requiredFeatures = target.requiredFeatures();
  described.flags = formatFlags(options);
  described.alias = options.emit == EmitKind::Shared;
  if (packed) {
    described.weightsBytes = packed->dataBytes;
    described.manifestChecksum = packed->manifestChecksum;
  }
  // The header text stands for the signature.
  described.buildId = computeBuildId(*llvmModule, createHeader(signature, described) + signature.config, described.flags, packed);
  return addDescriptor(*llvmModule, signature, described);
}

void ModelEmitter::optimize() { optimizeModule(*llvmModule, target); }

std::string ModelEmitter::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvmModule->print(stream, nullptr);
  return text;
}

Result<std::string> ModelEmitter::emit(bool assembly) const {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
  Result<std::string> code = emitCode(*copy, target, assembly);
  if (!code || assembly)
    return code;
  std::vector<std::string> visible = {"attune_model_" + described.name};
  if (described.alias)
    visible.push_back("attune_model");
  if (Status status = checkObject(*code, visible); status.failed())
    return status;
  return code;
}
