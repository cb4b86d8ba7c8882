//===- DriverStreams.cpp - Streams, events and graphs of the fake driver ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime creates no graphs. They exist here for tests in which the caller of the runtime captures its stream.
//===----------------------------------------------------------------------===//

#include "DriverCall.h"

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

/// Invalidates the capture of |stream|. Returns captureUnsupported, the error of a call that waits for a stream which
/// is being captured.
static Code breakCapture(Stream stream) {
  Streams::get().invalidateCaptures(stream);
  return captureUnsupported;
}

extern "C" {
#pragma GCC visibility push(default)

Code cuStreamCreate(Stream *stream, unsigned flags) {
  Call call("cuStreamCreate");
  if (call.failed() || flags > streamNonBlocking)
    return call.failed() ? call.code : invalidValue;
  *stream = Streams::get().create(flags == streamBlocking);
  return success;
}

Code cuStreamDestroy_v2(Stream stream) {
  Call call("cuStreamDestroy_v2");
  return Streams::get().destroy(stream) ? call.code : invalidHandle;
}

Code cuStreamSynchronize(Stream stream) {
  Call call("cuStreamSynchronize");
  if (!Streams::get().isKnown(stream))
    return call.failed() ? call.code : invalidHandle;
  if (!call.failed() && Streams::get().captureStatus(stream) != captureNone)
    return breakCapture(stream);
  if (!call.failed() && call.isImplicitlyCaptured(stream))
    return captureImplicit;
  // Runs the stream's work even if the call fails for another reason than a capture.
  Streams::get().finish(stream);
  return call.failed() ? call.code : call.state.error;
}

Code cuStreamIsCapturing(Stream stream, int *status) {
  Call call("cuStreamIsCapturing");
  if (call.failed() || !Streams::get().isKnown(stream))
    return call.failed() ? call.code : invalidHandle;
  *status = Streams::get().captureStatus(stream);
  bool isDefault = !stream || stream == reinterpret_cast<Stream>(1);
  return isDefault && Streams::get().isBlockingCaptured() ? Code(captureImplicit) : Code(success);
}

Code cuThreadExchangeStreamCaptureMode(int *mode) {
  Call call("cuThreadExchangeStreamCaptureMode", false);
  if (call.failed() || *mode < captureModeGlobal || *mode > captureModeRelaxed)
    return call.failed() ? call.code : invalidValue;
  std::swap(captureMode, *mode);
  return success;
}

Code cuStreamBeginCapture_v2(Stream stream, int mode) {
  Call call("cuStreamBeginCapture_v2");
  Streams &streams = Streams::get();
  if (call.failed() || !streams.isKnown(stream))
    return call.failed() ? call.code : invalidHandle;
  if (!stream || stream == reinterpret_cast<Stream>(1) || streams.captureStatus(stream) != captureNone)
    return captureUnsupported;
  streams.beginCapture(stream, mode);
  return success;
}

Code cuStreamEndCapture(Stream stream, void **graph) {
  Call call("cuStreamEndCapture");
  Streams &streams = Streams::get();
  *graph = nullptr;
  if (call.failed() || !streams.isKnown(stream) || streams.captureStatus(stream) == captureNone)
    return call.failed() ? call.code : invalidValue;
  bool isBroken = streams.captureStatus(stream) == captureInvalidated;
  std::vector<Work> work = streams.endCapture(stream);
  if (isBroken)
    return captureInvalid;
  *graph = new std::vector<Work>(std::move(work));
  return success;
}

Code cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  Call call("cuGraphInstantiateWithFlags");
  *executable = new std::vector<Work>(*static_cast<std::vector<Work> *>(graph));
  return call.code;
}

Code cuGraphLaunch(void *executable, Stream stream) {
  Call call("cuGraphLaunch");
  if (call.failed() || !Streams::get().isKnown(stream))
    return call.failed() ? call.code : invalidHandle;
  for (const Work &work : *static_cast<std::vector<Work> *>(executable))
    call.enqueue(stream, work);
  return success;
}

Code cuGraphDestroy(void *graph) {
  Call call("cuGraphDestroy");
  delete static_cast<std::vector<Work> *>(graph);
  return call.code;
}

Code cuGraphExecDestroy(void *executable) {
  Call call("cuGraphExecDestroy");
  delete static_cast<std::vector<Work> *>(executable);
  return call.code;
}

Code cuEventCreate(Event *event, unsigned flags) {
  Call call("cuEventCreate");
  if (call.failed() || (flags & ~7u))
    return call.failed() ? call.code : invalidValue;
  static uintptr_t last = 0x2000;
  *event = reinterpret_cast<Event>(++last);
  call.state.events[*event] = {};
  return success;
}

Code cuEventDestroy_v2(Event event) {
  Call call("cuEventDestroy_v2");
  return call.state.events.erase(event) ? call.code : invalidHandle;
}

Code cuEventRecord(Event event, Stream stream) {
  Call call("cuEventRecord");
  auto found = call.state.events.find(event);
  if (call.failed() || found == call.state.events.end() || !Streams::get().isKnown(stream))
    return call.failed() ? call.code : invalidHandle;
  found->second.isCaptured = Streams::get().captureStatus(stream) != captureNone;
  Code code = call.enqueue(stream, [] {});
  found->second.work = call.number;
  return code;
}

Code cuEventSynchronize(Event event) {
  Call call("cuEventSynchronize");
  auto found = call.state.events.find(event);
  if (found == call.state.events.end())
    return call.failed() ? call.code : invalidHandle;
  if (found->second.isCaptured)
    return call.failed() ? call.code : capturedEvent;
  Streams::get().finish(found->second.work);
  return call.failed() ? call.code : call.state.error;
}

#pragma GCC visibility pop
}
