//===- Descriptor.cpp - The constant that an object exports ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/Descriptor.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalAlias.h"

using namespace attune;

namespace {

/// A builder of the structures of attune/abi.h as constants. Callers pass the fields in order, each as a constant of
/// its C type.
class DescriptorBuilder {
public:
  DescriptorBuilder(llvm::Module &module) : module(module), context(module.getContext()) {}

  llvm::Constant *u32(uint32_t value) { return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value); }
  llvm::Constant *i64(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value); }
  llvm::Constant *f64(double value) { return llvm::ConstantFP::get(llvm::Type::getDoubleTy(context), value); }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context)); }
  llvm::Constant *record(llvm::ArrayRef<llvm::Constant *> fields) { return llvm::ConstantStruct::getAnon(context, fields); }

  llvm::GlobalVariable *global(llvm::Constant *value, const llvm::Twine &name) {
    auto *variable =
        new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, value, name);
    variable->setAlignment(llvm::Align(8));
    return variable;
  }

  llvm::Constant *string(llvm::StringRef text) {
    llvm::GlobalVariable *&variable = strings[text];
    if (!variable) {
      variable = global(llvm::ConstantDataArray::getString(context, text), "attune.text");
      variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
      variable->setAlignment(llvm::Align(1));
    }
    return variable;
  }

  /// Creates a global array of |elements|, structures of one type, and returns its address; a null pointer without
  /// elements.
  llvm::Constant *array(llvm::ArrayRef<llvm::Constant *> elements, const llvm::Twine &name) {
    if (elements.empty())
      return null();
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(elements[0]->getType(), elements.size()), elements), name);
  }

  /// Creates a global array of |count| numbers and returns its address; a null pointer if |count| is 0.
  llvm::Constant *i64s(const int64_t *values, size_t count, const llvm::Twine &name) {
    llvm::SmallVector<llvm::Constant *> elements;
    for (size_t i = 0; i < count; ++i)
      elements.push_back(i64(values[i]));
    return array(elements, name);
  }

  /// Creates a global array of |count| strings and returns its address; a null pointer if |count| is 0.
  llvm::Constant *texts(const char *const *values, size_t count, const llvm::Twine &name) {
    llvm::SmallVector<llvm::Constant *> elements;
    for (size_t i = 0; i < count; ++i)
      elements.push_back(string(values[i]));
    return array(elements, name);
  }

  llvm::Constant *tensors(llvm::ArrayRef<TensorSignature> list, const llvm::Twine &name) {
    llvm::SmallVector<llvm::Constant *> elements;
    for (const TensorSignature &tensor : list) {
      elements.push_back(record({string(tensor.name), u32(tensor.dtype), u32(tensor.shape.size()),
                                 i64s(tensor.shape.data(), tensor.shape.size(), "attune.shape"), u32(tensor.fill), u32(tensor.group),
                                 i64(tensor.maxValue)}));
    }
    return array(elements, name);
  }

  /// Creates the attune_gpu_image of |image|, and a global with the bytes of |image| and, for PTX, a NUL at the end.
  llvm::Constant *image(const GpuImage &image) {
    bool isText = image.kind == ATTUNE_IMAGE_PTX;
    llvm::GlobalVariable *data = global(llvm::ConstantDataArray::getString(context, image.data, isText), "attune.image");
    data->setAlignment(llvm::Align(ATTUNE_ALIGNMENT));
    return record({u32(image.kind), u32(image.arch), u32(image.archSpecific), u32(0), data, i64(image.data.size() + isText)});
  }

private:
  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::StringMap<llvm::GlobalVariable *> strings;
};

} // namespace

