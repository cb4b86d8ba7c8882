//===- HoverText.cpp - Facts about an operation under the cursor ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/HoverText.h"
#include "compiler/Driver/RemarkLog.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

static const unsigned char kDocumentation[] = {
#include "HoverDocs.inc"
};

/// Returns the description of the operation |name| in the page of its dialect, without grammar, traits and operands; ""
/// if no page has the operation.
static std::string findDescription(StringRef name) {
  StringRef pages(reinterpret_cast<const char *>(kDocumentation), sizeof(kDocumentation));
  size_t begin = pages.find(("### `" + name + "` (").str());
  if (begin == StringRef::npos)
    return "";
  StringRef section = pages.drop_front(begin).split('\n').second;
  section = section.take_front(std::min(section.find("\nTraits:"), std::min(section.find("\n### "), section.find("\n#### "))));
  // The grammar is the block after "Syntax:".
  auto [before, grammar] = section.split("Syntax:\n");
  StringRef after = grammar.split("```\n").second.split("```\n").second;
  return (before.trim() + "\n\n" + after.trim()).str();
}

std::string attune::describeHover(const DialectRegistry &registry, const std::string &text, unsigned line, unsigned column) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  llvm::SourceMgr sources;
  unsigned buffer = sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "hover"), SMLoc());
  SMLoc place = sources.FindLocForLineAndColumn(buffer, line + 1, column + 1);
  Block block;
  AsmParserState state;
  if (!place.isValid() || failed(parseAsmSourceFile(sources, &block, ParserConfig(&context, /*verifyAfterParse=*/false), &state)))
    return "";
  auto contains = [&](SMRange range) {
    return range.isValid() && range.Start.getPointer() <= place.getPointer() && place.getPointer() <= range.End.getPointer();
  };
  Operation *found = nullptr;
  for (const AsmParserState::OperationDefinition &definition : state.getOpDefs())
    if (contains(definition.loc) ||
        llvm::any_of(definition.resultGroups, [&](const auto &group) { return contains(group.definition.loc); }))
      found = definition.op;
  if (!found)
    return "";
  std::string result;
  llvm::raw_string_ostream stream(result);
  if (found->getNumResults() != 0) {
    stream << "Results: ";
    llvm::interleaveComma(found->getResultTypes(), stream, [&](Type type) { stream << '`' << type << '`'; });
    stream << "\n\n";
  }
  auto function = dyn_cast<FunctionOpInterface>(found);
  if (!function)
    function = found->getParentOfType<FunctionOpInterface>();
  if (function) {
    auto module = function->getParentOfType<ModuleOp>();
    std::vector<std::string> paths = module ? ModelPaths(module).resolve(function.getName(), found->getLoc()) : std::vector<std::string>();
    if (auto name = found->getLoc()->findInstanceOf<NameLoc>(); name && paths.empty())
      paths.push_back(name.getName().str());
    if (!paths.empty())
      stream << "Module of the model: " << llvm::join(paths, ", ") << "\n\n";
    if (tiles::KernelAttr kernel = tiles::getKernel(function))
      stream << "Kernel: " << kernel.getText() << "\n\n";
  }
  stream << findDescription(found->getName().getStringRef());
  return result;
}
