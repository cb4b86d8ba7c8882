//===- attune-import.cpp - The importer alone, for its tests --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Prints the module of the model folder DIR. With --init, writes the folder DIR instead, with generated weights for the
// config.json of CONFIG_DIR. With --values, prints the elements BEGIN … BEGIN + COUNT - 1 of a tensor of DIR instead.
// ImportOptions.h describes the lists of inputs and outputs.
//   attune-import DIR [--inputs=LIST] [--outputs=LIST] [--padding=skip] [--limit=DIM=N]… [--locations]
//                 [--adapter=DIR[:SCALE]]…
//   attune-import --init=CONFIG_DIR --seed=N DIR
//   attune-import --values=TENSOR:BEGIN:COUNT DIR        bits of f32 in hex, one per line; COUNT up to 1024
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/ImportModel.h"
#include "compiler/Import/ModelFolder.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/bit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

static int fail(const std::string &message) {
  llvm::errs() << "attune-import: error: " << message << "\n";
  return 1;
}

static int printValues(const TensorProvider &tensors, llvm::StringRef request) {
  auto [rest, countText] = request.rsplit(':');
  auto [name, beginText] = rest.rsplit(':');
  int64_t begin = 0, count = 0;
  if (beginText.getAsInteger(10, begin) || countText.getAsInteger(10, count))
    return fail("expected --values=TENSOR:BEGIN:COUNT");
  if (count < 0 || count > 1024)
    return fail("--values: expected a COUNT from 0 to 1024, got " + std::to_string(count));
  std::vector<float> values(static_cast<size_t>(count));
  if (Status status = tensors.read(std::string_view(name), begin, count, values.data()); status.failed())
    return fail(status.message());
  for (float value : values)
    llvm::outs() << llvm::format_hex_no_prefix(llvm::bit_cast<uint32_t>(value), 8) << "\n";
  return 0;
}

int main(int argc, char **argv) {
  ImportOptions options;
  std::string folder, configFolder, values;
  std::vector<AdapterRequest> adapters;
  int64_t seed = 0;
  bool locations = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef flag = argv[i];
    if (flag.consume_front("--inputs=")) {
      Result<std::vector<InputRequest>> inputs = parseInputList(std::string_view(flag));
      if (!inputs)
        return fail(inputs.message());
      options.inputs = std::move(*inputs);
    } else if (flag.consume_front("--outputs=")) {
      options.outputs = parseOutputList(std::string_view(flag));
    } else if (flag.consume_front("--padding=")) {
      if (flag != "skip" && flag != "compute")
        return fail("expected --padding=skip or --padding=compute");
      options.padding = flag == "skip" ? Padding::Skip : Padding::Compute;
    } else if (flag.consume_front("--limit=")) {
      auto [dim, limit] = flag.split('=');
      if (limit.getAsInteger(10, options.limits[dim.str()]))
        return fail("expected --limit=DIM=N");
    } else if (flag.consume_front("--adapter=")) {
      adapters.push_back(parseAdapter(flag.str()));
    } else if (flag.consume_front("--init=")) {
      configFolder = flag.str();
    } else if (flag.consume_front("--seed=")) {
      if (flag.getAsInteger(10, seed))
        return fail("expected --seed=N");
    } else if (flag.consume_front("--values=")) {
      values = flag.str();
    } else if (flag == "--locations") {
      locations = true;
    } else {
      folder = flag.str();
    }
  }
  if (!configFolder.empty()) {
    Status status = initModelFolder(configFolder, folder, seed);
    return status.failed() ? fail(status.message()) : 0;
  }

  Result<ModelFolder> model = openModelFolder({folder, "", adapters});
  if (!model)
    return fail(model.message());
  if (!values.empty())
    return printValues(*model->tensors, values);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = importModel(context, model->spec, *model->tensors, options);
  if (!module)
    return fail(module.message());
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo(true, /*prettyForm=*/true);
  (*module)->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return 0;
}
