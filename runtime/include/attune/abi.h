/*===- abi.h - Structures shared by compiled objects and the runtime --------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A compiled object exports one symbol, `const attune_model_desc attune_model_<name>` (a shared object also its alias
 * `attune_model`). Everything reachable from it is constant. Compiled code and the runtime are built separately, and
 * each reads structures of this file that the other has filled: the runtime reads the descriptor, and an attune_launch
 * or attune_gather of a call; compiled code reads attune_host and attune_call. So assertions at the end of the file fix
 * the sizes, and a change of any structure needs another ATTUNE_ABI_VERSION.
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_ABI_H
#define ATTUNE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the structures in this file. An object and a runtime work together only if they have the same version. */
#define ATTUNE_ABI_VERSION 8u
/* First eight bytes of a model descriptor ("ATTUNEM1" read as a little-endian integer). */
#define ATTUNE_MODEL_MAGIC 0x314d454e55545441ull
/* First eight bytes of a weights file ("ATTUNEW1"). */
#define ATTUNE_WEIGHTS_MAGIC 0x3157454e55545441ull
/* Alignment in bytes of the workspace, of the weights data and of every packed tensor. */
#define ATTUNE_ALIGNMENT 64u
/* Tokens of one panel of a key/value cache, see attune_cache_kind. Each cache slot has memory for whole panels. */
#define ATTUNE_CACHE_PANEL 64

/* Element types of inputs, outputs and caches. */
typedef enum attune_dtype {
  ATTUNE_F32 = 0,
  ATTUNE_I64 = 1,
  ATTUNE_BF16 = 2,
  ATTUNE_F16 = 3,
  ATTUNE_I8 = 4,
  ATTUNE_I32 = 5 /* callers may give I32 tensors for I64 inputs; no signature has I32 */
} attune_dtype;

/* The default of an optional input that the caller omits. */
typedef enum attune_fill {
  ATTUNE_FILL_REQUIRED = 0, /* the input must be given */
  ATTUNE_FILL_ZEROS = 1,
  ATTUNE_FILL_ONES = 2,
  ATTUNE_FILL_ARANGE = 3, /* 0, 1, 2, … along the last dimension */
  ATTUNE_FILL_TOKENS = 4, /* I64 [batch, length], ones; an entry that uses caches stores no token whose element is 0 */
  /* I64 [batch], one number for each row (sequence) of the call, about the caches of the session: */
  ATTUNE_FILL_SLOTS = 5,         /* the cache slot of each row; 0, 1, 2, … if omitted; no two rows may share a slot */
  ATTUNE_FILL_SOURCES = 6,       /* the source of each row (see attune_cache_desc); if omitted, 0, 1, 2, … for an entry
                                    with ATTUNE_CACHE_ENCODE, else the source that the row's slot reads */
  ATTUNE_FILL_PAST_LENGTHS = 7,  /* tokens in the slot of each row before the call; set by the runtime alone */
  ATTUNE_FILL_SOURCE_LENGTHS = 8 /* tokens of the source of each row; set by the runtime alone */
} attune_fill;

/* The origin of the value of a dimension. */
typedef enum attune_dim_origin {
  ATTUNE_DIM_INPUTS = 0,        /* the shapes of inputs */
  ATTUNE_DIM_PAST = 1,          /* the number of tokens, before the call, in the longest of the slots of the rows */
  ATTUNE_DIM_SOURCE_LENGTH = 2, /* the number of tokens in the longest of the sources of the rows */
  ATTUNE_DIM_TOTAL_LENGTH = 3   /* the sum of the entry's dimensions "past" and "length" */
} attune_dim_origin;

/* The use that an entry makes of the caches of its session. A row of a call is one sequence. */
typedef enum attune_cache_use {
  ATTUNE_CACHE_UNUSED = 0,
  ATTUNE_CACHE_ENCODE = 1,   /* writes the sources of its rows */
  ATTUNE_CACHE_APPEND = 2,   /* appends the tokens of each row to its slot */
  ATTUNE_CACHE_CONTINUE = 3  /* as ATTUNE_CACHE_APPEND, but the call fails if the slot of a row is empty */
} attune_cache_use;

