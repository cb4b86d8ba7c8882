//===- BisectSeed.cpp - Bisecting errors that are inserted on purpose -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//     attune-test-bisect CASE PASS ERROR [DIR] [FLAGS]
//     attune-test-bisect CASE llvm:PASS[@FUNCTION] minus [DIR] [FLAGS]
//     attune-test-bisect CASE llvm:codegen[@FUNCTION] minus [DIR] [FLAGS]
//     attune-test-bisect CASE weights double [DIR] [FLAGS]
//     attune-test-bisect CASE --list
//     attune-test-bisect CASE --judge
//
// Compiles the model of the golden case CASE, inserts an error on the way, and lets the bisector search for the error.
// PASS is a pass of the phases `dialect` to `target`. After the first run of PASS on a module or function that has an
// operation which fits ERROR (kErrors), the program inserts ERROR into the first such operation. With `llvm:`, the
// program turns an addition of floats into a subtraction, in a function whose name begins with FUNCTION: after a run of
// LLVM's pass PASS, or before LLVM's code generator compiles the function, unless the function has the attribute
// `optnone`. With `weights`, the program doubles 1024 floats in the middle of the weights file.
//
// Prints the pass, the function and the operation or rewrite that the bisector finds, and exits with 1; exits with 0 if
// the bisector finds no wrong numbers or no operation fits ERROR, and with 2 at a failure. DIR gets the reproducer
// (BisectReport.h). With --list, prints the passes that change the module. With --judge, which inserts no error, prints
// how many modules after a pass are right, wrong or cannot be executed, and exits with 1 if one is wrong. FLAGS are
// those of `attune bisect`. The results of a good setting (--good) come from the program `attune` beside this one,
// which inserts no error.
//
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Driver/LoadedModel.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "compiler/Tools/BisectReport.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdio>

using namespace mlir;
using namespace attune;

