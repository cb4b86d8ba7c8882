//===- CompleteConfig.cpp - Configurations that tensors must complete -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/CompleteConfig.h"
#include "compiler/Import/families/Families.h"
#include "compiler/Import/UnreadTensors.h"
#include "compiler/Import/WeightCatalog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <set>

using namespace attune;

/// Returns true if |config| has a class in `architectures`, or a value there that ConfigReader will refuse.
static bool hasClass(const Config &config) {
  const Json *classes = config.find("architectures");
  return classes && !classes->is_null() && !(classes->is_array() && classes->empty());
}

static bool hasType(const Config &config) {
  const Json *type = config.find("model_type");
  return type && !type->is_null();
}

/// Returns true if `id2label` has another number of names than `num_labels` says.
static bool hasTwoLabelCounts(const Config &config) {
  const Json *count = config.find("num_labels"), *names = config.find("id2label");
  return count && count->is_number_integer() && names && names->is_object() && *count != names->size();
}

bool attune::isIncomplete(const Config &config) { return !hasType(config) || !hasClass(config) || hasTwoLabelCounts(config); }

/// Returns nullopt if |tensors| lacks both a required tensor of |spec| and its stand-in, or has a tensor of |spec| with
/// another shape; with |exact|, also if |tensors| has other tensors that are not buffers (isBuffer). Otherwise returns
/// the number of tensors of |spec|, without stand-ins and without optional tensors that |tensors| lacks.
static std::optional<size_t> countParameters(const TransformerSpec &spec, const TensorProvider &tensors, bool exact) {
  WeightCatalog catalog(spec, tensors);
  std::set<std::string> used;
  size_t count = 0;
  for (const WeightSpec &weight : spec.weights) {
    if (weight.kind != WeightSpec::Tensor)
      continue;
    std::vector<std::string> names = catalog.namesInFiles(weight);
    if (names.empty() && (weight.isStandIn || weight.absent))
      continue;
    bool isReplaced = names.empty() && weight.standIn != noWeight && catalog.hasAll(weight.standIn);
    if (!isReplaced && !catalog.find(weight))
      return std::nullopt;
    used.insert(names.begin(), names.end());
    count += !weight.isStandIn;
  }
  auto isUnknown = [&](const std::string &name) { return !used.count(name) && !isBuffer(name); };
  if (exact && llvm::any_of(tensors.names(), isUnknown))
    return std::nullopt;
  return count;
}

/// Returns the classes of |family| that fit |tensors| best by the rule of completeConfig. |exact| is passed to
/// countParameters.
static std::vector<std::string> findClasses(const Config &config, const Family &family, const TensorProvider &tensors, bool exact) {
  std::vector<std::string> best;
  std::string basePrefix;
  size_t most = 0;
  const std::vector<std::string> classes = traceFamily(family, /*everyClass=*/false).classes;
  for (const std::string &name : classes) {
    Config candidate = config;
    candidate.set("model_type", family.first);
    candidate.chooseClass(name);
    Result<TransformerSpec> spec = readTransformerSpec(candidate);
    std::optional<size_t> count = spec ? countParameters(*spec, tensors, exact) : std::nullopt;
    if (!count || *count < most)
      continue;
    if (*count > most)
      best.clear();
    most = *count;
    best.push_back(name);
    basePrefix = spec->basePrefix;
  }
  if (best.size() < 2 || best.front() != classes.front() || basePrefix.empty())
    return best;
  // Only models with a head save the tensors of the base model under its prefix.
  if (llvm::any_of(tensors.names(), [&](llvm::StringRef name) { return name.starts_with(basePrefix); }))
    best.erase(best.begin());
  else
    best.resize(1);
  return best;
}

/// Returns the error that |key| is missing. |reason|, the end of the message, says why nothing else determines the
/// value.
static Status missing(const Config &config, const char *key, const std::string &expected, const std::string &reason) {
  return Status::error(config.file() + ": '" + key + "': expected " + expected + ", but the key is missing" + reason);
}

/// Sets `model_type` if exactly one family fits by the rule of completeConfig; fails otherwise.
static Status completeType(Config &config, const TensorProvider *tensors) {
  std::vector<std::string> found, known;
  const std::string name = hasClass(config) ? ConfigReader(config).architecture("") : "";
  for (const Family &family : modelFamilies()) {
    known.push_back(family.first);
    if (!name.empty() ? llvm::is_contained(traceFamily(family, /*everyClass=*/false).classes, name)
                      : tensors && !findClasses(config, family, *tensors, /*exact=*/true).empty())
      found.push_back(family.first);
  }
  if (found.size() == 1) {
    config.set("model_type", found.front());
    return {};
  }
  if (!found.empty())
    return missing(config, "model_type", "one of " + llvm::join(found, ", "),
                   name.empty() ? ", and the tensors fit each of them" : ", and each of them has the class " + name);
  return missing(config, "model_type", "one of " + llvm::join(known, ", "),
                 !name.empty() ? ", and none of them has the class " + name
                 : tensors     ? ", as is 'architectures', and the tensors fit none of them"
                               : ", as is 'architectures'");
}

/// Returns the classes that fit |tensors| best in the family that `model_type` of |config| names; none if there is no
/// such family.
static std::vector<std::string> findClasses(const Config &config, const TensorProvider &tensors) {
  const Json *type = config.find("model_type");
  const Family *family = llvm::find_if(modelFamilies(), [&](const Family &entry) { return type->is_string() && *type == entry.first; });
  return family == modelFamilies().end() ? std::vector<std::string>() : findClasses(config, *family, tensors, /*exact=*/false);
}

/// Sets `architectures` if one class fits |tensors| best. Fails if several do; does nothing if none fits.
static Status completeClass(Config &config, const TensorProvider &tensors) {
  std::vector<std::string> classes = findClasses(config, tensors);
  if (classes.size() > 1)
    return missing(config, "architectures", "one of " + llvm::join(classes, ", "),
                   ", and the tensors fit each of them; --architecture takes one");
  if (!classes.empty())
    config.chooseClass(classes.front());
  return {};
}

/// Sets `id2label` to null if |tensors| has all tensors of the model, with their shapes, without this key but not with
/// it.
static void chooseLabelCount(Config &config, const TensorProvider &tensors) {
  auto fits = [&](const Config &candidate) {
    Result<TransformerSpec> spec = readTransformerSpec(candidate);
    return spec && countParameters(*spec, tensors, /*exact=*/false);
  };
  Config numbered = config;
  numbered.set("id2label", Json());
  if (!fits(config) && fits(numbered))
    config = numbered;
}

Status attune::completeConfig(Config &config, const TensorProvider *tensors) {
  if (!hasType(config))
    if (Status status = completeType(config, tensors); status.failed())
      return status;
  if (tensors && hasTwoLabelCounts(config))
    chooseLabelCount(config, *tensors);
  return tensors && !hasClass(config) ? completeClass(config, *tensors) : Status();
}

std::string attune::adviseOnClass(const Config &config, const TransformerSpec &spec, const TensorProvider &tensors) {
  if (countParameters(spec, tensors, /*exact=*/false))
    return "";
  std::vector<std::string> classes = findClasses(config, tensors);
  if (classes.empty())
    return "";
  return config.file() + ": 'architectures': the tensors are not those of " + spec.architecture + " but of " + llvm::join(classes, ", ") +
         "; --architecture=" + classes.front() + " takes them";
}
