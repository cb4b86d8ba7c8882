//===- ExplainKernel.cpp - The remarks about a kernel ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/ExplainKernel.h"
#include "compiler/Driver/LoadedModel.h"
#include "compiler/Driver/RemarkLog.h"
#include "compiler/Tools/CompilerCommands.h"

using namespace attune;

Result<nlohmann::ordered_json> attune::explainKernel(const CompileOptions &options, const std::string &kernel,
                                                     const std::string &remarksFile) {
  RemarkLog log;
  if (remarksFile.empty()) {
    CompileListener listener = createListener();
    listener.remarks = &log;
    Result<std::unique_ptr<LoadedModel>> model = LoadedModel::import(options, listener);
    if (!model)
      return model.status();
    if (Status status = (*model)->lowerTo(Phase::Vector); status.failed())
      return status;
  } else {
    Result<RemarkLog> read = RemarkLog::read(remarksFile);
    if (!read)
      return read.status();
    log = std::move(*read);
  }
  Result<std::vector<const ModelRemark *>> remarks = log.why(kernel);
  if (!remarks)
    return Status::error("--why: " + remarks.message());
  nlohmann::ordered_json result = {{"kernel", kernel}, {"remarks", nlohmann::ordered_json::array()}};
  for (const ModelRemark *remark : *remarks) {
    nlohmann::ordered_json row = {
        {"kind", stringifyKind(remark->kind)}, {"phase", remark->phase},        {"pass", remark->pass},  {"name", remark->name},
        {"function", remark->function},        {"text", formatRemark(*remark)}, {"paths", remark->paths}};
    for (const auto &[key, value] : remark->details)
      row["details"][key] = value;
    result["remarks"].push_back(std::move(row));
  }
  return result;
}
