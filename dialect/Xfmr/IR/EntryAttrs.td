//===- EntryAttrs.td - Attributes of models and entries ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An attribute `#xfmr.NAME<…>` of this file is the value of a discardable attribute with the name `xfmr.NAME`, on a
// module, a function, or an argument or result of a function.
//
//===----------------------------------------------------------------------===//
#ifndef XFMR_ENTRY_ATTRS_TD
#define XFMR_ENTRY_ATTRS_TD

include "dialect/Xfmr/IR/XfmrDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Xfmr_EntryEnum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::xfmr";
}

// Each case has the number of its counterpart in attune_cache_use, in attune/abi.h.
def Xfmr_CacheUse : Xfmr_EntryEnum<"CacheUse", "use of the caches of a session by an entry", [
    I32EnumAttrCase<"Unused", 0, "unused">, I32EnumAttrCase<"Encode", 1, "encode">, I32EnumAttrCase<"Append", 2, "append">,
    I32EnumAttrCase<"Continue", 3, "continue">]>;

// Each case has the number of its counterpart in attune_fill, in attune/abi.h.
def Xfmr_InputDefault : Xfmr_EntryEnum<"InputDefault", "the value of an input that a caller omits", [
    I32EnumAttrCase<"Required", 0, "required">, I32EnumAttrCase<"Zeros", 1, "zeros">, I32EnumAttrCase<"Ones", 2, "ones">,
    I32EnumAttrCase<"Arange", 3, "arange">, I32EnumAttrCase<"Tokens", 4, "tokens">, I32EnumAttrCase<"Slots", 5, "slots">,
    I32EnumAttrCase<"Sources", 6, "sources">, I32EnumAttrCase<"PastLengths", 7, "past_lengths">,
    I32EnumAttrCase<"SourceLengths", 8, "source_lengths">]>;

def Xfmr_SessionDim : Xfmr_EntryEnum<"SessionDim", "a dim whose size the session provides, since no input has this dim", [
    I32EnumAttrCase<"Past", 0, "past">, I32EnumAttrCase<"SourceLength", 1, "source_length">]>;

class Xfmr_EntryAttribute<string name, string mnem> : AttrDef<Xfmr_Dialect, name> {
  let mnemonic = mnem;
  let genVerifyDecl = 1;
}