/// Creates the attune_entry_desc of |entry|. Fails if |module| does not define the entry's C functions
/// `attune_entry_E`, `attune_workspace_E` and `attune_flops_E`; a missing function of the others becomes a null
/// pointer.
static Result<llvm::Constant *> createEntry(DescriptorBuilder &builder, llvm::Module &module, const EntrySignature &entry) {
  llvm::SmallVector<llvm::Constant *> dims;
  for (const DimSignature &dim : entry.dims)
    dims.push_back(builder.record({builder.string(dim.name), builder.i64(dim.max), builder.u32(dim.origin), builder.u32(0)}));
  llvm::SmallVector<llvm::Constant *> functions;
  for (const char *prefix : {"attune_entry_", "attune_workspace_", "attune_flops_"}) {
    llvm::Function *function = module.getFunction(prefix + entry.name);
    if (!function || function->isDeclaration())
      return Status::error("the compiled module does not define '" + (prefix + entry.name) + "'");
    functions.push_back(function);
  }
  auto optional = [&](const char *prefix) -> llvm::Constant * {
    llvm::Function *function = module.getFunction(prefix + entry.name);
    return function ? function : builder.null();
  };
  return builder.record({builder.string(entry.name), builder.u32(entry.dims.size()), builder.u32(entry.inputs.size()),
                         builder.u32(entry.outputs.size()), builder.u32(entry.cacheUse), builder.array(dims, "attune.dims"),
                         builder.tensors(entry.inputs, "attune.inputs"), builder.tensors(entry.outputs, "attune.outputs"), functions[0],
                         functions[1], functions[2], optional("attune_work_"), optional("attune_gathers_"),
                         optional("attune_gather_bytes_")});
}

/// Creates a global attune_generation_options: the defaults of the runtime, overwritten by |settings|. Returns its
/// address.
static llvm::Constant *createGeneration(DescriptorBuilder &builder, GenerationSettings settings) {
  attune_generation_options o;
  attune_generation_options_init(nullptr, &o);
  settings.apply(o);
  size_t badIds = 0;
  for (size_t i = 0; i < o.num_bad_words; ++i)
    badIds += o.bad_words_lengths[i];
  llvm::Constant *record = builder.record({builder.i64(o.struct_bytes),
                                           builder.i64(o.max_length),
                                           builder.i64(o.max_new_tokens),
                                           builder.i64(o.min_length),
                                           builder.i64(o.min_new_tokens),
                                           builder.i64(o.num_beams),
                                           builder.i64(o.num_return_sequences),
                                           builder.f64(o.length_penalty),
                                           builder.i64(o.early_stopping),
                                           builder.i64(o.no_repeat_ngram_size),
                                           builder.f64(o.repetition_penalty),
                                           builder.i64(o.do_sample),
                                           builder.f64(o.temperature),
                                           builder.i64(o.top_k),
                                           builder.f64(o.top_p),
                                           builder.i64(o.seed),
                                           builder.i64s(o.eos_token_ids, o.num_eos_token_ids, "attune.ends"),
                                           builder.i64(o.num_eos_token_ids),
                                           builder.i64(o.pad_token_id),
                                           builder.i64(o.bos_token_id),
                                           builder.i64(o.decoder_start_token_id),
                                           builder.i64(o.forced_bos_token_id),
                                           builder.i64(o.forced_eos_token_id),
                                           builder.i64(o.never_token_id),
                                           builder.i64s(o.bad_words_ids, badIds, "attune.bad_words"),
                                           builder.i64s(o.bad_words_lengths, o.num_bad_words, "attune.bad_words"),
                                           builder.i64(o.num_bad_words),
                                           o.unsupported ? builder.string(o.unsupported) : builder.null(),
                                           builder.i64(o.want_step_logits),
                                           builder.null(),
                                           builder.null(),
                                           builder.i64(o.encoder_no_repeat_ngram_size),
                                           builder.f64(o.encoder_repetition_penalty),
                                           builder.i64s(o.suppress_tokens, o.num_suppress_tokens, "attune.suppressed"),
                                           builder.i64(o.num_suppress_tokens),
                                           builder.i64s(o.begin_suppress_tokens, o.num_begin_suppress_tokens, "attune.suppressed"),
                                           builder.i64(o.num_begin_suppress_tokens),
                                           builder.i64(o.renormalize_logits),
                                           builder.f64(o.typical_p),
                                           builder.f64(o.min_p),
                                           builder.f64(o.epsilon_cutoff),
                                           builder.f64(o.eta_cutoff),
                                           builder.i64(o.reuse_cache),
                                           builder.f64(o.presence_penalty),
                                           builder.f64(o.frequency_penalty),
                                           builder.texts(o.stop_strings, o.num_stop_strings, "attune.stops"),
                                           builder.i64(o.num_stop_strings)});
  return builder.global(record, "attune.generation");
}