namespace {

/// A kind of compiler error that this program can insert into an operation.
struct Error {
  const char *name, *what;
  /// Returns true if `make` can insert the error into |op|.
  bool (*fits)(Operation *op);
  void (*make)(Operation *op);
};

void swapOperands(Operation *op) {
  Value first = op->getOperand(0);
  op->setOperand(0, op->getOperand(1));
  op->setOperand(1, first);
}

/// Returns the value of an f32 constant, or of the elements of a splat of f32; NaN for other operations.
double valueOf(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto value = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (auto elements = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr(); elements && elements.isSplat())
    value = elements.getSplatValue<FloatAttr>();
  return value && value.getType().isF32() ? value.getValueAsDouble() : NAN;
}

void setValue(Operation *op, double value) {
  auto constant = cast<arith::ConstantOp>(op);
  Builder builder(op->getContext());
  if (auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
    constant.setValueAttr(DenseElementsAttr::get(elements.getType(), float(value)));
  else
    constant.setValueAttr(builder.getF32FloatAttr(float(value)));
}

template <typename OpT>
bool is(Operation *op) {
  return isa<OpT>(op);
}

const Error kErrors[] = {
    {"swap", "operands of a subtraction or division swapped", [](Operation *op) { return isa<arith::SubFOp, arith::DivFOp>(op); },
     swapOperands},
    {"minus", "a subtraction in place of an addition", is<arith::AddFOp>,
     [](Operation *op) {
       OpBuilder builder(op);
       Value other = arith::SubFOp::create(builder, op->getLoc(), op->getOperand(0), op->getOperand(1));
       op->replaceAllUsesWith(ValueRange(other));
       op->erase();
     }},
    {"epsilon", "an epsilon a thousand times as large",
     [](Operation *op) {
       double value = valueOf(op);
       return value >= 1e-13 && value < 1e-3;
     },
     [](Operation *op) { setValue(op, valueOf(op) * 1000); }},
    {"constant", "a factor a tenth too large",
     [](Operation *op) {
       double value = std::abs(valueOf(op));
       return value > 1e-3 && value < 1e3 && value != 1;
     },
     [](Operation *op) { setValue(op, valueOf(op) * 1.1); }},
    {"maximum", "a minimum in place of a maximum", [](Operation *op) { return isa<arith::MaximumFOp, arith::MaxNumFOp>(op); },
     [](Operation *op) {
       OpBuilder builder(op);
       Value other = arith::MinimumFOp::create(builder, op->getLoc(), op->getOperand(0), op->getOperand(1));
       op->replaceAllUsesWith(ValueRange(other));
       op->erase();
     }},
    {"fma", "the factors and the sum of a multiply-add confused", is<math::FmaOp>,
     [](Operation *op) {
       Value first = op->getOperand(0);
       op->setOperand(0, op->getOperand(2));
       op->setOperand(2, first);
     }},
    {"tail", "the last iteration of a loop left out", is<scf::ForOp>,
     [](Operation *op) {
       auto loop = cast<scf::ForOp>(op);
       OpBuilder builder(op);
       loop.getUpperBoundMutable().assign(arith::SubIOp::create(builder, op->getLoc(), loop.getUpperBound(), loop.getStep()).getResult());
     }},
    {"fill", "memory not filled before sums", is<linalg::FillOp>,
     [](Operation *op) {
       auto fill = cast<linalg::FillOp>(op);
       if (op->getNumResults())
         op->getResult(0).replaceAllUsesWith(fill.getDpsInits()[0]);
       op->erase();
     }},
    {"causal", "later keys not hidden", [](Operation *op) { return op->hasAttr("causal"); },
     [](Operation *op) { op->removeAttr("causal"); }},
    {"scale", "scores a tenth too large", [](Operation *op) { return isa_and_nonnull<FloatAttr>(op->getAttr("scale")); },
     [](Operation *op) {
       auto scale = cast<FloatAttr>(op->getAttr("scale"));
       op->setAttr("scale", FloatAttr::get(scale.getType(), scale.getValueAsDouble() * 1.1));
     }},
    {"residual", "a residual dropped",
     [](Operation *op) {
       auto linear = dyn_cast<xfmr::LinearOp>(op);
       return linear && linear.getResidual();
     },
     [](Operation *op) { cast<xfmr::LinearOp>(op).getResidualMutable().clear(); }},
    {"bias", "a bias dropped",
     [](Operation *op) {
       auto linear = dyn_cast<xfmr::LinearOp>(op);
       return linear && linear.getBias();
     },
     [](Operation *op) { cast<xfmr::LinearOp>(op).getBiasMutable().clear(); }},
    {"activation", "another activation", [](Operation *op) { return op->hasAttr("activation") && isa<xfmr::LinearOp>(op); },
     [](Operation *op) { op->setAttr("activation", xfmr::ActivationAttr::get(op->getContext(), xfmr::Activation::Relu)); }},
    {"row", "a slice one row further",
     [](Operation *op) {
       auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
       return slice && !slice.getOffsets().empty();
     },
     [](Operation *op) {
       auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
       OpBuilder builder(op);
       Value one = arith::ConstantIndexOp::create(builder, op->getLoc(), 1), offset = slice.getOffsets()[0];
       op->setOperand(slice.getOffsetSizeAndStrideStartOperandIndex(), arith::AddIOp::create(builder, op->getLoc(), offset, one));
     }},
    {"even", "an odd number from memory one too small",
     [](Operation *op) { return isa<arith::IndexCastOp>(op) && op->getResult(0).getType().isIndex(); },
     [](Operation *op) {
       OpBuilder builder(op->getContext());
       builder.setInsertionPointAfter(op);
       Value mask = arith::ConstantIndexOp::create(builder, op->getLoc(), -2), number = op->getResult(0);
       auto even = arith::AndIOp::create(builder, op->getLoc(), number, mask);
       number.replaceAllUsesExcept(even, even);
     }},
    {"place", "all buffers of a block in one place", is<memref::ViewOp>,
     [](Operation *op) {
       auto first = cast<memref::ViewOp>(op);
       for (auto other : op->getBlock()->getOps<memref::ViewOp>())
         other->setOperand(1, first.getByteShift());
     }},
    {"select", "the values of a selection confused", is<arith::SelectOp>,
     [](Operation *op) {
       auto select = cast<arith::SelectOp>(op);
       Value yes = select.getTrueValue(), no = select.getFalseValue();
       op->setOperand(1, no);
       op->setOperand(2, yes);
     }},
};

/// An error that is inserted after the pass |pass|, into the first operation that fits it. The caller sets |isDone| to
/// false before each run of a phase, so each run gets the error once at most.
struct Seed {
  std::string pass;
  const Error *error = nullptr;

  void insert(Pass *ran, Operation *op, bool &isDone) const {
    if (isDone || ran->getArgument() != pass)
      return;
    std::vector<Operation *> places;
    op->walk([&](Operation *inner) {
      if (error->fits(inner))
        places.push_back(inner);
    });
    if (places.empty())
      return;
    error->make(places[0]);
    isDone = true;
  }
};

} // namespace

static int fail(const std::string &message) {
  fprintf(stderr, "attune-test-bisect: error: %s\n", message.c_str());
  return 2;
}

/// Judges the module after each step (PhaseReplay.h) of the phases `dialect` to `target` by the outputs of the imported
/// module. Prints the numbers of modules that are right, wrong or not judged. Returns the exit status: 0; 1 if a module
/// is wrong; 2 if a module cannot be compiled or read.
static int judgeSteps(LoadedModel &model, const PlainInputs &inputs) {
  Result<Judge> judge = Judge::create(model.module(), model.tensors(), inputs);
  if (!judge)
    return fail(judge.message());
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(model.module()->clone());
  std::optional<PlainSignature> signature;
  size_t counts[3] = {};
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target}) {
    if (phase == Phase::Target) {
      Result<PlainSignature> read = readPlainSignature(*module);
      if (!read)
        return fail(read.message());
      signature = std::move(*read);
    }
    PhaseReplay replay(*module, phase, {});
    Result<OwningOpRef<ModuleOp>> after = replay.run();
    if (!after)
      return fail(after.message());
    for (size_t step = 0; step < replay.steps().size(); ++step) {
      Result<OwningOpRef<ModuleOp>> between = replay.moduleAfter(int64_t(step));
      if (!between)
        return fail(between.message());
      Judgment judgment = judge->judge(**between, signature ? &*signature : nullptr);
      ++counts[judgment.kind];
      if (judgment.kind != Judgment::Right)
        fprintf(stderr, "%s %s %s: %s %s\n", stringifyPhase(phase).str().c_str(),
                StringRef(replay.steps()[step].pass).split('{').first.str().c_str(), replay.steps()[step].function.c_str(),
                judgment.kind == Judgment::Wrong ? "WRONG" : "not judged", judgment.reason.c_str());
    }
    module = std::move(*after);
  }
  printf("%zu right, %zu wrong, %zu not judged\n", counts[Judgment::Right], counts[Judgment::Wrong], counts[Judgment::Unknown]);
  return counts[Judgment::Wrong] ? 1 : 0;
}