def Xfmr_EntryAttr : Xfmr_EntryAttribute<"Entry", "entry"> {
  let summary = "an entry: a function that applications call";
  let description = [{
    Stands on a public function. `name`, of letters, digits and underscores, is the entry's name in the C API; it is
    unique in a module with `xfmr.model`. `caches` says how the entry uses the caches of a session, the memory that the
    runtime keeps from call to call. `encode` writes the caches of encoder states. `append` appends the keys and values
    of the call's tokens to the caches of sequences. `continue` does the same as `append`, but a call fails if the cache
    slot of one of its sequences is empty. An entry without `caches` uses no caches and takes none as arguments.

    ```mlir
    func.func @decode(…) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        DefaultValuedParameter<"::mlir::xfmr::CacheUse", "::mlir::xfmr::CacheUse::Unused">:$caches);
  let assemblyFormat = "`<` $name (`,` `caches` `=` $caches^)? `>`";
}

def Xfmr_InputAttr : Xfmr_EntryAttribute<"Input", "input"> {
  let summary = "an input of an entry";
  let description = [{
    Stands on an argument of an entry. `dims` has a name for each dynamic dimension and the size of each static one;
    dimensions of the same name have the same size in a call. No dimension has the name `workers`, which is the number
    of threads in formulas (`#xfmr.formula`).

    `default` is the value of an omitted input; without `default` the input is required. `zeros` and `ones` are tensors
    of this element, `arange` is 0, 1, 2, … along the last dimension. `tokens` is ones; where a caller gives 0, an entry
    with `caches` does not store the token in the caches. The other values are for inputs with one number for each
    sequence of the batch:

    - `slots`: the cache slot of the sequence; 0, 1, 2, … if omitted.
    - `sources`: the number of the source of the sequence, the encoder states that it writes or reads; if omitted, 0, 1,
      2, … in an entry with `caches = encode`, else the source of its slot.
    - `past_lengths`: the number of tokens in the slot of the sequence before the call. The runtime sets it; callers
      always omit it.
    - `source_lengths`: the number of tokens of the source of the sequence. The runtime sets it; callers always omit it.

    The elements of an input of integers are from 0 to `max_value - 1`; without `max_value`, or if it is 0, any integer
    is accepted. The runtime checks inputs in host memory, and a call with an element out of range fails; it does not
    check inputs in device memory.

    ```mlir
    %ids: tensor<?x?xi64> {xfmr.input = #xfmr.input<"input_ids", [batch, length], max_value = 203>}
    %mask: tensor<?x?xi64> {xfmr.input = #xfmr.input<"attention_mask", [batch, length], default = ones, max_value = 2>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$dims,
    DefaultValuedParameter<"::mlir::xfmr::InputDefault", "::mlir::xfmr::InputDefault::Required">:$default_value,
    DefaultValuedParameter<"int64_t", "0">:$max_value);
  let assemblyFormat = "`<` $name `,` custom<Input>($dims, $default_value, $max_value) `>`";
}

def Xfmr_OutputAttr : Xfmr_EntryAttribute<"Output", "output"> {
  let summary = "an output of an entry";
  let description = [{
    Stands on a result of an entry; from the phase `bufferized` on, on the argument by which the caller provides the
    memory of the output. `dims` are as in `#xfmr.input`. With `group`, the slices along the first dimension are outputs
    of their own in the C API, named after the output: `hidden_states.0`, `hidden_states.1`, … in the example.

    ```mlir
    tensor<4x?x?x48xf32> {xfmr.output = #xfmr.output<"hidden_states", [4, batch, length, 48], group>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$dims, DefaultValuedParameter<"bool", "false">:$is_group);
  let assemblyFormat = "`<` $name `,` custom<Output>($dims, $is_group) `>`";
}

def Xfmr_CacheAttr : Xfmr_EntryAttribute<"Cache", "cache"> {
  let summary = "a cache of the session";
  let description = [{
    Stands on an argument of an entry with `caches`, and on the result that is the cache of the same name and dims after
    its update. The first dim is `slots` in a cache of sequences, and `sources` in a cache of the encoder states that
    cross attention reads. A cache holds keys in panels, `[slots, heads, panels, size, 64]`, or values,
    `[slots, heads, capacity, size]`, of f32, bf16, f16 or i8, or a mask of f32, `[slots, capacity]`. In a cache of i8,
    `size` includes four bytes for a scale (see `xfmr.kv_cache_update`). A panel has 64 keys on every machine, so that
    the content of a session does not depend on the object.

    ```mlir
    %keys: tensor<?x2x?x12x64xf32> {xfmr.cache = #xfmr.cache<"past_key_values.0.0", [slots, 2, panels, 12, 64]>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$dims);
  let assemblyFormat = "`<` $name `,` custom<Dims>($dims) `>`";
}

def Xfmr_SessionDimAttr : EnumAttr<Xfmr_Dialect, Xfmr_SessionDim, "dim"> {
  let summary = "a dim whose size the session provides, since no input has this dim";
  let description = [{
    Stands on an `index` argument of an entry. `past` is the number of tokens in the longest of the batch's cache slots
    before the call. `source_length` is the number of tokens of the longest of the sources that the batch reads, where a
    source is the encoder states of one input.

    ```mlir
    %past: index {xfmr.dim = #xfmr.dim<past>}
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Xfmr_ModelAttr : Xfmr_EntryAttribute<"Model", "model"> {
  let summary = "the description of the model in the descriptor of an object";
  let description = [{
    Stands on a module. `family` is the family of models to which the importer assigns the model folder, `architecture`
    the class of the model in the transformers library. `limits` has the largest value of each limited dim, by the name
    of the dim. `labels` has the names of the classes, in the order of the last dimension of the output `logits`.
    `generation` has the model's own generation settings, under the names that the transformers library gives them.

    ```mlir
    module attributes {xfmr.model = #xfmr.model<family = "bert", architecture = "BertForSequenceClassification",
                                                limits = {length = 512 : i64}, labels = ["negative", "positive"]>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$family, "::mlir::StringAttr":$architecture,
                        OptionalParameter<"::mlir::DictionaryAttr">:$limits,
                        OptionalParameter<"::mlir::ArrayAttr">:$labels,
                        OptionalParameter<"::mlir::DictionaryAttr">:$generation);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // XFMR_ENTRY_ATTRS_TD
