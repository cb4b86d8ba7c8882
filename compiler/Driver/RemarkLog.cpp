//===- RemarkLog.cpp - The remarks of a compilation -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/RemarkLog.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Remarks/RemarkParser.h"
#include "llvm/Remarks/RemarkSerializer.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <set>

using namespace attune;

const char *attune::stringifyKind(ModelRemark::Kind kind) {
  return kind == ModelRemark::Kind::Passed ? "passed" : kind == ModelRemark::Kind::Missed ? "missed" : "analysis";
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// The suffix of the names of layer functions. The name of a location in a layer function begins with the name of this
/// function: "encoder_layer.attention".
static constexpr llvm::StringLiteral kLayerSuffix = "_layer";

/// Appends |value| to |values| unless it is there.
static void addOnce(std::vector<std::string> &values, std::string value) {
  if (!llvm::is_contained(values, value))
    values.push_back(std::move(value));
}

/// Returns the names of all NameLocs in |location|, each once.
static std::vector<std::string> namesOf(mlir::Location location) {
  std::vector<std::string> names;
  location->walk([&](mlir::Location part) {
    if (auto name = llvm::dyn_cast<mlir::NameLoc>(part))
      addOnce(names, name.getName().str());
    return mlir::WalkResult::advance();
  });
  return names;
}

ModelPaths::ModelPaths(mlir::ModuleOp module) {
  struct Call {
    std::string caller, callee;
    std::vector<std::string> names;
    bool toKernel;
  };
  std::vector<Call> calls;
  mlir::SymbolTable symbols(module);
  for (auto function : module.getOps<mlir::FunctionOpInterface>()) {
    std::vector<std::string> &own = layers[function.getName().str()];
    if (mlir::xfmr::getEntry(function))
      own.push_back("");
    function.walk([&](mlir::CallOpInterface call) {
      auto callee = llvm::dyn_cast<mlir::SymbolRefAttr>(call.getCallableForCallee());
      if (!callee)
        return;
      mlir::Operation *target = symbols.lookup(callee.getRootReference());
      calls.push_back(
          {function.getName().str(), callee.getRootReference().str(), namesOf(call.getLoc()), target && mlir::tiles::getKernel(target)});
    });
  }
  // Adds the paths of callers to those of callees until nothing changes. Calls are not recursive, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Call &call : calls) {
      std::vector<std::string> &callee = layers[call.callee];
      size_t size = callee.size();
      for (const std::string &path : layers[call.caller]) {
        // The location of a call by an entry, which has no path of its own, names the path of the layer. The location
        // of a call of a kernel, or by a layer function, names only a part of the caller, so the callee gets the
        // caller's path.
        if (call.toKernel || !path.empty() || call.names.empty())
          addOnce(callee, path);
        else
          for (const std::string &name : call.names)
            addOnce(callee, name);
      }
      changed |= callee.size() != size;
    }
  }
}

std::vector<std::string> ModelPaths::resolve(llvm::StringRef function, mlir::Location location) const {
  std::vector<std::string> result;
  auto found = layers.find(function.str());
  for (const std::string &name : namesOf(location)) {
    auto [first, rest] = llvm::StringRef(name).split('.');
    bool inLayer = first.ends_with(kLayerSuffix);
    bool known = false;
    if (found != layers.end())
      for (const std::string &layer : found->second) {
        if (layer.empty() || llvm::StringRef(name).starts_with(layer))
          addOnce(result, name);
        else if (inLayer)
          addOnce(result, rest.empty() ? layer : layer + "." + rest.str());
        else if (name == function)
          addOnce(result, layer);
        else
          addOnce(result, layer + "." + name);
        known = true;
      }
    if (!known)
      addOnce(result, name);
  }
  return joinNumbered(result);
}

std::vector<std::string> ModelPaths::resolveBody(mlir::FunctionOpInterface function) const {
  std::vector<std::string> result;
  std::set<const void *> seen;
  function.walk([&](mlir::Operation *op) {
    if (op != function.getOperation() && seen.insert(op->getLoc().getAsOpaquePointer()).second)
      for (std::string &path : resolve(function.getName(), op->getLoc()))
        addOnce(result, std::move(path));
  });
  return result;
}

