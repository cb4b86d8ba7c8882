//===- OnnxRuntime.cpp - An ONNX model on onnxruntime as the subject --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is opened at run time, so the build does not need it. Its C interface is a table of function pointers;
// new versions only append to it, so this file knows the few functions that it uses by their indices.
//===----------------------------------------------------------------------===//
#include "bench/worker/Worker.h"
#include "compiler/Support/Safetensors.h"

#include <dlfcn.h>
#include <list>

using namespace attune;
using namespace attune::bench;

namespace {

/// Indices into OrtApi (onnxruntime_c_api.h, version 1).
enum class Api {
  GetErrorMessage = 2,
  CreateEnv = 3,
  CreateSession = 7,
  Run = 9,
  CreateSessionOptions = 10,
  SetSessionGraphOptimizationLevel = 23,
  SetIntraOpNumThreads = 24,
  SetInterOpNumThreads = 25,
  SessionGetInputCount = 30,
  SessionGetOutputCount = 31,
  SessionGetInputName = 36,
  SessionGetOutputName = 37,
  CreateTensorWithDataAsOrtValue = 49,
  GetTensorMutableData = 51,
  GetTensorShapeElementCount = 64,
  GetTensorTypeAndShape = 65,
  CreateCpuMemoryInfo = 69,
  GetAllocatorWithDefaultOptions = 78,
  ReleaseStatus = 93,
  AddSessionConfigEntry = 130,
};

/// Values of the enumerations of the interface.
constexpr int logErrors = 3, optimizeAll = 99, elementFloat = 1, elementInt64 = 7, deviceAllocator = 0, memoryDefault = 0;
constexpr uint32_t apiVersion = 13;

/// The library and its functions. Converts its error objects to Status.
class Library {
public:
  static Result<Library> open(const std::string &path) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return Status::error(std::string("onnxruntime: ") + dlerror());
    struct Base {
      void **(*getApi)(uint32_t version);
      const char *(*getVersion)();
    };
    auto getBase = reinterpret_cast<const Base *(*)()>(dlsym(handle, "OrtGetApiBase"));
    Library library;
    if (!getBase || !(library.table = getBase()->getApi(apiVersion)))
      return Status::error(path + ": expected onnxruntime with version " + std::to_string(apiVersion) + " of its interface");
    return library;
  }

  /// Calls a function that returns an error object or null.
  template <typename... Arguments>
  Status call(Api function, Arguments... arguments) const {
    void *error = entry<void *(*)(Arguments...)>(function)(arguments...);
    if (!error)
      return {};
    Status status = Status::error(std::string("onnxruntime: ") + entry<const char *(*)(void *)>(Api::GetErrorMessage)(error));
    entry<void (*)(void *)>(Api::ReleaseStatus)(error);
    return status;
  }

private:
  template <typename Function>
  Function entry(Api function) const {
    return reinterpret_cast<Function>(table[static_cast<int>(function)]);
  }

  void **table = nullptr;
};

#define BENCH_TRY(...)                                                                                                                     \
  if (Status status = __VA_ARGS__; status.failed())                                                                                        \
  return status

/// A session with its inputs bound. The process ends with the subject, so nothing is released.
class OnnxRuntime : public Subject {
public:
  OnnxRuntime(Library library, SafetensorsFile file) : library(library), file(std::move(file)) {}

  Status open(const Request &request) {
    void *env = nullptr, *options = nullptr;
    BENCH_TRY(library.call(Api::CreateEnv, logErrors, static_cast<const char *>("bench"), &env));
    BENCH_TRY(library.call(Api::CreateSessionOptions, &options));
    BENCH_TRY(library.call(Api::SetSessionGraphOptimizationLevel, options, optimizeAll));
    BENCH_TRY(library.call(Api::SetIntraOpNumThreads, options, static_cast<int>(request.threads)));
    BENCH_TRY(library.call(Api::SetInterOpNumThreads, options, 1));
    if (!request.disable.empty())
      BENCH_TRY(library.call(Api::AddSessionConfigEntry, options, static_cast<const char *>("optimization.disable_specified_optimizers"),
                             request.disable.c_str()));
    BENCH_TRY(library.call(Api::CreateSession, env, request.model.c_str(), options, &session));
    BENCH_TRY(library.call(Api::CreateCpuMemoryInfo, deviceAllocator, memoryDefault, &memory));
    BENCH_TRY(library.call(Api::GetAllocatorWithDefaultOptions, &allocator));
    BENCH_TRY(bindInputs());
    return bindOutputs(request.inPlace);
  }

