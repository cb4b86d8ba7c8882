//===- CudaDevice.cpp - The device functions of NVIDIA GPUs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CudaSession.h"

using namespace attune;
using namespace attune::cuda;

static CudaSession &cast(DeviceSession &session) { return static_cast<CudaSession &>(session); }
static const CudaSession &cast(const DeviceSession &session) { return static_cast<const CudaSession &>(session); }

static attune_status enter(DeviceSession &session, int &captureMode) {
  const CudaModel &model = cast(session).getModel();
  return enterContext(*model.driver, model.context, captureMode);
}
static void leave(DeviceSession &session, int captureMode) { leaveContext(*cast(session).getModel().driver, captureMode); }
static attune_status beginCall(DeviceSession &session) { return cast(session).beginCall(); }
static attune_status locate(const DeviceSession &session, const char *name, const void *data, bool &onDevice) {
  return cast(session).locate(name, data, onDevice);
}
static attune_status run(DeviceSession &session, const attune_entry_desc &entry, const attune_call &call, EntryTables &tables) {
  return cast(session).run(entry, call, tables);
}
static attune_status refuseCapture(const DeviceSession &session, const char *what) { return cast(session).refuseCapture(what); }
static attune_status upload(DeviceSession &session, void *to, const void *from, uint64_t bytes) {
  return cast(session).upload(to, from, bytes);
}
static attune_status download(DeviceSession &session, void *to, const void *from, uint64_t bytes) {
  return cast(session).download(to, from, bytes);
}
static attune_status copyRows(DeviceSession &session, void *to, const void *from, size_t bytes, size_t pitch, size_t count) {
  return cast(session).copyRows(to, from, bytes, pitch, count);
}

const attune_device_functions attune_cuda_device = {CudaModel::load,
                                                    CudaModel::unload,
                                                    CudaSession::create,
                                                    CudaSession::destroy,
                                                    enter,
                                                    leave,
                                                    beginCall,
                                                    locate,
                                                    run,
                                                    refuseCapture,
                                                    upload,
                                                    download,
                                                    copyRows};
