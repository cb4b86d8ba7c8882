/*===- runtime.h - C API of the Attune runtime ------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens compiled models, makes sessions of them and runs the entries of models. docs/embed.md shows programs.
 *
 * Errors. A function that can fail returns an attune_status; attune_last_error() then gives the reason, one line naming
 * the tensor or file, what was expected and what was found. The text belongs to the calling thread and stays until that
 * thread's next failing call. Results go through out_ parameters. A failing call sets out_ parameters to null or zero,
 * except that the contents of arrays that the caller provides are undefined then.
 *
 * Threads. A model may be used by any number of threads at once. A session serves one call at a time (a second one gets
 * ATTUNE_BUSY), from any thread. Each session has workers of its own, unless its options name a host, so runs of
 * different sessions do not wait for each other.
 *
 * Strings given to the runtime are NUL-terminated and borrowed for the call only. A string that a function returns
 * lives as long as the object (model, session, …) that was passed to this function.
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
  ATTUNE_LIMIT_EXCEEDED = 6,   ///< a size above a limit of the model, session, tokenizer, task or chat, or too large to
                               ///< address
  ATTUNE_OUT_OF_MEMORY = 7,    ///< memory or threads could not be had, or the caller's memory for a session is too
                               ///< small
  ATTUNE_BUSY = 8,             ///< the session, task or conversation is running another call
  ATTUNE_INTERNAL = 9,         ///< compiled code reported failure: a bug
  ATTUNE_DEVICE_ERROR = 10     ///< the GPU or its driver reported failure
} attune_status;

/// Returns the name of |status| ("ATTUNE_OK"), "unknown status" for other values.
const char *attune_status_name(attune_status status);
/// Returns the reason of this thread's last failing call, "" if no call of this thread has failed. Valid until the next
/// failing call of this thread.
const char *attune_last_error(void);

//===--- Devices -----------------------------------------------------------===//

/// The runtime's code for one kind of device, with which the runtime runs models that are compiled for this kind.
typedef struct attune_device_functions attune_device_functions;

/// The code for NVIDIA GPUs. A program that links the static library contains this code only if the program refers to
/// this symbol, so that a program without models for GPUs stays small. The generated header of a model for GPUs refers
/// to the symbol; so does the linker flag `-u attune_cuda_device`.
extern const attune_device_functions attune_cuda_device;

//===--- Models ------------------------------------------------------------===//

/// A compiled model with its weights mapped. Immutable; shared by its sessions.
typedef struct attune_model attune_model;

/// The options of an open model. Set every field by attune_model_options_init first.
typedef struct attune_model_options {
  size_t struct_bytes;      ///< sizeof(attune_model_options), set by init
  const char *weights_path; ///< weights file, or the folder to look in; null = the folder of the executable or shared
                            ///< library that the object is linked into
  int verify_contents;      ///< 1 = read all weights and compare their hash with the file's header (slow); 0 = check
                            ///< sizes, build id and manifest only
  int gpu;                  ///< number of the GPU, as the driver counts GPUs from 0, for a model that runs on one
  const attune_ranks *ranks; ///< number and connections of this process if the model is divided among several
                             ///< processes, copied; else null
} attune_model_options;

/// Sets |options| to the defaults.
void attune_model_options_init(attune_model_options *options);

/// Opens the model |desc|, which is borrowed until the model is closed and its last session is destroyed. |options| may
/// be null. Maps the weights file read-only (pages are shared between processes) and reads only its header and
/// manifest, with verify_contents the whole file. A folder is searched for the file `<name>.weights` first, where
/// `<name>` is desc->name, or for `<name>.rankR.weights` for rank R of a divided model, then for every other
/// `*.weights`. A file fits if it belongs to |desc| and has the weights of the rank in |options|. It belongs to |desc|
/// if both have the same build id; a file that several objects share has a build id of zeros, and belongs to |desc| if
/// its manifest has the checksum in |desc|. Fails with INVALID_ARGUMENT, NOT_FOUND, IO_ERROR, CORRUPT, INCOMPATIBLE
/// (also for a folder that has weights of other objects only, and for a model on a device whose code is not linked) or
/// OUT_OF_MEMORY.
attune_status attune_model_open(const attune_model_desc *desc, const attune_model_options *options, attune_model **out_model);
/// Gives up the caller's reference; the weights stay mapped until the last session of |model| is destroyed. Null is
/// allowed.
void attune_model_close(attune_model *model);

/// Returns the descriptor with which |model| was opened: entries, signatures, kernels. Null if |model| is.
const attune_model_desc *attune_model_descriptor(const attune_model *model);
/// Returns the path of the mapped weights file, null if |model| is.
const char *attune_model_weights_path(const attune_model *model);
/// Returns the data section of the mapped weights file, attune_model_desc::weights_bytes long, in host memory also for
/// a model on a GPU. Null if |model| is.
const void *attune_model_weights(const attune_model *model);
/// Returns the manifest (JSON text, not NUL-terminated), null if |model| is. Writes its length in bytes to |*out_bytes|
/// unless |out_bytes| is null.
const char *attune_model_manifest(const attune_model *model, size_t *out_bytes);
/// Reads all weights and compares their hash with that in the file's header. Fails with CORRUPT if the hashes differ,
/// or with INVALID_ARGUMENT if |model| is null.
attune_status attune_model_verify(const attune_model *model);
/// Returns the number of classes that |model| distinguishes, the size of the last dimension of its logits; 0 if |model|
/// classifies nothing or is null.
int64_t attune_model_num_labels(const attune_model *model);
/// Returns the name of class |index|, from 0: the name in `id2label` of config.json when the model was compiled, or
/// "LABEL_" and the number for a class without one. Null if there is no such class.
const char *attune_model_label(const attune_model *model, int64_t index);
/// Returns the entry called |name| (null = the first), or null if there is none.
const attune_entry_desc *attune_model_entry(const attune_model *model, const char *name);

//===--- Ranks -------------------------------------------------------------===//

/// Copies the part of this rank, |gather|->data, to |part|, row after row without gaps: rows * units * unit_bytes
/// bytes.
void attune_gather_pack(const attune_gather *gather, void *part);
/// Copies |part|, which attune_gather_pack has written in rank |rank|, to the place of this rank in |gather|->result.
void attune_gather_unpack(const attune_gather *gather, int64_t rank, const void *part);

//===--- Tensors and dimensions --------------------------------------------===//

/// The largest rank, the number of axes, of an input or output tensor.
#define ATTUNE_MAX_RANK 8
/// The most symbolic dimensions of an entry: an array of this many values is large enough for the dims of any entry of
/// any model.
#define ATTUNE_MAX_DIMS 16

/// A dense row-major tensor in the caller's memory. The data of an input is not written. An input that is I64 in the
/// signature may be given as I32 in host memory; the session converts it to a copy in the session's memory. For a model
/// on a GPU, |data| may be memory of that GPU (at a multiple of 16).
///
/// The session checks the values of I64 inputs in host memory against the signature: an id or position must be the
/// number of a row of its table, and an element of a mask must be 0 (hidden) or 1 (visible), whatever transformers does
/// with other values. It does not check values in memory of a GPU, where a value out of range is undefined behavior,
/// nor values of F32 inputs. An attention mask of F32 is added to the attention scores: -INFINITY and the lowest finite
/// number hide a key; NaN, +INFINITY and numbers above 1e38 can make results NaN.
typedef struct attune_tensor {
  const char *name;
  attune_dtype dtype;
  uint32_t rank;
  const int64_t *shape; ///< |rank| sizes; may be null if rank is 0
  void *data;           ///< aligned to the element
  size_t bytes;         ///< size of |data|; at least the product of the shape times the element's size
} attune_tensor;

/// Returns the size in bytes of an element of |dtype|, 0 for an unknown dtype.
size_t attune_dtype_bytes(attune_dtype dtype);
/// Returns "f32", "i64", "bf16", "f16", "i8", "i32" or "unknown".
const char *attune_dtype_name(attune_dtype dtype);

/// Infers the dimensions of a call of |entry| (null = the first) from the shapes of |inputs|, whose data may be null.
/// Writes num_dims values, at most ATTUNE_MAX_DIMS, in the entry's order, to |out_dims|. The dimensions that come from
/// the caches of a session (ATTUNE_DIM_PAST, ATTUNE_DIM_SOURCE_LENGTH) get 0. Fails as attune_session_run does for
/// missing or unknown inputs, wrong types and wrong shapes, but compares sizes with the limits of the model only.
attune_status attune_infer_dims(const attune_model *model, const char *entry, const attune_tensor *inputs, size_t num_inputs,
                                int64_t *out_dims);
/// Computes the shape (as many values as the output's rank) and the size in bytes of output number |output|, from 0, of
/// |entry| (null = the first) for |dims|. |out_shape| and |out_bytes| may be null. Fails with INVALID_ARGUMENT, or with
/// LIMIT_EXCEEDED for an output too large to address.
attune_status attune_output_shape(const attune_model *model, const char *entry, size_t output, const int64_t *dims, int64_t *out_shape,
                                  size_t *out_bytes);

//===--- Sessions ----------------------------------------------------------===//

/// Memory (workspace, caches) and workers for one call at a time.
typedef struct attune_session attune_session;

/// The largest value that a session accepts for a dimension, in every entry that has this dimension. The product of the
/// limits of an entry, "total_length" excepted, must be at most 2^40.
typedef struct attune_dim_limit {
  const char *name;
  int64_t max; ///< >= 1, and at most the model's own limit
} attune_dim_limit;

/// The most workers of a session.
#define ATTUNE_MAX_THREADS 1024

/// The options of a session. Set every field by attune_session_options_init first.
typedef struct attune_session_options {
  size_t struct_bytes;            ///< sizeof(attune_session_options), set by init
  const attune_dim_limit *limits; ///< borrowed; a dimension that is not listed gets the model's limit for it, or 1 if
                                  ///< the model has none; "total_length" gets at most the sum of the limits of "past"
                                  ///< and "length", and this sum if it is not listed and has no limit in the model
  size_t num_limits;
  int64_t num_threads;     ///< workers including the calling thread; 0 = as many as the affinity mask has CPUs,
                           ///< divided by the number of ranks that share them; ignored on a GPU
  const attune_host *host; ///< the caller's own workers, copied; num_threads must be 0 then. Null = the session makes
                           ///< workers; must be null for a model on a GPU
  void *memory;            ///< the caller's memory, 64-byte aligned, owned by the session until destroyed; null = allocate
  size_t memory_bytes;     ///< size of |memory|, at least attune_session_memory_bytes
  void *stream;            ///< for a model on a GPU, a CUstream (cudaStream_t) to work in, but not the per-thread
                           ///< default stream (2); null = the session makes one; must be null for a model on the CPU
} attune_session_options;

/// Sets |options| to the defaults.
void attune_session_options_init(attune_session_options *options);

/// Computes in |out_bytes| the host memory that a session with |options| needs: workspace and caches (not for a model
/// on a GPU), defaults of optional inputs, bookkeeping. |options| may be null; their |memory| and |memory_bytes| are
/// ignored. The workspace comes last, so a guard page after the memory guards the workspace. Fails with
/// INVALID_ARGUMENT, LIMIT_EXCEEDED, or INCOMPATIBLE for a host of another ABI version.
attune_status attune_session_memory_bytes(const attune_model *model, const attune_session_options *options, size_t *out_bytes);
/// Makes a session: takes memory and starts workers. |options| may be null. Runs of the session allocate no host
/// memory. The first session of a model on a GPU opens the NVIDIA driver and loads code and weights; workspace and
/// caches are memory of the GPU. Fails with INVALID_ARGUMENT, LIMIT_EXCEEDED, OUT_OF_MEMORY, or INCOMPATIBLE (a host of
/// another ABI version; no driver, no GPU, or a GPU that none of the model's images runs on); on a GPU also with
/// DEVICE_ERROR.
attune_status attune_session_create(attune_model *model, const attune_session_options *options, attune_session **out_session);
/// Ends the workers and gives the memory back. No call of |session| may be running. Null is allowed.
void attune_session_destroy(attune_session *session);
/// Returns the number of workers including the calling thread; for a model on a GPU, the number of thread blocks that
/// have scratch memory of their own. attune_entry_desc::workspace_bytes takes this number. Returns 0 for null.
int64_t attune_session_num_threads(const attune_session *session);
/// Returns the model of |session|, null for null.
const attune_model *attune_session_model(const attune_session *session);

/// Runs |entry| (null = the first) once; blocks; allocates no host memory. Tensors are matched by name, in any order.
/// Inputs that have a default may be omitted; outputs must be complete, have exactly the shapes of the signature, and
/// overlap neither each other nor the inputs. Borrows everything for the call.
///
/// For a model on a GPU, a call copies the caller's tensors in host memory to the GPU and back, and allocates GPU
/// memory for these copies only if they need more than those of all earlier calls. If the stream is the caller's and
/// all the caller's tensors are on the GPU, the call returns when its work is queued in the stream; the tensors are
/// borrowed until this work is done. While the caller's stream is captured into a CUDA graph, calls that copy host
/// memory or use caches fail with INVALID_ARGUMENT.
///
/// On x86-64 and AArch64 the floating-point environment is the default one while the entry runs, and the caller's again
/// after it. Fails with INVALID_ARGUMENT, LIMIT_EXCEEDED, BUSY, INTERNAL or, on a GPU, OUT_OF_MEMORY or DEVICE_ERROR;
/// with IO_ERROR if the other ranks of a divided model cannot be reached. A failing call leaves the outputs untouched,
/// except after INTERNAL, OUT_OF_MEMORY, DEVICE_ERROR and IO_ERROR.
attune_status attune_session_run(attune_session *session, const char *entry, const attune_tensor *inputs, size_t num_inputs,
                                 const attune_tensor *outputs, size_t num_outputs);

//===--- Caches ------------------------------------------------------------===//
//
// A model that continues sequences keeps their keys and values in its session: a slot for each row that the limit of
// "batch" allows, with room for as many tokens as the limit of "past". A session of a model with cross attention also
// has as many sources: a source holds the keys and values of the encoder states of one input, up to the limit of
// "source_length" tokens. Entries:
//
//   encode   writes the keys and values of the sources of its rows
//   prefill  appends the tokens whose attention_mask is 1 to the slots of its rows; returns the logits of the last
//            token of each row. Models that count padding in their positions (BERT, RoBERTa) append all tokens, masked
//            ones as hidden keys
//   extend   appends all tokens, masked ones as hidden keys; returns the logits of each token
//   decode   appends one token to each row; returns its logits
//
// Rows are in slots 0, 1, 2, … unless the input "slots" says otherwise, so a row that has ended leaves the batch
// without a copy. The input "sources" says which source each row writes (encode) or reads (the other entries); several
// rows may read the same source. Without this input, encode writes sources 0, 1, 2, …, and the other entries read for
// each row the source that its slot has read before; a slot that is new, or that attune_session_slot_truncate has
// emptied, reads the source of its own number, or source 0 if the session has no source of this number. After a failing
// call each slot has the tokens that it had before; the sources that encode would have written may be empty.
//
// The functions below that return a status are calls of the session like attune_session_run, so they may fail with
// BUSY.
//
// A cache holds elements of the type in its descriptor: F32, or BF16, F16 or I8, which --cache-dtype chooses when a
// model is compiled. attune_session_cache_read and attune_session_cache_write convert to and from F32;
// attune_session_cache_write rounds or quantizes as entries do.

/// Returns the bytes that one token takes in |cache|, an element of attune_model_desc::caches, in all heads together; 0
/// if |cache| is null.
int64_t attune_cache_token_bytes(const attune_cache_desc *cache);
/// Returns the number of slots, 0 if the model has no caches or |session| is null.
int64_t attune_session_num_slots(const attune_session *session);
/// Returns the number of tokens in |slot|, -1 if there is no such slot or |session| is null.
int64_t attune_session_slot_length(const attune_session *session, int64_t slot);
/// Keeps the first |length| tokens of |slot| and discards the others. If |length| is 0, the slot becomes empty and
/// reads the source of its own number, or source 0 if the session has no source of this number. Fails with
/// INVALID_ARGUMENT if there is no such slot or the slot has fewer tokens, or with BUSY.
attune_status attune_session_slot_truncate(attune_session *session, int64_t slot, int64_t length);
/// Makes slot |to| a copy of slot |from|: its tokens, and the number of the source that it reads. Fails with
/// INVALID_ARGUMENT if there is no such slot, or with BUSY; on a GPU also with INVALID_ARGUMENT while the caller's
/// stream is captured into a graph, or with DEVICE_ERROR, after which |to| may be empty.
attune_status attune_session_slot_copy(attune_session *session, int64_t from, int64_t to);
/// Reads the first tokens of the cache whose name in the descriptor is |tensor|.name to |tensor|, an F32 tensor in host
/// memory: [rows, heads, length, head size] for a cache of keys or values, [rows, length] for a mask. Row i is slot
/// |slots|[i], or slot i if |slots| is null; for a cache of sources, |slots| has numbers of sources. Fails with
/// INVALID_ARGUMENT, also if a slot or source has fewer than |length| tokens, with LIMIT_EXCEEDED if no slot or source
/// has room for |length| tokens, or with BUSY; on a GPU also with DEVICE_ERROR or OUT_OF_MEMORY.
attune_status attune_session_cache_read(attune_session *session, const int64_t *slots, const attune_tensor *tensor);
/// Fills slots (from |tensors| that name caches of sequences) and sources (from |tensors| that name caches of sources)
/// so that attune_session_cache_read with the same |slots| would read the values of |tensors|, rounded to the type of
/// the cache. |tensors| must have the keys and values of sequences for all layers or for none, and likewise those of
/// sources; a mask that is omitted becomes 0. Each slot or source gets as many tokens as the tensors have. Fails with
/// INVALID_ARGUMENT, also if |slots| has a number twice, with LIMIT_EXCEEDED or BUSY; on a GPU also with DEVICE_ERROR or
/// OUT_OF_MEMORY, after which these slots and sources may be empty.
attune_status attune_session_cache_write(attune_session *session, const int64_t *slots, const attune_tensor *tensors, size_t num_tensors);

//===--- Pools -------------------------------------------------------------===//

/// Workers that run parallel loops. A session on the CPU makes a pool of its own unless its options name a host. A
/// program that supplies an attune_host may create a pool and call attune_pool_parallel_for in the host's parallel_for,
/// for example to measure the loops of a model.
typedef struct attune_pool attune_pool;

/// Creates a pool of |num_threads| workers including the calling thread; 0 = as many as the affinity mask has CPUs. A
/// worker that waits for a loop sleeps after at most 100 us. Fails with INVALID_ARGUMENT for a negative number or more
/// than ATTUNE_MAX_THREADS, or with OUT_OF_MEMORY.
attune_status attune_pool_create(int64_t num_threads, attune_pool **out_pool);
/// Ends the workers and frees the pool, which must not be running a loop. Null is allowed.
void attune_pool_destroy(attune_pool *pool);
/// Returns the number of workers including the thread that calls attune_pool_parallel_for, 0 for null.
int64_t attune_pool_num_threads(const attune_pool *pool);
/// Runs |body| for the iterations [0, |n|) on the workers of |pool|, an attune_pool, as attune_host::parallel_for
/// describes; the calling thread is worker 0. Only one thread at a time may call this function for a pool. A call from
/// within a body runs all its iterations in the calling thread, as the worker that runs the body.
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