  /// Runs the model once. In the first call the library allocates the outputs that have no memory; later calls write
  /// them again.
  Status run() override {
    return library.call(Api::Run, session, static_cast<void *>(nullptr), inputNames.data(), inputs.data(), inputs.size(),
                        outputNames.data(), outputNames.size(), outputs.data());
  }

  Result<std::vector<float>> output() override {
    void *info = nullptr, *data = nullptr;
    size_t count = 0;
    BENCH_TRY(library.call(Api::GetTensorTypeAndShape, outputs[0], &info));
    BENCH_TRY(library.call(Api::GetTensorShapeElementCount, info, &count));
    BENCH_TRY(library.call(Api::GetTensorMutableData, outputs[0], &data));
    const float *values = static_cast<const float *>(data);
    return std::vector<float>(values, values + count);
  }

private:
  /// Returns a tensor object with a copy of the values of |tensor|.
  Result<void *> makeTensor(const TensorView &tensor) {
    memories.emplace_back(tensor.data, tensor.data + tensor.bytes);
    void *value = nullptr;
    BENCH_TRY(library.call(Api::CreateTensorWithDataAsOrtValue, memory, static_cast<void *>(memories.back().data()), size_t(tensor.bytes),
                           tensor.shape.data(), tensor.shape.size(), tensor.dtype == DType::F32 ? elementFloat : elementInt64, &value));
    return value;
  }

  /// Finds each input of the model in the file; skips tensors that the model does not take.
  Status bindInputs() {
    size_t count = 0;
    BENCH_TRY(library.call(Api::SessionGetInputCount, session, &count));
    for (size_t i = 0; i < count; ++i) {
      char *name = nullptr;
      BENCH_TRY(library.call(Api::SessionGetInputName, session, i, allocator, &name));
      const TensorView *tensor = file.find(name);
      if (!tensor || (tensor->dtype != DType::I64 && tensor->dtype != DType::F32))
        return Status::error(file.path() + ": tensor '" + name + "': expected I64 or F32, got " +
                             (tensor ? dtypeName(tensor->dtype) : "none"));
      Result<void *> value = makeTensor(*tensor);
      if (!value)
        return value.status();
      inputNames.push_back(name);
      inputs.push_back(*value);
    }
    return {};
  }

  /// Binds all outputs; with |inPlace|, output `present_X` is the memory of input `past_X`.
  Status bindOutputs(bool inPlace) {
    size_t count = 0;
    BENCH_TRY(library.call(Api::SessionGetOutputCount, session, &count));
    for (size_t i = 0; i < count; ++i) {
      char *name = nullptr;
      BENCH_TRY(library.call(Api::SessionGetOutputName, session, i, allocator, &name));
      outputNames.push_back(name);
      outputs.push_back(nullptr);
      const std::string text = name, present = "present_";
      for (size_t input = 0; inPlace && text.rfind(present, 0) == 0 && input < inputs.size(); ++input)
        if ("past_" + text.substr(present.size()) == inputNames[input])
          outputs.back() = inputs[input];
    }
    return {};
  }

  Library library;
  SafetensorsFile file;
  void *session = nullptr, *memory = nullptr, *allocator = nullptr;
  std::list<std::vector<uint8_t>> memories;
  std::vector<const char *> inputNames, outputNames;
  std::vector<void *> inputs, outputs;
};
} // namespace

Result<std::unique_ptr<Subject>> attune::bench::makeOnnxRuntime(const Request &request) {
  Result<Library> library = Library::open(request.library);
  if (!library)
    return library.status();
  Result<SafetensorsFile> file = SafetensorsFile::open(request.input);
  if (!file)
    return file.status();
  auto subject = std::make_unique<OnnxRuntime>(*library, std::move(*file));
  BENCH_TRY(subject->open(request));
  return std::unique_ptr<Subject>(std::move(subject));
}
