//===- ConfigImport.cpp - Fuzz the import of config.json ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a config.json. The import of the model that it describes, with generated weights, must give valid IR or one
// error that names the file.
//===----------------------------------------------------------------------===//
#include "compiler/Import/ImportModel.h"
#include "compiler/Import/ModelFolder.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

using namespace attune;
namespace fs = std::filesystem;

namespace {
/// A folder with a config.json, and a case.json that asks for generated weights; removed at exit.
struct Folder {
  std::string path;

  Folder() {
    char pattern[] = "/tmp/attune-fuzz-config-XXXXXX";
    if (!mkdtemp(pattern))
      abort();
    path = pattern;
    std::ofstream(path + "/case.json") << R"({"weights": {"source": "generated", "seed": 1}})";
  }
  ~Folder() { fs::remove_all(path); }

  void writeConfig(const uint8_t *data, size_t size) const {
    std::ofstream file(path + "/config.json", std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(data), std::streamsize(size));
  }
};
} // namespace

/// Ends the run unless the error |status| is one line that contains the path of |folder|. Returns 0.
static int checkError(const Status &status, const Folder &folder) {
  if (status.message().find('\n') != std::string::npos || status.message().find(folder.path) == std::string::npos) {
    fprintf(stderr, "not an error that names the file: '%s'\n", status.message().c_str());
    __builtin_trap();
  }
  return 0;
}

/// Returns a context for the next module. A new context costs more than most imports, but a single one would keep the
/// types and attributes of all modules.
static mlir::MLIRContext &someContext() {
  static constexpr int kModules = 100;
  static std::optional<mlir::MLIRContext> context;
  static int modules = 0;
  if (modules++ % kModules == 0)
    context.emplace(mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Folder folder;
  folder.writeConfig(data, size);
  Result<ModelFolder> model = openModelFolder(folder.path);
  if (!model)
    return checkError(model.status(), folder);
  // Skips models of many layers, which are valid, but slow. -1 keeps the input out of the corpus.
  if (model->spec.tensors().size() > 2000)
    return -1;
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = importModel(someContext(), model->spec, *model->tensors);
  if (!module)
    return checkError(module.status(), folder);
  if (mlir::failed(mlir::verify(**module)))
    __builtin_trap();
  return 0;
}