/* The contents of a cache and their layout, dense and row-major. |heads| and |size| are those of attune_cache_desc;
   |panels| is the number of panels of a slot; a cache of sources has a slot for each source. A cache of I8 also has F32
   scales: one after the |size| integers of each token's value, and ATTUNE_CACHE_PANEL at the end of each panel of keys,
   one for each token of the panel. */
typedef enum attune_cache_kind {
  ATTUNE_CACHE_KEYS = 0,   /* [slots, heads, panels, size, ATTUNE_CACHE_PANEL]: the key of token j is column
                              j mod ATTUNE_CACHE_PANEL of panel j / ATTUNE_CACHE_PANEL */
  ATTUNE_CACHE_VALUES = 1, /* [slots, heads, panels * ATTUNE_CACHE_PANEL, size] */
  ATTUNE_CACHE_MASK = 2    /* [slots, panels * ATTUNE_CACHE_PANEL]: an F32 for each token, which is added to the
                              attention scores of the token's key */
} attune_cache_kind;

/* The body of a parallel loop: executes iterations [begin, end) as worker |worker|. |ctx| is the pointer that
   attune_host::parallel_for was given. */
typedef void (*attune_body_fn)(void *ctx, int64_t worker, int64_t begin, int64_t end);

/* The device that runs the kernels of a model. */
typedef enum attune_device {
  ATTUNE_DEVICE_CPU = 0, /* kernels are functions of the object; entries run their loops by parallel_for */
  ATTUNE_DEVICE_CUDA = 1 /* kernels are in attune_model_desc::images, and entries launch them; entries read nothing from
                            the device addresses that they get */
} attune_device;

/* One launch of a function in attune_model_desc::images. */
typedef struct attune_launch {
  uint32_t function;       /* index into attune_model_desc::functions */
  uint32_t shared_bytes;   /* dynamic shared memory of a CTA, at most attune_gpu_function::shared_bytes */
  uint32_t grid[3];        /* CTAs in x, y and z; if one of the three is 0, nothing is launched; if grid[0] is above
                              2^31 - 1, the launch fails */
  uint32_t block[3];       /* threads of a CTA in x, y and z */
  const void *const *args; /* a pointer to the value of each parameter of the function, read before launch returns */
} attune_launch;

/* Flag in attune_host::arch: the image in use is architecture-specific, for example for sm_90a. */
#define ATTUNE_ARCH_SPECIFIC 0x10000u
/* Size and alignment in bytes of the TMA descriptor (CUtensorMap) that attune_host::encode_map writes. */
#define ATTUNE_TENSOR_MAP_BYTES 128u
#define ATTUNE_TENSOR_MAP_ALIGNMENT 64u

/* A tensor in device memory and the size of its TMA tiles, which kernels copy to shared memory. |sizes|, |strides| and
   |box| have a value for each of the |rank| dimensions, the innermost one first; further values are unused. */
typedef struct attune_tensor_map {
  const void *data;       /* an address that is a multiple of 16 */
  uint32_t rank;          /* 1 to 5 */
  uint32_t element_bytes; /* 2 or 4 */
  uint32_t swizzle;       /* 128: swizzles the 16-byte chunks of each 128-byte row of a TMA tile in shared memory; 0: does not */
  uint32_t reserved;      /* 0 */
  uint64_t sizes[5];      /* elements of the tensor in each dimension */
  uint64_t strides[5];    /* bytes from one index of a dimension to the next; the first is element_bytes, the others are
                             multiples of 16 */
  uint32_t box[6];        /* elements of a TMA tile in each dimension, 1 to 256; elements outside of the tensor are 0 in
                             the copy; box[5] is always unused */
} attune_tensor_map;

/* A tensor that is divided among the ranks of a model: each rank has the same number of units of every row. A unit is
   unit_bytes consecutive bytes. |count| is attune_ranks::count. */
