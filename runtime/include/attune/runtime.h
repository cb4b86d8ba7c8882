/*===- runtime.h - C API of the Attune runtime ------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens compiled models, makes sessions of them and runs the entries of models. docs/embed.md shows programs.
 *
 * Errors. A function that can fail returns an attune_status; attune_last_error() then gives the reason, one line naming
 * the tensor or file, what was expected and what was found. The text belongs to the calling thread and stays until that
 * thread's next failing call. Results go through out_ parameters. A failing call sets them to null or zero, except that
 * the contents of arrays that the caller provides are undefined then.
 *
 * Threads. A model may be used by any number of threads at once. A session serves one call at a time (a second one gets
 * ATTUNE_BUSY), from any thread. Each session has workers of its own, unless its options name a host, so runs of
 * different sessions do not wait for each other.
 *
 * Strings given to the runtime are NUL-terminated and borrowed for the call only; strings it returns live as long as
 * their object.
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_RUNTIME_H
#define ATTUNE_RUNTIME_H

#include "attune/abi.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef ATTUNE_BUILD_SHARED /* while the shared library itself is built, whose other names are hidden */
#pragma GCC visibility push(default)
#endif

/// The result of a call.
typedef enum attune_status {
  ATTUNE_OK = 0,
  ATTUNE_INVALID_ARGUMENT = 1, ///< null pointer, unknown name, wrong shape, dtype, value or alignment
  ATTUNE_NOT_FOUND = 2,        ///< no such file, no weights file of the object, or no such chat template
  ATTUNE_IO_ERROR = 3,         ///< the system refused to open, read or map a file, or the other ranks cannot be reached
  ATTUNE_CORRUPT = 4,          ///< bad magic, truncated file, wrong checksum
  ATTUNE_INCOMPATIBLE = 5,     ///< other ABI version or build id, or a CPU feature, GPU or driver that is missing
  ATTUNE_LIMIT_EXCEEDED = 6,   ///< a size above a limit of the model, the session or the text, or too large to address
  ATTUNE_OUT_OF_MEMORY = 7,    ///< memory or threads could not be had, or the caller's memory is too small
  ATTUNE_BUSY = 8,             ///< the session is running another call
  ATTUNE_INTERNAL = 9,         ///< compiled code reported failure: a bug
  ATTUNE_DEVICE_ERROR = 10     ///< the GPU or its driver reported failure
} attune_status;

/// Returns the name of |status| ("ATTUNE_OK"), "unknown status" for other values.
const char *attune_status_name(attune_status status);
/// Returns why this thread's last failing call failed, "" if none has. Valid until the next failing call of this
/// thread.
const char *attune_last_error(void);

//===--- Devices -----------------------------------------------------------===//

/// The runtime's code for one kind of device, by which it runs models that are compiled for such devices.
typedef struct attune_device_functions attune_device_functions;

/// The code for NVIDIA GPUs. A program gets it from the static library only if it refers to this symbol, so that a
/// program without models for GPUs stays small. The generated header of a model for GPUs refers to it; so does the
/// linker flag `-u attune_cuda_device`.
extern const attune_device_functions attune_cuda_device;

//===--- Models ------------------------------------------------------------===//

/// A compiled model with its weights mapped. Immutable; shared by its sessions.
typedef struct attune_model attune_model;

/// The options of an open model. Set every field by attune_model_options_init first.
typedef struct attune_model_options {
  size_t struct_bytes;      ///< sizeof(attune_model_options), set by init
  const char *weights_path; ///< weights file, or the folder to look in; null = the folder of the executable or shared
                            ///< library that the object is linked into
  int verify_contents;      ///< 1 = read all weights and compare their hash (slow); 0 = sizes, build id and manifest only
  int gpu;                  ///< number of the GPU, as the driver counts them, for a model that runs on one
  const attune_ranks *ranks; ///< number and connections of this process if the model is divided among several, copied; else null
} attune_model_options;

