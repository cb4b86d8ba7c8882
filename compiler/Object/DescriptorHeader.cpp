//===- DescriptorHeader.cpp - The C header of an object -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/CIdentifiers.h"
#include "compiler/Object/Descriptor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

/// Returns |text| for use in a C comment, with a space inside of each mark that begins or ends a comment.
static std::string comment(llvm::StringRef text) {
  std::string result = text.str();
  for (const char *mark : {"*/", "/*"})
    for (size_t at; (at = result.find(mark)) != std::string::npos;)
      result.insert(at + 1, " ");
  return result;
}

static const char *dtypeText(attune_dtype dtype) {
  static const char *const names[] = {"f32", "i64", "bf16", "f16", "i8", "i32"};
  return names[dtype];
}

/// Returns true if |tensor| is a mask that is added to attention scores. Such a mask has a name that ends in "mask",
/// and elements of f32 with the default 0. Head masks are factors and have the default 1.
static bool isAdditiveMask(const TensorSignature &tensor) {
  return tensor.dtype == ATTUNE_F32 && tensor.fill == ATTUNE_FILL_ZEROS && llvm::StringRef(tensor.name).ends_with("mask");
}

/// Prints the line of |tensor| in the comment on |entry|. |input| is true for an input of |entry|, false for an output.
static void printTensor(llvm::raw_ostream &out, const EntrySignature &entry, const TensorSignature &tensor, bool input) {
  static const char *const fills[] = {"required",
                                      "default zeros",
                                      "default ones",
                                      "default 0, 1, 2, ... along the last dimension",
                                      "default ones; tokens where it is 0 are left out",
                                      "the slot of each row, default 0, 1, 2, ...",
                                      "the source of each row, default that of its slot",
                                      "set by the session",
                                      "set by the session"};
  out << "   " << llvm::formatv("{0,-24}", comment(tensor.name)) << ' ' << llvm::formatv("{0,-4}", dtypeText(tensor.dtype)) << ' '
      << comment(formatShape(entry, tensor));
  if (input)
    out << ", " << fills[tensor.fill];
  if (tensor.maxValue > 0)
    out << ", values 0 " << (tensor.maxValue == 2 ? "or " : "to ") << tensor.maxValue - 1;
  if (input && isAdditiveMask(tensor))
    out << ", added to attention scores; -INFINITY hides a key";
  if (tensor.group)
    out << ", a group of " << tensor.shape[0];
  out << '\n';
}

/// Prints an enumeration with the position of each of |tensors| as `<prefix><tensor>`, and the number of tensors as
/// `<prefix>count`.
static void printIndices(llvm::raw_ostream &out, const std::string &prefix, llvm::ArrayRef<TensorSignature> tensors) {
  out << "enum {\n";
  auto names = llvm::map_to_vector(tensors, [](const TensorSignature &tensor) { return llvm::StringRef(tensor.name); });
  for (auto [index, suffix] : llvm::enumerate(createEnumeratorSuffixes(names)))
    out << "  " << prefix << suffix << " = " << index << ",\n";
  out << "  " << prefix << "count = " << tensors.size() << "\n};\n";
}

static void printEntry(llvm::raw_ostream &out, const std::string &name, const EntrySignature &entry, bool isFirst) {
  out << "/* Entry \"" << entry.name << "\"\n   dimensions:";
  for (auto [index, dim] : llvm::enumerate(entry.dims)) {
    out << (index ? ", " : " ") << comment(dim.name);
    if (dim.max)
      out << " (at most " << dim.max << ")";
  }
  out << "\n   inputs:\n";
  for (const TensorSignature &tensor : entry.inputs)
    printTensor(out, entry, tensor, /*input=*/true);
  out << "   outputs:\n";
  for (const TensorSignature &tensor : entry.outputs)
    printTensor(out, entry, tensor, /*input=*/false);
  out << "*/\n";
  std::string prefix = name + "_" + entry.name;
  printIndices(out, prefix + "_input_", entry.inputs);
  printIndices(out, prefix + "_output_", entry.outputs);
  if (entry.workspaceFormula.empty())
    return;
  out << "/* Bytes of workspace that a call with these dimensions needs, for `workers` threads. */\n"
      << "static inline uint64_t " << (isFirst ? name : prefix) << "_workspace_bytes(";
  std::vector<std::string> parameters = createParameters(entry);
  for (const std::string &parameter : parameters)
    out << "int64_t " << parameter << ", ";
  out << "int64_t workers) {\n";
  for (const std::string &parameter : parameters)
    out << "  (void)" << parameter << ";\n";
  out << "  (void)workers;\n  return (uint64_t)(" << entry.workspaceFormula << ");\n}\n";
}

/// Prints a comment with the first 1000 labels of |signature|, and the number of all labels as the macro
/// `<upper>_NUM_LABELS`. Prints nothing if there are no labels.
static void printLabels(llvm::raw_ostream &out, const std::string &upper, const ModelSignature &signature) {
  constexpr size_t most = 1000;
  if (signature.labels.empty())
    return;
  out << "/* Classes in the order of \"logits\"; attune_model_label gives their names:\n";
  for (auto [index, label] : llvm::enumerate(llvm::ArrayRef(signature.labels).take_front(most)))
    out << "   " << index << "  " << comment(label) << '\n';
  if (signature.labels.size() > most)
    out << "   ...\n";
  out << "*/\n#define " << upper << "_NUM_LABELS " << signature.labels.size() << "\n\n";
}

std::string attune::createHeader(const ModelSignature &signature, const DescriptorOptions &options) {
  std::string text, upper = llvm::StringRef(options.name).upper();
  llvm::raw_string_ostream out(text);
  out << "/* " << options.name << ".h - " << comment(signature.architecture) << " compiled by attune for " << options.triple << ", cpu "
      << options.cpu << ".\n   Generated; the object of the same name defines what is declared here. */\n"
      << "#ifndef ATTUNE_MODEL_" << upper << "_H\n#define ATTUNE_MODEL_" << upper << "_H\n\n#include \"attune/abi.h\"\n\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      << "/* The model, for attune_model_open. */\nextern const attune_model_desc attune_model_" << options.name << ";\n\n"
      << "#define " << upper << "_BUILD_ID \"" << llvm::toHex(llvm::ArrayRef<uint8_t>(options.buildId.data(), options.buildId.size()), true)
      << "\"\n"
      << "#define " << upper << "_WEIGHTS_BYTES UINT64_C(" << options.weightsBytes << ")\n\n";
  if (options.device == ATTUNE_DEVICE_CUDA)
    out << "/* Links the runtime's code for GPUs. */\nextern const struct attune_device_functions attune_cuda_device;\n"
        << "__attribute__((used)) static const struct attune_device_functions *attune_model_" << options.name
        << "_device = &attune_cuda_device;\n\n";
  printLabels(out, upper, signature);
  out << "/* Inputs that are i64 may be given as i32 (ATTUNE_I32), too. */\n\n";
  for (const EntrySignature &entry : signature.entries) {
    printEntry(out, options.name, entry, &entry == &signature.entries.front());
    out << '\n';
  }
  out << "#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}