/// Replaces the first addition of floats in |function| by a subtraction. Returns false if there is none.
static bool subtract(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    if (instruction.getOpcode() != llvm::Instruction::FAdd)
      continue;
    auto *other = llvm::BinaryOperator::CreateFSub(instruction.getOperand(0), instruction.getOperand(1), "", instruction.getIterator());
    instruction.replaceAllUsesWith(other);
    instruction.eraseFromParent();
    return true;
  }
  return false;
}

/// Returns hooks that call subtract() once in each run of LLVM's passes or code generator, on a function whose name
/// begins with |function|. If |pass| is "codegen", the hooks choose the first such function with an addition, before
/// code is emitted, and do nothing if this function has the attribute `optnone`. Otherwise they choose the first such
/// function that has an addition after a run of |pass|. The hooks set |isDone| to true if the current run has the
/// error, else to false.
static CodeHooks insertInCode(const std::string &pass, const std::string &function, bool &isDone) {
  CodeHooks hooks;
  hooks.begin = [&] { isDone = false; };
  if (pass == "codegen")
    hooks.beforeCode = [&isDone, function](llvm::Module &module) {
      auto isAddition = [](llvm::Instruction &instruction) { return instruction.getOpcode() == llvm::Instruction::FAdd; };
      for (llvm::Function &candidate : module) {
        if (!candidate.getName().starts_with(function) || llvm::none_of(llvm::instructions(candidate), isAddition))
          continue;
        isDone = !candidate.hasOptNone() && subtract(candidate);
        return;
      }
    };
  else
    hooks.afterPass = [&isDone, pass, function](llvm::StringRef ran, llvm::Function &changed) {
      if (!isDone && ran == pass && changed.getName().starts_with(function))
        isDone = subtract(changed);
    };
  return hooks;
}