/// Sets |options| to the defaults.
void attune_model_options_init(attune_model_options *options);

/// Opens the model |desc|, which is borrowed until the model is closed and its last session is destroyed. |options| may
/// be null. Maps the weights file read-only (pages are shared between processes) and reads only its header and
/// manifest, with verify_contents all of it. A folder is searched for the file `<name>.weights` first, where `<name>`
/// is desc->name, or for `<name>.rankR.weights` for rank R of a divided model, then for every other `*.weights`. A file
/// fits if it has the build id of |desc| and the rank of |options|. A file that several objects share has no build id;
/// it fits if its manifest has the checksum in |desc|. Fails with INVALID_ARGUMENT, NOT_FOUND, IO_ERROR, CORRUPT,
/// INCOMPATIBLE (also for a model on a device whose code is not linked) or OUT_OF_MEMORY.
attune_status attune_model_open(const attune_model_desc *desc, const attune_model_options *options, attune_model **out_model);
/// Gives up the caller's reference; the weights stay mapped until the last session of |model| is destroyed. Null is
/// allowed.
void attune_model_close(attune_model *model);

/// Returns the descriptor with which |model| was opened: entries, signatures, kernels. Null if |model| is.
const attune_model_desc *attune_model_descriptor(const attune_model *model);
/// Returns the path of the mapped weights file, null if |model| is.
const char *attune_model_weights_path(const attune_model *model);
/// Returns the data section of the mapped weights, desc->weights_bytes long, in host memory also for a model on a GPU.
const void *attune_model_weights(const attune_model *model);
/// Returns the manifest (JSON text, not NUL-terminated), and its length in |*out_bytes| unless |out_bytes| is null.
const char *attune_model_manifest(const attune_model *model, size_t *out_bytes);
/// Reads all weights and compares their hash with that in the file's header. Fails with CORRUPT if the hashes differ,
/// or with INVALID_ARGUMENT if |model| is null.
attune_status attune_model_verify(const attune_model *model);
/// Returns the number of classes that |model| distinguishes, the size of the last dimension of its logits; 0 if it
/// classifies nothing.
int64_t attune_model_num_labels(const attune_model *model);
/// Returns the name of class |index|, as `id2label` of config.json gave it when the model was compiled ("LABEL_0" where
/// it gave none), or null if there is no such class.
const char *attune_model_label(const attune_model *model, int64_t index);
/// Returns the entry called |name| (null = the first), or null if there is none.
const attune_entry_desc *attune_model_entry(const attune_model *model, const char *name);

//===--- Ranks -------------------------------------------------------------===//

/// Copies the part of this rank, |gather|->data, to |part|, row after row without gaps: rows * units * unit_bytes
/// bytes.
void attune_gather_pack(const attune_gather *gather, void *part);
/// Copies |part|, which attune_gather_pack has written in rank |rank|, to the place of that part in |gather|->result.
void attune_gather_unpack(const attune_gather *gather, int64_t rank, const void *part);

//===--- Tensors and dimensions --------------------------------------------===//

/// Largest rank of an input or output.
#define ATTUNE_MAX_RANK 8
/// The most dimensions of an entry: an array of this many values is large enough for the dims of any entry of any
/// model.
#define ATTUNE_MAX_DIMS 16

/// A dense row-major tensor in the caller's memory. The data of an input is not written. An input that the signature
/// says is I64 may be given as I32 in host memory; the session converts a copy in memory of its own. For a model on a
/// GPU, |data| may be memory of that GPU (at a multiple of 16).
///
/// Values of I64 inputs are checked against the signature: ids and positions must be numbers of rows of their tables,
/// and a mask 0 (hidden) or 1 (visible), whatever transformers makes of other values. In memory of a GPU they are not
/// checked; values out of range there are undefined behavior. Values of F32 inputs are not checked: a mask of floats is
/// added to the attention scores, where -INFINITY and the lowest finite number hide a key, and NaN, +INFINITY and
/// numbers above 1e38 can make results NaN.
typedef struct attune_tensor {
  const char *name;
  attune_dtype dtype;
  uint32_t rank;
  const int64_t *shape; ///< |rank| sizes; may be null if rank is 0
  void *data;           ///< aligned to the element
  size_t bytes;         ///< size of |data|; at least the product of the shape times the element's size
} attune_tensor;

