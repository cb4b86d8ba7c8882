//===- EmitTest.cpp - A lit test that shows an error ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The test needs no expectation: it runs the module before and after the pass by the plain path, and compares. Its weights
// are numbers of a formula where these show the error, too; else the tensors that the module still uses are written beside it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/EmitTest.h"
#include "compiler/Reduce/ReduceModule.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/FileSystem.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace attune;

/// Replaces each stored tensor by the sines of 0, 1, 2, …, scaled as trained weights are.
static void generateWeights(ModuleOp module) {
  MLIRContext *context = module.getContext();
  Builder builder(context);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](xfmr::TensorSourceAttr leaf) -> std::optional<std::pair<Attribute, WalkResult>> {
    RankedTensorType type = leaf.getType();
    auto column = RankedTensorType::get({type.getNumElements(), 1}, type.getElementType());
    auto params = builder.getDictionaryAttr(builder.getNamedAttr("layout", builder.getStringAttr("interleaved")));
    Attribute table = xfmr::ComputedSourceAttr::get(context, "sinusoidal", params, column);
    Attribute shaped = xfmr::ReshapeSourceAttr::get(context, table, builder.getDenseI64ArrayAttr(type.getShape()));
    return std::make_pair(xfmr::ScaleSourceAttr::get(context, shaped, builder.getF64FloatAttr(0.25)), WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true);
}

/// Returns the inputs that an entry of |module| still has.
static PlainInputs filterInputs(ModuleOp module, const PlainInputs &inputs) {
  PlainInputs kept;
  kept.steps = inputs.steps;
  Result<PlainSignature> signature = readPlainSignature(module);
  for (const OwnedTensor &tensor : inputs.tensors)
    if (signature && llvm::any_of(signature->entries, [&](const PlainEntry &entry) {
          return llvm::any_of(entry.arguments, [&](const PlainArgument &argument) { return argument.name == tensor.spec.name; });
        }))
      kept.tensors.push_back(tensor);
  return kept;
}

/// Returns the largest difference of finite values, as a fraction of the largest value; infinite for another class or shape.
static double compareOutputs(const std::vector<OwnedTensor> &before, const std::vector<OwnedTensor> &after) {
  double largest = 0, difference = 0;
  if (before.size() != after.size())
    return INFINITY;
  for (auto [left, right] : llvm::zip(before, after)) {
    if (left.spec.shape != right.spec.shape || left.spec.dtype != DType::F32)
      continue;
    const auto *a = reinterpret_cast<const float *>(left.data.data()), *b = reinterpret_cast<const float *>(right.data.data());
    for (size_t i = 0; i < left.data.size() / sizeof(float); ++i) {
      if (std::isfinite(a[i]) != std::isfinite(b[i]))
        return INFINITY;
      if (!std::isfinite(a[i]) || std::fabs(a[i]) > 1e30f)
        continue;
      largest = std::max<double>(largest, std::fabs(a[i]));
      difference = std::max<double>(difference, std::fabs(double(a[i]) - double(b[i])));
    }
  }
  return largest == 0 ? 0 : difference / largest;
}

namespace {
/// Runs a module before and after a pass.
class PassComparison {
public:
  PassComparison(const TensorProvider &tensors, const Verdict &verdict, const PassHook &hook)
      : tensors(tensors), verdict(verdict), hook(hook) {}

  /// Returns the relative change of the outputs by the pass; nullopt if one of the modules cannot be run.
  std::optional<double> measure(ModuleOp module) const {
    RunOutcome both = runIsolated(
        [&]() -> Result<std::vector<OwnedTensor>> {
          Result<std::vector<OwnedTensor>> outputs = execute(module);
          if (!outputs)
            return outputs;
          OwningOpRef<ModuleOp> changed = cast<ModuleOp>(module->clone());
          if (Status status = runPass(*changed, verdict.step, hook); status.failed())
            return status;
          Result<std::vector<OwnedTensor>> after = execute(*changed);
          if (!after)
            return after;
          for (OwnedTensor &tensor : *after)
            outputs->push_back(std::move(tensor));
          return outputs;
        },
        20);
    if (both.kind != RunOutcome::Ran)
      return std::nullopt;
    size_t half = both.outputs.size() / 2;
    std::vector<OwnedTensor> before(both.outputs.begin(), both.outputs.begin() + ptrdiff_t(half));
    std::vector<OwnedTensor> after(both.outputs.begin() + ptrdiff_t(half), both.outputs.end());
    for (const OwnedTensor &tensor : before)
      for (size_t i = 0; tensor.spec.dtype == DType::F32 && i < tensor.data.size() / sizeof(float); ++i)
        if (!std::isfinite(reinterpret_cast<const float *>(tensor.data.data())[i]))
          return std::nullopt; // no use as a test
    return compareOutputs(before, after);
  }

private:
  Result<std::vector<OwnedTensor>> execute(ModuleOp module) const {
    Result<std::unique_ptr<PlainModel>> model = PlainModel::create(module, tensors, {});
    return model ? runPlainly(**model, filterInputs(module, verdict.inputs)) : Result<std::vector<OwnedTensor>>(model.status());
  }

