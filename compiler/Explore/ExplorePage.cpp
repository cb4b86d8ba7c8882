//===- ExplorePage.cpp - The page of attune explore -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Explore/ExplorePage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"

#include <map>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

static const unsigned char kPage[] = {
#include "page.inc"
};

/// Returns a letter followed by |bytes| in base64: `z` if the bytes are compressed by zlib, `p` if they are plain.
static std::string pack(llvm::StringRef bytes) {
  if (!llvm::compression::zlib::isAvailable())
    return "p" + llvm::encodeBase64(bytes);
  llvm::SmallVector<uint8_t, 0> compressed;
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(bytes), compressed, llvm::compression::zlib::DefaultCompression);
  return "z" + llvm::encodeBase64(compressed);
}

static std::string dump(const OrderedJson &value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

namespace {
/// The long texts and byte arrays of the page. The page's data refers to each of them by the index that add() returned.
class Blobs {
public:
  int64_t add(llvm::StringRef bytes) {
    list.push_back(pack(bytes));
    return list.size() - 1;
  }
  std::string dump() const { return ::dump(list); }

private:
  OrderedJson list = OrderedJson::array();
};
} // namespace

static OrderedJson describeRemarks(const RemarkLog &log) {
  OrderedJson rows = OrderedJson::array();
  for (const ModelRemark &remark : log.remarks()) {
    OrderedJson row = {{"kind", stringifyKind(remark.kind)}, {"phase", remark.phase},   {"pass", remark.pass}, {"name", remark.name},
                       {"function", remark.function},        {"kernel", remark.kernel}, {"text", remark.text}, {"paths", remark.paths}};
    for (const auto &[key, value] : remark.details)
      row["details"][key] = value;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Returns a row for each kernel of the compilation: its symbol, its text, the paths of the modules that it computes,
/// the remarks that explain it as indices in the rows of describeRemarks, and the fields of the row of |measured| whose
/// `name` is the symbol.
static OrderedJson describeKernels(const RemarkLog &log, const OrderedJson &measured) {
  OrderedJson rows = OrderedJson::array();
  for (const KernelProvenance &kernel : log.kernels()) {
    OrderedJson row = {{"symbol", kernel.symbol}, {"text", kernel.text}, {"paths", kernel.paths}, {"remarks", OrderedJson::array()}};
    if (auto remarks = log.why(kernel.symbol))
      for (const ModelRemark *remark : *remarks)
        row["remarks"].push_back(remark - log.remarks().data());
    for (const OrderedJson &other : measured)
      if (other.value("name", "") == kernel.symbol)
        for (const auto &[key, value] : other.items())
          row[key] = value;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string attune::createExplorePage(const ExploredCompilation &compilation, const ExploreFacts &facts) {
  Blobs blobs;
  OrderedJson core;
  core["title"] = facts.title;
  core["entry"] = facts.entry;
  core["facts"] = facts.facts;
  core["ops"] = OrderedJson::array();
  for (const ExploredCompilation::Operation &op : compilation.operations)
    core["ops"].push_back({{"op", op.name}, {"type", op.type}, {"function", op.function}, {"paths", op.paths}});
  core["kernels"] = describeKernels(compilation.remarks, facts.kernels);
  core["machine"] = facts.machine;
  core["remarks"] = describeRemarks(compilation.remarks);
  core["weights"] = facts.weights;
  std::vector<int64_t> texts;
  for (const std::string &text : compilation.changes.texts())
    texts.push_back(blobs.add(text));
  auto textAt = [&](int64_t id) { return id < 0 ? -1 : texts[id]; };
  core["changes"] = OrderedJson::array();
  for (const PassChanges::Change &change : compilation.changes.changes())
    core["changes"].push_back({{"phase", change.phase},
                               {"pass", change.pass},
                               {"function", change.function},
                               {"before", textAt(change.before)},
                               {"after", textAt(change.after)}});
  core["times"] = OrderedJson::array();
  for (const PassChanges::Run &run : compilation.changes.runs())
    core["times"].push_back({{"phase", run.phase}, {"pass", run.pass}, {"seconds", run.seconds}});
  core["assembly"] = blobs.add(compilation.assembly);
  core["source"] = blobs.add(compilation.source);
  // `lines[i]` is the index in |linePaths| of the modules that line i of the source computes; lines count from 1. An
  // index takes less space than the text, which many lines share.
  std::map<std::string, int64_t> known;
  OrderedJson lines = OrderedJson::array(), linePaths = OrderedJson::array();
  for (const std::string &paths : compilation.lines) {
    auto [place, isNew] = known.try_emplace(paths, known.size());
    if (isNew)
      linePaths.push_back(paths);
    lines.push_back(place->second);
  }
  core["lines"] = lines;
  core["linePaths"] = linePaths;
  core["tokens"] = facts.tokens;
  core["attention"] = OrderedJson::array();
  for (const AttentionMap &map : facts.attention)
    core["attention"].push_back({{"name", map.name},
                                 {"heads", map.heads},
                                 {"rows", map.rows},
                                 {"columns", map.columns},
                                 {"whole", map.whole},
                                 {"blob", blobs.add(map.probabilities)}});
  std::string page(reinterpret_cast<const char *>(kPage), sizeof(kPage));
  auto fill = [&](llvm::StringRef place, const std::string &text) {
    size_t begin = page.find(place.str());
    page.replace(begin, place.size(), text);
  };
  fill("{{core}}", pack(dump(core)));
  fill("{{blobs}}", blobs.dump());
  return page;
}