typedef struct attune_gather {
  const void *data;      /* the part of this rank: |rows| rows of |units| units, |data_stride| bytes apart */
  void *result;          /* the whole tensor: |rows| rows, |result_stride| bytes apart */
  void *scratch;         /* count * rows * units * unit_bytes bytes, undefined before and after */
  const int64_t *begins; /* [count], the number of the unit in a row of the result with which the part of each rank
                            begins; where parts overlap, their units are equal */
  int64_t rows;
  int64_t units; /* of a row in the part of one rank */
  int64_t unit_bytes;
  int64_t data_stride;
  int64_t result_stride;
} attune_gather;

/* One of the processes that run a divided model together, its ranks. All ranks make the same calls with equal
   inputs. */
typedef struct attune_ranks {
  int64_t rank;  /* the number of this process, 0 … count - 1 */
  int64_t count; /* attune_model_desc::num_ranks; 1 if that is 0 */
  int64_t sharing; /* number of ranks, this one included, that may run on the same CPUs; 0 means 1. A session whose
                      num_threads is 0 takes the number of its CPUs divided by |sharing|. */
  void *context; /* passed to all_gather */
  /* Writes the parts of all ranks to |gather|->result. All ranks call it in the same order, each on the thread that
     calls attune_session_run. Returns 0, or another value, with which attune_session_run fails. A function that only
     exchanges bytes is enough to implement it: attune_gather_pack (attune/runtime.h) makes the bytes that a rank sends,
     and attune_gather_unpack reads those that it receives. */
  int32_t (*all_gather)(void *context, const attune_gather *gather);
} attune_ranks;

/* The services that a host provides to compiled entries. */
typedef struct attune_host {
  uint32_t abi_version; /* ATTUNE_ABI_VERSION */
  uint32_t arch;        /* compute capability of the image in use times 10 (80, 90), plus ATTUNE_ARCH_SPECIFIC if the
                           image is architecture-specific; 0 on a CPU */
  void *pool;           /* passed to parallel_for, launch and encode_map */
  int64_t num_workers;  /* parallel_for calls bodies with 0 <= worker < num_workers; on a GPU, the number of CTAs that
                           have scratch memory of their own */
  /* Calls |body| on disjoint ranges that together cover [0, n); the length of each range but the last is a multiple of
     |grain|. Returns when all these calls have returned. Two ranges that run at the same time have different worker
     numbers. Null on a GPU. */
  void (*parallel_for)(void *pool, int64_t n, int64_t grain, attune_body_fn body, void *ctx);
  /* Queues a launch after the earlier ones of this call and returns 0. Returns another value after an error; the entry
     then makes no further launch and returns that value. Null on a CPU. */
  int32_t (*launch)(void *pool, const attune_launch *launch);
  /* Writes the TMA descriptor of |map|, which the entry passes to a kernel as a parameter, to |out|,
     ATTUNE_TENSOR_MAP_BYTES at a multiple of ATTUNE_TENSOR_MAP_ALIGNMENT in host memory. Writes nothing if one of
     map->sizes is 0. Returns a value as launch does, with the same consequence. Null on a CPU. */
  int32_t (*encode_map)(void *pool, const attune_tensor_map *map, void *out);
  int64_t rank; /* the number of this process; 0 if the model is not divided */
  void *ranks;  /* passed to all_gather */
  /* Gathers as attune_ranks::all_gather. After an error the entry continues with undefined values; when it has
     returned, attune_session_run fails with the first error. Null if the model is not divided. The runtime sets rank,
     ranks and all_gather, also in a host that the caller supplies. */
  int32_t (*all_gather)(void *ranks, const attune_gather *gather);
} attune_host;

/* One execution of an entry. Pointers to tensors are at least element-aligned; the workspace is
   ATTUNE_ALIGNMENT-aligned. For a model on a GPU the tensors, weights, workspace and state are in device memory; dims,
   state_dims, and the arrays |inputs| and |outputs| of pointers are in host memory. */
