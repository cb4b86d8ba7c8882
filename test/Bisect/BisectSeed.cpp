//===- BisectSeed.cpp - Bisecting errors that are inserted on purpose -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//     attune-test-bisect CASE PASS ERROR [DIR]
//     attune-test-bisect CASE --list
//     attune-test-bisect CASE --judge
//
// Compiles the model of a golden case. After the first run of PASS on a module or function in which ERROR can be made, it
// makes ERROR at the first such place, as if the pass had. Prints what the bisector finds: the pass, the function and the
// operation or rewrite, or that no number is wrong; DIR gets what reproduces it. With --list it prints the passes that
// change the module, with --judge how many modules after a pass are right, wrong or cannot be executed: without an error,
// none may be wrong.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/LoadedModel.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "compiler/Tools/BisectReport.h"
#include "compiler/Tools/PlainCall.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

#include <cstdio>

using namespace mlir;
using namespace attune;

namespace {

/// An error of a compiler, made in an operation.
struct Error {
  const char *name, *what;
  /// Returns true if the error can be made in the operation.
  bool (*fits)(Operation *op);
  void (*make)(Operation *op);
};

void swapOperands(Operation *op) {
  Value first = op->getOperand(0);
  op->setOperand(0, op->getOperand(1));
  op->setOperand(1, first);
}

/// Returns the value of an f32 constant that is neither 0 nor 1; NaN of other operations.
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
};

/// Inserts an error once.
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

/// Judges the modules after all steps of all phases. Returns the exit status, 1 if one is wrong.
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

int main(int argc, char **argv) {
  bool judges = argc == 3 && argv[2] == std::string("--judge"), lists = judges || (argc == 3 && argv[2] == std::string("--list"));
  if (!lists && argc != 4 && argc != 5)
    return fail("expected CASE PASS ERROR [DIR], CASE --list or CASE --judge");
  registerAllTargets();
  registerCompilerPasses();
  PlainCall call;
  call.compile.model = argv[1];
  call.compile.cpu = "x86-64-v3";
  Result<std::optional<PlainInputs>> given = call.readCase();
  if (!given || !*given)
    return fail(given ? "no case in " + call.compile.model : given.message());
  const PlainInputs &inputs = **given;
  call.request(inputs);
  Result<std::unique_ptr<LoadedModel>> model = LoadedModel::import(call.compile);
  if (!model)
    return fail(model.message());

  Seed seed;
  if (!lists) {
    seed.pass = argv[2];
    for (const Error &error : kErrors)
      if (error.name == std::string(argv[3]))
        seed.error = &error;
    if (!seed.error)
      return fail("no such error: " + std::string(argv[3]));
  }
  BisectOptions options;
  // Phases are run from their first pass again and again; each run makes the error once.
  bool isDone = false, isMade = false;
  options.hooks.afterPass = [&](Pass *pass, Operation *op) {
    if (!lists)
      seed.insert(pass, op, isDone);
    isMade |= isDone;
  };
  options.hooks.begin = [&] { isDone = false; };
  options.progress = [](const std::string &text) { fprintf(stderr, "%s\n", text.c_str()); };
  if (judges)
    return judgeSteps(**model, inputs);
  // The passes of each phase, with the error.
  OwningOpRef<ModuleOp> module = cast<ModuleOp>((*model)->module()->clone());
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target}) {
    PhaseReplay replay(*module, phase, options.hooks);
    Result<OwningOpRef<ModuleOp>> after = replay.run();
    if (!after || isMade)
      break;
    module = std::move(*after);
    for (const PassStep &step : replay.steps())
      if (lists)
        printf("%s %s\n", stringifyPhase(phase).str().c_str(), StringRef(step.pass).split('{').first.str().c_str());
  }
  if (lists)
    return 0;
  if (!isMade) {
    printf("no place for the error\n");
    return 0;
  }
  Bisector bisector((*model)->module(), (*model)->tensors(), inputs, options);
  Result<BisectVerdict> verdict = bisector.run();
  if (!verdict)
    return fail(verdict.message());
  if (!verdict->isFound) {
    printf("no wrong numbers\n");
    return 0;
  }
  if (argc == 5)
    if (Status status = writeReproducer(*verdict, inputs, call.compile.model, argv[4]); status.failed())
      return fail(status.message());
  printf("phase %s", stringifyPhase(verdict->phase).str().c_str());
  for (const PassStep &step : verdict->steps)
    printf(" pass %s", StringRef(step.pass).split('{').first.str().c_str());
  printf(" function %s", verdict->function.c_str());
  if (verdict->operation)
    printf(" operation %s", verdict->operation->name.c_str());
  if (verdict->rewrite)
    printf(" rewrite %s", verdict->rewrite->operation.c_str());
  printf("\n");
  return 1;
}