  const TensorProvider &tensors;
  const Verdict &verdict;
  const PassHook &hook;
};
} // namespace

/// Returns the tensors of the model's files that |module| names, as F32.
static Result<std::vector<OwnedTensor>> readTensors(ModuleOp module, const TensorProvider &provider) {
  std::map<std::string, xfmr::TensorSourceAttr> names;
  AttrTypeWalker walker;
  walker.addWalk([&](xfmr::TensorSourceAttr leaf) { names.emplace(leaf.getName().str(), leaf); });
  for (auto weight : module.getOps<xfmr::WeightOp>())
    walker.walk(weight.getSource());
  std::vector<OwnedTensor> tensors;
  for (auto [name, leaf] : names) {
    llvm::ArrayRef<int64_t> shape = leaf.getType().getShape();
    OwnedTensor tensor{{name, DType::F32, {shape.begin(), shape.end()}}, {}};
    int64_t count = leaf.getType().getNumElements();
    tensor.data.resize(static_cast<size_t>(count) * sizeof(float));
    if (Status status = provider.read(name, 0, count, reinterpret_cast<float *>(tensor.data.data())); status.failed())
      return status;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<std::string> attune::emitTest(Verdict &verdict, const PassHook &hook, const std::string &folder, const std::string &name,
                                     int64_t seconds) {
  PassComparison comparison(verdict.model->tensors(), verdict, hook);
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(verdict.before->clone());
  std::optional<double> change = comparison.measure(*module);
  bool exact = !verdict.step.mayRound();
  if (change) {
    // A pass that may round must stay as wrong as it is, within a factor.
    double least = exact ? 0 : std::min(*change / 4, 1e-2);
    auto isWrong = [&](ModuleOp candidate) {
      std::optional<double> now = comparison.measure(candidate);
      return now && *now > least;
    };
    OwningOpRef<ModuleOp> generated = cast<ModuleOp>(module->clone());
    generateWeights(*generated);
    if (isWrong(*generated))
      module = std::move(generated);
    module = reduceModule(*module, isWrong, std::chrono::seconds(seconds));
    verdict.tolerance = least / 2;
  }

  std::string inputs = folder + "/Inputs", path = folder + "/" + name + ".mlir";
  if (std::error_code error = llvm::sys::fs::create_directories(inputs))
    return Status::error("cannot create '" + inputs + "': " + error.message());
  PlainInputs kept = filterInputs(*module, verdict.inputs);
  if (Status status = saveSafetensors(inputs + "/" + name + ".safetensors", kept.tensors); status.failed())
    return status;
  Result<std::vector<OwnedTensor>> tensors = readTensors(*module, verdict.model->tensors());
  if (!tensors)
    return tensors.status();
  std::string call = " --input=%S/Inputs/" + name + ".safetensors";
  if (!tensors->empty()) {
    if (Status status = saveSafetensors(inputs + "/" + name + "-weights.safetensors", *tensors); status.failed())
      return status;
    call += " --weights=%S/Inputs/" + name + "-weights.safetensors";
  }
  if (!kept.steps.empty()) {
    call += " --steps=";
    for (auto [index, size] : llvm::enumerate(kept.steps))
      call += (index ? "," : "") + std::to_string(size);
  }
  std::string from = "attune run --from-phase=" + verdict.phase;
  std::string text = "// " + verdict.text + "\n";
  text += "// RUN: " + from + " %s" + call + " --output=%t.before.safetensors\n";
  text += "// RUN: attune-opt %s --pass-pipeline='" + verdict.step.pipeline + "' -o %t.after.mlir\n";
  text += "// RUN: " + from + " %t.after.mlir" + call + " --output=%t.after.safetensors\n";
  text += "// RUN: attune diff %t.after.safetensors %t.before.safetensors";
  if (!exact) {
    char bound[32];
    std::snprintf(bound, sizeof(bound), "%.1e", std::max(verdict.tolerance, 1e-6));
    text += std::string(" --atol=") + bound + " --rtol=" + bound;
  }
  text += "\n\n";
  llvm::raw_string_ostream(text) << *module << "\n";
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.status();
  if (Status status = file->write(text.data(), text.size()); status.failed())
    return status;
  if (Status status = file->commit(); status.failed())
    return status;
  return path;
}