typedef struct attune_call {
  const void *weights;       /* data section of the weights file */
  void *workspace;           /* at least attune_entry_desc::workspace_bytes(dims, num_workers) bytes */
  void *state;               /* the caches of the session one after the other, those of slots first; null if the model has none */
  const int64_t *state_dims; /* slots, panels of a slot, sources, panels of a source */
  const int64_t *dims;       /* values of attune_entry_desc::dims, in order */
  const void *const *inputs; /* in the order of attune_entry_desc::inputs; none is null */
  void *const *outputs;      /* in the order of attune_entry_desc::outputs; none is null or overlaps another tensor */
} attune_call;

/* Runs an entry. Returns 0, or the first other value that launch or encode_map returned. The caller, the runtime, has
   validated the inputs, except values in device memory. */
typedef int32_t (*attune_entry_fn)(const attune_host *host, const attune_call *call);
/* Returns the value of a quantity, such as the workspace bytes, for a call with these dims, in the order of
   attune_entry_desc::dims, and this number of workers. The value is a closed formula. It does not decrease when an
   argument grows, unless the formula was written by hand in IR, for example with `mod`. */
typedef uint64_t (*attune_size_fn)(const int64_t *dims, int64_t workers);

/* The work of one kernel in all its calls in one call of an entry. A kernel call for many rows may execute the kernel
   several times, once for each block of rows. Bytes assume that no cache of the processor keeps anything from one
   kernel call to the next. */
typedef struct attune_kernel_work {
  uint64_t calls;        /* calls of the kernel */
  uint64_t flops;        /* GEMM and attention-product operations */
  uint64_t weight_bytes; /* weights, each read once per kernel call; of lookup tables, the rows that are read */
  uint64_t tensor_bytes; /* other inputs read and results written, each once per kernel call */
} attune_kernel_work;
/* Writes the work of each kernel of the model in a call with these dims to |out| [num_kernels], in the order of
   attune_model_desc::kernels. */
typedef void (*attune_work_fn)(const int64_t *dims, attune_kernel_work *out);

/* A symbolic dimension: each call gives it a value. */
typedef struct attune_dim_desc {
  const char *name; /* "batch", "length", "source_length", "past", "total_length", "choices" */
  int64_t max;      /* largest value accepted; 0 = unlimited */
  uint32_t origin;  /* attune_dim_origin */
  uint32_t reserved; /* 0 */
} attune_dim_desc;

/* Memory of a session for the keys or the values of one layer, or for a mask. A source is one encoded input of an
   encoder-decoder; the caches of sources hold the keys and values that cross attention reads, and their mask. */
typedef struct attune_cache_desc {
  const char *name;    /* "past_key_values.0.1", as in transformers, or the name of a mask */
  uint32_t dtype;      /* attune_dtype of the elements: F32, BF16, F16 or I8; F32 for masks */
  uint32_t kind;       /* attune_cache_kind */
  uint32_t of_sources; /* 1: the cache has a slot for each source; 0: for each sequence */
  uint32_t reserved;   /* 0 */
  int64_t heads;       /* number of heads of keys and values; 1 for masks */
  int64_t size;        /* elements of the key or value of one token in one head; 1 for masks */
} attune_cache_desc;

/* An input or output tensor, dense row-major. */
typedef struct attune_tensor_desc {
  const char *name;
  uint32_t dtype;       /* attune_dtype */
  uint32_t rank;        /* number of entries of shape */
  const int64_t *shape; /* shape[i] >= 0: a static size; < 0: the value of attune_call::dims[-shape[i] - 1] */
  uint32_t fill;        /* attune_fill; inputs only */
  uint32_t group;       /* outputs only: 1 if the first dimension stacks several outputs of transformers
                           ("hidden_states.0", …) */
  int64_t max_value;    /* I64 inputs: values are 0 … max_value - 1; any if max_value is 0; 2 for masks */
} attune_tensor_desc;

/* One generated kernel, for inspection and profiles. */
typedef struct attune_kernel_desc {
  const char *name;
  const char *backend; /* "mlir", "halide", "nvvm" */
  const char *op;      /* one line that describes its operation */
  attune_body_fn body; /* the body of the kernel's loop, as parallel_for gets it; a host can distinguish kernels by it;
                          null if the kernel runs no parallel loop */
  const char *note;    /* the reason why the requested backend does not generate this kernel ("not by Halide: …"); empty
                          or null if it does */
} attune_kernel_desc;