Status attune::addDescriptor(llvm::Module &module, const ModelSignature &signature, const DescriptorOptions &options) {
  DescriptorBuilder builder(module);
  for (llvm::GlobalObject &object : module.global_objects())
    if (!object.isDeclaration()) {
      object.setLinkage(llvm::GlobalValue::InternalLinkage);
      object.setVisibility(llvm::GlobalValue::DefaultVisibility);
    }
  llvm::SmallVector<llvm::Constant *> entries, kernels;
  for (const EntrySignature &entry : signature.entries) {
    if (entry.dims.size() > ATTUNE_MAX_DIMS)
      return Status::error("entry '" + entry.name + "' has " + std::to_string(entry.dims.size()) + " dimensions, at most " +
                           std::to_string(ATTUNE_MAX_DIMS) + " expected");
    Result<llvm::Constant *> record = createEntry(builder, module, entry);
    if (!record)
      return record.status();
    entries.push_back(*record);
  }
  for (const KernelSignature &kernel : signature.kernels) {
    // The passes attune-outline-parallel and attune-lower-parallel-calls give this name to the body of a kernel's
    // parallel loop.
    llvm::Constant *body = module.getFunction(kernel.name + "_parallel_body");
    if (!body)
      body = llvm::ConstantPointerNull::get(llvm::PointerType::get(module.getContext(), 0));
    kernels.push_back(builder.record(
        {builder.string(kernel.name), builder.string(kernel.backend), builder.string(kernel.op), body, builder.string(kernel.note)}));
  }

  llvm::SmallVector<llvm::Constant *> caches;
  for (const CacheSignature &cache : signature.caches)
    caches.push_back(builder.record({builder.string(cache.name), builder.u32(cache.dtype), builder.u32(cache.kind),
                                     builder.u32(cache.ofSources), builder.u32(0), builder.i64(cache.heads), builder.i64(cache.size)}));

  llvm::SmallVector<llvm::Constant *> images, functions, labels;
  for (const std::string &label : signature.labels)
    labels.push_back(builder.string(label));
  for (const GpuImage &image : options.images)
    images.push_back(builder.image(image));
  for (const GpuFunction &function : options.functions)
    functions.push_back(builder.record({builder.string(function.symbol), builder.u32(function.kernel), builder.u32(function.sharedBytes)}));

  llvm::Constant *buildId =
      llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef<uint8_t>(options.buildId.data(), options.buildId.size()));
  llvm::Constant *value = builder.record({builder.i64(ATTUNE_MODEL_MAGIC),
                                          builder.u32(ATTUNE_ABI_VERSION),
                                          builder.u32(sizeof(attune_model_desc)),
                                          builder.string(options.name),
                                          builder.string(signature.family),
                                          builder.string(signature.architecture),
                                          builder.string(options.triple),
                                          builder.string(options.cpu),
                                          builder.string(options.requiredFeatures),
                                          builder.string(options.flags),
                                          buildId,
                                          builder.i64(options.weightsBytes),
                                          builder.i64(options.manifestChecksum),
                                          builder.u32(entries.size()),
                                          builder.u32(kernels.size()),
                                          builder.array(entries, "attune.entries"),
                                          builder.array(kernels, "attune.kernels"),
                                          signature.generation ? createGeneration(builder, *signature.generation) : builder.null(),
                                          builder.u32(caches.size()),
                                          builder.u32(options.device),
                                          builder.array(caches, "attune.caches"),
                                          builder.u32(images.size()),
                                          builder.u32(functions.size()),
                                          builder.array(images, "attune.images"),
                                          builder.array(functions, "attune.functions"),
                                          builder.u32(labels.size()),
                                          builder.u32(signature.ranks),
                                          builder.array(labels, "attune.labels")});
  if (module.getDataLayout().getTypeAllocSize(value->getType()) != sizeof(attune_model_desc))
    return Status::error("the descriptor has " + std::to_string(module.getDataLayout().getTypeAllocSize(value->getType())) +
                         " bytes, expected " + std::to_string(sizeof(attune_model_desc)));
  llvm::GlobalVariable *descriptor = builder.global(value, "attune_model_" + options.name);
  descriptor->setLinkage(llvm::GlobalValue::ExternalLinkage);
  if (options.alias)
    llvm::GlobalAlias::create(llvm::GlobalValue::ExternalLinkage, "attune_model", descriptor);
  return {};
}