/// Returns hooks that double the 1024 floats that begin in the middle of the data section of the weights file. The
/// hooks end the program with status 2 if the file cannot be read or written there.
static CodeHooks insertInWeights() {
  CodeHooks hooks;
  hooks.afterPacking = [](const std::string &path) {
    attune_weights_header header;
    float floats[1024];
    FILE *file = fopen(path.c_str(), "r+b");
    bool isRead = file && fread(&header, sizeof(header), 1, file) == 1;
    auto middle = isRead ? long(header.data_offset + header.data_bytes / 2 / 64 * 64) : 0;
    isRead = isRead && fseek(file, middle, SEEK_SET) == 0 && fread(floats, sizeof(floats), 1, file) == 1;
    for (float &number : floats)
      number *= 2;
    if (!isRead || fseek(file, middle, SEEK_SET) != 0 || fwrite(floats, sizeof(floats), 1, file) != 1 || fclose(file) != 0)
      exit(fail("'" + path + "': expected a weights file with 4096 bytes in its middle"));
  };
  return hooks;
}

/// Runs the phases `dialect` to `target` with |hooks|. Stops after the phase in which the hooks insert the error, which
/// sets |isMade|, or at a phase that fails. If |lists|, prints the passes that change the module in all phases before
/// this one.
static void followPasses(LoadedModel &model, const ReplayHooks &hooks, bool lists, const bool &isMade) {
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(model.module()->clone());
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target}) {
    PhaseReplay replay(*module, phase, hooks);
    Result<OwningOpRef<ModuleOp>> after = replay.run();
    if (!after || isMade)
      return;
    module = std::move(*after);
    for (const PassStep &step : replay.steps())
      if (lists)
        printf("%s %s\n", stringifyPhase(phase).str().c_str(), StringRef(step.pass).split('{').first.str().c_str());
  }
}

static void printVerdict(const BisectVerdict &verdict) {
  printf("phase %s", stringifyPhase(verdict.phase).str().c_str());
  for (const PassStep &step : verdict.steps)
    printf(" pass %s", StringRef(step.pass).split('{').first.str().c_str());
  if (verdict.part)
    printf(" pass llvm:%s", verdict.part->pass.empty() ? "codegen" : verdict.part->pass.c_str());
  if (verdict.weight)
    printf(" weight %s", verdict.weight->output.c_str());
  printf(" function %s", verdict.part ? verdict.part->function.c_str() : verdict.function.c_str());
  if (verdict.operation)
    printf(" operation %s", verdict.operation->name.c_str());
  if (verdict.rewrite)
    printf(" rewrite %s", verdict.rewrite->operation.c_str());
  if (!verdict.firstDifference.empty())
    printf(" difference %s", verdict.firstDifference.c_str());
  printf("\n");
}