/// Returns the size of an element in bytes, 0 for an unknown dtype.
size_t attune_dtype_bytes(attune_dtype dtype);
/// Returns "f32", "i64", "bf16", "f16", "i8", "i32" or "unknown".
const char *attune_dtype_name(attune_dtype dtype);

/// Infers the dimensions of a call of |entry| (null = the first) from the shapes of |inputs|, whose data may be null.
/// |out_dims| takes num_dims values, at most ATTUNE_MAX_DIMS, in the entry's order. Dimensions whose values come from
/// the caches of a session ("past", "source_length") are 0 unless an input has them. Fails as attune_session_run does
/// for wrong shapes, except that only the model's limits count.
attune_status attune_infer_dims(const attune_model *model, const char *entry, const attune_tensor *inputs, size_t num_inputs,
                                int64_t *out_dims);
/// Computes the shape (rank values) and the size in bytes of output number |output| of |entry| (null = the first) for
/// |dims|. Either result may be null. Fails with INVALID_ARGUMENT, or with LIMIT_EXCEEDED for an output too large to
/// address.
attune_status attune_output_shape(const attune_model *model, const char *entry, size_t output, const int64_t *dims, int64_t *out_shape,
                                  size_t *out_bytes);

//===--- Sessions ----------------------------------------------------------===//

/// Memory (workspace, caches) and workers for one call at a time.
typedef struct attune_session attune_session;

/// The largest value a session accepts for a dimension, in every entry that has it.
typedef struct attune_dim_limit {
  const char *name;
  int64_t max; ///< >= 1, and at most the model's own limit
} attune_dim_limit;

/// The most workers of a session.
#define ATTUNE_MAX_THREADS 1024

/// The options of a session. Set every field by attune_session_options_init first.
typedef struct attune_session_options {
  size_t struct_bytes;            ///< sizeof(attune_session_options), set by init
  const attune_dim_limit *limits; ///< borrowed; a dimension not listed gets the model's limit, or 1 if it has none;
                                  ///< "total_length" gets at most the sum of the limits of "past" and "length"
  size_t num_limits;
  int64_t num_threads;     ///< workers including the calling thread; 0 = as many as the affinity mask has CPUs,
                           ///< divided by the number of ranks that share them; ignored on a GPU
  const attune_host *host; ///< the caller's own workers, copied; num_threads must be 0 then. Null = the session makes workers
  void *memory;            ///< the caller's memory, 64-byte aligned, owned by the session until destroyed; null = allocate
  size_t memory_bytes;     ///< size of |memory|, at least attune_session_memory_bytes
  void *stream;            ///< a CUstream (cudaStream_t) to work in, for a model on a GPU, but not the per-thread default stream (2);
                           ///< null = the session makes one
} attune_session_options;

/// Sets |options| to the defaults.
void attune_session_options_init(attune_session_options *options);