/* The format of an image. */
typedef enum attune_gpu_image_kind {
  ATTUNE_IMAGE_PTX = 0,  /* NUL-terminated text, for |arch| and all later architectures; if arch_specific is 1, for
                            |arch| alone */
  ATTUNE_IMAGE_CUBIN = 1 /* binary code, for |arch| and later minor versions of the same major version; if arch_specific
                            is 1, for |arch| alone */
} attune_gpu_image_kind;

/* GPU code for one architecture. It has some or all of attune_model_desc::functions; entries launch no other function
   while the image is in use. */
typedef struct attune_gpu_image {
  uint32_t kind;          /* attune_gpu_image_kind */
  uint32_t arch;          /* compute capability times 10: 80, 90 */
  uint32_t arch_specific; /* 1 for an architecture-specific image, as for sm_90a; else 0 */
  uint32_t reserved;      /* 0 */
  const void *data;
  uint64_t bytes; /* including the NUL of PTX */
} attune_gpu_image;

/* A function that entries launch. */
typedef struct attune_gpu_function {
  const char *symbol;    /* the name of the function in the images */
  uint32_t kernel;       /* the kernel that the function is part of, an index into attune_model_desc::kernels */
  uint32_t shared_bytes; /* the largest attune_launch::shared_bytes of all launches of the function */
} attune_gpu_function;

/* One callable function of a model. */
typedef struct attune_entry_desc {
  const char *name; /* "forward", "embed", "encode", "prefill", "extend", "decode" */
  uint32_t num_dims;
  uint32_t num_inputs;
  uint32_t num_outputs;
  uint32_t cache_use; /* attune_cache_use */
  const attune_dim_desc *dims;
  const attune_tensor_desc *inputs;
  const attune_tensor_desc *outputs;
  attune_entry_fn run;
  attune_size_fn workspace_bytes; /* size of attune_call::workspace */
  attune_size_fn flops;       /* GEMM and attention-product operations of one call; second argument ignored */
  attune_work_fn kernel_work; /* null if the dims do not determine the work */
  attune_size_fn gathers;      /* calls of all_gather in one call, those for all experts of a mixture of experts
                                  included; second argument ignored; null if the model is not divided */
  attune_size_fn gather_bytes; /* bytes that each rank receives from the others by these calls of all_gather; second
                                  argument ignored; null if the model is not divided */
} attune_entry_desc;

/* Defined in attune/generate.h; its field struct_bytes is its size. */
struct attune_generation_options;

/* The descriptor that an object exports. */
typedef struct attune_model_desc {
  uint64_t magic;             /* ATTUNE_MODEL_MAGIC */
  uint32_t abi_version;       /* ATTUNE_ABI_VERSION */
  uint32_t desc_bytes;        /* sizeof(attune_model_desc) */
  const char *name;           /* C identifier */
  const char *family;         /* "bert", … */
  const char *architecture;   /* "BertModel", … */
  const char *triple;         /* "x86_64-pc-linux-gnu" */
  const char *cpu;            /* CPU name the code was made for */
  const char *cpu_features;   /* features the code needs, comma separated LLVM names: "avx2,fma,avx512f" */
  const char *options;        /* compile flags that shaped the object, one line */
  uint8_t build_id[16];       /* the weights file of this object has the same, unless several objects share the file */
  uint64_t weights_bytes;     /* size of the data section of the weights file */
  uint64_t manifest_checksum; /* attune_checksum of the manifest text */
  uint32_t num_entries;
  uint32_t num_kernels;
  const attune_entry_desc *entries;
  const attune_kernel_desc *kernels;
  const struct attune_generation_options *generation; /* default options of text generation; null if the model generates no text */
  uint32_t num_caches;
  uint32_t device;                 /* attune_device */
  const attune_cache_desc *caches; /* in the order of their memory: first those of sequences, then those of sources */
  uint32_t num_images;             /* 0 on a CPU */
  uint32_t num_functions;
  const attune_gpu_image *images;
  const attune_gpu_function *functions;
  uint32_t num_labels;       /* 0 if the model classifies nothing */
  uint32_t num_ranks;        /* processes that run the model together, each with a weights file of its own; 0 or 1 if
                                the model is not divided */
  const char *const *labels; /* the name of each class, in the order of the logits' last dimension */
} attune_model_desc;

