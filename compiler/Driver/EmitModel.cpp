//===- EmitModel.cpp - From the phase target to files ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/EmitModel.h"
#include "compiler/Object/Emit.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace attune;

/// Removes the parts that LLVM does not know: weights, and the attributes that phases pass to later phases.
static void removeContract(mlir::ModuleOp module) {
  auto isContract = [](mlir::NamedAttribute attr) {
    return llvm::isa_and_nonnull<mlir::xfmr::XfmrDialect, mlir::tiles::TileDialect, mlir::rt::RtDialect>(attr.getNameDialect());
  };
  auto without = [&](mlir::DictionaryAttr attrs) {
    mlir::NamedAttrList kept;
    for (mlir::NamedAttribute attr : attrs ? attrs.getValue() : llvm::ArrayRef<mlir::NamedAttribute>())
      if (!isContract(attr))
        kept.append(attr);
    return kept.getDictionary(module.getContext());
  };
  for (mlir::Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (llvm::isa<mlir::xfmr::WeightOp>(op)) {
      op.erase();
      continue;
    }
    op.setDiscardableAttrs(without(op.getDiscardableAttrDictionary()));
    if (auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op))
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.setArgAttrs(i, without(function.getArgAttrDict(i)));
  }
  module->setDiscardableAttrs(without(module->getDiscardableAttrDictionary()));
}

Status ModelEmitter::translate(mlir::ModuleOp module) {
  removeContract(module);
  // The name is part of assembly and IR, so it must not depend on the machine.
  llvmModule = mlir::translateModuleToLLVMIR(module, *context, "attune");
  if (!llvmModule)
    return Status::error("translation to LLVM IR failed");
  if (Status status = emission.linkHost(*llvmModule); status.failed())
    return status;
  setTarget(*llvmModule, host);
  return {};
}

/// Returns a hash of everything that decides the bytes of the object and its weights.
static BuildId computeBuildId(const llvm::Module &module, const std::string &signature, const DescriptorOptions &described,
                              llvm::ArrayRef<PackingResult> packed) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  stream << ATTUNE_VERSION << '\n'
         << signature << '\n'
         << described.flags << '\n'
         << (packed.empty() ? llvm::StringRef() : llvm::StringRef(packed.front().manifest));
  // Only the manifest of the first rank is part of the text above. The hashes of the contents represent all ranks.
  if (packed.size() > 1)
    for (const PackingResult &rank : packed)
      stream << '\n' << rank.contentHash;
  for (const GpuImage &image : described.images)
    stream << '\n' << image.kind << ' ' << image.arch << ' ' << image.archSpecific << ' ' << image.data;
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  BuildId id;
  for (unsigned i = 0; i < 8; ++i) {
    id[i] = hash.high64 >> (8 * (7 - i));
    id[8 + i] = hash.low64 >> (8 * (7 - i));
  }
  return id;
}

Status ModelEmitter::describe(ModelSignature &signature, const std::string &name, llvm::ArrayRef<PackingResult> packed) {
  emission.describe(signature, described);
  described.name = name;
  described.triple = host.triple();
  described.cpu = host.cpu();
  described.requiredFeatures = host.requiredFeatures() + emission.hostFeatures(*llvmModule);
  described.flags = formatFlags(options, target);
  described.alias = options.emit == EmitKind::Shared;
  if (!packed.empty()) {
    described.weightsBytes = packed.front().dataBytes;
    described.manifestChecksum = packed.front().manifestChecksum;
  }
  // The text of the header represents the signature.
  std::string text = createHeader(signature, described) + (signature.generation ? Json(signature.generation->values()).dump() : "");
  described.buildId = computeBuildId(*llvmModule, text, described, packed);
  return addDescriptor(*llvmModule, signature, described);
}

void ModelEmitter::optimize() { optimizeModule(*llvmModule, host); }

std::string ModelEmitter::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvmModule->print(stream, nullptr);
  emission.print(stream);
  return text;
}

Result<std::string> ModelEmitter::emit(bool assembly) const {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
  Result<std::string> code = emitCode(*copy, host, assembly);
  if (!code || assembly)
    return code;
  std::vector<std::string> visible = {"attune_model_" + described.name};
  if (described.alias)
    visible.push_back("attune_model");
  if (Status status = checkObject(*code, visible); status.failed())
    return status;
  return code;
}