/// Computes in |out_bytes| the host memory that a session with these options needs (|memory| and |memory_bytes| in them
/// are ignored): workspace and caches (not for a model on a GPU), defaults of optional inputs, bookkeeping. The
/// workspace comes last, so a guard page after the memory guards the workspace. Fails with INVALID_ARGUMENT,
/// LIMIT_EXCEEDED, or INCOMPATIBLE for a host of another ABI version.
attune_status attune_session_memory_bytes(const attune_model *model, const attune_session_options *options, size_t *out_bytes);
/// Makes a session: takes memory and starts workers. |options| may be null. Runs of the session allocate no host
/// memory. The first session of a model on a GPU opens the NVIDIA driver and loads code and weights; workspace and
/// caches are memory of the GPU. Fails with INVALID_ARGUMENT, LIMIT_EXCEEDED, OUT_OF_MEMORY, or INCOMPATIBLE (a host of
/// another ABI version; no driver, no GPU, or a GPU that none of the model's images runs on); on a GPU also with
/// DEVICE_ERROR.
attune_status attune_session_create(attune_model *model, const attune_session_options *options, attune_session **out_session);
/// Ends the workers and gives the memory back. No call of |session| may be running. Null is allowed.
void attune_session_destroy(attune_session *session);
/// Returns the number of workers including the calling thread; for a model on a GPU, the number of thread
/// blocks that have scratch memory of their own. The workspace formulae take this number.
int64_t attune_session_num_threads(const attune_session *session);
/// Returns the model of |session|.
const attune_model *attune_session_model(const attune_session *session);

/// Runs |entry| (null = the first) once; blocks; allocates no host memory. Tensors are matched by name, in any order.
/// Inputs that have a default may be omitted; outputs must be complete, have exactly the shapes of the signature, and
/// overlap neither each other nor the inputs. Borrows everything for the call. For a model on a GPU, a call copies the
/// caller's tensors in host memory to GPU memory, and takes more of that memory only if it needs more than all earlier
/// calls; if the stream is the caller's and all the caller's tensors are on the GPU, the call returns when its work is
/// queued in the stream. While that stream is captured into a CUDA graph, calls that copy host memory or use caches
/// fail with INVALID_ARGUMENT. On x86-64 and AArch64 the floating-point environment is the default one while the entry
/// runs, and the caller's again after it. Fails with INVALID_ARGUMENT, LIMIT_EXCEEDED, BUSY, INTERNAL or, on a GPU,
/// OUT_OF_MEMORY or DEVICE_ERROR; with IO_ERROR if the other ranks of a divided model cannot be reached. Outputs are
/// untouched by all but INTERNAL, OUT_OF_MEMORY, DEVICE_ERROR and IO_ERROR.
attune_status attune_session_run(attune_session *session, const char *entry, const attune_tensor *inputs, size_t num_inputs,
                                 const attune_tensor *outputs, size_t num_outputs);

//===--- Caches ------------------------------------------------------------===//
//
// A model that continues sequences keeps their keys and values in its session: a slot for each row that the limit of
// "batch" allows, with room for as many tokens as the limit of "past". A model with cross attention has as many
// sources, too: a source holds the keys and values of the encoder states of one input, up to "source_length" tokens.
// Entries:
//
//   encode   writes the keys and values of the sources of its rows
//   prefill  appends the tokens whose attention_mask is 1 to the slots of its rows; returns the logits of the last one.
//            Models that count padding in their positions (BERT, RoBERTa) append all, masked ones as hidden keys
//   extend   appends all tokens, masked ones as hidden keys; returns the logits of each
//   decode   appends one token to each row; returns its logits
//
// Rows are in slots 0, 1, 2, … unless the input "slots" says otherwise, so a row that has ended leaves the batch
// without a copy. The input "sources" says which source each row reads: several rows may read one. Without it a row
// reads the source that its slot has read before, an empty slot the source of its own number. The functions below that
// return a status are calls of the session like attune_session_run, so they may fail with BUSY.
//
// A cache holds elements of the type that its descriptor says: F32, or BF16, F16 or I8, which --cache-dtype chooses when
// a model is compiled. Functions read and write it as F32; what they write is rounded as entries round it.

