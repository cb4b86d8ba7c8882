//===- ConversionAdvice.cpp - Ways from other formats of weights ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Support/ConversionAdvice.h"

#include "compiler/Support/Json.h"
#include "compiler/Support/Strings.h"

#include <algorithm>
#include <filesystem>

using namespace attune;
namespace fs = std::filesystem;

namespace {

/// A kind of weights files: their names begin with |begin| and end with |end|. |advice| follows the name of the file in
/// the message; in it, %F stands for the folder, %C for the class of the model and %P for the path of the file.
struct WeightsKind {
  const char *begin, *end;
  const char *advice;
};

} // namespace

// The conversion of PyTorch's files needs no code of the model: the tensors keep their names, and the other files of
// the folder stay as they are.
static const char *const fromPyTorch =
    "; convert with PyTorch: python3 -c \"import pathlib, sys, torch, safetensors.torch as s; d = pathlib.Path(sys.argv[1]); "
    "s.save_file({k: v.contiguous().clone() for f in sorted(d.glob('pytorch_model*.bin')) for k, v in torch.load(f, "
    "map_location='cpu', weights_only=True).items()}, d / 'model.safetensors', {'format': 'pt'})\" %F";

// Safetensors files of any name may be the shards of a model, but only an index tells whether a shard is missing.
static const char *const withoutIndex =
    ", which no index lists; if it is all there, make one: python3 -c \"import json, pathlib, sys, safetensors as s; d = "
    "pathlib.Path(sys.argv[1]); (d / 'model.safetensors.index.json').write_text(json.dumps({'weight_map': {k: f.name for f in "
    "sorted(d.glob('*.safetensors')) for k in s.safe_open(f, 'np').keys()}}))\" %F";

static const WeightsKind kinds[] = {
    {"adapter_model.", "safetensors", ", an adapter; give the folder of the model it was trained on, with --adapter=%F"},
    {"consolidated", ".safetensors", ", of Mistral's own format; get the files of the same model for transformers, with config.json"},
    {"", ".safetensors", withoutIndex},
    {"pytorch_model", ".bin", fromPyTorch},
    {"tf_model", ".h5",
     "; convert with transformers 4 and TensorFlow: python3 -c \"import sys, transformers as t; t.%C.from_pretrained(sys.argv[1], "
     "from_tf=True).save_pretrained(sys.argv[2])\" %F OUT"},
    {"flax_model", ".msgpack",
     "; convert with transformers 4 and Flax: python3 -c \"import sys, transformers as t; t.%C.from_pretrained(sys.argv[1], "
     "from_flax=True).save_pretrained(sys.argv[2])\" %F OUT"},
    {"", ".gguf", "; give the file itself, %P, in the place of the folder"},
    {"consolidated", ".pth",
     ", of Llama's own format; convert with transformers 4: python3 -m transformers.models.llama.convert_llama_weights_to_hf "
     "--input_dir %F --output_dir OUT"},
    {"", ".onnx", ", which has the operations of an export and not those of the model; get the files that it was exported from"},
};

/// Returns |text| as one word of a POSIX shell.
static std::string quoteWord(const std::string &text) {
  auto isPlain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/._-+=:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), isPlain))
    return text;
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// Returns the first class of `architectures` in the folder's config.json if it is an identifier, else "AutoModel".
static std::string readClass(const std::string &folder) {
  Result<Json> config = readJsonFile((fs::path(folder) / "config.json").string());
  const Json *classes = config ? findJson(*config, "architectures") : nullptr;
  if (!classes || !classes->is_array() || classes->empty() || !classes->front().is_string())
    return "AutoModel";
  std::string name = classes->front().get<std::string>();
  auto isLetter = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), isLetter) ? name : "AutoModel";
}

static bool matches(const WeightsKind &kind, const std::string &name) {
  const std::string_view begin = kind.begin, end = kind.end;
  return name.size() >= begin.size() + end.size() && startsWith(name, begin) && endsWith(name, end);
}

/// Returns the names of the files in |folder|, sorted.
static std::vector<std::string> listFiles(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (std::error_code ignored; it->is_regular_file(ignored))
      names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string attune::adviseOnWeights(const std::string &folder) {
  const std::vector<std::string> names = listFiles(folder);
  for (const WeightsKind &kind : kinds) {
    auto name = std::find_if(names.begin(), names.end(), [&](const std::string &file) { return matches(kind, file); });
    if (name == names.end())
      continue;
    std::string text = "found only " + *name;
    for (const char *at = kind.advice; *at; ++at) {
      if (*at != '%') {
        text += *at;
        continue;
      }
      switch (*++at) {
      case 'F':
        text += quoteWord(folder);
        break;
      case 'P':
        text += quoteWord((fs::path(folder) / *name).string());
        break;
      default:
        text += readClass(folder);
      }
    }
    return text;
  }
  return "";
}