/* Header of a weights file (little endian, at offset 0). The data section begins at a page boundary; the manifest (JSON
   text: name, source, dtype, shape, layout, offset, bytes of each packed tensor) comes last. */
typedef struct attune_weights_header {
  uint64_t magic;       /* ATTUNE_WEIGHTS_MAGIC */
  uint32_t abi_version; /* ATTUNE_ABI_VERSION */
  uint32_t header_bytes; /* sizeof(attune_weights_header) */
  uint8_t build_id[16]; /* that of the object; zeros in a file that all objects with the same manifest_checksum share */
  uint64_t file_bytes;
  uint64_t data_offset; /* multiple of 4096 */
  uint64_t data_bytes;
  uint64_t manifest_offset;
  uint64_t manifest_bytes;
  uint64_t manifest_checksum; /* attune_checksum of the manifest text */
  uint64_t content_hash;      /* attune_checksum of the data section */
  uint32_t rank;              /* the rank whose weights the file has */
  uint32_t num_ranks;         /* 1 if the model is not divided */
} attune_weights_header;

/* Returns |hash|, extended by |word|. attune_checksum, the hash of manifests and contents, is FNV-1a over the
   little-endian 64-bit words of the bytes (the last word zero-padded), then over the number of bytes as one more word.
   It starts from 0xCBF29CE484222325; its prime is 0x100000001B3. It is not cryptographic: it detects accidental
   changes, not deliberate ones. */
static inline uint64_t attune_checksum_word(uint64_t hash, uint64_t word) {
  return (hash ^ word) * 0x100000001B3ull;
}

#if defined(__cplusplus)
#define ATTUNE_ABI_ASSERT(cond, what) static_assert(cond, what)
#else
#define ATTUNE_ABI_ASSERT(cond, what) _Static_assert(cond, what)
#endif
ATTUNE_ABI_ASSERT(sizeof(void *) == 8, "64-bit targets only");
ATTUNE_ABI_ASSERT(sizeof(attune_host) == 72, "attune_host");
ATTUNE_ABI_ASSERT(sizeof(attune_gather) == 72, "attune_gather");
ATTUNE_ABI_ASSERT(sizeof(attune_ranks) == 40, "attune_ranks");
ATTUNE_ABI_ASSERT(sizeof(attune_launch) == 40, "attune_launch");
ATTUNE_ABI_ASSERT(sizeof(attune_tensor_map) == 128, "attune_tensor_map");
ATTUNE_ABI_ASSERT(sizeof(attune_call) == 56, "attune_call");
ATTUNE_ABI_ASSERT(sizeof(attune_dim_desc) == 24, "attune_dim_desc");
ATTUNE_ABI_ASSERT(sizeof(attune_cache_desc) == 40, "attune_cache_desc");
ATTUNE_ABI_ASSERT(sizeof(attune_tensor_desc) == 40, "attune_tensor_desc");
ATTUNE_ABI_ASSERT(sizeof(attune_kernel_desc) == 40, "attune_kernel_desc");
ATTUNE_ABI_ASSERT(sizeof(attune_kernel_work) == 32, "attune_kernel_work");
ATTUNE_ABI_ASSERT(sizeof(attune_gpu_image) == 32, "attune_gpu_image");
ATTUNE_ABI_ASSERT(sizeof(attune_gpu_function) == 16, "attune_gpu_function");
ATTUNE_ABI_ASSERT(sizeof(attune_entry_desc) == 96, "attune_entry_desc");
ATTUNE_ABI_ASSERT(sizeof(attune_model_desc) == 192, "attune_model_desc");
ATTUNE_ABI_ASSERT(sizeof(attune_weights_header) == 96, "attune_weights_header");

#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_ABI_H */