/// Returns the bytes that one token takes in |cache| of a descriptor, in all heads; 0 if |cache| is null.
int64_t attune_cache_token_bytes(const attune_cache_desc *cache);
/// Returns the number of slots, 0 if the model has no caches.
int64_t attune_session_num_slots(const attune_session *session);
/// Returns the number of tokens in |slot|, -1 if there is no such slot.
int64_t attune_session_slot_length(const attune_session *session, int64_t slot);
/// Keeps the first |length| tokens of |slot|. If |length| is 0, the slot is empty and reads the source of its own number.
/// Fails with INVALID_ARGUMENT if there is no such slot or it has fewer tokens, or BUSY.
attune_status attune_session_slot_truncate(attune_session *session, int64_t slot, int64_t length);
/// Makes slot |to| a copy of slot |from|: tokens, and the source that it reads. Fails with INVALID_ARGUMENT if there is
/// no such slot, or BUSY; on a GPU also with DEVICE_ERROR, after which |to| may be empty.
attune_status attune_session_slot_copy(attune_session *session, int64_t from, int64_t to);
/// Reads the first tokens of the cache whose name in the descriptor is |tensor|.name to |tensor|, as F32: [rows, heads,
/// length, head size] of a cache of keys or values, [rows, length] of a mask. Row i is slot |slots|[i], or slot i if
/// |slots| is null; for caches of sources these are numbers of sources. Fails with INVALID_ARGUMENT, also if a slot or
/// source has fewer tokens than the shape says, LIMIT_EXCEEDED if the shape says more than one has room for, or BUSY;
/// on a GPU also with DEVICE_ERROR or OUT_OF_MEMORY.
attune_status attune_session_cache_read(attune_session *session, const int64_t *slots, const attune_tensor *tensor);
/// Fills slots (by |tensors| that name caches of sequences) and sources (by |tensors| that name caches of sources) so
/// that attune_session_cache_read with |slots| would read the same values, rounded to the type of the cache. If a
/// tensor names a cache of one of these two kinds, the keys and values of all layers of that kind must be given; a mask
/// that is omitted becomes 0. Lengths become those of the tensors. Fails with INVALID_ARGUMENT, LIMIT_EXCEEDED or BUSY;
/// on a GPU also with DEVICE_ERROR or OUT_OF_MEMORY, after which these slots and sources may be empty.
attune_status attune_session_cache_write(attune_session *session, const int64_t *slots, const attune_tensor *tensors, size_t num_tensors);

//===--- Pools -------------------------------------------------------------===//

/// Workers that run parallel loops. A session on the CPU makes a pool of its own unless it is given a host. A program
/// that supplies an attune_host may create a pool to run the loops of models on, for example to measure them.
typedef struct attune_pool attune_pool;

/// Creates a pool of |num_threads| workers including the calling thread; 0 = as many as the affinity mask has CPUs.
/// Workers that wait for a loop sleep after at most 100 us. Fails with INVALID_ARGUMENT for a negative number or more
/// than ATTUNE_MAX_THREADS, or with OUT_OF_MEMORY.
attune_status attune_pool_create(int64_t num_threads, attune_pool **out_pool);
/// Ends the workers and frees the pool, which must not be running a loop. Null is allowed.
void attune_pool_destroy(attune_pool *pool);
/// Returns the number of workers including the thread that calls attune_pool_parallel_for, 0 for null.
int64_t attune_pool_num_threads(const attune_pool *pool);
/// Runs |body| for all iterations below |n| on the workers of |pool|, an attune_pool, as attune_host::parallel_for
/// describes; the calling thread is worker 0. One thread at a time may call it for a pool. A call from within a body
/// runs its whole loop at once, as the same worker.
void attune_pool_parallel_for(void *pool, int64_t n, int64_t grain, attune_body_fn body, void *ctx);

//===--- Machine -----------------------------------------------------------===//

/// Returns the number of CPUs in the calling thread's affinity mask.
int64_t attune_available_cpus(void);
/// Returns 1 if this machine has the CPU feature with LLVM's name |feature| ("avx2") and the system enables it, 0 if
/// not, -1 if this runtime cannot tell.
int attune_cpu_has(const char *feature);
/// Returns the hash of the |bytes| bytes at |data|; attune_checksum_word (abi.h) describes it.
uint64_t attune_checksum(const void *data, size_t bytes);

#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_RUNTIME_H */