int main(int argc, char **argv) {
  BisectCall request;
  bool lists = false, judges = false;
  std::vector<std::string> good, words;
  FlagTable flags;
  flags.addSwitch("list", lists, "");
  flags.addSwitch("judge", judges, "");
  flags.addRepeated("good", "FLAGS|PATH", good, "");
  request.call.compile.cpu = "x86-64-v3";
  request.call.words = {"--cpu=x86-64-v3"};
  request.call.addTo(flags);
  if (Status status = flags.parse({argv + 1, argv + argc}, words); status.failed())
    return fail(status.message());
  bool isSeeded = !lists && !judges;
  if (isSeeded ? words.size() != 3 && words.size() != 4 : words.size() != 1)
    return fail("expected CASE PASS ERROR [DIR], CASE --list or CASE --judge");
  request.call.keepWords(flags);
  registerAllTargets();
  registerCompilerPasses();
  request.call.compile.model = words[0];
  Result<std::optional<PlainInputs>> given = request.call.readCase();
  if (!given || !*given)
    return fail(given ? "no case in " + words[0] : given.message());
  const PlainInputs &inputs = **given;
  request.call.request(inputs);
  if (!good.empty()) {
    llvm::SmallString<128> program(llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&fail)));
    llvm::sys::path::remove_filename(program);
    llvm::sys::path::append(program, "attune");
    Result<GoodSetting> setting = GoodSetting::create(good, std::string(program));
    if (!setting)
      return fail("--good: " + setting.message());
    request.good = std::move(*setting);
  }

  // The bisector runs each phase many times, always from its first pass. |isDone| is set to false before each run, so
  // that each run makes the error once. |isMade| stays true after the first error.
  Seed seed;
  bool isDone = false, isMade = false;
  llvm::StringRef pass = isSeeded ? llvm::StringRef(words[1]) : "";
  bool isInWeights = pass == "weights", isInCode = isInWeights || pass.consume_front("llvm:");
  if (isInWeights) {
    request.codeHooks = insertInWeights();
  } else if (isInCode) {
    auto [name, function] = pass.split('@');
    request.codeHooks = insertInCode(name.str(), function.str(), isDone);
  } else if (isSeeded) {
    seed.pass = pass.str();
    for (const Error &error : kErrors)
      if (error.name == words[2])
        seed.error = &error;
    if (!seed.error)
      return fail("no such error: " + words[2]);
    request.hooks.begin = [&] { isDone = false; };
    request.hooks.afterPass = [&](Pass *ran, Operation *op) {
      seed.insert(ran, op, isDone);
      isMade |= isDone;
    };
  }
  CompileListener listener;
  listener.beforePasses = [&](Phase, ModuleOp, PassManager &passes) { addHooks(passes, request.hooks); };
  Result<std::unique_ptr<LoadedModel>> model = LoadedModel::import(request.call.compile, listener);
  if (!model)
    return fail(model.message());
  if (judges)
    return judgeSteps(**model, inputs);
  if (!isInCode)
    followPasses(**model, request.hooks, lists, isMade);
  if (lists)
    return 0;
  if (!isInCode && !isMade) {
    printf("no place for the error\n");
    return 0;
  }
  Result<BisectOutcome> outcome = BisectSession(request, **model, listener).search(inputs);
  if (!outcome)
    return fail(outcome.message());
  fprintf(stderr, "%s\n", describeOutcome(*outcome).c_str());
  for (const auto &[phase, reason] : outcome->verdict.unknown)
    fprintf(stderr, "not judged: %s: %s\n", stringifyPhase(phase).str().c_str(), reason.c_str());
  if (!outcome->verdict.isFound) {
    printf("no wrong numbers\n");
    return 0;
  }
  if (words.size() == 4)
    if (Status status = writeReproducer(*outcome, inputs, words[3]); status.failed())
      return fail(status.message());
  printVerdict(outcome->verdict);
  return 1;
}