std::vector<std::string> attune::joinNumbered(const std::vector<std::string> &paths) {
  // Paths that are equal except for the first part that is a number: the text before and after it, and the numbers.
  struct Group {
    std::string before, after;
    std::vector<uint64_t> numbers;
  };
  std::vector<Group> groups;
  for (llvm::StringRef path : paths) {
    size_t begin = 0;
    uint64_t number = 0;
    bool found = false;
    while (begin < path.size() && !found) {
      size_t end = std::min(path.find('.', begin), path.size());
      found = !path.slice(begin, end).getAsInteger(10, number);
      if (!found)
        begin = end + 1;
    }
    std::string before = found ? path.take_front(begin).str() : path.str();
    std::string after = found ? path.drop_front(begin).drop_until([](char c) { return c == '.'; }).str() : "";
    auto group = llvm::find_if(
        groups, [&](const Group &other) { return other.before == before && other.after == after && other.numbers.empty() != found; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {before, after, {}});
    if (found)
      group->numbers.push_back(number);
  }
  std::vector<std::string> result;
  for (Group &group : groups) {
    llvm::sort(group.numbers);
    std::string list;
    for (size_t i = 0; i < group.numbers.size();) {
      size_t last = i;
      while (last + 1 < group.numbers.size() && group.numbers[last + 1] == group.numbers[last] + 1)
        ++last;
      list += (list.empty() ? "" : ",") + std::to_string(group.numbers[i]);
      if (last != i)
        list += "-" + std::to_string(group.numbers[last]);
      i = last + 1;
    }
    result.push_back(group.before + (group.numbers.size() > 1 ? "{" + list + "}" : list) + group.after);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

namespace attune {
/// Appends the remarks of a context to a log.
class RemarkRecorder : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkRecorder(RemarkLog &log) : log(log) {}

  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    ModelRemark kept;
    switch (remark.getRemarkType()) {
    case llvm::remarks::Type::Passed:
      kept.kind = ModelRemark::Kind::Passed;
      break;
    case llvm::remarks::Type::Missed:
    case llvm::remarks::Type::Failure:
      kept.kind = ModelRemark::Kind::Missed;
      break;
    default:
      kept.kind = ModelRemark::Kind::Analysis;
    }
    kept.pass = remark.getCombinedCategoryName().str();
    kept.name = remark.getRemarkName().str();
    kept.function = remark.getFunction().str();
    for (const auto &argument : remark.getArgs()) {
      if (argument.key == mlir::xfmr::kRemarkKernel)
        kept.kernel = argument.val;
      else if (argument.key == "Remark" || argument.key == "Reason" || argument.key == "Suggestion")
        kept.text += (kept.text.empty() ? "" : "; ") + argument.val;
      else
        kept.details.emplace_back(argument.key, argument.val);
    }
    if (auto file = remark.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
      kept.file = file.getFilename().str();
      kept.line = file.getLine();
      kept.column = file.getColumn();
    }
    log.all.push_back(std::move(kept));
    log.locations.push_back(remark.getLocation());
  }

private:
  RemarkLog &log;
};
} // namespace attune

void RemarkLog::attach(mlir::MLIRContext &context) {
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.failed = categories.analysis = ".*";
  // Fails only if the context has an engine already.
  (void)mlir::remark::enableOptimizationRemarks(context, std::make_unique<RemarkRecorder>(*this),
                                                std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}

void RemarkLog::beginPhase(mlir::ModuleOp module) {
  before = ModelPaths(module);
  locations.clear();
}

void RemarkLog::endPhase(Phase phase, mlir::ModuleOp module) {
  ModelPaths after(module);
  size_t first = all.size() - locations.size();
  for (size_t i = first; i < all.size(); ++i) {
    // The function of a remark may exist only before the phase or only after it.
    const ModelPaths &paths = before.contains(all[i].function) ? before : after;
    all[i].phase = stringifyPhase(phase).str();
    all[i].paths = paths.resolve(all[i].function, locations[i - first]);
  }
  locations.clear();
  if (phase != Phase::Kernels)
    return;
  for (auto function : module.getOps<mlir::FunctionOpInterface>())
    if (mlir::tiles::KernelAttr kernel = mlir::tiles::getKernel(function))
      allKernels.push_back({function.getName().str(), kernel.getText().str(), after.resolveBody(function)});
  // A remark of attune-outline-kernels is about a kernel that exists only after this pass, so the remark gets the paths
  // of the kernel.
  for (ModelRemark &remark : all)
    if (remark.pass == "attune-outline-kernels")
      for (const KernelProvenance &kernel : allKernels)
        if (kernel.symbol == remark.function)
          remark.paths = kernel.paths;
}

//===----------------------------------------------------------------------===//
// YAML
//===----------------------------------------------------------------------===//

std::string RemarkLog::toYaml() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto serializer = llvm::cantFail(llvm::remarks::createRemarkSerializer(llvm::remarks::Format::YAML, stream));
  for (const ModelRemark &remark : all) {
    llvm::remarks::Remark written;
    written.RemarkType = remark.kind == ModelRemark::Kind::Passed   ? llvm::remarks::Type::Passed
                         : remark.kind == ModelRemark::Kind::Missed ? llvm::remarks::Type::Missed
                                                                    : llvm::remarks::Type::Analysis;
    written.PassName = remark.pass;
    written.RemarkName = remark.name;
    written.FunctionName = remark.function;
    if (remark.line != 0)
      written.Loc = llvm::remarks::RemarkLocation{remark.file, remark.line, remark.column};
    auto add = [&](llvm::StringRef key, llvm::StringRef value) {
      if (!value.empty())
        written.Args.emplace_back(key, value);
    };
    add(mlir::xfmr::kRemarkKernel, remark.kernel);
    add(remark.kind == ModelRemark::Kind::Missed ? "Reason" : "Remark", remark.text);
    for (const auto &[key, value] : remark.details)
      add(key, value);
    add("Phase", remark.phase);
    for (const std::string &path : remark.paths)
      add("Path", path);
    serializer->emit(written);
  }
  serializer->finalize();
  return text;
}

Result<RemarkLog> RemarkLog::read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return Status::error("'" + path + "': " + buffer.getError().message());
  auto expected = [&](llvm::Error error) {
    std::string message = llvm::toString(std::move(error));
    return Status::error("'" + path +
                         "': expected remarks, as compile --remarks=FILE writes them: " + llvm::StringRef(message).split('\n').first.str());
  };
  auto parser = llvm::remarks::createRemarkParser(llvm::remarks::Format::YAML, (*buffer)->getBuffer());
  if (!parser)
    return expected(parser.takeError());
  RemarkLog log;
  while (true) {
    auto next = (*parser)->next();
    if (!next) {
      llvm::Error error = next.takeError();
      if (error.isA<llvm::remarks::EndOfFileError>()) {
        llvm::consumeError(std::move(error));
        break;
      }
      return expected(std::move(error));
    }
    const llvm::remarks::Remark &read = **next;
    ModelRemark remark;
    remark.kind = read.RemarkType == llvm::remarks::Type::Passed   ? ModelRemark::Kind::Passed
                  : read.RemarkType == llvm::remarks::Type::Missed ? ModelRemark::Kind::Missed
                                                                   : ModelRemark::Kind::Analysis;
    remark.pass = read.PassName.str();
    remark.name = read.RemarkName.str();
    remark.function = read.FunctionName.str();
    for (const llvm::remarks::Argument &argument : read.Args) {
      if (argument.Key == mlir::xfmr::kRemarkKernel)
        remark.kernel = argument.Val.str();
      else if (argument.Key == "Phase")
        remark.phase = argument.Val.str();
      else if (argument.Key == "Path")
        remark.paths.push_back(argument.Val.str());
      else if (argument.Key == "Remark" || argument.Key == "Reason")
        remark.text = argument.Val.str();
      else
        remark.details.emplace_back(argument.Key.str(), argument.Val.str());
    }
    if (remark.pass == "attune-outline-kernels")
      log.allKernels.push_back({remark.function, remark.kernel, remark.paths});
    log.all.push_back(std::move(remark));
  }
  return log;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// Returns |name| without the suffix that marks the outlined body of a parallel loop: the name of the kernel's
/// function.
static llvm::StringRef withoutParallel(llvm::StringRef name) {
  name.consume_back("_parallel");
  return name;
}

Result<std::vector<const ModelRemark *>> RemarkLog::why(const std::string &kernel) const {
  std::set<std::string> symbols, texts, paths, names;
  for (const KernelProvenance &known : allKernels) {
    names.insert(known.symbol);
    if (known.symbol != kernel && known.text != kernel)
      continue;
    symbols.insert(known.symbol);
    texts.insert(known.text);
    paths.insert(known.paths.begin(), known.paths.end());
  }
  if (symbols.empty())
    return Status::error("no kernel '" + kernel + "', expected one of " + llvm::join(names, ", "));
  std::vector<const ModelRemark *> result;
  for (const ModelRemark &remark : all) {
    bool isMeant = symbols.count(withoutParallel(remark.function).str()) != 0 || texts.count(remark.kernel) != 0;
    // Before the phase `kernels` there are no kernels yet: a remark that names no kernel counts if it is about a module
    // that the kernel computes.
    if (!isMeant && remark.kernel.empty() && (remark.phase == "dialect" || remark.phase == "linalg" || remark.phase == "tiled"))
      isMeant = llvm::any_of(remark.paths, [&](const std::string &path) { return paths.count(path) != 0; });
    if (isMeant)
      result.push_back(&remark);
  }
  return result;
}

std::string attune::formatRemark(const ModelRemark &remark) {
  std::string line = remark.phase + ", " + remark.pass + ": " + stringifyKind(remark.kind) + ": " + remark.name + ": " + remark.text;
  for (const auto &[key, value] : remark.details)
    line += (line.back() == ' ' ? "" : ", ") + key + " " + value;
  if (!remark.paths.empty())
    line += " [" + llvm::join(remark.paths, ", ") + "]";
  return line;
}
